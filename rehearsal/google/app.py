"""The HTTP side of the double: find the method, check the request, call the handler, answer as Google does."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rehearsal.errors import RehearsalError
from rehearsal.google import faults, tokens
from rehearsal.google.api import Answer, Media, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.dispatch import Asked, perform
from rehearsal.google.errors import GoogleError, unavailable
from rehearsal.google.identity import member_of
from rehearsal.google.services import SERVICES

Json = dict[str, Any]

logger = logging.getLogger("rehearsal.google")

VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


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

    return Starlette(
        routes=[
            Route("/healthz", health),
            Route("/faults", partial(_faults, cloud)),
            Route("/faults/{name}", partial(_faults, cloud), methods=["PUT", "DELETE"]),
            Route(tokens.PATH, partial(tokens.answer, cloud), methods=["POST"]),
            Route("/{path:path}", answer, methods=VERBS),
        ]
    )


async def _faults(cloud: Cloud, request: Request) -> Response:
    """Faults as they are, after one was switched."""
    try:
        if name := request.path_params.get("name"):
            await run_in_threadpool(faults.switch, cloud, name, request.method == "PUT")
        return JSONResponse({"faults": await run_in_threadpool(faults.describe, cloud)})
    except (GoogleError, RehearsalError) as error:
        known = error if isinstance(error, GoogleError) else unavailable(str(error))
        return JSONResponse(known.body(), known.code)


def _respond(cloud: Cloud, services: Mapping[str, Service], request: Request, content: bytes) -> Response:
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    asked = Asked(
        verb=request.method,
        parts=[unquote(part) for part in raw_path.decode().split("?")[0].strip("/").split("/")],
        lists={name: request.query_params.getlist(name) for name in request.query_params},
        content=content,
        content_type=request.headers.get("content-type", ""),
        origin=f"{request.url.scheme}://{request.url.netloc}",
        member=member_of(request.headers.get("authorization", "")),
    )
    try:
        return _render(perform(cloud, services, asked))
    except GoogleError as error:
        return JSONResponse(error.body(), error.code)


def _render(answer: Answer) -> Response:
    if answer is None:
        return Response(status_code=204)
    if isinstance(answer, Media):
        return Response(answer.content, media_type=answer.content_type)
    return JSONResponse(answer)
