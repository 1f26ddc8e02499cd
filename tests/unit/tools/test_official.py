"""Choosing between an official Pulumi and building one."""

from __future__ import annotations

import os
from pathlib import Path

from rehearsal.tools import catalogue, official

BINARY = b"\x7fELF"


def program(path: Path, content: bytes = BINARY) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def official_pulumi(folder: Path) -> Path:
    program(folder / "pulumi-language-python")
    return program(folder / "pulumi")


def kubernetes_plugin(pulumi_home: Path, version: str) -> Path:
    folder = pulumi_home / "plugins" / f"resource-kubernetes-v{version}"
    return program(folder / "pulumi-resource-kubernetes")


def find(*folders: Path, pulumi_home: Path, ignore: tuple[Path, ...] = ()) -> official.Official | None:
    path = os.pathsep.join(map(str, folders))
    return official.find(path, pulumi_home=pulumi_home, ignore=ignore)


def test_a_cli_with_its_language_host_beside_it_is_used(tmp_path: Path) -> None:
    pulumi = official_pulumi(tmp_path / "bin")
    found = find(tmp_path / "empty", tmp_path / "bin", pulumi_home=tmp_path)
    assert found == official.Official(pulumi)
    assert found.provides == {"pulumi"}


def test_a_cli_without_a_language_host_is_not_enough(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "pulumi")
    assert find(tmp_path / "bin", pulumi_home=tmp_path) is None


def test_a_later_complete_installation_is_found_behind_an_incomplete_one(tmp_path: Path) -> None:
    program(tmp_path / "half" / "pulumi")
    pulumi = official_pulumi(tmp_path / "whole")
    found = find(tmp_path / "half", tmp_path / "whole", pulumi_home=tmp_path)
    assert found == official.Official(pulumi)


def test_a_link_to_the_cli_counts_with_what_lies_beside_its_target(tmp_path: Path) -> None:
    pulumi = official_pulumi(tmp_path / "opt")
    link = tmp_path / "bin" / "pulumi"
    link.parent.mkdir()
    link.symlink_to(pulumi)
    assert find(tmp_path / "bin", pulumi_home=tmp_path) == official.Official(link)


def test_a_rehearsals_own_language_host_is_not_taken_for_the_official_one(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "pulumi")
    program(tmp_path / "bin" / "pulumi-language-python", b"#!/bin/sh\n")
    assert find(tmp_path / "bin", pulumi_home=tmp_path) is None


def test_folders_of_ours_on_the_path_are_passed_over(tmp_path: Path) -> None:
    official_pulumi(tmp_path / "bin")
    assert find(tmp_path / "bin", pulumi_home=tmp_path, ignore=(tmp_path / "bin",)) is None


def test_a_file_that_cannot_be_run_is_no_installation(tmp_path: Path) -> None:
    official_pulumi(tmp_path / "bin").chmod(0o644)
    assert find(tmp_path / "bin", pulumi_home=tmp_path) is None


def test_the_installed_kubernetes_plugin_of_the_pinned_release_is_used(tmp_path: Path) -> None:
    official_pulumi(tmp_path / "bin")
    plugin = kubernetes_plugin(tmp_path / "home", catalogue.KUBERNETES_PROVIDER)
    found = find(tmp_path / "bin", pulumi_home=tmp_path / "home")
    assert found is not None
    assert found.kubernetes == plugin
    assert found.provides == {"pulumi", "pulumi-resource-kubernetes"}


def test_another_release_of_the_kubernetes_plugin_is_not_used(tmp_path: Path) -> None:
    official_pulumi(tmp_path / "bin")
    kubernetes_plugin(tmp_path / "home", "4.1.0")
    found = find(tmp_path / "bin", pulumi_home=tmp_path / "home")
    assert found is not None
    assert found.kubernetes is None
