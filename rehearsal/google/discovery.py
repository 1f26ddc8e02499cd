"""Google's discovery documents, as google-api-python-client ships them: routes, parameters and schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Segment:
    """One part of a route: a literal, or a variable and what follows it, as in `{project}:setIamPolicy`."""

    variable: str | None
    literal: str

    @classmethod
    def parse(cls, text: str) -> Segment:
        if not text.startswith("{"):
            return cls(None, text)
        name, _, rest = text[1:].partition("}")
        return cls(name.lstrip("+"), rest)

    def match(self, text: str) -> str | None:
        """The value of the variable ("" for a literal), or None where it does not fit."""
        if self.variable is None:
            return "" if text == self.literal else None
        value = text.removesuffix(self.literal) if text.endswith(self.literal) else ""
        return value or None


@dataclass(frozen=True)
class Method:
    """One method of an API; `id` is Google's, such as container.projects.locations.clusters.create."""

    id: str
    http: str
    path: str
    segments: tuple[Segment, ...]
    request: str | None
    response: str | None
    parameters: Mapping[str, Json]
    upload: bool = False

    @property
    def specificity(self) -> int:
        return sum(2 if s.variable is None else bool(s.literal) for s in self.segments)


class Document:
    """One version of one API."""

    def __init__(self, text: str) -> None:
        content: Json = json.loads(text)
        self.title: str = content["title"]
        self.schemas: dict[str, Json] = content["schemas"]
        self.common_parameters: dict[str, Json] = content["parameters"]
        prefix: str = content.get("servicePath") or ""
        self._routes: dict[tuple[str, int], list[Method]] = {}
        for method in _methods(content):
            self._add(method, prefix + (method.get("flatPath") or method["path"]))
            if media := method.get("mediaUpload"):
                self._add(method, media["protocols"]["simple"]["path"].lstrip("/"), upload=True)

    def match(self, http: str, parts: Sequence[str]) -> tuple[Method, dict[str, str]] | None:
        """The method for a path split at its slashes, and the values of its variables."""
        found: list[tuple[Method, dict[str, str]]] = []
        for method in self._routes.get((http, len(parts)), ()):
            values = [segment.match(part) for segment, part in zip(method.segments, parts, strict=True)]
            if None not in values:
                pairs = zip(method.segments, values, strict=True)
                found.append((method, {s.variable: v for s, v in pairs if s.variable and v is not None}))
        return max(found, key=lambda match: match[0].specificity, default=None)

    def methods(self) -> set[str]:
        """The ids of all methods."""
        return {method.id for routes in self._routes.values() for method in routes}

    def verbs(self, parts: Sequence[str]) -> list[str]:
        """The HTTP verbs that exist for a path."""
        return sorted({http for http, _ in self._routes if self.match(http, parts)})

    def _add(self, method: Json, path: str, upload: bool = False) -> None:
        segments = tuple(Segment.parse(text) for text in path.split("/"))
        entry = Method(
            id=method["id"],
            http=method["httpMethod"],
            path=path,
            segments=segments,
            request=method.get("request", {}).get("$ref"),
            response=method.get("response", {}).get("$ref"),
            parameters=method.get("parameters", {}),
            upload=upload,
        )
        self._routes.setdefault((entry.http, len(segments)), []).append(entry)


def _methods(resource: Json) -> Iterator[Json]:
    yield from resource.get("methods", {}).values()
    for child in resource.get("resources", {}).values():
        yield from _methods(child)


@cache
def document(api: str, version: str) -> Document:
    """The document of an API version, read at first use. Raises FileNotFoundError where there is none."""
    folder = resources.files("googleapiclient.discovery_cache").joinpath("documents")
    return Document(folder.joinpath(f"{api}.{version}.json").read_text("utf-8"))
