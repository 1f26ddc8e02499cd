"""One client's session: each request finds who handles it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

from rehearsal.standins.ifrt import status
from rehearsal.standins.ifrt.arrays import Arrays
from rehearsal.standins.ifrt.buffers import HostBuffers
from rehearsal.standins.ifrt.hardware import Hardware
from rehearsal.standins.ifrt.messages import message
from rehearsal.standins.ifrt.programs import Programs
from rehearsal.standins.ifrt.status import StatusError, not_served
from rehearsal.standins.ifrt.store import Store
from rehearsal.standins.proxy import Visit

# Where a request has the handles under which the client will look for the results.
_ARRAY_RESULTS = {
    "make_array_from_host_buffer": ("array_handle",),
    "make_arrays_from_host_buffer_shards": ("array_handles",),
    "make_error_arrays": ("array_handles",),
    "loaded_executable_execute": ("result_array_handle",),
}
_OTHER_ARRAY_RESULTS = ("result_handle", "result_handles")


class Session:
    """Answers requests one after the other. What failed under a handle fails for whoever uses the handle."""

    def __init__(self, visit: Visit, buffers: HostBuffers, init_response: Any) -> None:
        self._visit = visit
        self._store = Store()
        hardware = Hardware(visit)
        self._handlers = (Arrays(self._store, hardware, buffers), Programs(self._store, hardware))
        self._init_response = init_response

    def answer(self, request: Any) -> Any:
        """The IfrtResponse to an IfrtRequest."""
        response = message("xla.ifrt.proxy.IfrtResponse")()
        response.response_metadata.op_id = request.request_metadata.op_id
        kind = request.WhichOneof("request") or "unknown_request"
        name = kind.removesuffix("_request")
        if name == "init":
            response.init_response.CopyFrom(self._init_response)
            return response
        self._forget_losses()
        try:
            handler = self._handler(name)
            part = getattr(response, f"{name}_response")
            part.SetInParent()
            handler(getattr(request, kind), part)
        except Exception as error:
            failure = _failure(name, error)
            if kind != "unknown_request":
                self._keep(failure, name, getattr(request, kind))
            response.ClearField("response")
            response.response_metadata.status.code = failure.code
            response.response_metadata.status.message = failure.message
        return response

    def _forget_losses(self) -> None:
        while self._visit.losses:
            index = self._visit.losses.pop()
            self._store.lose(index, {device.id for device in self._visit.devices if device.slice_index == index})

    def _handler(self, name: str) -> Callable[[Any, Any], None]:
        for handlers in self._handlers:
            found: Callable[[Any, Any], None] | None = getattr(handlers, name, None)
            if found is not None:
                return found
        raise not_served(f"IFRT requests of the kind {name}")

    def _keep(self, failure: StatusError, name: str, part: Any) -> None:
        """Leave the failure wherever the client expects a result."""
        for field in _ARRAY_RESULTS.get(name, _OTHER_ARRAY_RESULTS):
            for handle in _numbers(part, field):
                self._store.put(handle, failure)
        for handle in _numbers(part, "result_status_handle"):
            self._store.finished(handle, failure)


def _numbers(part: Any, field: str) -> Iterator[int]:
    """The handles in a field, repeated or not; none where there is no such field."""
    value = getattr(part, field, 0)
    yield from (each for each in ([value] if isinstance(value, int) else value) if each)


def _failure(name: str, error: Exception) -> StatusError:
    if isinstance(error, StatusError):
        return error
    traceback.print_exception(error)
    return StatusError(status.INTERNAL, f"The rehearsed Pathways cannot do {name}: {error}")
