"""Stands in for the colocated-Python server: checks what it is given, tells who connects its image's tag, and stays.

Source: pathwaysutils, colocated Python (variables of the sidecar, memory shared with the worker).
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from pathways import images
from rehearsal.standins import ports

PORT_AT_ADDRESS = re.compile(r"[^\s:]+:([1-9]\d{0,4})")


def fault(environment: Mapping[str, str], mounts: str) -> str | None:
    """What is wrong with its settings, one sentence; `mounts` is the content of /proc/self/mounts."""
    address = environment.get("GRPC_SERVER_ADDRESS")
    if address is None or not PORT_AT_ADDRESS.fullmatch(address):
        return f"GRPC_SERVER_ADDRESS must be ADDRESS:PORT, not {address}"
    folder = environment.get("CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY")
    if not folder:
        return "CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY is not set: it names the memory that worker and sidecar share"
    if folder not in {line.split(" ")[1] for line in mounts.splitlines()}:
        return f"CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY={folder} is no volume of this container"
    return None


async def serve(address: str, port: int, image: str) -> None:
    """Listen until SIGTERM. Raises OSError for a port in use."""

    async def tell(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"{images.tag_of(image)}\n".encode())
        writer.close()

    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server = await asyncio.start_server(tell, address, port)
    print(f"colocated Python server listening on port {port}", flush=True)
    await ended.wait()
    server.close()


def main() -> int:
    if wrong := fault(os.environ, Path("/proc/self/mounts").read_text()):
        print(wrong, file=sys.stderr)
        return 1
    port = int(os.environ["GRPC_SERVER_ADDRESS"].rpartition(":")[2])
    try:
        ports.check({port: "GRPC_SERVER_ADDRESS"}, os.environ)
        asyncio.run(serve(os.environ["REHEARSAL_ADDRESS"], port, os.environ["REHEARSAL_IMAGE"]))
    except OSError as error:
        print(f"cannot listen at {os.environ['GRPC_SERVER_ADDRESS']}: {error.strerror}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
