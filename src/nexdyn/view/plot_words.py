"""Titles, axes and curves of plots in Chinese: charts.py composes them of phrases and of names of the model, which stay as they are."""

from __future__ import annotations

import re

from nexdyn.view.charts import Panel
from nexdyn.view.words import Words

_KINDS = {
    "joint coordinates q": "关节坐标 q", "joint velocities v": "关节速度 v", "joint accelerations, dv/dt": "关节加速度 dv/dt",
}  # fmt: skip
_OF_BODIES = {
    "position of": "位置", "velocity of": "速度", "angular velocity of": "角速度", "acceleration of": "加速度",
    "angular acceleration of": "角加速度",
}  # fmt: skip
_MEANINGS = {
    "angle": "角度",
    "length": "长度",
    "force": "力",
    "moment": "力矩",
    "energy": "能量",
    "quaternion": "四元数",
}
_CURVES = {
    "kinetic": "动能",
    "gravitational": "重力势能",
    "elastic": "弹性势能",
    "total": "总能量",
    "total − initial": "总能量 − 初值",
}
_AXES = {
    "time": "时间", "energy": "能量", "force": "力", "moment": "力矩", "position": "位置", "velocity": "速度", "angular velocity": "角速度",
    "acceleration": "加速度", "angular acceleration": "角加速度", "angle": "角度", "length": "长度", "power": "功率", "value": "数值",
    "distance": "距离",
}  # fmt: skip
_MOST = re.compile(r" \((\d+) of (\d+), those that move most\)$")
_BODY = re.compile(
    r"(?P<what>(?:angular )?(?:position|velocity|acceleration) of) (?P<origin>the body's origin|the origin of )?(?P<name>.*?)"
    r"(?P<axes> in the world|, world axes)?(?P<axis>: [xyz])?"
)
_WRENCH = re.compile(
    r"(?P<kind>reaction|transmitted) (?P<part>force|moment)(?P<of> of joint (?P<name>.*) on its child, axes of the joint|, magnitude)"
)


def in_words(panel: Panel, words: Words) -> Panel:
    """A panel in the language of the page."""
    if words.language == "en":
        return panel
    lines = [line._replace(label=_CURVES.get(line.label, line.label)) for line in panel.lines]
    return panel._replace(title=title(panel.title), x=axis(panel.x), y=axis(panel.y), lines=lines)


def axis(label: str) -> str:
    """ "force [N]" as it is called; what is a symbol stays."""
    quantity, bracket, unit = label.partition(" [")
    return f"{_AXES.get(quantity, quantity)}{bracket}{unit}"


def title(text: str) -> str:
    """A title of charts.py as it is called."""
    shown = _MOST.search(text)
    more = f"（{shown[2]} 条中变化最大的 {shown[1]} 条）" if shown else ""
    text = _MOST.sub("", text)
    return _whole(text) + more


def _whole(text: str) -> str:
    if text == "energy":
        return "能量"
    if text == "difference from the ghost":
        return "与对照结果之差"
    if text.startswith("what the total energy gained"):
        return "总能量的变化"
    for phrase, told in _KINDS.items():
        if text.startswith(phrase):
            rest = text.removeprefix(phrase)
            return told + (f"：{_MEANINGS.get(rest[2:], rest[2:])}" if rest.startswith(": ") else rest)
    if (found := _WRENCH.fullmatch(text)) is not None:
        kind, part = {"reaction": "约束反力", "transmitted": "传递力"}[found["kind"]], _MEANINGS[found["part"]]
        return f"{kind}：{part}" + (
            "，大小" if found["name"] is None else f"，关节 {found['name']} 作用于其子物体，关节坐标系"
        )
    if (found := _BODY.fullmatch(text)) is not None:
        name = (
            ""
            if found["origin"] == "the body's origin" or found["name"] == "the body"
            else f"：{found['name'].strip()}"
        )
        axes = {None: "", " in the world": "，世界坐标系", ", world axes": "，世界坐标系"}[found["axes"]]
        return f"{_OF_BODIES[found['what']]}{name}{axes}{found['axis'] or ''}"
    if text.startswith("measures in "):
        return f"测量量，{text.removeprefix('measures in ')}"
    return text
