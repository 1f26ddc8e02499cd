"""How a service of the double is written: a name, the versions it speaks, and a handler per method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.discovery import Method

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One request that fits its method's schema. `content` and `content_type` are those of a media upload.

    `lists` has every value of each query parameter. `member` is who asks, as IAM policies name it; None: the operator.
    """

    method: Method
    version: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    origin: str
    content: bytes = b""
    content_type: str = ""
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    member: str | None = None

    def flag(self, name: str) -> bool:
        """A boolean query parameter; false when absent."""
        return self.query.get(name, "").lower() == "true"


@dataclass(frozen=True)
class Media:
    """An answer that is not JSON."""

    content: bytes
    content_type: str = "application/octet-stream"


Answer = Json | Media | None
Handler = Callable[[Cloud, Call], Answer]
EnumName = Callable[[str, str, int], str | None]


@dataclass
class Service:
    """One Google API. `name` is its prefix in the double's URLs and its name in the discovery documents."""

    name: str
    versions: tuple[str, ...]
    camel_case: bool = False
    """Field paths in errors are written as in JSON (compute, storage), not as in protocol buffers."""
    enum_names: Mapping[str, EnumName] = field(default_factory=dict)
    """Per version: the name of an enum number, for clients that send numbers."""
    server_set: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per schema: fields that Google sets, where the discovery document does not say so."""
    handlers: dict[str, Handler] = field(default_factory=dict)
    start: Callable[[Cloud], None] = lambda _cloud: None
    """Called once, before the first request."""

    def handles(self, *method_ids: str) -> Callable[[Handler], Handler]:
        """Register a handler for methods of the discovery document."""

        def register(handler: Handler) -> Handler:
            for method_id in method_ids:
                self.handlers[method_id] = handler
            return handler

        return register
