"""Which Python runs a program, and with which variables: the `runtime` options of its project file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import language_pb2

from rehearsal.errors import RehearsalError

TYPE_CHECKERS = ("mypy", "pyright")


@dataclass(frozen=True)
class Runtime:
    """A project's Python. `virtualenv` is absolute, or None for the Python on PATH."""

    root: Path
    directory: Path
    virtualenv: Path | None
    type_checker: str | None

    @classmethod
    def of(cls, info: language_pb2.ProgramInfo) -> Runtime:
        """Read the options; raises RehearsalError for one that this host does not serve."""
        options = MessageToDict(info.options)
        _refuse_unserved("toolchain", options.get("toolchain"), ("pip",))
        _refuse_unserved("typechecker", options.get("typechecker"), TYPE_CHECKERS)
        root = Path(info.root_directory)
        virtualenv = options.get("virtualenv")
        return cls(
            root=root,
            directory=Path(info.program_directory or info.root_directory),
            virtualenv=root / virtualenv if virtualenv else None,
            type_checker=options.get("typechecker") or None,
        )

    @property
    def python(self) -> Path:
        """The interpreter; raises RehearsalError when it is not there."""
        if self.virtualenv is None:
            return system_python()
        python = self.virtualenv / "bin" / "python"
        if not python.is_file():
            state = "is not a virtual environment" if self.virtualenv.exists() else "does not exist"
            raise RehearsalError(
                f"the 'virtualenv' option in the project file is {self.virtualenv}, which {state}; "
                "make it with `pulumi install`"
            )
        return python

    def variables(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The environment of a process that runs in this Python: `environ` with the virtualenv activated."""
        variables = dict(environ)
        if self.virtualenv is not None:
            variables.pop("PYTHONHOME", None)
            variables["VIRTUAL_ENV"] = str(self.virtualenv)
            variables["PATH"] = os.pathsep.join(
                part for part in (str(self.virtualenv / "bin"), environ.get("PATH")) if part
            )
        return variables


def system_python() -> Path:
    """PULUMI_PYTHON_CMD, else python3, else python, from PATH: the official host's order."""
    asked = os.environ.get("PULUMI_PYTHON_CMD")
    names = [asked] if asked else ["python3", "python"]
    for name in names:
        if found := shutil.which(name):
            return Path(found)
    raise RehearsalError(f"no Python on PATH (looked for {', '.join(names)}); install Python 3.11 or newer")


def _refuse_unserved(option: str, value: object, served: tuple[str, ...]) -> None:
    if value and value not in served:
        raise RehearsalError(
            f"runtime option {option}: {value} is not served by the rehearsal's language host "
            f"(it serves {', '.join(served)}); change Pulumi.yaml or install the official Pulumi"
        )
