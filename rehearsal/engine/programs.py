"""Running a Pulumi program, and saying how it ended the way the official host does."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from pulumi.runtime.proto import language_pb2

from rehearsal.engine.environment import Runtime

TOLD_THE_USER = 32
"""Exit code of the executor when the user has seen the error already (`bail` in the protocol)."""


def command(request: language_pb2.RunRequest, runtime: Runtime, executor: Path, engine: str, tracing: str) -> list[str]:
    """The executor's command line for a run of a program."""
    options = {
        "monitor": request.monitor_address,
        "engine": engine,
        "project": request.project,
        "root_directory": request.info.root_directory,
        "stack": request.stack,
        "pwd": request.pwd,
        "dry_run": "true" if request.dryRun else "false",
        "parallel": str(request.parallel),
        "tracing": tracing,
        "organization": request.organization,
    }
    argv = [str(runtime.python), "-u", str(executor)]
    for name, value in options.items():
        if value:
            argv += [f"--{name}", value]
    program = os.path.normpath(runtime.directory / (request.info.entry_point or "."))
    return [*argv, program, *request.args]


def variables(request: language_pb2.RunRequest, runtime: Runtime) -> Mapping[str, str]:
    """The program's environment: its Python's, with the stack's configuration."""
    return {
        **runtime.variables(),
        "PULUMI_CONFIG": json.dumps(dict(request.config)),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
    }


def outcome(code: int) -> language_pb2.RunResponse:
    """What the engine is told about an exit code (minus the number when a signal ended the program)."""
    if code == 0:
        return language_pb2.RunResponse()
    if code == TOLD_THE_USER:
        return language_pb2.RunResponse(bail=True)
    if code < 0:
        return language_pb2.RunResponse(error=f"Program was ended by signal {-code} ({signal_name(-code)})")
    return language_pb2.RunResponse(error=f"Program exited with non-zero exit code: {code}")


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
