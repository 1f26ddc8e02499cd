"""Resources as rules read them: plain values, and a marker for what only the update will know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs, StackValidationArgs, proxy
from pulumi_policy.proxy import UnknownValueError

from pathways import inventory, workloads
from pathways.inventory import Machines
from pathways.workloads import Container


class Unknown:
    """A value that a preview cannot know. No rule is broken by it: the update will judge it."""

    def __repr__(self) -> str:
        return "(known after the update)"


UNKNOWN = Unknown()
# A remediation is passed these themselves, where a validation is passed a view that raises.
_MARKS = frozenset(
    value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_") and isinstance(value, str)
)


@dataclass(frozen=True)
class Resource:
    """One resource: what the program states, or on a stack what is known of it."""

    type: str
    name: str
    urn: str
    properties: Mapping[str, Any] = field(repr=False)
    protected: bool = False

    def at(self, path: str) -> Any:
        """The value at a dotted path; UNKNOWN where it or what it lies in is, None where there is none."""
        found: Any = self.properties
        for key in path.split("."):
            if isinstance(found, Unknown):
                return UNKNOWN
            if not isinstance(found, Mapping):
                return None
            found = found.get(key)
        return found

    @cached_property
    def title(self) -> str:
        """The name that Google sees where the program states it, else the program's own."""
        name = self.properties.get("name")
        return name if isinstance(name, str) else self.name

    @cached_property
    def pathways(self) -> tuple[Container, ...]:
        """The Pathways containers in it."""
        return tuple(workloads.containers(self.type, self.properties))


@dataclass(frozen=True)
class Stack:
    """All resources of a stack."""

    resources: tuple[Resource, ...]

    def of_type(self, *types: str) -> list[Resource]:
        return [resource for resource in self.resources if resource.type in types]

    @cached_property
    def machines(self) -> list[tuple[Resource, Machines]]:
        """Everything that holds VMs. A pool listed by its cluster as well counts once."""
        pools = {pool.title for pool in self.of_type(inventory.NODE_POOL)}
        return [
            (resource, machines)
            for resource in self.resources
            for machines in inventory.machines(resource.type, resource.properties)
            if not (resource.type == inventory.CLUSTER and machines.name in pools)
        ]

    @cached_property
    def tpu_pools(self) -> list[tuple[Resource, Machines]]:
        return [(resource, machines) for resource, machines in self.machines if machines.tpu]

    @cached_property
    def workloads(self) -> list[Resource]:
        """The resources that run Pathways."""
        return [resource for resource in self.resources if resource.pathways]

    @cached_property
    def containers(self) -> list[tuple[Resource, Container]]:
        return [(resource, container) for resource in self.workloads for container in resource.pathways]


def of_arguments(arguments: ResourceValidationArgs) -> Resource:
    """A resource from what the library passes for one."""
    return Resource(
        arguments.resource_type,
        arguments.name,
        arguments.urn,
        _plain(arguments.props),
        protected=bool(arguments.opts.protect) if arguments.opts else False,
    )


def of_stack(arguments: StackValidationArgs) -> Stack:
    """A stack from what the library passes. Each rule is passed the same resources anew, so they are kept by place."""
    return Stack(tuple(map(_of_policy_resource, arguments.resources)))


def contains(value: Any, *wanted: Any) -> bool:
    """Whether a list that is known holds one of these values."""
    return isinstance(value, Sequence) and not isinstance(value, str) and any(each in value for each in wanted)


def entries(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list, or the one object where a single one is given."""
    if isinstance(value, Mapping):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, str):
        yield from (each for each in value if isinstance(each, Mapping))


def _of_policy_resource(resource: PolicyResource) -> Resource:
    protected = bool(resource.opts.protect) if resource.opts else False
    return Resource(resource.resource_type, resource.name, resource.urn, _plain(resource.props), protected)


def _plain(value: Any) -> Any:
    """Values without the library's views, which raise an error on the unknown."""
    if isinstance(value, Mapping):
        return {key: _item(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_item(value, index) for index in range(len(value))]
    return UNKNOWN if isinstance(value, str) and value in _MARKS else value


def _item(container: Any, key: Any) -> Any:
    try:
        return _plain(container[key])
    except UnknownValueError:
        return UNKNOWN
