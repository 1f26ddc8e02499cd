"""Whether Pathways answers a JAX program: connects as one does, counts the devices, and computes on all of them.

Runs where JAX and pathwaysutils are, with the variables that the stack gives its clients. Ends with 0, or:
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

USAGE, UNREACHABLE, WRONG_DEVICES, OCCUPIED, WRONG_RESULT = 2, 3, 4, 5, 6
_EXITS = {
    USAGE: "the environment or the arguments are wrong",
    UNREACHABLE: "the proxy does not answer, or has no slices yet",
    WRONG_DEVICES: "there are other slices or devices than expected",
    OCCUPIED: "another client is connected",
    WRONG_RESULT: "a computation failed or came out wrong",
}
_TIMEOUT = "PATHWAYS_PROXY_CONNECTION_TIMEOUT_SECS"
# Variables of one value, and who asks for it.
_FIXED = {
    "IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS": ("true", "jaxlib connects to no proxy unless it is"),
    "XCLOUD_ENVIRONMENT": ("GCP", "Google's Introduction to Pathways on Cloud has each client set it to"),
}
_AGAIN_SECONDS = 2.0
# In the refusal of a second client.
_ONE_CLIENT = "one client at a time"


class Failure(Exception):
    """Ends the check with a code and a sentence."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def main() -> int:
    epilog = "; ".join(f"{code}: {meaning}" for code, meaning in _EXITS.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog=epilog)
    parser.add_argument("--slices", type=int, required=True, help="slices that must be there")
    parser.add_argument("--devices", type=int, required=True, help="devices that must be there, of all slices")
    parser.add_argument("--timeout", type=int, default=60, help="seconds to wait for the proxy and its slices")
    parser.add_argument(
        "--elastic", action="store_true", help="wait for slices that are missing when the proxy answers"
    )
    parser.add_argument("--stay", type=int, default=0, help="seconds to stay connected afterwards")
    given = parser.parse_args()
    began = time.monotonic()
    try:
        target = _settings(given.timeout)
        say("connecting", f"{target}, for up to {given.timeout} seconds")
        devices = _connect(target)
        left = given.timeout - round(time.monotonic() - began)
        if given.elastic and len(devices) < given.devices and left > 0:
            # An elastic service lets clients in before all slices are there; JAX asks for devices only once.
            say("waiting", f"for more slices than {_told(devices)}, for up to {left} seconds")
            time.sleep(_AGAIN_SECONDS)
            os.execv(sys.executable, [sys.executable, *sys.argv, f"--timeout={left}"])
        _count(devices, given.slices, given.devices)
        _compute(devices)
        time.sleep(given.stay)
    except Failure as failure:
        print(f"FAILED: {failure}", file=sys.stderr, flush=True)
        return failure.code
    return 0


def say(step: str, text: str) -> None:
    print(f"{step:<12}{text}", flush=True)


def _settings(timeout: int) -> str:
    """The address of the proxy. Raises Failure for variables with which no JAX program would reach it."""
    target = os.environ.get("JAX_BACKEND_TARGET", "")
    if os.environ.get("JAX_PLATFORMS") != "proxy" or not re.fullmatch(r"grpc://.+:\d+", target):
        raise Failure(
            USAGE,
            f"JAX_PLATFORMS is {os.environ.get('JAX_PLATFORMS')!r} and JAX_BACKEND_TARGET {target!r}; "
            "Pathways needs proxy and grpc://HOST:PORT. The stack's outputs have both.",
        )
    for name, (value, why) in _FIXED.items():
        if os.environ.get(name) != value:
            raise Failure(
                USAGE,
                f"{name} is {os.environ.get(name)!r}; {why} {value}. "
                "pathways connect, the client's container and cluster.env set it.",
            )
    os.environ[_TIMEOUT] = str(timeout)
    # What jaxlib logs on its way is for those who work on jaxlib.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return target


def _connect(target: str) -> list[Any]:
    import jax
    import pathwaysutils

    pathwaysutils.initialize()
    start = time.monotonic()
    try:
        devices: list[Any] = jax.devices()
    except (RuntimeError, jax.errors.JaxRuntimeError) as error:
        text = _reason(error)
        if _ONE_CLIENT in text:
            raise Failure(OCCUPIED, f"{target} is occupied: {text}") from None
        raise Failure(UNREACHABLE, f"{target} does not answer as Pathways does: {text}") from None
    say("connected", f"JAX {jax.__version__} in {time.monotonic() - start:.1f} seconds")
    return devices


def _reason(error: Exception) -> str:
    """The proxy's own words in what JAX says."""
    text = str(error).removeprefix("Unable to initialize backend 'proxy': ")
    # Newer versions of jaxlib add where in their source it was, on further lines.
    return text.partition(" (set JAX_PLATFORMS=")[0].rpartition("detailed error: ")[2].partition("\n")[0]


def _told(devices: list[Any]) -> str:
    return f"{len(devices)} devices in {len({device.slice_index for device in devices})} slices"


def _count(devices: list[Any], slices: int, expected: int) -> None:
    found: dict[int, int] = {}
    for device in devices:
        found[device.slice_index] = found.get(device.slice_index, 0) + 1
    told = _told(devices)
    if len(devices) != expected or len(found) != slices:
        each = ", ".join(f"slice {index}: {count}" for index, count in sorted(found.items()))
        raise Failure(WRONG_DEVICES, f"{told} ({each}); expected are {expected} devices in {slices} slices.")
    kinds = sorted({device.device_kind for device in devices})
    say("devices", f"{told}: {', '.join(kinds)}")


def _compute(devices: list[Any]) -> None:
    """A sum and a product of matrices, each spread over all devices, compared with numpy's."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    slices = len({device.slice_index for device in devices})
    grid = np.array(sorted(devices, key=lambda device: (device.slice_index, device.id))).reshape(slices, -1)
    mesh = Mesh(grid, ("slice", "device"))
    rows = NamedSharding(mesh, PartitionSpec(("slice", "device"), None))
    whole = NamedSharding(mesh, PartitionSpec())
    # Small whole numbers: exact in every order of adding.
    matrix = np.arange(len(devices) * 16, dtype=np.float32).reshape(len(devices) * 2, 8) % 7
    functions: dict[str, Callable[[Any], Any]] = {"sum": lambda x: x.sum(), "matmul": lambda x: x.T @ x}
    for name, function in functions.items():
        try:
            got = np.asarray(jax.jit(function, out_shardings=whole)(jax.device_put(matrix, rows)))
        except jax.errors.JaxRuntimeError as error:
            raise Failure(WRONG_RESULT, f"{name} over {len(devices)} devices: {_reason(error)}") from None
        wanted = function(matrix)
        if not np.array_equal(got, wanted):
            raise Failure(WRONG_RESULT, f"{name} over {len(devices)} devices is {got}, expected {wanted}")
        say(name, f"right, over all {len(devices)} devices")


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # The proxy's client logs a stack trace when Python ends it in an orderly way.
    os._exit(code)
