"""The place of MaxText: a client of the proxy that takes its settings, and counts steps while there are slices."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence

from rehearsal.standins.wire import Message, Peer, connect

STEPS, SECONDS_PER_STEP = 10, 1.0
# Without these MaxText would look for TPUs of its own, or not know where to write.
NEEDED = {"enable_single_controller": "true", "base_output_directory": "gs://.+", "run_name": ".+"}


class TrainerError(Exception):
    """Training cannot begin or go on; the message says why."""


def settings(arguments: Sequence[str]) -> dict[str, str]:
    """SETTING=VALUE arguments, after a configuration file if one is named. Raises TrainerError."""
    rest = [argument for index, argument in enumerate(arguments) if index or not argument.endswith(".yml")]
    bad = [argument for argument in rest if not re.fullmatch(r"\w+=.*", argument)]
    if bad:
        raise TrainerError(f"not SETTING=VALUE: {' '.join(bad)}")
    found = dict(argument.split("=", 1) for argument in rest)
    for name, pattern in NEEDED.items():
        if not re.fullmatch(pattern, found.get(name, "")):
            raise TrainerError(f"{name}={found.get(name, '')} cannot be: it has to be like {pattern}")
    return found


def target(environment: Mapping[str, str]) -> tuple[str, int]:
    """Host and port of the proxy, from what JAX reads. Raises TrainerError."""
    found = re.fullmatch(r"grpc://(.+):(\d+)", environment.get("JAX_BACKEND_TARGET", ""))
    if environment.get("JAX_PLATFORMS") != "proxy" or not found:
        raise TrainerError(
            f"JAX_PLATFORMS={environment.get('JAX_PLATFORMS', '')} and "
            f"JAX_BACKEND_TARGET={environment.get('JAX_BACKEND_TARGET', '')} lead to no Pathways service"
        )
    return found[1], int(found[2])


async def train(host: str, port: int, steps: int) -> None:
    """Count steps; without a slice, wait for one. Raises TrainerError when the session ends, OSError without a proxy."""
    peer = await connect(host, port, None)
    peer.send({"client": "trainer"})
    state: Message = {}
    listening = asyncio.create_task(_listen(peer, state))
    try:
        step, before = 0, None
        while step < steps:
            await asyncio.sleep(SECONDS_PER_STEP)
            if listening.done():
                raise TrainerError(
                    f"the session with the proxy ended: {state.get('error', 'it closed the connection')}"
                )
            slices = ", ".join(state.get("slices", {})) or "none"
            if slices != before:
                log(f"slices: {slices}")
            before = slices
            if slices != "none":
                step += 1
                log(f"completed step: {step}")
    finally:
        listening.cancel()
        peer.close()


async def _listen(peer: Peer, state: Message) -> None:
    while (heard := await peer.receive()) is not None:
        state.update(heard)
        if "slices" not in heard:
            return


def log(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


def main() -> int:
    try:
        given = settings(sys.argv[1:])
        host, port = target(os.environ)
        log(f"training {given['run_name']} by the proxy at {host}:{port}, a stand-in for MaxText")
        asyncio.run(train(host, port, int(given.get("steps", STEPS))))
    except (TrainerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
