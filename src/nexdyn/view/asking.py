"""Requests of pages to a viewer, in addition to viser's messages: GET /token/ask/WHAT?…, answered as JSON (page.js asks).

    hover    ray, t      the name of the body that the line of sight meets at the time t, and what is said of it
    select   ray, t, of  selects the body that is met, or the one named by `of` ("body:link1", "joint:hinge1"), and lets the camera follow
    plotted              the title of the first plot of what is selected, "" for none
    measure  ray, t      adds the point that is met to those whose distances are shown
    grab     ray, t      in a system that runs: holds the body that is met; answers the number of the hand
    pull     ray, hand   pulls it to where the line of sight meets the plane of the drag;   release  hand
    draws    page, pictures   tells how many pictures a second a page draws
    shift    by, hand    moves a hand that keys move by x,y,z [m] of the world

A question that is not understood is answered {"error": …}; none ends the viewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from nexdyn.errors import InputError, NexDynError, unknown
from nexdyn.view.client import ASK
from nexdyn.view.picking import Hit

if TYPE_CHECKING:
    from nexdyn.view.inquiry import Inquiry
    from nexdyn.view.touch import Touch


def answer(of: Inquiry, path: str) -> dict[str, Any]:
    """The answer to the question in a path."""
    split = urlsplit(path)
    what = split.path.removeprefix(ASK)
    given = {name: values[-1] for name, values in parse_qs(split.query).items()}
    try:
        if what not in _ANSWERS:
            raise unknown("question", what, _ANSWERS)
        return _ANSWERS[what](of, given)
    except NexDynError as error:
        return {"error": str(error)}


def _hit(of: Inquiry, given: dict[str, str]) -> Hit | None:
    ray = _sight(given)
    return of.pick(ray[:3], ray[3:], _time(given, "a line of sight, ray=ox,oy,oz,dx,dy,dz,"))


def _time(given: dict[str, str], who: str) -> float:
    try:
        t = float(given["t"])
    except (KeyError, ValueError):
        t = np.nan
    if not np.isfinite(t):
        raise InputError(f"{who} needs its time, t")
    return t


def _hover(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    hit = _hit(of, given)
    return {} if hit is None else {"name": hit.body, "said": of.said_of(hit.body)}


def _select(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    if "of" in given:
        of.choose(given["of"])
    else:
        hit = _hit(of, given)
        of.choose("" if hit is None or hit.body == "ground" else f"body:{hit.body}")
    return {"selected": of.key, "plotted": of.plotted()}


def _plotted(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    """The title of the first plot of what is selected."""
    return {"plotted": of.plotted()}


def _measure(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    hit = _hit(of, given)
    if hit is not None:
        of.measure(hit.body, hit.p_B)
    return {} if hit is None else {"name": hit.body, "point": hit.p_B.tolist()}


def _sight(given: dict[str, str]) -> np.ndarray:
    try:
        ray = np.array([float(x) for x in given["ray"].split(",")])
    except (KeyError, ValueError):
        ray = np.zeros(0)
    if len(ray) != 6 or not np.isfinite(ray).all():
        raise InputError("a line of sight is six numbers, ray=ox,oy,oz,dx,dy,dz")
    return ray


def _number(given: dict[str, str]) -> int:
    try:
        return int(given["hand"])
    except (KeyError, ValueError):
        raise InputError("hand is the number that grab has answered") from None


def _touch(of: Inquiry) -> Touch:
    touch = of.desk.touch
    if touch is None:
        raise InputError("nothing runs on this page: a system that is live can be dragged")
    return touch


def _grab(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    touch, hit = _touch(of), _hit(of, given)
    if hit is None or hit.body == "ground":
        return {}
    return {"hand": touch.grab(hit, _sight(given)[3:]), "name": hit.body}


def _pull(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    ray = _sight(given)
    target = _touch(of).pull(_number(given), ray[:3], ray[3:])
    return {"over": True} if target is None else {"target": target.tolist()}


def _shift(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    try:
        by = np.array([float(x) for x in given["by"].split(",")])
    except (KeyError, ValueError):
        by = np.zeros(0)
    if by.shape != (3,) or not np.isfinite(by).all():
        raise InputError("a way is three numbers, by=x,y,z")
    target = _touch(of).shift(_number(given), by)
    return {"over": True} if target is None else {"target": target.tolist()}


def _release(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    _touch(of).release(_number(given))
    return {}


def _seek(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    """To the time of a plot where that was clicked; what runs goes on."""
    t, desk = _time(given, "a click in a plot"), of.desk
    if desk.touch is None and desk.motion.moves:
        desk.viewer.seek(t)
    return {}


def _draws(of: Inquiry, given: dict[str, str]) -> dict[str, Any]:
    try:
        pictures = float(given["pictures"])
    except (KeyError, ValueError):
        pictures = np.nan
    if not 0.0 <= pictures < np.inf:
        raise InputError("pictures is how many a page draws a second")
    of.desk.pace.tell(given.get("page", ""), pictures)
    return {}


_ANSWERS = {
    "draws": _draws,
    "seek": _seek,
    "grab": _grab,
    "pull": _pull,
    "shift": _shift,
    "release": _release,
    "hover": _hover,
    "select": _select,
    "plotted": _plotted,
    "measure": _measure,
}
