"""The HTTP side of the double: find the method, check the request, call the handler, answer as "
"Google does."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rehearsal.google.api import Answer, Call, Media, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.discovery import Document, Method, document
from rehearsal.google.errors import GoogleError, invalid, not_found, unimplemented
from rehearsal.google.identity import member_of
from rehearsal.google.schema import Check
from rehearsal.google.services import SERVICES

Json = dict[str, Any]

logger = logging.getLogger("rehearsal.google")

VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
CREATING = ("create", "insert")
# returnPartialSuccess is sent by gcloud to methods whose document has dropped it.
SYSTEM_PARAMETERS = ("$.xgafv", "$alt", "$prettyPrint", "$fields", "$httpHeaders", "returnPartialSuccess")


def create_app(cloud: Cloud, services: Mapping[str, Service] = SERVICES) -> Starlette:
    """The double as an ASGI application. Work that an earlier process left undone goes on."""
    for service in services.values():
        service.start(cloud)
    for id in cloud.work.resume():
        logger.info("resumed %s", id)

    async def health(_request: Request) -> Response:
        return PlainTextResponse("ok")

    async def answer(request: Request) -> Response:
        content = await request.body()
        return await run_in_threadpool(_respond, cloud, services, request, content)

    return Starlette(routes=[Route("/healthz", health), Route("/{path:path}", answer, methods=VERBS)])


def _respond(cloud: Cloud, services: Mapping[str, Service], request: Request, content: bytes) -> Response:
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    parts = [unquote(part) for part in raw_path.decode().split("?")[0].strip("/").split("/")]
    query = dict(request.query_params)
    method_id = "-"
    try:
        service = services.get(parts[0])
        if service is None:
            known = ", ".join(f"/{name}/" for name in services)
            raise not_found(f"The rehearsal has no service at /{parts[0]}/. It has {known}.")
        version, api, method, values = _find(service, request.method, parts[1:])
        method_id = method.id
        handler = service.handlers.get(method.id)
        if handler is None:
            raise unimplemented(
                f"The rehearsal of {service.name} {version} has the method {method.id} but no behaviour for it."
            )
        _check_parameters(api, method, values, query)
        media = method.upload and query.get("uploadType") != "resumable"
        body = {} if media else _body(service, version, api, method, content)
        origin = f"{request.url.scheme}://{request.url.netloc}"
        content_type = request.headers.get("content-type", "")
        repeated = {name: request.query_params.getlist(name) for name in query}
        member = member_of(request.headers.get("authorization", ""))
        content = content if media else b""
        call = Call(method, version, values, query, body, origin, content, content_type, repeated, member)
        with cloud.store.transaction():
            response = _render(handler(cloud, call))
        status, note = response.status_code, ""
    except GoogleError as error:
        response = JSONResponse(error.body(), error.code)
        status, note = error.code, error.message
    except Exception as error:
        traceback.print_exc()
        text = f"Internal error of the rehearsal in {method_id}: {error!r}. The log has more."
        response = JSONResponse(GoogleError(500, "INTERNAL", "internalError", text).body(), 500)
        status, note = 500, text
    url = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    logger.info("%s %s %s %s%s", status, request.method, url, method_id, f": {note}" if note else "")
    return response


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


def _render(answer: Answer) -> Response:
    if answer is None:
        return Response(status_code=204)
    if isinstance(answer, Media):
        return Response(answer.content, media_type=answer.content_type)
    return JSONResponse(answer)
