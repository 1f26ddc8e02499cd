"""The place of MaxText: a JAX program that takes its settings, and makes its steps on whichever slices there are.

Runs where JAX and pathwaysutils are. Like MaxText with elastic training it goes on when slices come and go.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

STEPS, SECONDS_PER_STEP = 10, 1.0
# jaxlib connects to no proxy unless it is true.
INSECURE = "IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS"
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


def target(environment: Mapping[str, str]) -> str:
    """The address of the proxy, from what JAX reads. Raises TrainerError."""
    address = environment.get("JAX_BACKEND_TARGET", "")
    if environment.get("JAX_PLATFORMS") != "proxy" or not re.fullmatch(r"grpc://.+:\d+", address):
        raise TrainerError(
            f"JAX_PLATFORMS={environment.get('JAX_PLATFORMS', '')} and JAX_BACKEND_TARGET={address} "
            "lead to no Pathways service"
        )
    if environment.get(INSECURE) != "true":
        raise TrainerError(f"{INSECURE}={environment.get(INSECURE, '')}: jaxlib connects to no proxy unless it is true")
    return address


def train(steps: int) -> None:
    """Make steps, each on the slices that are there; without a slice, wait for one. Raises TrainerError."""
    import jax
    import pathwaysutils
    from pathwaysutils.elastic import elastic

    pathwaysutils.initialize()
    try:
        slices = elastic.get_slice_to_devices(jax.devices())
        step, before = 0, None
        while step < steps:
            began = time.monotonic()
            active = sorted(elastic.get_active_slice_indices(slices))
            if active != before:
                log(f"slices: {', '.join(map(str, active)) or 'none'}")
            before = active
            try:
                done = bool(active) and _step([device for index in active for device in slices[index]])
            except jax.errors.JaxRuntimeError as error:
                if not elastic.is_error_due_to_slice_down(error):
                    raise
                done = False
            if done:
                step += 1
                log(f"completed step: {step}")
            time.sleep(max(0.0, SECONDS_PER_STEP - (time.monotonic() - began)))
    except (RuntimeError, jax.errors.JaxRuntimeError) as error:
        raise TrainerError(str(error).partition("\n")[0]) from None


def _step(devices: list[Any]) -> bool:
    """A product of matrices spread over the devices. Raises TrainerError where it comes out wrong."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(devices), ("device",))
    matrix = np.arange(len(devices) * 8, dtype=np.float32).reshape(len(devices), 8) % 5
    spread = jax.device_put(matrix, NamedSharding(mesh, PartitionSpec("device")))
    product = jax.jit(lambda x: x.T @ x, out_shardings=NamedSharding(mesh, PartitionSpec()))(spread)
    if not np.array_equal(np.asarray(product), matrix.T @ matrix):
        raise TrainerError(f"the product over {len(devices)} devices is wrong: {product}")
    return True


def log(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


def main() -> int:
    try:
        given = settings(sys.argv[1:])
        log(f"training {given['run_name']} by the proxy at {target(os.environ)}, a stand-in for MaxText")
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        train(int(given.get("steps", STEPS)))
    except TrainerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The proxy's client logs a stack trace when Python ends it in an orderly way.
    os._exit(code)
