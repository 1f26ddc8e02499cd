"""`pulumi-language-python`: prints the port it listens on, then serves the engine that started it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import stat
import sys
from pathlib import Path

import grpc
from pulumi.runtime.proto import language_pb2_grpc

from rehearsal.engine.host import LanguageHost


def main() -> None:
    parser = argparse.ArgumentParser(prog="pulumi-language-python", description=__doc__)
    parser.add_argument("engine", nargs="?", default="", help="address of the engine")
    parser.add_argument("--use-executor", required=True, type=Path, help="pulumi-language-python-exec")
    parser.add_argument("--tracing", default="", help="address that takes traces")
    # The engine adds its own logging flags when it runs verbosely.
    options, _ = parser.parse_known_args()
    asyncio.run(serve(options.use_executor, options.engine, options.tracing))


async def serve(executor: Path, engine: str, tracing: str) -> None:
    """Serve on a free loopback port until the engine interrupts the host or is gone."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    _watch_engine(stop)
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1)])
    host = LanguageHost(executor, engine, tracing)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), f"{port}\n".encode())
    await stop.wait()
    await host.close()
    await server.stop(grace=None)


def _watch_engine(stop: asyncio.Event) -> None:
    """Set `stop` once nobody can read stdout any more: a killed engine interrupts nobody.

    The engine holds the other end of that pipe for as long as it lives. Unlike a parent's pid, which must be asked for
    while the parent is still there, the pipe also tells of an engine that was gone before this process had begun.
    A host that somebody starts by hand has no such pipe, and stays until it is interrupted.
    """
    loop, stdout = asyncio.get_running_loop(), sys.stdout.fileno()

    def gone() -> None:
        loop.remove_reader(stdout)
        stop.set()

    if stat.S_ISFIFO(os.fstat(stdout).st_mode):
        # The writing end of a pipe is never readable: what calls this is the error that its other end is closed.
        loop.add_reader(stdout, gone)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
