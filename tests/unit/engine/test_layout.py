"""What a rehearsal puts on PATH for the engine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rehearsal.engine import layout
from rehearsal.tools import Tools
from rehearsal.tools.official import Official


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """Built tools, as far as their files go."""
    built = Tools(tmp_path / "tools")
    for name in ("bin/pulumi", "bin/pulumi-resource-kubernetes"):
        path = built.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        path.chmod(0o755)
    for name in (layout.EXECUTOR, layout.DYNAMIC_PROVIDER):
        path = built.share / "pulumi" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n# {name}\n")
    return built


@pytest.fixture
def official(tmp_path: Path) -> Official:
    pulumi = tmp_path / "official" / "pulumi"
    pulumi.parent.mkdir()
    pulumi.write_text("official")
    return Official(pulumi)


def test_built_tools_come_with_a_language_host_and_its_scripts(tmp_path: Path, tools: Tools) -> None:
    folder = tmp_path / "bin"
    layout.lay_out(folder, tools)
    assert (folder / "pulumi").read_text() == "bin/pulumi"
    assert (folder / "pulumi-resource-kubernetes").resolve() == tools.bin / "pulumi-resource-kubernetes"
    for name in (layout.LANGUAGE_HOST, layout.EXECUTOR, layout.DYNAMIC_PROVIDER):
        assert os.access(folder / name, os.X_OK)


def test_the_cli_lies_beside_the_language_host_and_is_no_link(tmp_path: Path, tools: Tools) -> None:
    folder = tmp_path / "bin"
    layout.lay_out(folder, tools)
    assert (folder / "pulumi").resolve() == folder / "pulumi"


def test_doing_it_again_changes_nothing(tmp_path: Path, tools: Tools) -> None:
    folder = tmp_path / "bin"
    layout.lay_out(folder, tools)
    before = sorted(folder.iterdir())
    layout.lay_out(folder, tools)
    assert sorted(folder.iterdir()) == before


def test_an_official_pulumi_replaces_ours_with_its_language_host(
    tmp_path: Path, tools: Tools, official: Official
) -> None:
    folder = tmp_path / "bin"
    layout.lay_out(folder, tools)
    layout.lay_out(folder, tools, official)
    assert (folder / "pulumi").resolve() == official.pulumi
    assert not (folder / layout.LANGUAGE_HOST).exists()
    assert not (folder / layout.EXECUTOR).exists()


def test_the_kubernetes_provider_is_an_installed_plugin_where_there_is_a_pulumi_home(
    tmp_path: Path, tools: Tools
) -> None:
    folder, home = tmp_path / "bin", tmp_path / "home"
    layout.lay_out(folder, tools)
    layout.lay_out(folder, tools, pulumi_home=home)
    [plugin] = (home / "plugins").glob("resource-kubernetes-v*/pulumi-resource-kubernetes")
    assert plugin.resolve() == tools.bin / "pulumi-resource-kubernetes"
    assert not (folder / "pulumi-resource-kubernetes").exists()


def test_the_language_host_starts_in_any_folder_and_shows_programs_nothing_of_the_checkout(
    tmp_path: Path, tools: Tools
) -> None:
    folder = tmp_path / "a folder" / "bin"
    layout.lay_out(folder, tools)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [folder / layout.LANGUAGE_HOST, "--help"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "usage: pulumi-language-python" in done.stdout
    assert "PYTHONPATH" not in (folder / layout.LANGUAGE_HOST).read_text()
