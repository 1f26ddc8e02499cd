"""The gRPC service: agrees on a version, carries host buffers, and runs one session at a time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import grpc
import grpc.aio

from rehearsal.standins.ifrt import devices
from rehearsal.standins.ifrt.buffers import HostBuffers
from rehearsal.standins.ifrt.messages import SERVICE, message
from rehearsal.standins.ifrt.status import StatusError
from rehearsal.standins.proxy import Proxy, Unready, Visit

_BUFFER_METADATA = "ifrt-proxy-grpc-host-buffer-store-metadata-bin"
_CHUNK = 1 << 20
_METHODS = {
    "GetVersion": (grpc.unary_unary_rpc_method_handler, "GrpcGetVersionRequest"),
    "IfrtSession": (grpc.stream_stream_rpc_method_handler, "IfrtRequest"),
    "HostBufferStore": (grpc.stream_unary_rpc_method_handler, "GrpcHostBufferStoreRequest"),
    "HostBufferLookup": (grpc.unary_stream_rpc_method_handler, "GrpcHostBufferLookupRequest"),
    "HostBufferDelete": (grpc.unary_unary_rpc_method_handler, "GrpcHostBufferDeleteRequest"),
}


class Service:
    """What a JAX client connects to. `proxy` knows the slices and who is connected."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._buffers: dict[int, HostBuffers] = {}
        self._sessions = itertools.count(1)
        self._thread = ThreadPoolExecutor(1, "session")

    async def start(self, address: str, port: int) -> None:
        """Listen. Raises OSError where the port is taken."""
        options = [
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.aio.server(options=options)
        handlers = {
            name: kind(getattr(self, f"_{name}"), message(f"xla.ifrt.proxy.{request}").FromString, _serialize)
            for name, (kind, request) in _METHODS.items()
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        try:
            self._server.add_insecure_port(f"{address}:{port}")
        except RuntimeError as error:
            raise OSError(f"port {port} (--server_port): {error}") from error
        await self._server.start()

    async def _GetVersion(self, request: Any, context: Any) -> Any:
        """The client's newest version: its messages are those of the jaxlib here, or nearly."""
        try:
            self._proxy.check()
        except Unready as error:
            await _end(context, error)
        response = message("xla.ifrt.proxy.GrpcGetVersionResponse")()
        response.version.CopyFrom(request.max_version)
        return response

    async def _IfrtSession(self, _requests: Any, context: Any) -> None:
        try:
            visit = self._proxy.enter(context.peer().partition(":")[2])
        except Unready as error:
            await _end(context, error)
        number = next(self._sessions)
        self._buffers[number] = HostBuffers()
        try:
            await self._converse(number, visit, context)
        finally:
            del self._buffers[number]
            visit.leave()

    async def _converse(self, number: int, visit: Visit, context: Any) -> None:
        loop = asyncio.get_running_loop()
        session = await loop.run_in_executor(self._thread, self._session, number, visit)
        ended = asyncio.ensure_future(visit.ended.wait())
        try:
            while True:
                incoming = asyncio.ensure_future(context.read())
                await asyncio.wait((incoming, ended), return_when=asyncio.FIRST_COMPLETED)
                if ended.done():
                    incoming.cancel()
                    await context.abort(grpc.StatusCode.UNAVAILABLE, visit.reason)
                if incoming.result() is grpc.aio.EOF:
                    return
                await context.write(await loop.run_in_executor(self._thread, session.answer, incoming.result()))
        finally:
            ended.cancel()

    def _session(self, number: int, visit: Visit) -> Any:
        # JAX takes a while to load, and a proxy that nobody connects to does not need it.
        from rehearsal.standins.ifrt.session import Session

        return Session(visit, self._buffers[number], devices.init_response(number, visit.devices))

    async def _HostBufferStore(self, requests: AsyncIterator[Any], context: Any) -> Any:
        metadata = message("xla.ifrt.proxy.GrpcHostBufferStoreMetadata").FromString(
            dict(context.invocation_metadata())[_BUFFER_METADATA]
        )
        content = b"".join([request.data async for request in requests])
        if len(content) != metadata.buffer_size:
            text = f"The host buffer {metadata.handle} has {len(content)} bytes, announced were {metadata.buffer_size}."
            await context.abort(grpc.StatusCode.DATA_LOSS, text)
        (await self._of_session(metadata, context)).put(metadata.handle, content)
        return message("xla.ifrt.proxy.GrpcHostBufferStoreResponse")()

    async def _HostBufferLookup(self, request: Any, context: Any) -> AsyncIterator[Any]:
        buffers = await self._of_session(request, context)
        try:
            content = buffers.get(request.handle, patience=0)
        except StatusError as error:
            await context.abort(grpc.StatusCode.NOT_FOUND, error.message)
        for start in range(0, max(len(content), 1), _CHUNK):
            yield message("xla.ifrt.proxy.GrpcHostBufferLookupResponse")(data=content[start : start + _CHUNK])

    async def _HostBufferDelete(self, request: Any, context: Any) -> Any:
        (await self._of_session(request, context)).delete(request.handle)
        return message("xla.ifrt.proxy.GrpcHostBufferDeleteResponse")()

    async def _of_session(self, request: Any, context: Any) -> HostBuffers:
        if request.session_id not in self._buffers:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"There is no session {request.session_id}.")
        return self._buffers[request.session_id]


async def _end(context: Any, error: Unready) -> NoReturn:
    code = grpc.StatusCode.UNAVAILABLE if error.passing else grpc.StatusCode.FAILED_PRECONDITION
    await context.abort(code, str(error))
    raise error


def _serialize(answer: Any) -> bytes:
    serialized: bytes = answer.SerializeToString()
    return serialized
