"""Enroot's import, create, list, start and remove, as its manual gives their arguments.

An image is a file with its name in it, a container a folder; what runs in one are the stand-ins of Pathways.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import sys
from pathlib import Path
from typing import NoReturn

from rehearsal import client
from rehearsal.slurm.description import Description
from rehearsal.slurm.surroundings import Surroundings

# What the rehearsal's registry has: the repository, and which program lies in an image of that name.
REPOSITORY = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
PROGRAMS = {"server": "/pathways/server", "proxy_server": "/pathways/proxy_server"}
_URI = re.compile(r"docker://(?:[^@/]+@)?(?:(?P<registry>[^#]+)#)?(?P<image>[^:#@]+)(?::(?P<tag>[^:]+))?")


class EnrootError(Exception):
    """What Enroot prints after [ERROR]."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise EnrootError(message)


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """`enroot COMMAND ARGUMENTS...`"""
    commands = {"import": _import, "create": _create, "list": _list, "start": _start, "remove": _remove}
    try:
        if not arguments or arguments[0] not in commands:
            raise EnrootError(f"Command not found: {arguments[0] if arguments else ''}")
        commands[arguments[0]](arguments[1:], folder)
    except EnrootError as error:
        print(f"[ERROR] {error}", file=sys.stderr)
        return 1
    return 0


def _parser(command: str) -> _Parser:
    return _Parser(prog=f"enroot {command}", add_help=False, allow_abbrev=False)


def _containers() -> Path:
    default = Path(os.environ.get("XDG_DATA_HOME") or Path(os.environ.get("HOME", "/")) / ".local/share") / "enroot"
    return Path(os.environ.get("ENROOT_DATA_PATH") or default)


def _import(arguments: list[str], _folder: Path) -> None:
    parser = _parser("import")
    parser.add_argument("-a", "--arch")
    parser.add_argument("-o", "--output")
    parser.add_argument("uri")
    given = parser.parse_args(arguments)
    found = _URI.fullmatch(given.uri)
    if not found:
        raise EnrootError(f"Invalid image reference: {given.uri}")
    name = f"{found['registry'] or 'registry-1.docker.io'}/{found['image']}"
    output = Path(given.output or f"{found['image'].replace('/', '+')}.sqsh")
    if output.exists():
        raise EnrootError(f"File already exists: {output}")
    if not _credentials(found["registry"] or ""):
        raise EnrootError(f"Could not process JSON input: https://{found['registry']}/v2/ returned 401 Unauthorized")
    if name.rpartition("/")[0] != REPOSITORY or name.rpartition("/")[2] not in PROGRAMS:
        raise EnrootError(f"https://{found['registry']}/v2/{found['image']} returned error code: 404 Not Found")
    output.write_text(f"{name}:{found['tag'] or 'latest'}\n")


def _credentials(registry: str) -> bool:
    """Whether Enroot's netrc file has a line for the registry."""
    config = Path(os.environ.get("ENROOT_CONFIG_PATH") or Path(os.environ["HOME"]) / ".config/enroot")
    try:
        lines = (config / ".credentials").read_text().splitlines()
    except OSError:
        return False
    return any(re.match(rf"machine {re.escape(registry)} login \S+ password \S+", line) for line in lines)


def _create(arguments: list[str], _folder: Path) -> None:
    parser = _parser("create")
    parser.add_argument("-f", "--force", action="store_true")
    parser.add_argument("-n", "--name")
    parser.add_argument("image", type=Path)
    given = parser.parse_args(arguments)
    if not given.image.is_file():
        raise EnrootError(f"No such file or directory: {given.image}")
    name = given.name or given.image.stem
    if "/" in name:
        raise EnrootError(f"Invalid argument: {name}")
    container = _containers() / name
    if container.exists() and not given.force:
        raise EnrootError(f"File already exists: {container}")
    shutil.rmtree(container, ignore_errors=True)
    container.mkdir(parents=True)
    shutil.copy(given.image, container / "image")


def _list(arguments: list[str], _folder: Path) -> None:
    _parser("list").parse_args(arguments)
    for path in sorted(_containers().glob("*/image")):
        print(path.parent.name)


def _remove(arguments: list[str], _folder: Path) -> None:
    parser = _parser("remove")
    parser.add_argument("-f", "--force", action="store_true")
    parser.add_argument("names", nargs="+")
    given = parser.parse_args(arguments)
    for name in given.names:
        if not (_containers() / name / "image").exists():
            raise EnrootError(f"No such file or directory: {_containers() / name}")
        shutil.rmtree(_containers() / name)


def _start(arguments: list[str], folder: Path) -> None:
    parser = _parser("start")
    parser.add_argument("-c", "--rc")
    parser.add_argument("-e", "--env", action="append", default=[])
    parser.add_argument("-m", "--mount", action="append", default=[])
    parser.add_argument("-r", "--root", action="store_true")
    parser.add_argument("-w", "--rw", action="store_true")
    parser.add_argument("container")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    image = _containers() / given.container / "image"
    if not image.exists():
        raise EnrootError(f"No such file or directory: {image.parent}")
    reference = image.read_text().strip()
    present = PROGRAMS[reference.rpartition(":")[0].rpartition("/")[2]]
    if not given.command or given.command[0] != present:
        raise EnrootError(
            f"enroot-switchroot: failed to execute: {' '.join(given.command[:1])}: No such file or directory"
        )
    # As in the real one, nothing of the caller's environment gets in by itself.
    variables = dict(_variable(each) for each in given.env)
    nodes = {node.name: node.address for node in Description.load(folder / "cluster.json").nodes()}
    inside = {
        "PATH": os.defpath,
        "HOME": "/root",
        **variables,
        "PYTHONPATH": os.environ["PYTHONPATH"],
        client.VARIABLE: os.environ.get(client.VARIABLE, ""),
        "REHEARSAL_IMAGE": reference,
        "REHEARSAL_ADDRESS": nodes[socket.gethostname()],
        **_cloud(folder),
    }
    os.execve(sys.executable, [sys.executable, "-m", "rehearsal.standins", *given.command], inside)


def _cloud(folder: Path) -> dict[str, str]:
    """Where a container finds Google Cloud, and who it is there."""
    around = Surroundings.load(folder)
    if around is None:
        return {}
    return {
        "REHEARSAL_CLOUD": around.cloud,
        "REHEARSAL_TOKEN": around.token,
        "REHEARSAL_REGION": around.region,
    }


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return name, value if equals else os.environ.get(name, "")
