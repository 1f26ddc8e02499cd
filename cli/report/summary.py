"""A preview turned into what a reader wants to know: groups of like changes, what they cost, and a verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

from cli.report import consequences
from cli.report.consequences import Consequence
from cli.report.model import OPS, Change, Op, Preview, Property, Resource, Violation
from pathways import inventory, prices
from pathways.inventory import Amount, Machines
from pathways.prices import Cost, Prices

OUTSIDE = "outside of components"
STACK_TYPE = "pulumi:pulumi:Stack"


class Verdict(IntEnum):
    """What a pipeline needs to know; the value is the exit code. The later ones weigh more, failure most.

    2 is left out: it is what command lines answer to a wrong option.
    """

    NOTHING = 0
    FAILURE = 1
    CHANGES = 3
    DESTRUCTIVE = 4
    VIOLATION = 5

    @property
    def weight(self) -> tuple[bool, int]:
        return self is Verdict.FAILURE, int(self)


@dataclass(frozen=True)
class Group:
    """Changes of one component that differ in nothing but the resource's name."""

    op: Op
    type: str
    names: tuple[str, ...]
    properties: tuple[Property, ...]
    consequences: tuple[Consequence, ...]

    @property
    def destructive(self) -> bool:
        """Whether something goes away or is interrupted. A refused change does neither."""
        if self.op in ("replace", "delete"):
            return True
        return any(each.kind in ("slices", "restart", "data", "cluster") for each in self.consequences)


@dataclass(frozen=True)
class Component:
    """The changes of one component; `type` is empty for resources outside of any."""

    name: str
    type: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class StackReport:
    """All that is said about one stack. `before` and `after` count changed resources only, unless `preview.complete`."""

    preview: Preview
    components: tuple[Component, ...]
    counts: Mapping[Op, int]
    before: Amount
    after: Amount
    cost_before: Cost
    cost_after: Cost
    slices_known: bool
    losses: tuple[str, ...]
    acknowledged: frozenset[str] = field(default_factory=frozenset)

    @property
    def stack(self) -> str:
        return self.preview.stack

    @property
    def mandatory(self) -> tuple[Violation, ...]:
        return tuple(each for each in self.preview.violations if each.level == "mandatory")

    @property
    def advisory(self) -> tuple[Violation, ...]:
        return tuple(each for each in self.preview.violations if each.level == "advisory")

    @property
    def failed(self) -> bool:
        """A preview that a policy ended has no other fault."""
        return bool(self.preview.errors) or not (self.preview.finished or self.mandatory)

    @property
    def unacknowledged(self) -> bool:
        """Whether a destructive change is among those that nobody acknowledged by name."""
        return any(
            group.destructive and not self.acknowledged.issuperset(group.names)
            for component in self.components
            for group in component.groups
        )

    @property
    def verdict(self) -> Verdict:
        if self.failed:
            return Verdict.FAILURE
        if self.mandatory:
            return Verdict.VIOLATION
        if self.unacknowledged:
            return Verdict.DESTRUCTIVE
        return Verdict.CHANGES if self.components else Verdict.NOTHING


def worst(reports: Iterable[StackReport]) -> Verdict:
    """The verdict on all stacks together."""
    return max((report.verdict for report in reports), key=lambda each: each.weight, default=Verdict.NOTHING)


def summarise(preview: Preview, price_file: Prices, acknowledged: Iterable[str] = ()) -> StackReport:
    """Sort, count and price a preview's changes. Components and providers are not counted: nothing real is behind them."""
    real = [change for change in preview.changes if _is_real(change.resource)]
    around = consequences.context(preview)
    effects = [consequences.of(change, around) for change in real]
    before = [each for change in real if change.old for each in _machines(change.old)]
    after = [each for change in real if change.new for each in _machines(change.new)]
    if preview.complete:
        unchanged = [each for resource in preview.unchanged for each in _machines(resource)]
        before, after = before + unchanged, after + unchanged
    return StackReport(
        preview=preview,
        components=_components(preview, real, effects),
        counts=_counts(real),
        before=Amount.of(before),
        after=Amount.of(after),
        cost_before=prices.cost(price_file, before),
        cost_after=prices.cost(price_file, after),
        slices_known=all(each.slices is not None for each in before + after),
        losses=_losses(effects),
        acknowledged=frozenset(acknowledged),
    )


def _is_real(resource: Resource) -> bool:
    return resource.custom and not resource.type.startswith("pulumi:")


def _machines(resource: Resource) -> list[Machines]:
    return inventory.machines(resource.type, resource.inputs)


def _counts(changes: Iterable[Change]) -> dict[Op, int]:
    found = Counter(change.op for change in changes)
    return {op: found[op] for op in OPS if found[op]}


def _losses(effects: Iterable[Iterable[Consequence]]) -> tuple[str, ...]:
    """What is lost over the whole stack: slices summed up, Pathways once, everything else as it is."""
    every = [each for found in effects for each in found]
    slices = sum(each.slices for each in every)
    texts = [f"{slices} slice{'s' if slices != 1 else ''} lost or away"] if slices else []
    if any(each.kind == "restart" for each in every):
        texts.append("running Pathways interrupted")
    texts += [each.text for each in every if each.kind in ("data", "cluster", "refused")]
    return tuple(dict.fromkeys(texts))


def _components(
    preview: Preview, changes: list[Change], effects: list[tuple[Consequence, ...]]
) -> tuple[Component, ...]:
    places = {}
    for resource in [*preview.unchanged, *(change.resource for change in preview.changes)]:
        places[resource.urn] = resource
    members: dict[tuple[str, str], dict[object, list[str]]] = {}
    made: dict[object, Group] = {}
    for change, effect in zip(changes, effects, strict=True):
        owner = _component_of(change.resource, places)
        key = (owner, change.op, change.resource.type, change.properties, effect)
        members.setdefault(owner, {}).setdefault(key, []).append(change.resource.name)
        made.setdefault(key, Group(change.op, change.resource.type, (), change.properties, effect))
    found = [
        Component(name, type_, tuple(sorted((_named(made[key], names) for key, names in groups.items()), key=_weight)))
        for (name, type_), groups in members.items()
    ]
    # The engine works in parallel, so its own order differs from run to run.
    return tuple(sorted(found, key=lambda each: (_weight(each.groups[0])[:2], each.name)))


def _weight(group: Group) -> tuple[bool, int, str, tuple[str, ...]]:
    """Sort key: what hurts comes first."""
    order: dict[Op, int] = {"delete": 0, "replace": 1, "update": 2, "create": 3, "import": 4}
    return not group.destructive, order[group.op], group.type, group.names


def _named(group: Group, names: list[str]) -> Group:
    return replace(group, names=tuple(sorted(names, key=_natural)))


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort key that puts tpu-np-2 before tpu-np-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _component_of(resource: Resource, places: Mapping[str, Resource]) -> tuple[str, str]:
    """Name and type of the outermost component that a resource belongs to."""
    found = (OUTSIDE, "")
    parent = resource.parent
    while parent:
        type_ = parent.split("::")[2].rpartition("$")[2] if parent.count("::") >= 3 else ""
        if type_ == STACK_TYPE:
            break
        found = (parent.rpartition("::")[2], type_)
        above = places.get(parent)
        if above is None:
            break
        parent = above.parent
    return found
