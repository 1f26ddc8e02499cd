"""A language host that runs as the engine starts it, with a stand-in for the official executor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

from rehearsal.home import CHECKOUT

# Prints what it was given, then ends as the program's file says: an exit code, a signal, or not at all.
EXECUTOR = """
import json, os, signal, sys, time
program = next(arg for arg in sys.argv if arg.endswith("program.json"))
given = json.load(open(program))
record = {"argv": sys.argv[1:], "env": dict(os.environ), "pid": os.getpid()}
with open(given["record"] + ".new", "w") as file:
    json.dump(record, file)
os.rename(given["record"] + ".new", given["record"])
if given.get("signal"):
    os.kill(os.getpid(), given["signal"])
time.sleep(given.get("sleep", 0))
sys.exit(given.get("code", 0))
"""


class Host:
    """A running host and a client of it."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        folder.joinpath("executor").write_text(EXECUTOR)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rehearsal.engine", "--use-executor", str(folder / "executor"), "engine:1"],
            cwd=CHECKOUT,
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=(folder / "stderr").open("wb"),
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self._channel = grpc.insecure_channel(f"127.0.0.1:{self.port}")
        self.client = language_pb2_grpc.LanguageRuntimeStub(self._channel)

    @property
    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()

    def info(self, directory: Path | None = None, **options: Any) -> language_pb2.ProgramInfo:
        """A program in `directory`, with runtime options; this test's own Python unless one is given."""
        struct = Struct()
        struct.update({"virtualenv": sys.prefix, **options})
        root = str(directory or self.folder)
        return language_pb2.ProgramInfo(root_directory=root, program_directory=root, entry_point=".", options=struct)

    def program(self, folder: Path, **ending: Any) -> language_pb2.RunRequest:
        """A request to run a program that ends as told and records how it was started."""
        (folder / "program.json").write_text(json.dumps({"record": str(folder / "record.json"), **ending}))
        info = self.info(folder)
        info.entry_point = "program.json"
        return language_pb2.RunRequest(project="p", stack="s", pwd=str(folder), info=info, parallel=4)

    def close(self) -> None:
        self._channel.close()
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGINT)
            self.process.wait(timeout=10)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    running = Host(tmp_path_factory.mktemp("host"))
    yield running
    running.close()
