"""The five verbs that most compute resources share: insert, get, list, patch, delete."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rehearsal.google.api import Answer, Call
from rehearsal.google.cloud import Cloud, fresh_number, now
from rehearsal.google.documents import merge
from rehearsal.google.errors import GoogleError, already_exists, condition_not_met
from rehearsal.google.services.compute.service import (
    BASE,
    SERVICE,
    Scope,
    aggregated,
    listing,
    load,
    operation,
    project_of,
    scope_of,
    users,
)

Json = dict[str, Any]
Insert = Callable[[Cloud, Scope, Json], Json]
Change = Callable[[Cloud, Scope, Json, Json], Json]
Present = Callable[[Cloud, Json], Json]


@dataclass(frozen=True)
class Collection:
    """One kind of resource. `kind` is Google's without "compute#"; `insert` fills in and checks a new one."""

    name: str
    kind: str
    insert: Insert
    change: Change | None = None
    """What PATCH and PUT make of (old, new merged over old)."""
    verbs: tuple[str, ...] = ()
    """Of aggregatedList, patch and update those that Google has; all have insert, get, list and delete."""
    present: Present = field(default=lambda _cloud, item: item)
    """What a reader sees of what is stored."""
    fingerprint: bool = False
    after_insert: Callable[[Cloud, Scope, Json], None] = lambda _cloud, _scope, _item: None

    def register(self) -> None:
        """Give the methods of the collection their behaviour."""
        handlers: dict[str, Callable[[Cloud, Call], Answer]] = {
            "insert": self._insert,
            "get": self._get,
            "list": self._list,
            "delete": self._delete,
            "aggregatedList": self._aggregated,
            "patch": self._patch,
            "update": self._patch,
        }
        for verb in ("insert", "get", "list", "delete", *self.verbs):
            SERVICE.handles(f"compute.{self.name}.{verb}")(handlers[verb])

    def path(self, scope: Scope, call: Call) -> str:
        """The relative name of the resource that a request is about: the last variable of its route."""
        variable = [segment.variable for segment in call.method.segments if segment.variable][-1]
        return scope.resource(self.store_name, call.path[str(variable)])

    @property
    def store_name(self) -> str:
        """The collection's part of a URL; global addresses are addresses."""
        return "addresses" if self.name == "globalAddresses" else self.name

    def save(self, cloud: Cloud, path: str, item: Json) -> None:
        if self.fingerprint:
            content = json.dumps({k: v for k, v in item.items() if k != "fingerprint"}, sort_keys=True)
            item["fingerprint"] = base64.b64encode(hashlib.sha256(content.encode()).digest()[:8]).decode()
        cloud.store.put(f"compute/{path}", item)

    def create(self, cloud: Cloud, scope: Scope, body: Json) -> Json:
        """A new resource, stored. Raises GoogleError when there is one of that name."""
        path = scope.resource(self.store_name, body["name"])
        if cloud.store.get(f"compute/{path}") is not None:
            raise already_exists(f"The resource '{path}' already exists")
        base = {
            "kind": f"compute#{self.kind}",
            "id": fresh_number(),
            "creationTimestamp": now(),
            "selfLink": BASE + path,
            **scope.fields(),
        }
        item = {**base, **self.insert(cloud, scope, body)}
        self.save(cloud, path, item)
        self.after_insert(cloud, scope, item)
        return item

    def _insert(self, cloud: Cloud, call: Call) -> Json:
        scope = scope_of(cloud, call)
        return operation(cloud, scope, "insert", self.create(cloud, scope, call.body))

    def _get(self, cloud: Cloud, call: Call) -> Json:
        return self.present(cloud, load(cloud, self.path(scope_of(cloud, call), call)))

    def _list(self, cloud: Cloud, call: Call) -> Json:
        scope = scope_of(cloud, call)
        path = f"projects/{scope.project.id}/{scope.path}/{self.store_name}"
        stored = cloud.store.list(f"compute/{path}/").values()
        return listing(call, f"compute#{self.kind}List", path, [self.present(cloud, item) for item in stored])

    def _aggregated(self, cloud: Cloud, call: Call) -> Json:
        project = project_of(cloud, call)
        stored = cloud.store.list(f"compute/projects/{project.id}/").items()
        items = [self.present(cloud, item) for key, item in stored if f"/{self.store_name}/" in key]
        return aggregated(call, f"compute#{self.kind}AggregatedList", self.store_name, project, items)

    def _patch(self, cloud: Cloud, call: Call) -> Json:
        assert self.change is not None
        scope = scope_of(cloud, call)
        path = self.path(scope, call)
        old = load(cloud, path)
        if self.fingerprint and call.body.get("fingerprint") != old["fingerprint"]:
            raise condition_not_met("Supplied fingerprint does not match current metadata fingerprint.")
        if call.body.get("name", old["name"]) != old["name"]:
            text = f"Invalid value for field 'resource.name': '{call.body['name']}'. The name cannot be changed."
            raise GoogleError(400, "INVALID_ARGUMENT", "invalid", text)
        self.save(cloud, path, self.change(cloud, scope, old, merge(old, call.body)))
        return operation(cloud, scope, call.method.id.rsplit(".", 1)[-1], old)

    def _delete(self, cloud: Cloud, call: Call) -> Json:
        scope = scope_of(cloud, call)
        path = self.path(scope, call)
        old = load(cloud, path)
        refuse_in_use(self.kind, path, users(cloud, path))
        cloud.store.delete(f"compute/{path}")
        return operation(cloud, scope, "delete", old)


def refuse_in_use(kind: str, path: str, by: list[str]) -> None:
    """Raises the error of a resource that something still uses."""
    if by:
        message = f"The {kind} resource '{path}' is already being used by '{by[0]}'"
        raise GoogleError(400, "FAILED_PRECONDITION", "resourceInUseByAnotherResource", message)
