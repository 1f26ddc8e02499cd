"""`pulumi-language-python`: prints the port it listens on, then serves the engine that started it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
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
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1)])
    host = LanguageHost(executor, engine, tracing)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    orphaned = asyncio.create_task(_until_orphaned(stop))
    await stop.wait()
    orphaned.cancel()
    await host.close()
    await server.stop(grace=None)


async def _until_orphaned(stop: asyncio.Event) -> None:
    """A killed engine interrupts nobody: its host and programs must notice."""
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(0.5)
    stop.set()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
