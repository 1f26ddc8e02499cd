"""The proxy between the API server and a cluster's Services."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from rehearsal.kubernetes.egress import Address, EgressProxy

SERVICE = ("34.118.224.9", 443)


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"echo " + await reader.read(100))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def proxy(resolve: Callable[[Address], int | None], folder: Path, patience: float) -> AsyncIterator[Path]:
    socket = folder / "egress.sock"
    async with await EgressProxy(resolve, patience).listen(socket):
        yield socket


async def ask(socket: Path, request: bytes, body: bytes = b"") -> tuple[bytes, bytes]:
    reader, writer = await asyncio.open_unix_connection(socket)
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(body)
    rest = await reader.read()
    writer.close()
    return head, rest


CONNECT = b"CONNECT 34.118.224.9:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def test_a_connection_to_a_service_reaches_the_program_that_serves_it(tmp_path: Path) -> None:
    async def scenario() -> tuple[bytes, bytes]:
        async with echo() as port, proxy({SERVICE: port}.get, tmp_path, 0.1) as socket:
            return await ask(socket, CONNECT, b"hello")

    head, rest = asyncio.run(scenario())
    assert head.startswith(b"HTTP/1.1 200 ")
    assert rest == b"echo hello"


def test_a_program_that_is_just_starting_is_waited_for(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        routes: dict[Address, int] = {}
        async with echo() as port, proxy(routes.get, tmp_path, 30) as socket:
            asking = asyncio.create_task(ask(socket, CONNECT, b"hello"))
            await asyncio.sleep(0.05)
            routes[SERVICE] = port
            return (await asking)[1]

    assert asyncio.run(scenario()) == b"echo hello"


def test_a_service_that_nobody_serves_is_named_in_the_refusal(tmp_path: Path) -> None:
    async def scenario() -> tuple[bytes, bytes]:
        async with proxy(lambda _: None, tmp_path, 0.0) as socket:
            return await ask(socket, CONNECT)

    head, rest = asyncio.run(scenario())
    assert head.startswith(b"HTTP/1.1 503 no controller serves 34.118.224.9:443")
    assert rest == b""


def test_anything_but_connect_is_refused(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        async with proxy(lambda _: None, tmp_path, 0.0) as socket:
            return (await ask(socket, b"GET / HTTP/1.1\r\n\r\n"))[0]

    assert asyncio.run(scenario()).startswith(b"HTTP/1.1 400 ")
