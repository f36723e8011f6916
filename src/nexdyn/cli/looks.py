"""Options of `nexdyn view` for what is seen: layers, a body to follow, opacity, a section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from nexdyn.cli.options import option
from nexdyn.errors import InputError, unknown

if TYPE_CHECKING:
    from nexdyn.view.viewer import Viewer

LOOKS = Group("Appearance", sort_key=4)


@Parameter(name="*")
@dataclass(frozen=True)
class Looks:
    """What is seen at first; None and empty values are the defaults."""

    show: Annotated[
        tuple[str, ...],
        option(
            'Also seen: "joint axes", "body frames", "reaction forces", trails, inertia, names, …',
            LOOKS,
        ),
    ] = ()
    follow: Annotated[str, option("A body that stays in the middle.", LOOKS)] = ""
    opacity: Annotated[
        float | None, option("Opacity of the bodies: 0.3 lets one see through them; default 1.", LOOKS)
    ] = None
    section: Annotated[
        str,
        option(
            "Cut the bodies open at a plane: y=0.1 removes y > 0.1 m, --section=-y=0.1 removes y < 0.1 m.",
            LOOKS,
        ),
    ] = ""

    def check(self) -> None:
        """InputError for what names no layer, no opacity and no section."""
        if self == LOOKS_PLAINLY:
            return
        from nexdyn.view.section import opacity_of, section_of
        from nexdyn.view.stage import LAYERS

        for layer in self.show:
            if layer not in LAYERS:
                raise unknown("layer", layer, LAYERS)
        if self.opacity is not None:
            opacity_of(self.opacity)
        section_of(self.plane)

    @property
    def plane(self) -> tuple[str, float] | None:
        """The side that is taken away, and where [m]."""
        if not self.section:
            return None
        side, equals, at = (text.strip() for text in self.section.partition("="))
        try:
            return side, float(at) if equals else float("nan")
        except ValueError:
            raise InputError(
                f"--section {self.section} is not understood; write it like y=0.1 or --section=-y=0.1"
            ) from None

    @property
    def of_pictures(self) -> dict[str, Any]:
        """Arguments of a picture or a recording."""
        given = {"opacity": self.opacity, "section": self.plane}
        return {name: value for name, value in given.items() if value is not None}

    def put(self, viewer: Viewer) -> None:
        """Let a page show it."""
        from dataclasses import replace

        own: dict[str, Any] = self.of_pictures | ({"follow": self.follow} if self.follow else {})
        if self.show:
            own["layers"] = viewer.looks.layers | set(self.show)
        if own:
            viewer.look(replace(viewer.looks, **own))


LOOKS_PLAINLY = Looks()
