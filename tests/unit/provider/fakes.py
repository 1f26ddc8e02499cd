"""A Google that answers what a test tells it to."""

from __future__ import annotations

import json
from typing import Any

import httpx

from rehearsal.provider.google import Google
from rehearsal.provider.resources import resource
from rehearsal.provider.resources.base import Config, Resource

POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
CONFIG = Config(project="p", region="us-east5", zone="us-east5-b")
CLUSTER_PATH = "container/v1beta1/projects/p/locations/us-east5/clusters/c"

Answer = Any


class FakeGoogle(httpx.BaseTransport):
    """Answers by method and path; several answers to one request are given one after another, the last for ever."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        self.types: list[str] = []  # content types of the requests
        self._answers: dict[tuple[str, str], list[Answer]] = {}

    def answer(self, method: str, path: str, *answers: Answer) -> None:
        """Each answer is a body, or a status and a body, or a function of the request's body."""
        self._answers[method, path] = list(answers)

    def sent(self, method: str, path: str) -> list[Any]:
        """Bodies of the requests with this method and path."""
        return [body for m, p, body in self.requests if (m, p) == (method, path)]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.lstrip("/")
        body: Any = request.content or None
        if body and request.headers["content-type"] == "application/json":
            body = json.loads(body)
        self.types.append(request.headers.get("content-type", ""))
        self.requests.append((request.method, path, body))
        answers = self._answers.get((request.method, path))
        if not answers:
            return httpx.Response(404, json=error(404, "NOT_FOUND", f"Not found: {path}"))
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(answer):
            answer = answer(body)
        if isinstance(answer, tuple):
            return httpx.Response(answer[0], json=answer[1])
        return httpx.Response(200, json=answer)

    def google(self, **options: Any) -> Google:
        return Google("http://google.test", transport=self, **options)

    def kind(self, token: str, config: Config = CONFIG) -> Resource:
        return resource(token, self.google(), config)


def error(status: int, reason: str, message: str) -> dict[str, Any]:
    """An error as Google words it."""
    return {"error": {"code": status, "status": reason, "message": message}}


def done(name: str = "op") -> dict[str, Any]:
    """An operation that is over."""
    return {"name": name, "status": "DONE"}
