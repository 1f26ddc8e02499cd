"""Stands in for the colocated-Python server: checks what it is given, listens, and stays.

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


async def serve(address: str, port: int) -> None:
    """Listen until SIGTERM. Raises OSError for a port in use."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), address, port)
    print(f"colocated Python server listening on port {port}", flush=True)
    await ended.wait()
    server.close()


def main() -> int:
    if wrong := fault(os.environ, Path("/proc/self/mounts").read_text()):
        print(wrong, file=sys.stderr)
        return 1
    try:
        port = int(os.environ["GRPC_SERVER_ADDRESS"].rpartition(":")[2])
        asyncio.run(serve(os.environ["REHEARSAL_ADDRESS"], port))
    except OSError as error:
        print(f"cannot listen at {os.environ['GRPC_SERVER_ADDRESS']}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
