"""A proxy before the double that keeps GKE's operations running for as long as a test wants."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import httpx


class HoldingProxy:
    """`began(suffix)` is set once a POST to a path with that suffix went through."""

    def __init__(self, google: str) -> None:
        self._google = httpx.Client(base_url=google)
        self._released = threading.Event()
        self._began: dict[str, threading.Event] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def began(self, suffix: str) -> threading.Event:
        return self._began.setdefault(suffix, threading.Event())

    def release(self) -> None:
        """Let operations end when they end."""
        self._released.set()

    def forward(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        answer = self._google.request(method, path, content=body, headers={"content-type": "application/json"})
        content = answer.content
        if "/container/" in path and answer.is_success and not self._released.is_set():
            content = json.dumps(_running(answer.json())).encode()
        if method == "POST" and answer.is_success:
            for suffix, event in self._began.items():
                if path.split("?")[0].endswith(suffix):
                    event.set()
        return answer.status_code, content

    def _handler(proxy) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                status, content = proxy.forward(self.command, self.path, body)
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """The double logs every request already."""

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

        return Handler


def _running(answer: dict[str, Any]) -> dict[str, Any]:
    """An operation as one that goes on; any other answer as it is."""
    return {**answer, "status": "RUNNING"} if "operationType" in answer else answer
