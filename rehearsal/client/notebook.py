"""The place of Jupyter: takes its options, listens where it would, and shows what a notebook would find."""

from __future__ import annotations

import argparse
import os
import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


def main() -> None:
    parser = argparse.ArgumentParser(prog="jupyter", description=__doc__)
    parser.add_argument("application", choices=["lab", "notebook"])
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--ip", default="localhost")
    parser.add_argument("--port", type=int, default=8888)
    given = parser.parse_args()
    token = secrets.token_hex(24)
    server = ThreadingHTTPServer((given.ip, given.port), _handler(token))
    print(f"http://{given.ip}:{given.port}/{given.application}?token={token}", flush=True)
    server.serve_forever()


def _handler(token: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = parse_qs(urlsplit(self.path).query).get("token") == [token]
            found = {name: value for name, value in sorted(os.environ.items()) if name.startswith("JAX_")}
            text = "".join(f"{name}={value}\n" for name, value in found.items()) if known else "the token is wrong\n"
            self.send_response(200 if known else 403)
            self.end_headers()
            self.wfile.write(text.encode())

    return Handler


if __name__ == "__main__":
    main()
