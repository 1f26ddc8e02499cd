"""The Python language host: Pulumi's LanguageRuntime service, for machines without the official one."""

from __future__ import annotations

import os
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import grpc
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from rehearsal.engine import programs
from rehearsal.engine.children import Children, output_of
from rehearsal.engine.environment import Runtime
from rehearsal.engine.installation import install
from rehearsal.engine.packages import Installed
from rehearsal.errors import RehearsalError

Context: TypeAlias = grpc.aio.ServicerContext


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs programs, policy packs and plugins written in Python. One host serves one engine.

    `executor` is the official script that a program is started with; `engine` the engine's address.
    """

    def __init__(self, executor: Path, engine: str = "", tracing: str = "") -> None:
        self.children = Children()
        self._executor = executor
        self._engine = engine
        self._tracing = tracing
        self._programs: set[Process] = set()
        self._cancelled = False

    async def Handshake(
        self, request: language_pb2.LanguageHandshakeRequest, context: Context
    ) -> language_pb2.LanguageHandshakeResponse:
        self._engine = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    async def GetPluginInfo(self, request: Empty, context: Context) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=version("pulumi"))

    async def GetRequiredPackages(
        self, request: language_pb2.GetRequiredPackagesRequest, context: Context
    ) -> language_pb2.GetRequiredPackagesResponse:
        installed = await self._installed(request.info, context)
        return language_pb2.GetRequiredPackagesResponse(packages=installed.plugins())

    async def GetProgramDependencies(
        self, request: language_pb2.GetProgramDependenciesRequest, context: Context
    ) -> language_pb2.GetProgramDependenciesResponse:
        installed = await self._installed(request.info, context)
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=installed.dependencies(request.transitiveDependencies)
        )

    async def About(self, request: language_pb2.AboutRequest, context: Context) -> language_pb2.AboutResponse:
        installed = await self._installed(request.info, context)
        return language_pb2.AboutResponse(
            executable=installed.executable, version=installed.version, metadata={"toolchain": "pip"}
        )

    async def RuntimeOptionsPrompts(
        self, request: language_pb2.RuntimeOptionsRequest, context: Context
    ) -> language_pb2.RuntimeOptionsResponse:
        """Nothing to ask: there is one toolchain."""
        return language_pb2.RuntimeOptionsResponse()

    async def Template(self, request: language_pb2.TemplateRequest, context: Context) -> language_pb2.TemplateResponse:
        """Nothing to do: templates are written for pip."""
        return language_pb2.TemplateResponse()

    async def InstallDependencies(
        self, request: language_pb2.InstallDependenciesRequest, context: Context
    ) -> AsyncIterator[language_pb2.InstallDependenciesResponse]:
        runtime = await self._runtime(request.info, context)
        try:
            async for stream, block in install(runtime, self.children):
                yield language_pb2.InstallDependenciesResponse(**{stream: block})
        except RehearsalError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    async def Run(self, request: language_pb2.RunRequest, context: Context) -> language_pb2.RunResponse:
        if request.attach_debugger:
            await self._unserved(context, "attaching a debugger to a program")
        try:
            runtime = Runtime.of(request.info)
            argv = programs.command(request, runtime, self._executor, self._engine, self._tracing)
            if complaint := await self._type_check(runtime):
                return language_pb2.RunResponse(error=complaint)
        except RehearsalError as error:
            return language_pb2.RunResponse(error=str(error))
        child = await self.children.start(argv, env=programs.variables(request, runtime))
        self._programs.add(child)
        try:
            code = await self.children.wait(child)
        finally:
            self._programs.discard(child)
            self.children.end(child)
        if self._cancelled:
            await context.abort(grpc.StatusCode.CANCELLED, "the program was cancelled")
        return programs.outcome(code)

    async def RunPlugin(
        self, request: language_pb2.RunPluginRequest, context: Context
    ) -> AsyncIterator[language_pb2.RunPluginResponse]:
        """Policy packs (kind `analyzer`) start through pulumi.policy, any other plugin by its folder."""
        if request.attach_debugger:
            await self._unserved(context, "attaching a debugger to a plugin")
        runtime = await self._runtime(request.info, context)
        python, program = await self._python(runtime, context), str(runtime.directory)
        if request.kind == "analyzer":
            argv, folder = [python, "-u", "-m", "pulumi.policy", *request.args, program], runtime.directory
        else:
            argv, folder = [python, "-u", program, *request.args], Path(request.pwd or program)
        given = dict(variable.split("=", 1) for variable in request.env)
        environment = runtime.variables({**os.environ, **given})
        child = await self.children.start(argv, env=environment, cwd=folder, piped=True)
        context.add_done_callback(lambda _: self.children.end(child))
        async for stream, block in output_of(child):
            yield (
                language_pb2.RunPluginResponse(stdout=block)
                if stream == "stdout"
                else language_pb2.RunPluginResponse(stderr=block)
            )
        yield language_pb2.RunPluginResponse(exitcode=await self.children.wait(child))

    async def Cancel(self, request: Empty, context: Context) -> Empty:
        """End the programs. The engine ends plugins itself, once their running operations are over."""
        self._cancelled = True
        for program in self._programs:
            self.children.end(program)
        return Empty()

    async def close(self) -> None:
        """End everything the host started, and wait for it."""
        self._cancelled = True
        await self.children.end_all()

    async def GenerateProgram(self, request: Any, context: Context) -> NoReturn:
        await self._unserved(
            context, "writing a Python program (`pulumi convert`; `pulumi import` needs --generate-code=false)"
        )

    async def GenerateProject(self, request: Any, context: Context) -> NoReturn:
        await self._unserved(context, "writing a Python project (`pulumi convert`)")

    async def GeneratePackage(self, request: Any, context: Context) -> NoReturn:
        await self._unserved(context, "writing a Python SDK (`pulumi package add`, `gen-sdk`)")

    async def Pack(self, request: Any, context: Context) -> NoReturn:
        await self._unserved(context, "packing a Python SDK")

    async def Link(self, request: Any, context: Context) -> NoReturn:
        await self._unserved(context, "linking a local package into a program")

    async def _type_check(self, runtime: Runtime) -> str | None:
        """What the project's type checker finds wrong; None when all is well or none is asked for."""
        if runtime.type_checker is None:
            return None
        argv = [str(runtime.python), "-m", runtime.type_checker, "."]
        code, stdout, stderr = await self.children.output(argv, env=runtime.variables(), cwd=runtime.directory)
        found = (stdout + stderr).decode(errors="replace").strip()
        return None if code == 0 else f"{runtime.type_checker} failed:\n{found}"

    async def _installed(self, info: language_pb2.ProgramInfo, context: Context) -> Installed:
        runtime = await self._runtime(info, context)
        try:
            return await Installed.read(runtime, self.children)
        except RehearsalError as error:
            await _abort(context, error)

    async def _runtime(self, info: language_pb2.ProgramInfo, context: Context) -> Runtime:
        try:
            return Runtime.of(info)
        except RehearsalError as error:
            await _abort(context, error)

    async def _python(self, runtime: Runtime, context: Context) -> str:
        try:
            return str(runtime.python)
        except RehearsalError as error:
            await _abort(context, error)

    @staticmethod
    async def _unserved(context: Context, what: str) -> NoReturn:
        await context.abort(
            grpc.StatusCode.UNIMPLEMENTED,
            f"{what} is not served by the rehearsal's language host; install the official Pulumi for it",
        )
        raise AssertionError("abort returns never")


async def _abort(context: Context, error: RehearsalError) -> NoReturn:
    await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
    raise AssertionError("abort returns never")
