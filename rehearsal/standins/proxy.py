"""The IFRT proxy server's place: knows from the resource manager which slices there are, and tells its client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from rehearsal.standins.wire import Message, Peer, connect


class Proxy:
    """Serves one client at a time; `elastic` slices may be missing without ending the client's session."""

    def __init__(self, elastic: int, log: Callable[[str], None]) -> None:
        self._elastic = elastic
        self._log = log
        self._state: Message = {"slices": {}}
        self._client: Peer | None = None
        self._seen = 0

    async def follow(self, host: str, port: int, address: str | None) -> None:
        """Keep hearing from the resource manager, whatever happens to it."""
        while True:
            with contextlib.suppress(OSError):
                peer = await connect(host, port, address)
                try:
                    peer.send({"role": "proxy"})
                    while (state := await peer.receive()) is not None:
                        self._heard(state)
                    self._log("the resource manager is gone")
                finally:
                    peer.close()
            await asyncio.sleep(0.5)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's session."""
        peer = Peer(reader, writer)
        if await peer.receive() is not None:
            if self._client is not None:
                peer.send({"refused": "another client is connected"})
            else:
                self._client, self._seen = peer, len(self._state["slices"])
                self._log(f"a client connected from {peer.address}")
                peer.send(self._state)
                while await peer.receive() is not None:
                    pass
                self._client = None
        peer.close()

    def _heard(self, state: Message) -> None:
        self._state = state
        if self._client is None:
            return
        self._seen = max(self._seen, len(state["slices"]))
        if self._seen - len(state["slices"]) > self._elastic:
            self._client.send({"error": f"more than {self._elastic} slices are lost"})
            self._client.close()
        else:
            self._client.send(state)
