"""What all resource types have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rehearsal.provider import labels
from rehearsal.provider.check import DEFAULTS
from rehearsal.provider.facts import all_facts
from rehearsal.provider.google import Google, GoogleError, Interrupted, OperationError
from rehearsal.provider.paths import Path
from rehearsal.provider.plan import Change, changes, planned
from rehearsal.provider.refresh import imported, refreshed
from rehearsal.provider.schema import load
from rehearsal.provider.translate import from_api, keep_stated, to_api

Properties = dict[str, Any]


@dataclass(frozen=True)
class Config:
    """How the provider was configured by the stack's `gcp:` settings."""

    project: str = ""
    region: str = ""
    zone: str = ""
    default_labels: Mapping[str, str] = field(default_factory=dict)
    attribution: bool = True


class Refused(Exception):
    """An operation that cannot begin; the message says why and how to fix it."""


class Incomplete(Exception):
    """A resource that exists in the cloud and is not as wanted yet; the next `up` goes on from `state`."""

    def __init__(self, identity: str, state: Properties, reason: str) -> None:
        super().__init__(reason)
        self.identity, self.state = identity, state


class Resource:
    """One resource type with a path of its own in a Google API, which is also its id.

    `where` maps the placeholders of the id to their values, such as project, region and name.
    """

    service = "compute"

    def __init__(self, token: str, google: Google, config: Config) -> None:
        self.schema, self.facts = load(token), all_facts()[token]
        self.google, self.config = google, config

    # What the engine asks for

    def changes(self, state: Properties, inputs: Properties, ignored: Iterable[Path] = ()) -> list[Change]:
        """What `update` would have to change."""
        found = changes(self.schema, self.facts, state, inputs, ignored)
        if "pulumiLabels" in state and not any(c.path[0] == self.facts.labels for c in found):
            # The labels of the provider's configuration may have changed.
            wanted = self.labels(inputs, create=False, state=state)
            found += [Change(("pulumiLabels",), "update", False)] if wanted != state["pulumiLabels"] else []
        return found

    def preview(self, state: Properties, inputs: Properties, *, create: bool) -> Properties:
        """The expected state, with what only Google can tell as unknown."""
        stated = {name: value for name, value in inputs.items() if name != DEFAULTS}
        if not create and self.facts.labels and "pulumiLabels" in state:
            stated["pulumiLabels"] = self.labels(inputs, create=False, state=state)
        for name in self._places():
            if create and name in self.schema.outputs.properties and name not in stated and self._default(name):
                stated[name] = self._default(name)
        return planned(self.schema, self.facts, state, stated, create=create)

    def create(self, inputs: Properties, timeout: float) -> tuple[str, Properties]:
        """The id and the state of a new resource. Raises GoogleError, Refused, or Incomplete once it exists."""
        stated = {name: value for name, value in inputs.items() if name != DEFAULTS}
        where = self.where(stated)
        begun = self.begin(where, stated)
        try:
            self.finish(where, begun, timeout)
            self.settle(where, timeout)
            self.follow_up(where, stated, timeout)
            return self.identity(where), self.state(where, self.answer(where), self.with_labels(stated))
        except (Interrupted, OperationError, GoogleError) as error:
            if not isinstance(error, Interrupted) and self.find(where) is None:
                raise
            partial = {**self.with_labels(stated), **self.location(where)}
            for name in self.unfinished:
                partial.pop(name, None)
            raise Incomplete(self.identity(where), partial, f"{self.identity(where)}: {error}") from error

    def read(self, identity: str, inputs: Properties, state: Properties) -> tuple[str, Properties, Properties] | None:
        """Id, inputs and state as they are now; None when the resource is gone."""
        where = self.known(identity, state or inputs)
        self.settle(where, self.facts.timeout)
        answer = self.find(where)
        if answer is None:
            return None
        # Without a state, the creation was cut short, and nobody knows whether it was followed up.
        begun = {k: v for k, v in inputs.items() if k != DEFAULTS and k not in self.unfinished}
        stated = state or self.with_labels(begun)
        now = self.state(where, answer, stated or self.imported_defaults())
        if inputs:
            return self.identity(where), refreshed(self.schema, self.facts, inputs, now), now
        return self.identity(where), imported(self.schema, self.facts, now), now

    def update(
        self, identity: str, state: Properties, inputs: Properties, ignored: list[Path], timeout: float
    ) -> Properties:
        """The state after everything that differs was sent."""
        where = self.known(identity, state)
        stated = {name: value for name, value in inputs.items() if name != DEFAULTS}
        self.settle(where, timeout)
        self.send(where, state, stated, self.changes(state, inputs, ignored), timeout)
        if self.facts.labels:
            stated["pulumiLabels"] = self.labels(stated, create=False, state=state)
        return self.state(where, self.answer(where), stated)

    def delete(self, identity: str, state: Properties, timeout: float) -> None:
        """Delete the resource; one that is gone already is no error."""
        policy = state.get("deletionPolicy")
        if policy == "PREVENT":
            raise Refused(
                f"{identity} cannot be deleted while deletionPolicy is PREVENT; set it to DELETE and run "
                "`pulumi up` first"
            )
        if policy == "ABANDON":
            return
        where = self.known(identity, state)
        try:
            self.settle(where, timeout)
            self.remove(where, state, timeout)
        except GoogleError as error:
            if error.status != 404:
                raise

    # What a type may do in its own way

    unfinished: tuple[str, ...] = ()  # inputs that `follow_up` brings about

    def begin(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        """Ask for the resource; the answer is what `finish` waits for."""
        return self.google.call("POST", self.service, self.collection(where), json=self.body(where, inputs))

    def finish(self, where: Mapping[str, str], begun: Properties, timeout: float) -> None:
        """Wait until what was begun is done."""

    def settle(self, where: Mapping[str, str], timeout: float) -> None:
        """Wait while somebody else's operation changes the resource."""

    def follow_up(self, where: Mapping[str, str], inputs: Properties, timeout: float) -> None:
        """What creation takes beyond the first request."""

    def send(
        self, where: Mapping[str, str], state: Properties, inputs: Properties, found: list[Change], timeout: float
    ) -> None:
        """Send what differs."""
        raise NotImplementedError

    def remove(self, where: Mapping[str, str], state: Properties, timeout: float) -> None:
        self.finish(where, self.google.call("DELETE", self.service, self.path(where)), timeout)

    def body(self, where: Mapping[str, str], inputs: Properties) -> Properties:
        """The whole resource as Google's API wants it."""
        body = to_api(self.schema, self.facts, inputs)
        if self.facts.labels:
            body[self.facts.labels] = self.labels(inputs, create=True)
        return body

    def state(self, where: Mapping[str, str], answer: Properties, stated: Properties) -> Properties:
        """The Pulumi state of what Google answers; `stated` fills in what Google does not tell."""
        told = {**from_api(self.schema, self.facts, answer), **self.location(where)}
        if self.facts.labels:
            told |= labels.told(self.facts.labels, answer.get(self.facts.labels) or {}, stated)
        if "deletionPolicy" in self.schema.outputs.properties:
            told["deletionPolicy"] = stated.get("deletionPolicy") or "DELETE"
        return keep_stated(self.schema, self.facts, told, stated)

    def location(self, where: Mapping[str, str]) -> Properties:
        """The properties that Google tells by the resource's path only."""
        return {name: value for name, value in where.items() if name in self._places()}

    def find(self, where: Mapping[str, str]) -> Properties | None:
        return self.google.find(self.service, self.path(where))

    def imported_defaults(self) -> Properties:
        """What an import states of properties that Google does not know."""
        return {}

    # Names and places

    def misplaced(self, inputs: Properties) -> list[str]:
        """The parts of the id that neither the inputs nor the stack tell."""
        faults = []
        for name in re.findall(r"{(\w+)}", self.facts.id):
            if name in self._places() and not inputs.get(name) and not self._default(name):
                setting = "zone" if name == "location" else name
                faults.append(f"{name}: the resource states none, and the stack has no gcp:{setting}")
        return faults

    def path(self, where: Mapping[str, str]) -> str:
        return self.facts.id.format_map(where)

    def collection(self, where: Mapping[str, str]) -> str:
        return self.path(where).rsplit("/", 1)[0]

    def identity(self, where: Mapping[str, str]) -> str:
        return self.facts.id.format_map(where)

    def where(self, inputs: Properties) -> dict[str, str]:
        """The placeholders of the id, from the inputs and the provider's configuration."""
        found = {}
        for name in re.findall(r"{(\w+)}", self.facts.id):
            value = inputs.get(name) or self._default(name)
            if not value:
                raise Refused("; ".join(self.misplaced(inputs)) or f"{name}: required, and missing")
            linked = self.facts.has("links", (name,)) or name in ("region", "location")
            found[name] = str(value).rsplit("/", 1)[-1] if linked else str(value)
        return found

    def parse(self, identity: str) -> dict[str, str]:
        """The placeholders of an id, in any of the forms that can be imported."""
        for template in (self.facts.id, *self.facts.imports):
            regex = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/ ]+)", re.escape(template))
            match = re.fullmatch(regex, identity)
            if match:
                names = re.findall(r"{(\w+)}", self.facts.id)
                known = {name: match.groupdict().get(name) or self._default(name) for name in names}
                if all(known.values()):
                    return known
        raise Refused(f"{identity!r} is no id of a {self.facts.token}; it is written {' or '.join(self.facts.imports)}")

    def known(self, identity: str, properties: Properties) -> dict[str, str]:
        """The placeholders of a resource that has this id and, unless it is being imported, these properties."""
        return self.parse(identity)

    def answer(self, where: Mapping[str, str]) -> Properties:
        found = self.find(where)
        if found is None:
            raise GoogleError("GET", self.path(where), 404, "NOT_FOUND", "gone from the cloud; run `pulumi refresh`")
        return found

    def _places(self) -> tuple[str, ...]:
        return ("project", "region", "location")

    def _default(self, name: str) -> str:
        return {"project": self.config.project, "region": self.config.region, "location": self.config.zone}.get(
            name, ""
        )

    # Labels

    def labels(self, inputs: Properties, *, create: bool, state: Properties | None = None) -> dict[str, str]:
        """The labels that Pulumi sees to; the mark that is set at creation stays where it is."""
        marked = labels.is_marked(state) if state else create and self.config.attribution
        return labels.managed(self.config.default_labels, inputs.get(self.facts.labels or ""), marked=marked)

    def with_labels(self, inputs: Properties) -> Properties:
        if not self.facts.labels or not inputs:
            return inputs
        return {**inputs, "pulumiLabels": self.labels(inputs, create=True)}

    def effective_labels(self, now: Mapping[str, str], state: Properties, inputs: Properties) -> dict[str, str]:
        """What to send: Pulumi's labels, and those that somebody else has put there."""
        before = state.get("pulumiLabels") or {}
        foreign = {name: value for name, value in now.items() if name not in before}
        return {**foreign, **self.labels(inputs, create=False, state=state)}


def kinds(found: Iterable[Change], *properties: str) -> set[str]:
    """The kinds of the changes of the properties, and of what lies around or inside them."""
    seen = set()
    for change in found:
        at = ".".join(step for step in change.path if isinstance(step, str))
        if any(at == p or at.startswith(f"{p}.") or p.startswith(f"{at}.") for p in properties):
            seen.add(change.kind)
    return seen


def changed(found: Iterable[Change], *properties: str) -> bool:
    """Whether one of the properties is among the changes, or lies around or inside one."""
    return bool(kinds(found, *properties))


def relative_link(value: str, template: str) -> str:
    """A short name as the path that the APIs want; a path or URL from `projects/` on."""
    if "projects/" in value:
        return value[value.index("projects/") :]
    return template + value
