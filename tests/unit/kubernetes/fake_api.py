"""An API server of plain dictionaries: what rehearsal.kubernetes.api.Api offers, in memory."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Collection
from typing import Any, cast

from rehearsal.kubernetes.api import Api

Json = dict[str, Any]


class FakeApi:
    """Objects by path. `log` has the method and path of every change."""

    def __init__(self, objects: dict[str, Json] | None = None) -> None:
        self.objects = copy.deepcopy(objects or {})
        self.groups = {"jobset.x-k8s.io"}
        self.log: list[tuple[str, str]] = []
        self._versions = itertools.count(1)

    @property
    def api(self) -> Api:
        return cast(Api, self)

    def serves(self, group: str, resources: Collection[str]) -> bool:
        return group in self.groups

    def get(self, path: str) -> Json | None:
        return copy.deepcopy(self.objects.get(path))

    def items(self, path: str, **query: str) -> list[Json]:
        wanted = [pair.partition("=") for pair in query.get("labelSelector", "").split(",") if pair]
        found = [item for key, item in sorted(self.objects.items()) if self._belongs(key, path)]
        return copy.deepcopy([i for i in found if all(_fits(_labels(i), *words) for words in wanted)])

    def text(self, path: str, **query: str) -> str:
        """The log of a container, which `objects` has at the path with its query."""
        return str(self.objects[f"{path}?container={query['container']}"]["text"])

    def create(self, path: str, body: Json) -> None:
        self.log.append(("POST", path))
        self.objects.setdefault(f"{path}/{body['metadata']['name']}", copy.deepcopy(body))

    def patch(self, path: str, body: Json | list[Json]) -> None:
        self.log.append(("PATCH", path))
        item = self.objects[path.removesuffix("/status")]
        if isinstance(body, dict):
            _merge(item, body)
        else:
            for operation in body:
                _set(item, operation["path"].split("/")[1:], operation["value"])
        item["metadata"]["resourceVersion"] = f"fake-{next(self._versions)}"

    def delete(self, path: str, *, at_once: bool = False) -> None:
        self.log.append(("DELETE", path))
        self.objects.pop(path, None)

    @staticmethod
    def _belongs(key: str, collection: str) -> bool:
        folder, _, _ = key.rpartition("/")
        if folder == collection:
            return True
        base, _, kind = collection.rpartition("/")
        return folder.startswith(f"{base}/namespaces/") and folder.endswith(f"/{kind}")


def _fits(labels: dict[str, str], key: str, equals: str, value: str) -> bool:
    """Whether a selector's KEY=VALUE, or KEY alone, which is any value, is true of labels."""
    return labels.get(key) == value if equals else key in labels


def _labels(item: Json) -> dict[str, str]:
    labels: dict[str, str] = item["metadata"].get("labels") or {}
    return labels


def _merge(target: Json, change: Json) -> None:
    for key, value in change.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            _merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


def _set(target: Any, path: list[str], value: Any) -> None:
    for key in path[:-1]:
        target = target[int(key)] if isinstance(target, list) else target[key]
    target[path[-1]] = value
