"""Host buffers on their way between client and session."""

from __future__ import annotations

import threading

from rehearsal.standins.ifrt.status import NOT_FOUND, StatusError

# A request that names a buffer may overtake the buffer, which travels in a stream of its own.
_PATIENCE = 60.0


class HostBuffers:
    """Contents by handle. Filled by the client or by the session, emptied by the other."""

    def __init__(self) -> None:
        self._contents: dict[int, bytes] = {}
        self._arrival = threading.Condition()

    def put(self, handle: int, content: bytes) -> None:
        with self._arrival:
            self._contents[handle] = content
            self._arrival.notify_all()

    def get(self, handle: int, patience: float = _PATIENCE) -> bytes:
        """The content of a buffer, waited for at most `patience` seconds. Raises StatusError."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: handle in self._contents, patience):
                raise StatusError(NOT_FOUND, f"The host buffer {handle} has not come within {patience:.0f} seconds.")
            return self._contents[handle]

    def delete(self, handle: int) -> None:
        with self._arrival:
            self._contents.pop(handle, None)
