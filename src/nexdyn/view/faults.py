"""What is wrong, on a page in Chinese: the messages that pages meet most often, and a word before those that stay as they are.

A message is told by its pattern; names, numbers, files and lines in it stay. What the pattern does not cover is kept behind it.
"""

from __future__ import annotations

import re

KINDS = {
    "body": "物体", "joint": "关节", "force": "力元", "contact": "接触", "driver": "驱动", "coupling": "耦合", "marker": "标记",
    "parameter": "参数", "event": "事件", "measure": "测量量", "layer": "图层", "key": "键", "body or joint": "物体或关节",
    "attribute": "属性", "shape": "形状",
}  # fmt: skip
ENGLISH = "错误（英文）"
"""What stands before a message that is not known here."""

_PATTERNS = tuple(
    (re.compile(pattern, re.DOTALL), told)
    for pattern, told in (
        (r"no (?P<kind>[a-z][a-z ]*?) (?P<name>'[^']*'); did you mean (?P<near>'[^']*')\? [a-z ]+: (?P<all>.*)",
         "没有{kind} {name}；是否指 {near}？现有：{all}"),
        (r"no (?P<kind>[a-z][a-z ]*?) (?P<name>'[^']*'); [a-z ]+: none", "没有{kind} {name}；一个也没有"),
        (r"no (?P<kind>[a-z][a-z ]*?) (?P<name>'[^']*'); [a-z ]+: (?P<all>.*)", "没有{kind} {name}；现有：{all}"),
        (r"joint (?P<name>'[^']*') cannot be put to (?P<at>\S+) (?P<unit>\S+): its loop does not reach so far",
         "关节 {name} 无法置于 {at} {unit}：其闭环够不到那么远"),
        (r"joint (?P<name>'[^']*') stays open by (?P<gap>\S+) in (?P<row>\S+) with (?P<locked>.+?) locked; .*",
         "锁定 {locked} 时关节 {name} 不能闭合：{row} 相差 {gap}"),
        (r"system (?P<name>'[^']*') cannot be assembled: (?P<rest>.*)", "系统 {name} 无法装配：{rest}"),
        (r"it cannot be assembled(?:, shown as described)?: (?P<rest>.*)", "无法装配：{rest}"),
        (r"the motion is no longer finite(?P<rest>.*)", "运动的数值已不再有限{rest}"),
        (r"(?P<what>.+?) needs (?P<module>\S+): (?P<install>pip install .+)", "{what} 需要 {module}：{install}"),
        (r"nothing has been done that could be taken back", "没有可以撤销的操作"),
        (r"a system runs on this page already; .*", "此页面上已有系统在运行"),
        (r"(?P<names>.+?): switched otherwise than in the file, which cannot tell it\..*",
         "{names}：开关状态与文件不同，文件无法表示。请切换回来或撤销，再写入状态"),
        (r"q0 and v0 of the joints of (?P<name>'[^']*') do not lead to this state from the pose that the file describes: (?P<rest>.*)",
         "{name} 的关节 q0 和 v0 不能从文件所述姿态到达此状态：{rest}"),
        (r"there is no (?P<place>\S+) to put (?P<what>\S+) into(?P<rest>.*)", "没有 {place} 可写入 {what}{rest}"),
        (r"a number is needed(?P<rest>.*)", "需要一个数{rest}"),
    )
)  # fmt: skip
_PLACE = re.compile(r"(?:[^\s:]+(?::\d+)*|(?P<kind>[a-z]+) (?P<name>'[^']*')): ")
"""A file and a line, or an element, before a message."""


def in_chinese(message: str) -> str:
    """A message in Chinese where its pattern is known; else as it is, with a word that it is an error."""
    before, rest = "", message
    while True:
        for pattern, told in _PATTERNS:
            if found := pattern.fullmatch(rest):
                words = found.groupdict()
                if "kind" in words:
                    words["kind"] = KINDS.get(words["kind"], words["kind"])
                return before + told.format(**words)
        place = _PLACE.match(rest)
        if place is None:
            return f"{ENGLISH}：{message}"
        kind, name = place["kind"], place["name"]
        before += place[0] if kind is None else f"{KINDS.get(kind, kind)} {name}: "
        rest = rest[place.end() :]
