"""The devices behind the proxy: one virtual CPU device for each, with the same id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import ml_dtypes
import numpy as np

# The one sharding that takes the compiler's own description; JAX keeps it to itself.
from jax._src.sharding_impls import GSPMDSharding
from jax.sharding import Sharding, SingleDeviceSharding
from jaxlib import xla_client
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo

from rehearsal.standins.ifrt.status import not_served

_FAMILIES = {"S": "int", "U": "uint", "F": "float", "C": "complex", "BF": "bfloat"}
_DTYPE = re.compile(r"KIND_(?:(?P<family>BF|[SUFC])(?P<bits>\d+)(?P<format>E\w+)?|(?P<bool>PRED))")
_DONATED = ("jax.buffer_donor", "tf.aliasing_output")


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """The numpy type of a DTypeProto. Raises StatusError for tokens, strings and the like."""
    kind = dtype.Kind.Name(dtype.kind)
    found = _DTYPE.fullmatch(kind)
    if found is None:
        raise not_served(f"arrays of {kind}")
    if found["bool"]:
        return np.dtype(bool)
    name = _FAMILIES[found["family"]] + found["bits"] + (f"_{found['format'].lower()}" if found["format"] else "")
    return np.dtype(getattr(ml_dtypes, name, name))


@dataclass(frozen=True)
class Parameter:
    """A parameter or an output as a whole, not the part of one device. `kind` is a DTypeProto.Kind's name."""

    shape: tuple[int, ...]
    kind: str


@dataclass(frozen=True)
class Program:
    """A compiled program and what its callers must know; `donated` are the parameters that it takes over."""

    name: str
    device_ids: tuple[int, ...]
    parameters: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    donated: frozenset[int]
    loaded: Any
    shardings: tuple[Sharding, ...]

    def output_shardings(self) -> list[Any]:
        """One xla.OpSharding per output; none for a program of one device."""
        return list(self.loaded.get_output_shardings() or [])

    def parameter_shardings(self) -> list[Any]:
        return list(self.loaded.get_parameter_shardings() or [])

    def execute(self, arguments: Sequence[tuple[tuple[int, ...], list[jax.Array]]]) -> list[list[jax.Array]]:
        """Run it with the whole shape and the shards of each argument; the shards of each output."""
        arrays = [
            jax.make_array_from_single_device_arrays(shape, sharding, shards)
            for (shape, shards), sharding in zip(arguments, self.shardings, strict=True)
        ]
        found: list[list[jax.Array]] = self.loaded.execute_sharded(arrays).disassemble_into_single_device_arrays()
        return found


class Computer:
    """This machine's CPU as so many devices."""

    def __init__(self, devices: int) -> None:
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_num_cpu_devices", devices)
        # Of the client's types none may become another here.
        jax.config.update("jax_enable_x64", True)
        self._devices = {device.id: device for device in jax.devices()}

    @property
    def device_ids(self) -> list[int]:
        return sorted(self._devices)

    def put(self, array: np.ndarray[Any, Any] | jax.Array, device: int) -> jax.Array:
        return jax.device_put(array, self._devices[device])

    def compile(self, artifact: bytes, options: Any) -> Program:
        """Compile a portable StableHLO artifact. `options` is an xla.CompileOptionsProto. Raises StatusError."""
        device_ids = _device_ids(options.executable_build_options)
        devices = tuple(self._devices[id] for id in device_ids)
        # Options for TPUs, which this machine's compiler does not know.
        options.env_option_overrides.clear()
        parsed = xla_client.CompileOptions.ParseFromString(options.SerializeToString())
        with ir.Context() as context:
            sdy.register_dialect(context)
            module = stablehlo.deserialize_portable_artifact(context, artifact)
            name = module.operation.attributes["sym_name"].value
            main = next(op for op in module.body.operations if op.attributes["sym_name"].value == "main")
            signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
            parameters, outputs = (
                [_parameter(kind) for kind in side] for side in (signature.inputs, signature.results)
            )
            donated = _take_donations(main)
            loaded = jax.devices()[0].client.compile_and_load(module, xla_client.DeviceList(devices), parsed)
        shardings = [GSPMDSharding(devices, each) for each in loaded.get_parameter_shardings() or []]
        shardings = shardings or [SingleDeviceSharding(devices[0]) for _ in parameters]
        return Program(name, device_ids, tuple(parameters), tuple(outputs), donated, loaded, tuple(shardings))


def _device_ids(build_options: Any) -> tuple[int, ...]:
    """The devices that a program is for, in the order of its partitions."""
    if build_options.num_replicas > 1:
        raise not_served("programs of several replicas (pmap)")
    computations = build_options.device_assignment.computation_devices
    return tuple(int(each.replica_device_ids[0]) for each in computations) or (0,)


def _parameter(kind: Any) -> Parameter:
    tensor = ir.RankedTensorType(kind)
    element = str(tensor.element_type)
    if element.startswith("complex"):
        name = {"complex<f32>": "C64", "complex<f64>": "C128"}[element]
    else:
        name = "PRED" if element == "i1" else element.upper().replace("UI", "U").replace("I", "S", 1)
    return Parameter(tuple(tensor.shape), f"KIND_{name}")


def _take_donations(main: Any) -> frozenset[int]:
    """The parameters whose buffers the program takes over; it is made not to.

    The client may withdraw a donation when it runs the program, which this machine's compiler cannot do.
    """
    if "arg_attrs" not in main.attributes:
        return frozenset()
    given = list(ir.ArrayAttr(main.attributes["arg_attrs"]))
    donated = frozenset(index for index, each in enumerate(given) if any(name in each for name in _DONATED))
    kept = [ir.DictAttr.get({a.name: a.attr for a in each if a.name not in _DONATED}) for each in given]
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(kept)
    return donated
