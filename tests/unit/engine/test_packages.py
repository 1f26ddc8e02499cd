"""What the host says about a program's Python: plugins, dependencies, versions."""

from __future__ import annotations

import base64
import json
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import language_pb2

from tests.unit.engine.conftest import Host


def add_package(site: Path, name: str, release: str, plugin: object = None, requires: str = "") -> None:
    """An installed distribution, as far as Python's own metadata goes."""
    metadata = site / f"{name.replace('-', '_')}-{release}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n{needs}")
    module = site / name.replace("-", "_")
    module.mkdir()
    if plugin is not None:
        (module / "pulumi-plugin.json").write_text(json.dumps(plugin))


@pytest.fixture(scope="module")
def host_with_packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    site = tmp_path_factory.mktemp("site")
    add_package(site, "pulumi-plain", "1.2.3", {"resource": True}, requires="pulumi-helper>=1; extra == 'x'")
    add_package(site, "pulumi-none", "1.0.0", {"resource": False}, requires="Pulumi.Helper>=1")
    add_package(site, "pulumi-helper", "1.0.0")
    add_package(
        site,
        "acme-cloud",
        "4.0.0",
        {
            "resource": True,
            "name": "acme",
            "version": "4.1.0",
            "server": "github://api.example.com/acme",
            "parameterization": {
                "name": "acme-eu",
                "version": "0.1.0",
                "value": base64.b64encode(b"eu").decode(),
            },
        },
    )
    running = Host(tmp_path_factory.mktemp("host"), PYTHONPATH=str(site))
    yield running
    running.close()


def test_plugins_are_those_that_installed_sdks_name(host_with_packages: Host) -> None:
    request = language_pb2.GetRequiredPackagesRequest(info=host_with_packages.info())
    found = {package.name: package for package in host_with_packages.client.GetRequiredPackages(request).packages}
    assert {name: package.version for name, package in found.items()} == {
        "plain": "v1.2.3",
        "acme": "v4.1.0",
        "gcp": f"v{version('pulumi-gcp')}",
        "kubernetes": f"v{version('pulumi-kubernetes')}",
    }
    assert {package.kind for package in found.values()} == {"resource"}
    assert found["acme"].server == "github://api.example.com/acme"
    assert found["acme"].parameterization.name == "acme-eu"
    assert found["acme"].parameterization.value == b"eu"


def test_dependencies_are_what_nothing_else_requires_unless_all_are_asked_for(host_with_packages: Host) -> None:
    def names(everything: bool) -> set[str]:
        request = language_pb2.GetProgramDependenciesRequest(
            info=host_with_packages.info(), transitiveDependencies=everything
        )
        return {each.name for each in host_with_packages.client.GetProgramDependencies(request).dependencies}

    assert {"pulumi-plain", "pulumi-none", "acme-cloud"} <= names(everything=False)
    assert "pulumi-helper" not in names(everything=False)
    assert "pulumi-helper" in names(everything=True)


def test_about_names_the_interpreter_of_the_program(host: Host) -> None:
    about = host.client.About(language_pb2.AboutRequest(info=host.info()))
    assert about.executable == sys.executable
    assert about.version == platform.python_version()
    assert about.metadata == {"toolchain": "pip"}


def test_its_version_is_that_of_the_protocol_it_speaks(host: Host) -> None:
    assert host.client.GetPluginInfo(Empty()).version == version("pulumi")


def test_new_projects_need_no_answers_and_no_changes(host: Host) -> None:
    info = host.info()
    assert not host.client.RuntimeOptionsPrompts(language_pb2.RuntimeOptionsRequest(info=info)).prompts
    host.client.Template(language_pb2.TemplateRequest(info=info, project_name="p"))
