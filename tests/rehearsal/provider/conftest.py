"""The real engine, our provider and the Google double, without any Kubernetes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from rehearsal.engine import layout
from rehearsal.home import CHECKOUT
from rehearsal.processes import Processes, free_port, wait_for
from rehearsal.tools import Tools
from tests.rehearsal.provider.holding import HoldingProxy


class Stack:
    """One stack with a program of a test's own, in a Google project of its own."""

    def __init__(self, world: World, folder: Path, program: str, project: str) -> None:
        self.world, self.folder, self.project = world, folder, project
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": project, "runtime": runtime}))
        (folder / "__main__.py").write_text(program)
        self.pulumi("stack", "init", "s")
        self.configure(**{"gcp:project": project, "gcp:region": "us-east5", "gcp:zone": "us-east5-b"})

    def configure(self, **settings: str) -> None:
        path = self.folder / "Pulumi.s.yaml"
        document = yaml.safe_load(path.read_text()) or {}
        document.setdefault("config", {}).update(
            {name if ":" in name else f"{self.project}:{name}": value for name, value in settings.items()}
        )
        path.write_text(yaml.safe_dump(document))

    def start(self, *arguments: str, google: str = "") -> subprocess.Popen[str]:
        """Start a command in a process group of its own; `google` is an address other than the double's."""
        environment = {**self.world.environment, **({"REHEARSAL_GOOGLE_URL": google} if google else {})}
        return subprocess.Popen(
            [str(self.world.bin / "pulumi"), *arguments, "--non-interactive"],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def pulumi(self, *arguments: str, expect: int = 0) -> str:
        """Run a command; what it printed."""
        process = self.start(*arguments)
        output, _ = process.communicate()
        assert process.returncode == expect, output
        return output

    def up(self, expect: int = 0) -> str:
        return self.pulumi("up", "--yes", "--skip-preview", expect=expect)

    def preview(self) -> dict[str, Any]:
        """The preview's steps that change something, by logical name."""
        process = self.start("preview", "--json")
        output, _ = process.communicate()
        assert process.returncode == 0, output
        steps = json.loads(output[output.index("{") :])["steps"]
        return {step["urn"].rsplit("::", 1)[-1]: step for step in steps if step["op"] != "same"}

    def export(self) -> dict[str, Any]:
        output = self.pulumi("stack", "export")
        return json.loads(output[output.index("{") :])

    def outputs(self, name: str) -> dict[str, Any]:
        """The state of a resource by its logical name."""
        [found] = [r for r in self.export()["deployment"]["resources"] if r["urn"].endswith(f"::{name}")]
        return found["outputs"]

    def google(self, path: str) -> dict[str, Any]:
        """What the double answers; {} when there is nothing."""
        response = httpx.get(f"{self.world.google}/{path.format(p=self.project)}")
        return response.json() if response.is_success else {}


class World:
    """A double and a Pulumi home that the stacks of all tests share."""

    def __init__(self, folder: Path, tools: Tools) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.processes = Processes(folder / "processes")
        layout.lay_out(self.bin, tools, pulumi_home=folder / "home")
        script = self.bin / "pulumi-resource-gcp"
        code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from rehearsal.provider.__main__ import main"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -c "{code}; main(sys.argv[1:])" "$@"\n')
        script.chmod(0o755)
        (folder / "backend").mkdir()
        port = free_port()
        argv = [sys.executable, "-m", "rehearsal.google", "--home", str(folder), "--port", str(port), "--no-clusters"]
        double = self.processes.start("google", argv, log=folder / "google.log", cwd=CHECKOUT)
        self.google = f"http://127.0.0.1:{port}"
        wait_for(self._answers, "the double answers", timeout=60, process=double)
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PATH": os.pathsep.join([str(self.bin), os.environ["PATH"]]),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": (folder / "backend").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "1",
            "REHEARSAL_GOOGLE_URL": self.google,
            "REHEARSAL_HOME": str(folder),
            "NO_COLOR": "1",
        }

    def stack(self, program: str, project: str) -> Stack:
        folder = self.folder / project
        folder.mkdir()
        return Stack(self, folder, program, project)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.google}/healthz").is_success
        except httpx.TransportError:
            return False


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    tools = Tools.locate()
    tools.ensure(["pulumi"])
    made = World(tmp_path_factory.mktemp("provider"), tools)
    yield made
    made.processes.stop_all()


@pytest.fixture
def holding(world: World) -> Iterator[HoldingProxy]:
    """The double behind a proxy in which operations of GKE go on until they are released."""
    with HoldingProxy(world.google) as proxy:
        yield proxy


def kill(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """Signal a command alone, as an operator or the kernel would; what it had printed."""
    process.send_signal(number)
    output, _ = process.communicate()
    return output
