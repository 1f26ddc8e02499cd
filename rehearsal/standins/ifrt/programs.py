"""The requests about programs: compiling, what a program is like, and running it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rehearsal.standins.ifrt import shardings
from rehearsal.standins.ifrt.arrays import row_major
from rehearsal.standins.ifrt.computer import Program
from rehearsal.standins.ifrt.hardware import Hardware
from rehearsal.standins.ifrt.messages import message
from rehearsal.standins.ifrt.status import UNIMPLEMENTED, StatusError, not_served
from rehearsal.standins.ifrt.store import Store, Value, paired

# By either name a portable StableHLO artifact.
_PROGRAMS = ("xla::ifrt::XlaProgram", "xla::ifrt::HloProgram")
_OPTIONS = ("xla::ifrt::XlaCompileOptions",)


class Programs:
    """Handles each request that its name says."""

    def __init__(self, store: Store, hardware: Hardware) -> None:
        self._store = store
        self._hardware = hardware

    def compile(self, request: Any, response: Any) -> None:
        if request.host_callbacks:
            raise not_served("host callbacks (jax.debug.print, pure_callback, io_callback)")
        for serialized, served in ((request.program, _PROGRAMS), (request.compile_options, _OPTIONS)):
            if serialized.type_name not in served:
                raise not_served(f"programs given as {serialized.type_name}")
        options = message("xla.ifrt.XlaCompileOptionsProto").FromString(request.compile_options.data)
        program = self._hardware.compile(request.program.data, options.compile_options)
        response.loaded_executable_handle = self._store.add_program(program)
        response.name = program.name
        response.num_devices = len(program.device_ids)
        response.device_ids[:] = program.device_ids
        response.addressable_device_ids[:] = program.device_ids
        response.ready_future_handle = self._store.finished()

    def loaded_executable_metadata(self, request: Any, response: Any) -> None:
        program = self._store.program(request.loaded_executable_handle)
        response.parameter_shardings.SetInParent()
        for sharding in program.parameter_shardings():
            response.parameter_shardings.shardings.add().ParseFromString(sharding.SerializeToString())
        response.output_shardings.SetInParent()
        for sharding in program.output_shardings():
            response.output_shardings.shardings.add().ParseFromString(sharding.SerializeToString())
        response.parameter_layouts_list.layouts.extend(row_major(len(each.shape)) for each in program.parameters)
        response.output_layouts_list.layouts.extend(row_major(len(each.shape)) for each in program.outputs)
        memories = response.output_memory_kinds.memory_kind_lists.add()
        memories.memory_kinds.extend(shardings.DEVICE_MEMORY for _ in program.outputs)
        response.donated_input_indices.donated_input_indices.extend(sorted(program.donated))
        for error in (response.compiled_memory_stats_error, response.mpmd_compiled_memory_stats_error):
            error.code, error.message = UNIMPLEMENTED, not_served("memory statistics").message
        response.size_of_generated_code_in_bytes = program.loaded.size_of_generated_code_in_bytes()

    def loaded_executable_execute(self, request: Any, response: Any) -> None:
        program = self._store.program(request.loaded_executable_handle)
        failure: StatusError | None = None
        results: Sequence[list[Any] | None] = [None] * len(program.outputs)
        try:
            results = self._run(program, request)
        except StatusError as error:
            # A real proxy answers before the program has run: its failure is that of whoever uses a result.
            failure = error
        op_shardings = program.output_shardings() or [None] * len(program.outputs)
        for handle, (output, op_sharding, shards) in paired(
            request.result_array_handle, zip(program.outputs, op_shardings, results, strict=True)
        ):
            sharding = shardings.of_output(program.device_ids, op_sharding)
            dtype = message("xla.ifrt.DTypeProto")(kind=output.kind)
            told = response.outputs.add(dtype=dtype, sharding=sharding)
            told.shape.dims[:] = output.shape
            value = failure or Value(dtype, output.shape, sharding, shards or [])
            told.array_handle = self._store.put(handle, value)
        # A client that did not ask for it does not expect it.
        if request.execute_options.fill_status:
            response.status_handle = self._store.finished(request.result_status_handle, failure)

    def _run(self, program: Program, request: Any) -> list[list[Any]]:
        """The shards of each output. Raises StatusError."""
        arguments = [self._store.value(handle) for handle in request.args_handles]
        results = self._hardware.execute(program, [(value.shape, value.shards) for value in arguments])
        for index in program.donated - set(request.execute_options.non_donatable_input_indices):
            arguments[index].delete()
        return results

    def loaded_executable_fetch_execute_result(self, request: Any, _response: Any) -> None:
        self._store.take_future(request.result_status_handle)

    def loaded_executable_cost_analysis(self, request: Any, response: Any) -> None:
        for name, figure in self._store.program(request.loaded_executable_handle).loaded.cost_analysis().items():
            response.attributes.attributes[name].float_value = figure

    def loaded_executable_human_readable_program_text(self, request: Any, response: Any) -> None:
        program = self._store.program(request.loaded_executable_handle)
        response.human_readable_program_text = "\n\n".join(each.to_string() for each in program.loaded.hlo_modules())

    def loaded_executable_delete(self, request: Any, response: Any) -> None:
        self._store.programs.pop(request.loaded_executable_handle, None)
        response.future_handle = self._store.finished()

    def loaded_executable_is_deleted(self, request: Any, response: Any) -> None:
        response.is_deleted = request.loaded_executable_handle not in self._store.programs

    def loaded_executable_destruct(self, request: Any, _response: Any) -> None:
        self._store.programs.pop(request.loaded_executable_handle, None)

    def check_future(self, request: Any, _response: Any) -> None:
        self._store.take_future(request.future_handle)

    def get_default_device_assignment(self, request: Any, response: Any) -> None:
        assignment = response.device_assignment
        assignment.replica_count, assignment.computation_count = request.num_replicas, request.num_partitions
        for partition in range(request.num_partitions):
            replicas = [replica * request.num_partitions + partition for replica in range(request.num_replicas)]
            assignment.computation_devices.add(
                replica_device_ids=[self._hardware.device_ids[each] for each in replicas]
            )
