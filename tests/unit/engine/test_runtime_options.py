"""The `runtime` options of a project file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import language_pb2

from rehearsal.engine.environment import Runtime
from rehearsal.errors import RehearsalError


def runtime(root: Path, **options: Any) -> Runtime:
    struct = Struct()
    struct.update(options)
    return Runtime.of(
        language_pb2.ProgramInfo(root_directory=str(root), program_directory=str(root / "sub"), options=struct)
    )


def fake_virtualenv(folder: Path) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    return python


def fake_commands(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch(mode=0o755)


def test_a_virtualenv_is_relative_to_the_project_and_not_to_the_program(tmp_path: Path) -> None:
    python = fake_virtualenv(tmp_path / "venv")
    assert runtime(tmp_path, virtualenv="venv").python == python


def test_an_absolute_virtualenv_is_taken_as_it_is(tmp_path: Path) -> None:
    python = fake_virtualenv(tmp_path / "elsewhere" / "venv")
    assert runtime(tmp_path / "project", virtualenv=str(tmp_path / "elsewhere" / "venv")).python == python


def test_a_folder_that_is_no_virtualenv_is_refused(tmp_path: Path) -> None:
    (tmp_path / "venv").mkdir()
    with pytest.raises(RehearsalError, match="is not a virtual environment"):
        _ = runtime(tmp_path, virtualenv="venv").python


def test_programs_see_the_virtualenv_activated(tmp_path: Path) -> None:
    fake_virtualenv(tmp_path / "venv")
    variables = runtime(tmp_path, virtualenv="venv").variables({"PATH": "/usr/bin", "PYTHONHOME": "/x", "A": "b"})
    assert variables == {
        "PATH": f"{tmp_path}/venv/bin:/usr/bin",
        "VIRTUAL_ENV": f"{tmp_path}/venv",
        "A": "b",
    }


def test_without_a_virtualenv_python3_on_the_path_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_commands(tmp_path / "bin", "python", "python3")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("PULUMI_PYTHON_CMD", raising=False)
    assert runtime(tmp_path).python == tmp_path / "bin" / "python3"
    assert runtime(tmp_path).variables({"PATH": "/usr/bin"}) == {"PATH": "/usr/bin"}


def test_the_python_command_variable_wins_over_the_names_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_commands(tmp_path / "bin", "python3", "python3.12")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PULUMI_PYTHON_CMD", "python3.12")
    assert runtime(tmp_path).python == tmp_path / "bin" / "python3.12"


def test_no_python_at_all_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PULUMI_PYTHON_CMD", raising=False)
    with pytest.raises(RehearsalError, match="install Python"):
        _ = runtime(tmp_path).python


@pytest.mark.parametrize("option", [{"toolchain": "uv"}, {"typechecker": "pyre"}])
def test_an_option_that_is_not_served_is_refused(tmp_path: Path, option: dict[str, str]) -> None:
    with pytest.raises(RehearsalError, match="is not served"):
        runtime(tmp_path, **option)


def test_pip_is_the_toolchain_with_or_without_being_asked_for(tmp_path: Path) -> None:
    assert runtime(tmp_path, toolchain="pip") == runtime(tmp_path)
