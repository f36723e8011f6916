"""Buttons and sliders of a running system: time, the hand, switches, gravity, parameters, actuators, joints."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.forces.actuator import Actuator
from nexdyn.results.segments import switched
from nexdyn.simulation.continuing import states_of
from nexdyn.view.dials import Dial, dials, neutral, ranges
from nexdyn.view.hands import Shared
from nexdyn.view.motion import Motion

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.simulation.session import Session
    from nexdyn.view.desk import Desk
    from nexdyn.view.touch import Touch

MOST = 40
"""Sliders, and switches, of a kind."""
STEPS = 200
SLOW = 0.95
"""Part of the chosen speed below which the page tells how fast it is."""


class Wheel(NamedTuple):
    """A slider, and what it is of."""

    slider: Shared
    now: Callable[[], float]


class TouchControls:
    """The folder "Live" of a viewer's controls."""

    def __init__(self, desk: Desk, touch: Touch) -> None:
        self._desk, self._touch = desk, touch
        self._wheels: list[Wheel] = []
        self._coordinates = states_of(touch.session.latest().observed)[0]
        self._system = touch.session.system
        self._gravity_before = desk.system.given_gravity
        gui, w = desk.server.gui, desk.words
        self._folder = desk.controls.live_folder()
        with self._folder:
            self._said = gui.add_html("")  # which a page shows with the picture that came with it, as no markdown
            self._wrong = gui.add_html("", visible=False)
            self._go = gui.add_button(w("Pause"), hint=w("stand still, or go on (space)"))
            self._step = gui.add_button(w("One step"), hint=w("and stand still (.)"))
            self._restart = gui.add_button(w("Restart"), hint=w("from the start, with what was changed (R)"))
            self._undo = gui.add_button(w("Undo"), hint=w("the last drag or change (Ctrl Z)"))
            self._strength = gui.add_slider(
                w("strength of the pull"), 0.1, 50.0, 0.1, touch.strength, hint=w("drag a body with the mouse")
            )
            self._gravity = Shared(
                desk.server,
                gui.add_checkbox(w("gravity"), bool(np.any(desk.system.gravity))),
                self._gravity_changed,
            )
            write = desk.writes_state
            if write is not None:
                button = gui.add_button(
                    w("Write this state into the file"), hint=w("q0 and v0 of the joints, and what was changed")
                )
                button.on_click(lambda _: touch.later(partial(write, touch.session)))
        self._go.on_click(lambda _: touch.toggle())
        self._step.on_click(lambda _: touch.step())
        self._restart.on_click(lambda _: touch.restart())
        self._undo.on_click(lambda _: touch.undo())
        self._strength.on_update(lambda _: setattr(touch, "strength", float(self._strength.value)))
        self._add_switches()
        self._add_parameters()
        self._add_actuators()
        self._add_joints()

    # --- the parts --------------------------------------------------------------------------------------------------

    def _add_switches(self) -> None:
        """Forces, contacts, clamps and events, off and on."""
        session, gui, w = self._touch.session, self._desk.server.gui, self._desk.words
        system = session.system
        names = switches(system)
        self._switches: dict[str, Shared] = {}
        if not names:
            return
        with self._folder, gui.add_folder(w("Switches"), expand_by_default=False):
            for name in names[:MOST]:
                box = gui.add_checkbox(name.replace("event:", f"{w('event')} ", 1), not is_off(system, name))
                act = partial(self._touch.want, f"switch {name}", partial(session.switch, name))
                self._switches[name] = Shared(self._desk.server, box, act)
            self._more(len(names))

    def _add_parameters(self) -> None:
        """Parameters that are numbers."""
        system = self._touch.session.system
        found = {
            name: float(p.value) for name, p in system.parameters.items() if isinstance(p.value, int | float)
        }  # fmt: skip
        if found:
            with (
                self._folder,
                self._desk.server.gui.add_folder(self._desk.words("Parameters"), expand_by_default=False),
            ):
                for name, value in list(found.items())[:MOST]:
                    low, high = around(value)
                    self._wheel(name, "", low, high, value, partial(self._value, name), name, self._change(name))
                self._more(len(found))

    def _add_actuators(self) -> None:
        """Actuators whose targets are numbers."""
        system = self._touch.session.system
        found = {
            name: float(force.target)  # type: ignore[attr-defined]
            for name, force in system.forces.items()
            if isinstance(force, Actuator) and isinstance(getattr(force, "target", None), int | float)
        }
        if not found:
            return
        with self._folder, self._desk.server.gui.add_folder(self._desk.words("Actuators")):
            for name, value in list(found.items())[:MOST]:
                low, high, unit = self._reach(system.forces[name], value)
                path = f"force:{name}.target"
                self._wheel(name, unit, low, high, value, partial(self._target, name), path, self._change(path))
            self._more(len(found))

    def _reach(self, force: Any, value: float) -> tuple[float, float, str]:
        """Where the target of an actuator may be put: within the joint's limits, or those of effort and velocity; and its unit."""
        system = self._touch.session.system
        joint = system.joints[force.joint]
        unit = joint.velocity_labels[force.freedom][1]
        if force.kind == "position_actuator":
            return *ranges(joint, system.values, value, force.freedom), unit
        moves = force.kind == "velocity_actuator"
        of = "velocity_limit" if moves else "effort_limit"
        most = 10.0 if getattr(force, of) is None else float(force.number_of(of, system.values))
        return min(-most, value), max(most, value), f"{unit}/s" if moves else {"rad": "N m", "m": "N"}[unit]

    def _add_joints(self) -> None:
        """Where joints stand."""
        session, desk = self._touch.session, self._desk
        system = session.system
        found = [
            dial
            for name, joint in system.joints.items()
            if name in self._coordinates
            for dial in dials(joint, system.values, neutral(joint))
        ]
        if not found:
            return
        with self._folder, desk.server.gui.add_folder(desk.words("Joints"), expand_by_default=False):
            for dial in found[:MOST]:
                self._wheel(
                    dial.label, dial.unit, dial.lower, dial.upper, dial.value,
                    partial(self._stands, dial), f"{dial.joint} {dial.label}", partial(self._put, session, dial),
                )  # fmt: skip
            self._more(len(found))

    def _more(self, count: int) -> None:
        """Tell of how many there is no slider or switch."""
        if told := self._desk.words.more(count - MOST):
            self._desk.server.gui.add_markdown(told)

    @staticmethod
    def _put(session: Session, dial: Dial, value: float) -> None:
        """Put a joint where a slider is; its other numbers are as they are."""
        now = states_of(session.latest().observed)[0][dial.joint]
        session.put({dial.joint: dial.put(now, value)})

    def _change(self, path: str) -> Callable[[float], None]:
        session = self._touch.session
        return lambda value: session.change({path: value})

    def _wheel(
        self, label: str, unit: str, low: float, high: float, value: float, now: Callable[[], float], of: str,
        act: Callable[[float], None],
    ) -> None:  # fmt: skip
        """A slider in the page's units; `of` is what it is called among what was asked for."""
        if not high > low:
            return
        (factor,), told = self._desk.units.of(np.ones(1), unit)
        scale = float(factor)
        low, high = scale * low, scale * high
        server = self._desk.server
        slider = server.gui.add_slider(
            f"{label} [{told}]" if told else label,
            low,
            high,
            (high - low) / STEPS,
            min(max(scale * value, low), high),
        )
        shared = Shared(server, slider, lambda shown: self._touch.want(of, act, float(shown) / scale))
        self._wheels.append(Wheel(shared, lambda: min(max(scale * now(), low), high)))

    # --- what happens -----------------------------------------------------------------------------------------------

    def _gravity_changed(self, on: bool) -> None:
        session, before = self._touch.session, self._gravity_before
        change = {"gravity": before if on else (0.0, 0.0, 0.0)}
        self._touch.want("gravity", session.change, change)

    def _value(self, name: str) -> float:
        return float(self._system.values[name])

    def _target(self, name: str) -> float:
        return float(self._system.forces[name].target)  # type: ignore[attr-defined]

    def _stands(self, dial: Dial) -> float:
        x = dial.of(self._coordinates[dial.joint])
        whole = dial.unit == "rad" and abs(x) > np.pi and abs(x) > max(-dial.lower, dial.upper)
        return float(np.arctan2(np.sin(x), np.cos(x))) if whole else x

    def take_back(self) -> None:
        """What was asked for was refused: sliders go back to what is."""
        for control in (*(wheel.slider for wheel in self._wheels), *self._switches.values(), self._gravity):
            control.let_go()

    def tell_running(self) -> None:
        """Let the button say what it does next."""
        label = self._desk.words("Pause" if self._touch.running else "Go on")
        if self._go.label != label:
            self._go.label = label

    def tell(self, latest: Motion) -> None:
        """Let all controls tell the present state."""
        touch, w, desk = self._touch, self._desk.words, self._desk
        self._coordinates, self._system = touch.coordinates(latest), touch.session.system
        speed = desk.time.speed
        parts = [f"<b>{html.escape(w('live'))}</b>: t = {latest.start:.2f} s"]
        if touch.running and touch.factor < SLOW * speed:
            parts.append(html.escape(f"{touch.factor:.2f} × {w('real time')}"))
        hand = touch.hand
        if hand is not None:
            parts.append(html.escape(f"{w('pull')} {float(np.linalg.norm(hand.force)):.3g} N"))
        wrong = touch.said or touch.session.failure
        said = f'<p class="nexdyn-said" data-nexdyn-live>{", ".join(parts)}</p>'
        if self._said.content != said:
            self._said.content = said
        kind = html.escape(w("stopped" if touch.session.failure else "refused"))
        alert = f'<p class="nexdyn-said" role="alert"><b>{kind}</b>: {html.escape(w.error(wrong))}</p>' if wrong else ""
        if self._wrong.content != alert:
            self._wrong.content, self._wrong.visible = alert, bool(alert)
        self.tell_running()
        can = touch.session.can_undo
        what, _, of = can.partition(" ")
        label = f"{w('Undo')}: {w(what)} {of}".rstrip() if can else w("Undo")
        if self._undo.label != label:
            self._undo.label = label
        for wheel in self._wheels:
            wheel.slider.tell(wheel.now())
        for name, box in self._switches.items():
            box.tell(not is_off(self._system, name))
        self._gravity.tell(bool(np.any(self._system.gravity)))

    def remove(self) -> None:
        """Take the folder away."""
        self._folder.remove()


def switches(system: System) -> list[str]:
    """What can be switched: forces, contacts, gravities, clamps, and events as "event:NAME"."""
    own = [name for name, force in system.forces.items() if force.part_of is None]
    clamps = [name for name, joint in system.joints.items() if joint.switchable]
    return [*own, *system.contacts, *system.gravities, *clamps, *(f"event:{name}" for name in system.events)]


def is_off(system: System, name: str) -> bool:
    """Whether any of it is switched off, clamps that begin open included."""
    found = switched(system, name)
    return any(
        element.is_off if hasattr(element, "is_off") else element.__dict__.get("_off", False) for element in found
    )


def around(value: float) -> tuple[float, float]:
    """A range that has a value well inside: from 0 to twice as much; from −1 to 1 about 0."""
    return (-1.0, 1.0) if value == 0.0 else (min(0.0, 2.0 * value), max(0.0, 2.0 * value))
