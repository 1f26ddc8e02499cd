"""Previews of programs that are not ours, by the real engine with the policy pack."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.report import reading
from cli.report.model import Preview
from rehearsal.home import CHECKOUT, Home
from rehearsal.session import Session
from rehearsal.tools import Tools

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Previewer:
    """Previews in folders of their own, against one rehearsed cloud."""

    folder: Path
    session: Session

    def preview(
        self, program: str, name: str, config: Mapping[str, Any], policies: Mapping[str, Any] | None = None
    ) -> tuple[int, Preview]:
        """Preview a program under `config`, with an environment's policy configuration; exit code and what it said."""
        project = self.project(program, name, config)
        arguments = ["--policy-pack", str(CHECKOUT / "policies")]
        if policies is not None:
            (project / "policies.json").write_text(json.dumps(policies))
            arguments += ["--policy-pack-config", str(project / "policies.json")]
        done = self.run(project, "preview", "--json", *arguments)
        assert done.stdout.strip(), done.stderr
        return done.returncode, reading.read(done.stdout, name)

    def project(self, program: str, name: str, config: Mapping[str, Any]) -> Path:
        """A program in a folder of its own, with a stack `name` under `config`."""
        project = self.folder / name
        shutil.copytree(PROGRAMS / program, project)
        document = yaml.safe_load((project / "Pulumi.yaml").read_text())
        document["runtime"] = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (project / "Pulumi.yaml").write_text(yaml.safe_dump(document))
        done = self.run(project, "stack", "init", name)
        assert done.returncode == 0, done.stderr + done.stdout
        self.configure(project, config)
        return project

    def configure(self, project: Path, config: Mapping[str, Any]) -> None:
        """Give a project's stack other settings."""
        file = next(project.glob("Pulumi.*.yaml"))
        settings = yaml.safe_load(file.read_text()) or {}
        settings["config"] = {"gcp:project": "example-ml", "gcp:region": "us-east5", **config}
        file.write_text(yaml.safe_dump(settings))

    def run(self, project: Path, *arguments: str, streaming: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the CLI on a project; with `streaming`, --json means an event log."""
        environment = {**os.environ, **self.session.environment()}
        if streaming:
            environment["PULUMI_ENABLE_STREAMING_JSON_PREVIEW"] = "true"
        # Programs must not see this project by accident, and their manifests go to a folder, not to a cluster.
        for name in ("PYTHONPATH", "KUBECONFIG"):
            environment.pop(name, None)
        argv = [str(self.session.home.bin / "pulumi"), *arguments, "--non-interactive"]
        return subprocess.run(argv, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="package")
def previewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Previewer]:
    folder = tmp_path_factory.mktemp("policies")
    session = Session(Home(folder / "rehearsal"), Tools.locate())
    session.start(print)
    yield Previewer(folder, session)
    session.stop()
