"""`Result`: what a run recorded, by name, with units."""

from __future__ import annotations


class Result:
    def __init__(self, system, recording, tree=None):
        self.system, self.recording, self.tree = system, recording, tree
