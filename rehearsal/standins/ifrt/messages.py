"""The protocol's message classes, from the descriptors that jaxlib's own shared library carries."""

from __future__ import annotations

import importlib
import importlib.util
import mmap
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

SERVICE = "xla.ifrt.proxy.GrpcIfrtService"
_ROOTS = (
    "xla/python/ifrt_proxy/common/grpc_ifrt_service.proto",
    "xla/python/ifrt/sharding_serdes.proto",
    "xla/python/pjrt_ifrt/xla_compiler.proto",
    "xla/python/pjrt_ifrt/xla_sharding.proto",
)
_WELL_KNOWN = "google/protobuf/"
# Field numbers of a FileDescriptorProto; the first is the file's name, which appears once.
_FIELDS = range(1, 16)
_VARINT, _BYTES = 0, 2
_NAME_TAG = b"\x0a"


def message(name: str) -> Any:
    """The class of a message by its full name. Raises KeyError for one that this jaxlib lacks."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    library = _Library(_shared_library())
    pool = descriptor_pool.DescriptorPool()
    added: set[str] = set()

    def add(name: str) -> None:
        if name in added:
            return
        added.add(name)
        file = _well_known(name) if name.startswith(_WELL_KNOWN) else library.file(name)
        for dependency in file.dependency:
            add(dependency)
        pool.Add(file)

    for root in _ROOTS:
        add(root)
    return pool


def _shared_library() -> Path:
    """The library of jaxlib that holds everything; the largest."""
    package = importlib.util.find_spec("jaxlib")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("jaxlib is not installed")
    return max(Path(package.origin).parent.glob("*.so"), key=lambda path: path.stat().st_size)


def _well_known(name: str) -> descriptor_pb2.FileDescriptorProto:
    """A file that protobuf itself brings along."""
    module = importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    return descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


class _Library:
    """A compiled program in which protoc's serialized file descriptors lie, one after the other."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def file(self, name: str) -> descriptor_pb2.FileDescriptorProto:
        """The descriptor of a .proto file. Raises KeyError."""
        head = _NAME_TAG + bytes([len(name)]) + name.encode()
        start = self._content.find(head)
        while start >= 0:
            # Nothing says how long a descriptor is: it goes as far as its fields do, and what follows may look like one.
            for end in reversed(self._ends(start, len(head))):
                try:
                    found = descriptor_pb2.FileDescriptorProto.FromString(self._content[start:end])
                except DecodeError:
                    continue
                if found.message_type or found.enum_type:
                    return found
            start = self._content.find(head, start + 1)
        raise KeyError(f"{self._path.name} has no descriptor of {name}")

    def _ends(self, start: int, head: int) -> list[int]:
        """Where each field ends of the message that begins there."""
        position, ends = start + head, []
        while position < len(self._content):
            tag, position = self._varint(position)
            number, kind = tag >> 3, tag & 7
            if number not in _FIELDS or number == 1 or kind not in (_VARINT, _BYTES):
                break
            value, position = self._varint(position)
            position += value if kind == _BYTES else 0
            ends.append(position)
        return ends

    def _varint(self, position: int) -> tuple[int, int]:
        """A variable-length number, and where it ends."""
        value = shift = 0
        while position < len(self._content):
            byte = self._content[position]
            value |= (byte & 0x7F) << shift
            position += 1
            shift += 7
            if byte < 0x80:
                break
        return value, position
