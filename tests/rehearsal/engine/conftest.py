"""The real Pulumi CLI with our language host, in folders of a test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rehearsal.engine import layout
from rehearsal.tools import Tools


class Engine:
    """A CLI with a backend and projects under one folder."""

    def __init__(self, folder: Path, tools: Tools) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        layout.lay_out(self.bin, tools, pulumi_home=folder / "home")
        (folder / "backend").mkdir()
        self.environ = {
            **os.environ,
            "PATH": os.pathsep.join([str(self.bin), os.environ["PATH"]]),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": (folder / "backend").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "1",
            "NO_COLOR": "1",
        }

    def project(self, program: str, **options: str) -> Path:
        """A project with one program, in this test's Python, and a stack named s."""
        folder = self.folder / "project"
        folder.mkdir()
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix, **options}}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "p", "runtime": runtime}))
        (folder / "__main__.py").write_text(program)
        self.run("stack", "init", "s", cwd=folder)
        return folder

    def start(self, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.bin / "pulumi"), *arguments, "--non-interactive"],
            cwd=cwd,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, cwd: Path, expect: int = 0) -> str:
        """Run a command; what it printed. Fails the test when it ends otherwise than expected."""
        process = self.start(*arguments, cwd=cwd)
        output, _ = process.communicate()
        assert process.returncode == expect, output
        return output


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    tools = Tools.locate()
    tools.ensure(["pulumi"])
    return Engine(tmp_path, tools)
