"""`python -m rehearsal.standins server --server_port=29001 ...`, as a container of that image would run it."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable

from pathways import images
from rehearsal.standins import ports, sidecar, worker
from rehearsal.standins.flags import FlagError, Flags, parse
from rehearsal.standins.wire import Refused

PROGRAMS = ("server", "proxy_server")
PORT_FLAG = "--server_port"
AUXILIARY_PORT_OFFSET = 1
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def log(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


async def serve(flags: Flags, address: str) -> None:
    """Run until a signal ends it. Raises OSError for a port in use, ValueError for a bad setting, Refused."""
    if flags.role == "resource_manager":
        # Imported here because the catalogue takes a while to read, and workers do not need it.
        from rehearsal.standins.resource_manager import ResourceManager, check_host

        auxiliary = flags.port + AUXILIARY_PORT_OFFSET
        check_host(os.environ, address)
        ports.check({flags.port: PORT_FLAG, auxiliary: "the one after it"}, os.environ)
        manager = ResourceManager(flags.values["instance_type"], flags.count("instance_count"), flags.shared, log)
        await _listen(manager.serve, address, flags.port)
        await _listen(_nobody, address, auxiliary)
        log(f"Pathways Server serving on [::]:{flags.port}")
        await asyncio.Event().wait()
    elif flags.role == "worker":
        ports.check({flags.port: PORT_FLAG}, os.environ)
        greeting = worker.hello(flags, os.environ, address)
        await _listen(_nobody, address, flags.port)
        log(f"Pathways Server serving on [::]:{flags.port}")
        if greeting["sidecar"]:
            await sidecar.meet(address, flags.image_tag)
        await worker.run(*flags.resource_manager, address, greeting, log)
    else:
        await _serve_proxy(flags, address)


async def _serve_proxy(flags: Flags, address: str) -> None:
    from rehearsal.standins.proxy import Proxy

    ports.check({flags.port: PORT_FLAG}, os.environ)
    proxy = Proxy(flags, log)
    if _has_jax():
        from rehearsal.standins.ifrt.service import Service

        await Service(proxy).start(address, flags.port)
    else:
        await _listen(_nobody, address, flags.port)
        log("no client can connect: there is no JAX on this machine yet; python -m rehearsal.client installs it")
    log("IFRT proxy server started with status OK")
    await proxy.follow(address)


async def _listen(handler: Handler, address: str, port: int) -> None:
    try:
        await asyncio.start_server(handler, address, port)
    except OSError as error:
        raise OSError(f"port {port} ({PORT_FLAG}): {error.strerror}") from error


async def _nobody(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


def _has_jax() -> bool:
    return importlib.util.find_spec("jaxlib") is not None


def _find_jax() -> None:
    """Go on in the environment that has JAX, if there is one."""
    from rehearsal import client

    python = client.python()
    if python:
        os.execv(python, [str(python), "-m", "rehearsal.standins", *sys.argv[1:]])


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    try:
        flags = parse(_program(), images.tag_of(_variable("REHEARSAL_IMAGE")), sys.argv[2:])
        if flags.role == "proxy" and not _has_jax():
            _find_jax()
        if os.environ.get("REHEARSAL_CLOUD"):
            # Imported here because without a cloud nobody needs HTTP.
            from rehearsal.standins import scratch

            scratch.check(flags, os.environ)
        asyncio.run(serve(flags, _variable("REHEARSAL_ADDRESS")))
    except (FlagError, ValueError, OSError, Refused) as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _program() -> str:
    """server or proxy_server, by its path in the image or by its name alone. Raises ValueError."""
    name = sys.argv[1].rpartition("/")[2] if sys.argv[1:] else ""
    if name not in PROGRAMS:
        raise ValueError(f"the first argument must be {' or '.join(PROGRAMS)}, not {name!r}")
    return name


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ValueError(f"the environment lacks {name}, which whoever starts a stand-in must set")
    return value


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    # In an orderly end, grpc's server complains that its loop is closed, below the sentence that counts.
    os._exit(ended)
