"""The double's gRPC side, for google-cloud-container, whose usual way to Google it is.

A call is turned into the REST request that Google's client itself makes of it, and then answered as such.
"""

from __future__ import annotations

import functools
import importlib
import json
import typing
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import json_format

from rehearsal.google.api import Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.dispatch import Asked, perform
from rehearsal.google.errors import GoogleError
from rehearsal.google.identity import member_of

Json = dict[str, Any]
SERVICE = "container"
#: The Python package of each gRPC service that is answered.
PACKAGES = {
    f"google.container.{version}.ClusterManager": f"google.cloud.container_{version}" for version in ("v1", "v1beta1")
}
THREADS = 16


def start(cloud: Cloud, services: Mapping[str, Service], port: int) -> tuple[grpc.Server, int]:
    """Serve on loopback from now on; port 0 takes a free one. The server, which must be kept, and its port."""
    server = grpc.server(ThreadPoolExecutor(THREADS, thread_name_prefix="grpc"), handlers=[_Front(cloud, services)])
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound


@dataclass(frozen=True)
class _Method:
    """A gRPC method as Google's client knows it: its message types, and what it is over REST."""

    request: Any
    response: Any
    rest: Any


class _Front(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Answers every method of the services in PACKAGES."""

    def __init__(self, cloud: Cloud, services: Mapping[str, Service]) -> None:
        self._cloud = cloud
        self._services = services

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        service, _, name = str(details.method).lstrip("/").partition("/")
        method = _methods(PACKAGES[service]).get(name) if service in PACKAGES else None
        if method is None:
            return None
        return grpc.unary_unary_rpc_method_handler(
            functools.partial(self._answer, method),
            request_deserializer=method.request.deserialize,
            response_serializer=_serialize,
        )

    def _answer(self, method: _Method, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            answer = perform(self._cloud, self._services, _asked(method, request, _caller(context)))
        except GoogleError as error:
            context.abort(getattr(grpc.StatusCode, error.status), error.message)
        message = method.response()
        plain = method.response.pb(message) if hasattr(method.response, "pb") else message
        # The discovery document may be newer than the client's messages.
        return json_format.ParseDict(answer if isinstance(answer, dict) else {}, plain, ignore_unknown_fields=True)


def _serialize(message: Any) -> bytes:
    serialized: bytes = message.SerializeToString()
    return serialized


def _caller(context: grpc.ServicerContext) -> str | None:
    """Who asks, from the metadata in which gRPC carries what HTTP has in its Authorization header."""
    metadata = {name: value for name, value in context.invocation_metadata() or ()}
    return member_of(str(metadata.get("authorization", "")))


def _asked(method: _Method, request: Any, member: str | None) -> Asked:
    options = method.rest._get_http_options()
    transcoded = method.rest._get_transcoded_request(options, request)
    query = method.rest._get_query_params_json(transcoded)
    body = transcoded.get("body")
    content = json_format.MessageToJson(body).encode() if body is not None else b""
    return Asked(
        verb=str(transcoded["method"]).upper(),
        parts=[SERVICE, *str(transcoded["uri"]).strip("/").split("/")],
        lists={name: [_text(each) for each in _list(value)] for name, value in query.items() if name != "$alt"},
        content=content,
        content_type="application/json",
        origin="",
        member=member,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@functools.cache
def _methods(package: str) -> dict[str, _Method]:
    """Every method of a client, from its own transports. Loading them takes seconds, so the first call does it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = importlib.import_module(f"{package}.services.cluster_manager.transports.base")
        rest = importlib.import_module(f"{package}.services.cluster_manager.transports.rest_base")
    rest_methods = vars(rest._BaseClusterManagerRestTransport).items()
    by_word = {name.removeprefix("_Base").lower(): (name, member) for name, member in rest_methods}
    found = {}
    for name, member in vars(base.ClusterManagerTransport).items():
        rest_name, rest_method = by_word.get(name.replace("_", ""), ("", None))
        if isinstance(member, property) and rest_method is not None:
            # Callable[[Request], Response | Awaitable[Response]]
            request, answers = typing.get_args(typing.get_type_hints(member.fget)["return"])
            response = typing.get_args(answers)[0]
            found[rest_name.removeprefix("_Base")] = _Method(request[0], response, rest_method)
    return found
