"""A slice's chip grid, and the error that everything about the accelerator catalogue raises."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_WRITTEN = re.compile(r"[1-9][0-9]{0,3}(x[1-9][0-9]{0,3}){1,2}")


class CatalogueError(ValueError):
    """A name or topology that cannot be had: what is wrong, how to fix it, and which setting it is."""

    def __init__(self, message: str, fix: str, field: str = "") -> None:
        super().__init__(message, fix, field)
        self.message = message
        self.fix = fix
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()


@dataclass(frozen=True)
class Topology:
    """The chips of a slice along its two or three axes, e.g. 4x4 or 4x4x8."""

    dims: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Topology:
        """Read "4x4" or "4x4x8". Raises CatalogueError with the spelling that was probably meant."""
        if not _WRITTEN.fullmatch(text):
            numbers = re.findall(r"\d+", text)
            fix = "Write two or three numbers with an x between them, such as 4x4 or 4x4x8."
            meant = "x".join(str(int(number)) for number in numbers)
            if _WRITTEN.fullmatch(meant):
                fix = f"Write {meant}."
            raise CatalogueError(f'"{text}" is not a topology.', fix, "topology")
        return cls(tuple(int(number) for number in text.split("x")))

    @property
    def chips(self) -> int:
        return math.prod(self.dims)

    @property
    def in_three_dims(self) -> tuple[int, int, int]:
        """The axes padded with 1, as libtpu's bounds want them."""
        x, y, z = (*self.dims, 1)[:3]
        return x, y, z

    def __str__(self) -> str:
        return "x".join(map(str, self.dims))


def count(number: float, noun: str) -> str:
    """A number and its noun, as in "1 chip" and "1,024 chips"."""
    return f"{number:,}".removesuffix(".0") + f" {noun}" + ("" if number == 1 else "s")
