"""A preview as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Op = Literal["create", "update", "replace", "delete", "import"]
OPS: tuple[Op, ...] = ("create", "update", "replace", "delete", "import")


class ReportError(Exception):
    """A document that cannot be reported on: a sentence for the user."""


@dataclass(frozen=True)
class Property:
    """A changed property: its path, and both values as they may be shown."""

    path: str
    old: str
    new: str
    replaces: bool


@dataclass(frozen=True)
class Resource:
    """A resource's place and properties. `inputs` is what the program states, `outputs` all that is known."""

    urn: str
    type: str
    name: str
    parent: str
    custom: bool
    inputs: Mapping[str, Any] = field(repr=False)
    outputs: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Change:
    """One step. `old` is None for a creation, `new` for a deletion."""

    op: Op
    old: Resource | None
    new: Resource | None
    properties: tuple[Property, ...]

    @property
    def resource(self) -> Resource:
        found = self.new or self.old
        assert found is not None
        return found


@dataclass(frozen=True)
class Violation:
    """What a policy said about a resource, or about the stack where `resource` is empty."""

    policy: str
    level: Literal["mandatory", "advisory"]
    resource: str
    message: str


@dataclass(frozen=True)
class Preview:
    """One stack's preview.

    `unchanged` holds all resources that stay as they are only when `complete`: a plain `pulumi preview --json` leaves
    them out. `remediated` counts the resources that each policy corrected. `policies` is None where the document says
    nothing about policies.
    """

    stack: str
    changes: tuple[Change, ...]
    unchanged: tuple[Resource, ...]
    complete: bool
    warnings: tuple[str, ...]
    errors: tuple[str, ...]
    violations: tuple[Violation, ...]
    remediated: Mapping[str, int]
    policies: tuple[str, ...] | None
    finished: bool
