"""How the stand-ins talk to each other: one JSON object a line, over TCP."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

Message = dict[str, Any]


class Refused(Exception):
    """The resource manager will not have this server; the message says why."""


class Peer:
    """One end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def address(self) -> str:
        return str((self._writer.get_extra_info("peername") or ["somewhere"])[0])

    def send(self, message: Message) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Message | None:
        """The next message; None when the other end is gone or speaks something else."""
        try:
            line = await self._reader.readline()
            message = json.loads(line) if line else None
        except (OSError, ValueError):
            return None
        return message if isinstance(message, dict) else None

    def close(self) -> None:
        self._writer.close()


async def connect(host: str, port: int, source: str | None) -> Peer:
    """Connect, from the address `source`. Raises OSError when nobody listens."""
    return Peer(*await asyncio.open_connection(host, port, local_addr=(source, 0) if source else None))


def reason(error: OSError) -> str:
    """Why there is no connection."""
    if isinstance(error, socket.gaierror):
        return f"its name cannot be resolved: {error.strerror}"
    return "nobody listens there" if isinstance(error, ConnectionRefusedError) else error.strerror or str(error)


def resolve(host: str) -> str:
    """The IPv4 address of a host. Raises ValueError for one that has none."""
    try:
        return socket.gethostbyname(host)
    except OSError as error:
        raise ValueError(f"{host} cannot be resolved: {error.strerror or error}") from error
