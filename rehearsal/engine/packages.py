"""What a program's Python has installed, and which provider plugins that calls for."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi.runtime.proto import language_pb2, plugin_pb2

from rehearsal.engine.children import Children
from rehearsal.engine.environment import Runtime
from rehearsal.errors import RehearsalError

_SCRIPT = Path(__file__).with_name("installed.py")


@dataclass(frozen=True)
class Installed:
    """The interpreter's own path and version, and its packages as `installed.py` prints them."""

    executable: str
    version: str
    packages: list[dict[str, Any]]

    @classmethod
    async def read(cls, runtime: Runtime, children: Children) -> Installed:
        """Ask the program's interpreter; raises RehearsalError when it cannot answer."""
        argv = [str(runtime.python), str(_SCRIPT)]
        code, output, errors = await children.output(argv, env=runtime.variables(), cwd=runtime.directory)
        if code != 0:
            lines = errors.decode(errors="replace").strip().splitlines() or [f"exit code {code}"]
            raise RehearsalError(f"{runtime.python} cannot list its packages: {lines[-1]}")
        return cls(**json.loads(output))

    def dependencies(self, transitive: bool) -> list[language_pb2.DependencyInfo]:
        """All packages, or without `transitive` those that no other package requires."""
        return [
            language_pb2.DependencyInfo(name=package["name"], version=package["version"])
            for package in self.packages
            if transitive or not package["required"]
        ]

    def plugins(self) -> list[plugin_pb2.PackageDependency]:
        """The provider plugins that installed SDKs name in their pulumi-plugin.json.

        The engine looks for each on PATH before it looks for that version among downloaded plugins.
        """
        return [
            _dependency(package, package["plugin"])
            for package in self.packages
            if package["plugin"] and package["plugin"].get("resource")
        ]


def _dependency(package: dict[str, Any], plugin: dict[str, Any]) -> plugin_pb2.PackageDependency:
    version = plugin.get("version") or package["version"]
    dependency = plugin_pb2.PackageDependency(
        name=plugin.get("name") or package["name"].removeprefix("pulumi-"),
        kind="resource",
        version=version if version.startswith("v") else f"v{version}",
        server=plugin.get("server", ""),
    )
    if parameterization := plugin.get("parameterization"):
        dependency.parameterization.name = parameterization["name"]
        dependency.parameterization.version = parameterization["version"]
        dependency.parameterization.value = base64.b64decode(parameterization.get("value") or "")
    return dependency
