"""Forwards a local port to a port of a pod, through the cluster's API server."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from typing import Any

from cli.cloud.errors import CloudError
from cli.cloud.stack import Deployed

Dial = Callable[[], Any]
CHUNK = 1 << 18


@contextlib.contextmanager
def forwarded(dial: Dial, port: int) -> Iterator[int]:
    """Serve on 127.0.0.1:`port` (0: a free one), each connection joined to what `dial` opens. Yields the port.

    `dial` returns something with recv, sendall and close, and may raise CloudError, which ends that connection only.
    Raises CloudError where the port is taken.
    """
    try:
        server = _Server(("127.0.0.1", port), dial)
    except OSError as error:
        raise CloudError(
            "refused", f"port {port} of this machine: {error.strerror}", "name another one with --port"
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="forward", daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], dial: Dial) -> None:
        self.dial = dial
        super().__init__(address, _Connection)


class _Connection(socketserver.BaseRequestHandler):
    """One client, until either side closes."""

    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        try:
            far = self.server.dial()
        except Exception as error:
            # The client sees its connection close; whoever started the command reads why.
            from cli import stacks

            stacks.say(f"no way to the proxy: {error}", "[yellow]warning:[/] ")
            return
        back = threading.Thread(target=_copy, args=(far, self.request), daemon=True)
        back.start()
        _copy(self.request, far)
        back.join()


def _copy(source: Any, target: Any) -> None:
    """Everything from one end to the other; then the other is closed, which ends the copy the other way too."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    for end in (target, source):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            end.close()


def dial_pod(deployed: Deployed, pod: str, port: int) -> Dial:
    """Opens connections to a pod's port by the `kubernetes` client, which this alone loads."""
    from google.auth.transport.requests import Request
    from kubernetes import client
    from kubernetes.stream import portforward

    credentials, lock = deployed.google.credentials, threading.Lock()
    configuration = client.Configuration(host=f"https://{deployed.kubernetes.address}")
    configuration.ssl_ca_cert = deployed.kubernetes.ca_file

    def dial() -> Any:
        with lock:
            if not credentials.valid:
                credentials.refresh(Request())
            configuration.api_key = {"authorization": f"Bearer {credentials.token}"}
        # One client for each connection: what opens a websocket changes its client.
        api = client.CoreV1Api(client.ApiClient(configuration))
        connect = api.connect_get_namespaced_pod_portforward
        joined = portforward(connect, pod, deployed.namespace, ports=str(port))
        near = joined.socket(port)
        near.setblocking(True)
        return near

    return dial
