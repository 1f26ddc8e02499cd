"""GKE and JAX versions: reading, comparing, and the least GKE version that a deployment needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pathways import tpu

if TYPE_CHECKING:
    from pathways.settings import Settings

Feature = Literal["pathways", "calendar", "dranet", "dynamic_slicing", "node_auto_provisioning"]

_GKE = re.compile(r"([0-9]+)\.([0-9]+)(?:\.([0-9]+)(?:-gke\.([0-9]+))?)?")
_JAX = re.compile(r"[0-9]+(\.[0-9]+){1,2}")
_UNBOUNDED = float("inf")


class VersionError(ValueError):
    """Text that is no version: what is wrong and how to fix it."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message, fix)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} {self.fix}"


@dataclass(frozen=True)
class GkeVersion:
    """A GKE version or the beginning of one: major, minor, patch and GKE build, as far as they are written.

    GKE takes a beginning ("1.35", "1.35.2") for the newest version that begins so, and "latest" for
    the newest of all.
    `a < b` means: older, whatever the unwritten parts are. "1.35" is neither older nor newer than "1.35.2".
    """

    parts: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> GkeVersion:
        """Read "1.32.2-gke.1475000", "1.35.2", "1.35", "1.35." or "latest". Raises VersionError."""
        if text == "latest":
            return cls(())
        written = _GKE.fullmatch(text.removesuffix("."))
        if not written or (text.endswith(".") and text.count(".") != 2):
            raise VersionError(f'"{text}" is not a GKE version.', "Write 1.35, 1.35.2, 1.35.2-gke.1842000 or latest.")
        return cls(tuple(int(part) for part in written.groups() if part is not None))

    @property
    def is_exact(self) -> bool:
        """Whether it names one version."""
        return len(self.parts) == 4

    def __lt__(self, other: GkeVersion) -> bool:
        return self._padded(_UNBOUNDED) < other._padded(0)

    def is_surely_at_least(self, minimum: GkeVersion) -> bool:
        """Whether every version that begins so is the minimum or newer."""
        return self._padded(0) >= minimum._padded(0)

    def _padded(self, unwritten: float) -> tuple[float, ...]:
        return (*self.parts, *(unwritten for _ in range(4 - len(self.parts))))

    def __str__(self) -> str:
        if not self.parts:
            return "latest"
        numbers = ".".join(map(str, self.parts[:3]))
        return f"{numbers}-gke.{self.parts[3]}" if self.is_exact else numbers


@dataclass(frozen=True)
class Minimum:
    """The least GKE version, and what asks for it, as in "Pathways" or "tpu7x"."""

    version: GkeVersion
    because: str


_WANTS: dict[Feature, str] = {
    "pathways": "Pathways",
    "calendar": "calendar mode reservations",
    "dranet": "DRANET",
    "dynamic_slicing": "dynamic slicing",
    "node_auto_provisioning": "node auto-provisioning",
}


def minimum_gke(generation: tpu.Generation, *features: Feature) -> Minimum:
    """The highest of the minimums of Pathways, the generation and the features used."""
    known = tpu.catalogue().minimum_gke
    wanted: list[tuple[str | None, str]] = [(known["pathways"], _WANTS["pathways"])]
    wanted.append((generation.minimum_gke, generation.name))
    for feature in features:
        if feature == "node_auto_provisioning":
            because = f"{_WANTS[feature]} of {generation.name}"
            wanted.append((generation.node_auto_provisioning, because))
        else:
            wanted.append((known[feature], _WANTS[feature]))
    stated = [Minimum(GkeVersion.parse(version), because) for version, because in wanted if version]
    return max(stated, key=lambda minimum: minimum.version._padded(0))


def least_gke(settings: Settings) -> Minimum:
    """The least GKE version that all of a stack's settings can do with."""
    features: list[Feature] = ["calendar"] if settings.slices.capacity.type == "calendar" else []
    features += ["dranet"] if settings.slices.dranet else []
    return minimum_gke(tpu.generation(settings.slices.accelerator), *features)


def jax_version(text: str) -> tuple[int, int, int]:
    """Read a released JAX version such as 0.11.1; 0.11 is 0.11.0. Raises VersionError."""
    if not _JAX.fullmatch(text):
        raise VersionError(f'"{text}" is not a released JAX version.', "Write it as in 0.11.1.")
    major, minor, patch = (*map(int, text.split(".")), 0)[:3]
    return major, minor, patch
