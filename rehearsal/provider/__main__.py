"""`python -m rehearsal.provider ENGINE`: serve until the engine is gone; the port goes to stdout."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from rehearsal.provider.server import Servicer

_MESSAGE_LIMIT = 400 * 1024 * 1024  # bytes; the engine's own limit
# Node pools wait for GKE most of the time, and the engine may ask about all of a stack's at once.
_THREADS = 256


def main(arguments: list[str]) -> None:
    """Serve the provider protocol on a free loopback port."""
    # Ctrl-C reaches the whole process group; the engine decides what becomes of the operations under way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    options = [(f"grpc.max_{way}_message_length", _MESSAGE_LIMIT) for way in ("receive", "send")]
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=options)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    engine = next((a for a in arguments if not a.startswith("-")), None)
    if engine:
        threading.Thread(target=_leave_with, args=(engine,), daemon=True).start()
    server.wait_for_termination()


def _leave_with(engine: str) -> None:
    """End this process when nobody listens at the engine's address any more."""
    host, _, port = engine.rpartition(":")
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except TimeoutError:
            continue
        except OSError:
            os._exit(0)
        time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1:])
