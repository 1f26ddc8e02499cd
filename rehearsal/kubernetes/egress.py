"""The way from the API server into the cluster's network: an HTTP CONNECT proxy on a unix socket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

Address = tuple[str, int]
log = logging.getLogger(__name__)

# A webhook call may take 10 seconds; a controller that is just starting should be waited for, not reported.
PATIENCE_SECONDS = 8.0
# Files in the cluster's folder: the proxy's socket, and the id of the process that listens on it.
SOCKET = "egress.sock"
READY = "egress.pid"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class EgressProxy:
    """Forwards connections to cluster addresses to the loopback port that stands for each.

    `resolve` gives that port for a (host, port) of the cluster, None while nothing serves there.
    """

    def __init__(self, resolve: Callable[[Address], int | None], patience: float = PATIENCE_SECONDS) -> None:
        self._resolve = resolve
        self._patience = patience

    async def listen(self, socket: Path) -> asyncio.Server:
        """Serve from now on, until the returned server is closed."""
        return await asyncio.start_unix_server(self._handle, socket)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            try:
                target = _target(await reader.readuntil(b"\r\n\r\n"))
                if target is None:
                    writer.write(b"HTTP/1.1 400 only CONNECT HOST:PORT is served here\r\n\r\n")
                    return
                await self._forward(target, reader, writer)
            finally:
                await _close(writer)

    async def _forward(self, target: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = f"{target[0]}:{target[1]}"
        upstream = await self._connect(target)
        if upstream is None:
            log.warning("nothing serves %s", name)
            writer.write(f"HTTP/1.1 503 no controller serves {name} in this rehearsal\r\n\r\n".encode())
            return
        from_target, to_target = upstream
        try:
            writer.write(ESTABLISHED)
            await asyncio.gather(_copy(reader, to_target), _copy(from_target, writer))
        finally:
            await _close(to_target)

    async def _connect(self, target: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        deadline = asyncio.get_running_loop().time() + self._patience
        while True:
            port = self._resolve(target)
            if port is not None:
                with contextlib.suppress(OSError):
                    return await asyncio.open_connection("127.0.0.1", port)
            if asyncio.get_running_loop().time() > deadline:
                return None
            await asyncio.sleep(0.1)


def _target(head: bytes) -> Address | None:
    """The HOST:PORT of a CONNECT request; IPv6 hosts stand in brackets."""
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split()
    if len(words) != 3 or words[0] != "CONNECT":
        return None
    host, _, port = words[1].rpartition(":")
    return (host.strip("[]"), int(port)) if host and port.isdigit() else None


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    with contextlib.suppress(OSError, RuntimeError):
        sink.write_eof()


async def _close(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        writer.close()
        await writer.wait_closed()
