"""A slice seen from above one corner: every chip a cell, every VM outlined."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from cli.plan.svg import Element, Point, add, closed, line
from pathways.topology import SliceShape

# A flat slice is a board, not a row of cubes.
BOARD = 0.4
# Cells smaller than this many pixels would only darken the drawing.
LEAST_CELL = 3.0
_Projection = Callable[[float, float, float], Point]
_SLANT_X, _SLANT_Y = math.cos(math.pi / 6), math.sin(math.pi / 6)


class Slab:
    """The block of chips: the longest axis to the right, the shortest upwards. Lengths in chips."""

    def __init__(self, shape: SliceShape) -> None:
        axes = sorted(zip(shape.topology.in_three_dims, shape.machine_type.host.in_three_dims, strict=True))
        (self.high, self.vm_high), (self.deep, self.vm_deep), (self.long, self.vm_long) = axes
        self.rise = BOARD if self.high == 1 else 1.0

    @property
    def size(self) -> tuple[float, float]:
        """Width and height at one pixel per chip."""
        return (self.long + self.deep) * _SLANT_X, (self.long + self.deep) * _SLANT_Y + self.high * self.rise

    def draw(self, parent: Element, width: float, height: float) -> None:
        """Fill a box of this size, which begins at the origin."""
        own_width, own_height = self.size
        scale = min(width / own_width, height / own_height)
        left = (width - own_width * scale) / 2 + self.deep * _SLANT_X * scale
        top = (height - own_height * scale) / 2 + self.high * self.rise * scale

        def at(x: float, y: float, z: float) -> Point:
            return left + (x - y) * _SLANT_X * scale, top + ((x + y) * _SLANT_Y - z * self.rise) * scale

        x, y, z = float(self.long), float(self.deep), float(self.high)
        faces = {
            "top": [at(0, 0, z), at(x, 0, z), at(x, y, z), at(0, y, z)],
            "right": [at(x, 0, z), at(x, y, z), at(x, y, 0), at(x, 0, 0)],
            "left": [at(0, y, z), at(x, y, z), at(x, y, 0), at(0, y, 0)],
        }
        for name, corners in faces.items():
            add(parent, "path", d=closed(corners), class_=f"face {name}")
        if scale * self.vm_long >= LEAST_CELL:
            add(parent, "path", d="".join(self._every_other_vm(at)), class_="other")
        if scale >= LEAST_CELL:
            add(parent, "path", d="".join(self._grid(at, 1, 1, 1)), class_="chips")
        if scale * self.vm_long >= LEAST_CELL:
            add(parent, "path", d="".join(self._grid(at, self.vm_long, self.vm_deep, self.vm_high)), class_="vms")
        for name, corners in faces.items():
            add(parent, "path", d=closed(corners), class_=f"edge {name}")

    def _grid(self, at: _Projection, along: int, across: int, up: int) -> Iterator[str]:
        """Lines on the three visible faces, `along`, `across` and `up` chips apart."""
        x, y, z = self.long, self.deep, self.high
        for a in range(along, x, along):
            yield line(at(a, 0, z), at(a, y, z), at(a, y, 0))
        for b in range(across, y, across):
            yield line(at(0, b, z), at(x, b, z), at(x, b, 0))
        for c in range(up, z, up):
            yield line(at(0, y, c), at(x, y, c), at(x, 0, c))

    def _every_other_vm(self, at: _Projection) -> Iterator[str]:
        """The upper sides of the VMs that are tinted, so that neighbours can be told apart."""
        for i, a in enumerate(range(0, self.long, self.vm_long)):
            for j, b in enumerate(range(0, self.deep, self.vm_deep)):
                if (i + j) % 2:
                    a2, b2, z = a + self.vm_long, b + self.vm_deep, self.high
                    yield closed([at(a, b, z), at(a2, b, z), at(a2, b2, z), at(a, b2, z)])
