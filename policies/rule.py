"""What a rule is, and how it becomes a policy of Pulumi's library.

A rule's body yields what is wrong. Its docstring is the description; the messages say which value is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.resources import Resource, Stack, of_arguments, of_stack

Level = Literal["mandatory", "advisory", "disabled"]
Config = Mapping[str, Any]
# On one resource: what is wrong with it. On a stack: with which resource, None for the stack as a whole.
ResourceBody = Callable[[Resource, Config], Iterator[str]]
StackBody = Callable[[Stack, Config], Iterator[tuple[Resource | None, str]]]
Remedy = Callable[[Resource, Config], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Rule:
    """A named rule. `level` holds where an environment's configuration says nothing else."""

    name: str
    fix: str
    level: Level
    severity: Severity
    parameters: Mapping[str, Mapping[str, Any]]
    resource_body: ResourceBody | None = None
    stack_body: StackBody | None = None
    types: tuple[str, ...] = ()
    remedy: Remedy | None = field(default=None, repr=False)

    @property
    def description(self) -> str:
        body = self.resource_body or self.stack_body
        return " ".join((body.__doc__ or "").split()) if body else ""

    def configured(self, given: Config) -> dict[str, Any]:
        """The parameters in force: what the environment states, else the defaults."""
        defaults = {key: schema["default"] for key, schema in self.parameters.items() if "default" in schema}
        return {**defaults, **given}

    def of_resource(self, resource: Resource, given: Config) -> list[str]:
        """What this rule says about one resource."""
        if self.resource_body is None or (self.types and resource.type not in self.types):
            return []
        return list(self.resource_body(resource, self.configured(given)))

    def of_stack(self, stack: Stack, given: Config) -> list[tuple[Resource | None, str]]:
        """What this rule says about a whole stack."""
        return list(self.stack_body(stack, self.configured(given))) if self.stack_body else []

    def policy(self) -> Policy:
        """The rule as Pulumi's library takes it."""
        common: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "enforcement_level": EnforcementLevel(self.level),
            "severity": self.severity,
            "remediation_steps": self.fix,
            "config_schema": PolicyConfigSchema({key: dict(schema) for key, schema in self.parameters.items()})
            if self.parameters
            else None,
        }
        if self.stack_body:
            return StackValidationPolicy(validate=self._validate_stack, **common)
        return ResourceValidationPolicy(
            validate=self._validate_resource, remediate=self._remediate if self.remedy else None, **common
        )

    def _validate_resource(self, arguments: ResourceValidationArgs, report: ReportViolation) -> None:
        if self.types and arguments.resource_type not in self.types:
            return
        for message in self.of_resource(of_arguments(arguments), arguments.get_config()):
            report(f"{message}. {self.fix}", None)

    def _validate_stack(self, arguments: StackValidationArgs, report: ReportViolation) -> None:
        for resource, message in self.of_stack(of_stack(arguments), arguments.get_config()):
            report(f"{message}. {self.fix}", resource.urn if resource else None)

    def _remediate(self, arguments: ResourceValidationArgs) -> Any:
        if self.remedy is None or (self.types and arguments.resource_type not in self.types):
            return None
        changed = self.remedy(of_arguments(arguments), self.configured(arguments.get_config()))
        # The library gives its own views of unknown and secret values back unharmed only where they are left alone.
        return {**dict(_raw(arguments.props)), **changed} if changed else None


def resource_rule(
    name: str,
    *types: str,
    fix: str,
    level: Level = "mandatory",
    severity: Severity = Severity.HIGH,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    remedy: Remedy | None = None,
) -> Callable[[ResourceBody], Rule]:
    """Make a rule of a function that judges one resource of these types; of every type where none is given."""

    def make(body: ResourceBody) -> Rule:
        return Rule(name, fix, level, severity, parameters or {}, resource_body=body, types=types, remedy=remedy)

    return make


def stack_rule(
    name: str,
    *,
    fix: str,
    level: Level = "mandatory",
    severity: Severity = Severity.HIGH,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[StackBody], Rule]:
    """Make a rule of a function that judges all resources of a stack together."""

    def make(body: StackBody) -> Rule:
        return Rule(name, fix, level, severity, parameters or {}, stack_body=body)

    return make


def rules_of(module: Any) -> Sequence[Rule]:
    """The rules that a module defines, in the order in which it does."""
    return [value for value in vars(module).values() if isinstance(value, Rule)]


def _raw(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties under the library's view, which raises on unknown values."""
    target = properties["__target"] if not isinstance(properties, dict) else properties
    return target if isinstance(target, Mapping) else {}
