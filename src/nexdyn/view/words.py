"""Labels of the page in English and Chinese. English labels are the keys; what is a name of the model stays as it is."""

from __future__ import annotations

from nexdyn.errors import counted, unknown
from nexdyn.view.faults import in_chinese

LANGUAGES = {"en": "English", "zh": "中文"}

_CHINESE = {
    # playing
    "Play": "播放", "Pause": "暂停", "time [s]": "时间 [s]", "speed": "速度", "repeat": "循环", "follow": "跟随",
    "Reset": "复位", "view": "视图", "front": "前视", "right": "右视", "top": "俯视", "corner": "轴测", "parallel": "平行投影",
    "and {} more": "另有 {} 个未显示", "End": "结束", "running": "正在计算", "ended": "已结束", "this page can be closed": "可以关闭此页面",
    "Play or pause": "播放或暂停", "Parallel or perspective": "平行投影或透视", "View from the": "视图：",
    "back to the start, the camera too (R)": "回到起点，相机也复位 (R)", "standard views (keys 1 to 7)": "标准视图（键 1 至 7）",
    "no perspective: what is parallel looks so (P)": "无透视：平行线保持平行 (P)",
    "ends the viewer, not only this page (Esc)": "结束查看器，而不只是此页面 (Esc)", "of": "/", "(nothing)": "（无）", "(all)": "（全部）",
    "back": "后视", "left": "左视", "bottom": "仰视", "dark": "深色", "a dark page (D)": "深色页面 (D)", "mm, degrees": "毫米、度",
    "units of panels and plots (U)": "面板和曲线的单位 (U)", "Full screen": "全屏", "Dark or light": "深色或浅色",
    "Millimetres and degrees, or metres and radians": "毫米和度，或米和弧度", "Next sample": "下一采样", "Sample before": "上一采样",
    # layers
    "Show": "显示", "shapes": "形状", "grid": "地面网格", "shadows": "阴影", "joint axes": "关节轴", "body frames": "物体坐标系",
    "reaction forces": "约束反力", "reaction moments": "约束反力矩", "contact forces": "接触力", "trails": "轨迹", "inertia": "惯量椭球",
    "centres of mass": "质心", "joint frames": "关节坐标系", "names": "名称",
    "contact pressure": "接触压力", "collision shapes": "碰撞形状",
    "opacity": "不透明度", "of the bodies; T: transparent, and back": "物体的不透明度；T：透明或不透明", "cut away": "剖切",
    "what of the bodies lies on one side of a plane": "切去物体在平面一侧的部分", "plane at": "平面位置",
    "Transparent or not": "透明或不透明",
    "Write this pose into the file": "将此姿态写入文件", "q0 of the joints whose sliders were moved": "滑块移动过的关节的 q0",
    "arrow length": "箭头长度", "trail [s]": "轨迹长度 [s]", "Joints": "关节",
    # plots
    "shown time": "所示时刻",
    "Plots are of a motion: press *Live* (L), and the model runs.": "曲线属于运动：请按“实时”(L) 运行模型。",
    "Plots": "曲线", "plot": "曲线", "energy": "能量", "joint_position": "关节坐标", "joint_velocity": "关节速度",
    "joint_acceleration": "关节加速度", "position": "位置", "velocity": "速度", "angular_velocity": "角速度", "acceleration": "加速度",
    "angular_acceleration": "角加速度", "reaction": "约束反力", "transmitted": "传递力", "measures": "测量量",
    "Keep this plot": "保留此曲线", "and choose another next to it": "并另选一条并列",
    "Drop kept plots": "移除保留的曲线", "save": "保存", "all plots that are shown, as a file": "将所示全部曲线保存为文件",
    # a system that runs
    "Live": "实时", "let it run from here, drag it with the mouse, change it (L)": "从此刻起运行，用鼠标拖动，修改参数 (L)",
    "Live, or its recording": "实时运行或其记录", "Show the recording": "显示记录", "one moment": "请稍候", "Go on": "继续",
    "stand still, or go on (space)": "暂停或继续（空格）", "One step": "单步", "and stand still (.)": "然后暂停 (.)", "Restart": "重新开始",
    "from the start, with what was changed (R)": "从头开始，保留修改 (R)", "Undo": "撤销",
    "the last drag or change (Ctrl Z)": "上一次拖动或修改 (Ctrl Z)", "strength of the pull": "拉力强度",
    "drag a body with the mouse": "用鼠标拖动物体", "gravity": "重力",
    "Switches": "开关", "event": "事件", "Parameters": "参数", "Actuators": "驱动器",
    "Write this camera into the file": "将此视角写入文件", "where this browser looks from": "此浏览器的视角",
    "Write this state into the file": "将此状态写入文件", "q0 and v0 of the joints, and what was changed": "关节的 q0、v0 及所作修改",
    "Grab what is selected: arrow keys pull it, Enter lets go": "抓取选中对象：方向键拉动，回车松开",
    "nothing runs here that could be pulled: press L": "此处没有正在运行的系统可拉动：请按 L",
    "select a body or joint first: click it, or choose it in the model's tree": "请先选中一个物体或关节：点击它，或在模型树中选择",
    "live": "实时", "real time": "实时速度", "pull": "拉力", "stopped": "已停止", "refused": "被拒绝", "at its limit": "达到上限",
    # what is selected
    "Selected": "选中", "model": "模型", "Model": "模型", "ground": "地面", "mass": "质量", "Ixx Iyy Izz": "Ixx Iyy Izz",
    "Ixy Ixz Iyz": "Ixy Ixz Iyz", "centre of mass": "质心", "quaternion": "四元数", "angular velocity": "角速度", "force": "力",
    "moment": "力矩", "reaction of": "约束反力：", "contact force": "接触力", "contact with": "接触：",
    "q": "q", "v": "v", "Follow": "跟随", "Plot it": "画曲线", "Deselect": "取消选择",
    "the camera goes along with the selected body (F)": "相机跟随选中的物体 (F)",
    "plots of what is selected": "画出选中对象的曲线", "follow what is selected": "跟随选中对象",
    "plus and minus zoom, 0 shows all, left and right arrows move": "加号、减号缩放，0 显示全部，左右方向键移动",
    "a click on a body lets the camera go along with it": "点击物体时相机跟随它",
    "Click a body, or choose one in the model's tree.": "点击一个物体，或在模型树中选择。",
    "Measured": "测量", "angle at B": "B 处角度", "Measure from it": "由此测量", "Clear points": "清除测点",
    "its centre of mass, or the joint's point (M); shift-click: any point": "质心或关节点 (M)；按住 Shift 点击：任意点",
    "Difference from the ghost": "与对照结果之差", "distance": "距离", "angle": "角度", "farthest": "相差最大", "member": "成员",
    "failed at": "失败于",
    "kind": "类型", "from": "从", "to": "到",
    # sharing, recordings
    "Share": "分享", "save as": "另存为", "HTML": "HTML", "MP4": "MP4", "GIF": "GIF", "Picture": "图片", "is being made": "正在生成",
    "a page that plays without a server, a film or a picture, as this browser sees it": "按此浏览器所见：无需服务器的页面、影片或图片",
    "another file is being made for this page": "正在为此页面生成另一个文件", "ghost": "对照结果", "not recorded": "未录制",
    "nothing moves here, so there is no film: save HTML or a picture, or wait until the run has ended":
        "没有运动，无法生成影片：请保存 HTML 或图片，或等计算结束",
    "Forces": "力元", "Contacts": "接触", "Gravity": "引力", "Drivers": "驱动", "Couplings": "耦合", "Markers": "标记",
    # forces, drivers, couplings
    "applied": "外力", "joint force": "关节力", "point spring": "点间弹簧", "torsion spring": "扭簧", "bushing": "衬套",
    "force table": "力表", "plane contact": "平面接触", "sphere contact": "球接触", "user": "用户力", "user joint force": "用户关节力",
    "position actuator": "位置驱动器", "velocity actuator": "速度驱动器", "torque actuator": "力矩驱动器", "controller": "控制器",
    "joint stop": "关节限位", "joint friction": "关节摩擦", "point gravity": "点引力", "gravity field": "引力场",
    "joint": "关节", "point": "点", "orientation": "姿态", "sum": "坐标和", "gear": "齿轮", "rack and pinion": "齿轮齿条",
    # what has changed in a file, and what is wrong with it
    "new {} {}": "新增{} {}", "{} {} is gone": "已删除{} {}", "parameter": "参数", "body": "物体", "contact": "接触", "driver": "驱动",
    "coupling": "耦合", "marker": "标记", "measure": "测量量", "name": "名称",
    "{} bodies": "{} 个物体", "{} joints": "{} 个关节", "{} degrees of freedom": "{} 个自由度",
    "{} is redundant: it depends on {}": "{} 冗余：它取决于 {}",
    "{} is redundant and contradicts the others: it depends on {}": "{} 冗余且与其他约束矛盾：它取决于 {}",
    "and {} redundant rows more": "另有 {} 个冗余约束方程",
    # what can be taken back
    "grab": "抓取", "change": "修改", "switch": "开关", "put": "放置", "restart": "重新开始",
    # recordings
    "a pose": "一个姿态", "shown in real time": "实时速度播放", "shown at {} × real time": "以 {} 倍实时速度播放",
    # joints
    "knife_edge": "刀刃", "perpendicular": "垂直", "point_on_curve": "点在曲线上", "point_on_line": "点在直线上",
    "point_on_plane": "点在平面上", "point_on_surface": "点在曲面上", "rolling_disk": "滚动圆盘", "rolling_sphere": "滚动球",
    "user_constraint": "用户约束", "velocity_constraint": "速度约束",
    "fixed": "固定", "free": "自由", "revolute": "转动", "prismatic": "移动", "cylindrical": "圆柱", "helical": "螺旋",
    "universal": "万向", "spherical": "球", "planar": "平面", "cartesian": "直角坐标", "rod": "连杆", "general": "通用", "clamp": "夹持",
    "revolute_prismatic": "转动-移动", "revolute_spherical": "转动-球", "rolling": "滚动",
}  # fmt: skip


class Words:
    """Labels in one language, "en" or "zh". `missing` holds the labels that it lacks and shows in English."""

    def __init__(self, language: str = "en") -> None:
        if language not in LANGUAGES:
            raise unknown("language", language, LANGUAGES)
        self.language = language
        self.missing: set[str] = set()

    def count(self, n: int, thing: str) -> str:
        """ "1 body", "3 bodies"; things: those of which a label "{} bodies" is known."""
        told = counted(n, thing)
        return told if self.language == "en" else self(f"{{}} {counted(2, thing).partition(' ')[2]}").format(n)

    def error(self, error: Exception | str) -> str:
        """What is wrong, as the page says it."""
        message = str(error)
        return message if self.language == "en" else _CHINESE.get(message) or in_chinese(message)

    def more(self, count: int) -> str:
        """That so many more are there than are shown; "" where none is."""
        return f"*{self('and {} more').format(count)}*" if count > 0 else ""

    def __call__(self, label: str) -> str:
        if self.language == "en":
            return label
        if label not in _CHINESE:
            self.missing.add(label)
        return _CHINESE.get(label, label)
