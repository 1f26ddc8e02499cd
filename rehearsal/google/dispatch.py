"""One request to the double, whatever brought it: find the method, check the request, call the handler."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rehearsal.google import faults
from rehearsal.google.api import Answer, Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.discovery import Document, Method, document
from rehearsal.google.errors import GoogleError, invalid, not_found, unimplemented
from rehearsal.google.schema import Check

Json = dict[str, Any]

logger = logging.getLogger("rehearsal.google")

CREATING = ("create", "insert")
# returnPartialSuccess is sent by gcloud to methods whose document has dropped it.
SYSTEM_PARAMETERS = ("$.xgafv", "$alt", "$prettyPrint", "$fields", "$httpHeaders", "returnPartialSuccess")


@dataclass(frozen=True)
class Asked:
    """A request in the form of REST. `parts` are those of the path, the service's name first, not escaped.

    `lists` holds every value of a query parameter, `origin` what the caller takes for the double's address, `member` who
    asks, as IAM policies name it; None: the operator.
    """

    verb: str
    parts: list[str]
    lists: Mapping[str, list[str]]
    content: bytes
    content_type: str
    origin: str
    member: str | None = None

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in self.lists.items()}


def perform(cloud: Cloud, services: Mapping[str, Service], asked: Asked) -> Answer:
    """The answer to a request. Raises GoogleError, also for what goes wrong in the double itself."""
    method_id, note = "-", ""
    status: int | str = "ok"
    try:
        service = services.get(asked.parts[0])
        if service is None:
            known = ", ".join(f"/{name}/" for name in services)
            raise not_found(f"The rehearsal has no service at /{asked.parts[0]}/. It has {known}.")
        version, api, method, values = _find(service, asked.verb, asked.parts[1:])
        method_id = method.id
        handler = service.handlers.get(method.id)
        if handler is None:
            raise unimplemented(
                f"The rehearsal of {service.name} {version} has the method {method.id} but no behaviour for it."
            )
        _check_parameters(api, method, values, asked.query)
        media = method.upload and asked.query.get("uploadType") != "resumable"
        body = {} if media else _body(service, version, api, method, asked.content)
        content = asked.content if media else b""
        call = Call(
            method,
            version,
            values,
            asked.query,
            body,
            asked.origin,
            content,
            asked.content_type,
            asked.lists,
            asked.member,
        )
        with cloud.store.transaction():
            return faults.answer(cloud, call, handler)
    except GoogleError as error:
        status, note = error.code, error.message
        raise
    except Exception as error:
        traceback.print_exc()
        text = f"Internal error of the rehearsal in {method_id}: {error!r}. The log has more."
        status, note = 500, text
        raise GoogleError(500, "INTERNAL", "internalError", text) from error
    finally:
        path = "/".join(asked.parts)
        logger.info("%s %s /%s %s%s", status, asked.verb, path, method_id, f": {note}" if note else "")


def _find(service: Service, http: str, parts: list[str]) -> tuple[str, Document, Method, dict[str, str]]:
    """The version, document, method and path values of a request."""
    versions = [v for v in service.versions if v in parts] or list(service.versions[:1])
    for version in versions:
        api = document(service.name, version)
        if found := api.match(http, parts):
            return version, api, *found
        if verbs := api.verbs(parts):
            message = f"/{'/'.join(parts)} of {service.name} takes {', '.join(verbs)}, not {http}."
            raise GoogleError(405, "INVALID_ARGUMENT", "httpMethodNotAllowed", message)
    path = "/".join(parts)
    raise not_found(f"No method of {service.name} {'/'.join(service.versions)} has the URL {http} /{path}.")


def _check_parameters(api: Document, method: Method, values: Mapping[str, str], query: Mapping[str, str]) -> None:
    known = {**api.common_parameters, **method.parameters}
    for name in query:
        if name not in known and name.split(";")[0] not in SYSTEM_PARAMETERS:
            raise invalid(
                f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. '
                f"Field '{name}' could not be found in request message."
            )
    check = Check({})
    for name, text in {**query, **values}.items():
        parameter = known.get(name, {})
        if text and (parameter.get("enum") or parameter.get("pattern")) and not parameter.get("repeated"):
            check.value({**parameter, "type": "string"}, text, name, "", name)
        if parameter.get("type") == "integer" and parameter.get("format") != "int64":
            check.value({"type": "integer", "format": parameter.get("format")}, text, name, "", name)
    if check.violations:
        raise invalid("\n".join(text for _, text in check.violations))
    for name, parameter in method.parameters.items():
        if parameter.get("required") and parameter.get("location") == "query" and name not in query:
            raise invalid(f"Required parameter: {name}", "required")


def _body(service: Service, version: str, api: Document, method: Method, content: bytes) -> Json:
    if method.request is None:
        return {}
    try:
        value = json.loads(content) if content.strip() else {}
    except ValueError as error:
        raise invalid(f"Invalid JSON payload received. {error}", "parseError") from error
    creating = method.id.rsplit(".", 1)[-1] in CREATING
    check = Check(
        api.schemas,
        method.id,
        creating=creating,
        keep_null=method.http == "PATCH",
        camel_case=service.camel_case,
    )
    if version in service.enum_names:
        check.enum_name = service.enum_names[version]
    body = check.body(method.request, value)
    unsettable = service.server_set.get(method.request, frozenset()) & body.keys()
    if creating and unsettable:
        name = min(unsettable)
        raise invalid(f"Invalid value for field '{name}': it is output only, Google sets it.")
    return {name: item for name, item in body.items() if name not in unsettable}
