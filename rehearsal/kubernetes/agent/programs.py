"""Which program of this machine runs in place of which container image."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal.home import CHECKOUT

Json = dict[str, Any]
PATHWAYS = {"server", "proxy_server"}
COLOCATED_PYTHON = "sidecar"
# Variables by which a container is known as a JAX client of Pathways, whatever its image.
OF_CLIENTS = {"JAX_PLATFORMS", "JAX_BACKEND_TARGET"}
KNOWN = (
    "pathways server and proxy_server, the colocated-Python sidecar (an image named sidecar), and JAX clients "
    "(a container with JAX_BACKEND_TARGET in its environment)"
)
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class UnknownImageError(Exception):
    """No program stands for the image: ErrImagePull, with this message."""


@dataclass(frozen=True)
class Program:
    """What an image amounts to here: `argv` and after it the container's command line, else `entrypoint`.

    `kept`: folders of this machine that it needs to see. `client`: it is a JAX client of Pathways.
    """

    argv: list[str]
    entrypoint: list[str]
    environment: dict[str, str]
    kept: tuple[str, ...]
    client: bool = False


def program_of(container: Json, client: Path) -> Program:
    """The program in place of a container's image. `client` is the environment with JAX. Raises UnknownImageError."""
    image = str(container.get("image", ""))
    name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    ours = {"PATH": PATH, "HOME": "/root", "PYTHONPATH": str(CHECKOUT), "PYTHONUNBUFFERED": "1"}
    folders = tuple(dict.fromkeys([str(CHECKOUT), sys.prefix, sys.base_prefix, str(client)]))
    if name in PATHWAYS:
        if (client / "complete").exists():  # else the proxy says that no client can connect
            ours["REHEARSAL_CLIENT"] = str(client)
        argv = [sys.executable, "-m", "rehearsal.standins"]
        return Program(argv, [name], ours, folders)
    if name == COLOCATED_PYTHON or "colocated-python" in image:
        return Program([sys.executable, "-m", "rehearsal.kubernetes.agent.colocated_python"], [], ours, folders)
    if OF_CLIENTS & {variable["name"] for variable in container.get("env") or ()}:
        path = os.pathsep.join([str(client / "bin"), PATH])
        argv = [str(client / "bin" / "python"), str(Path(__file__).with_name("client_command.py"))]
        return Program(argv, [], {"PATH": path, "HOME": "/root", "PYTHONUNBUFFERED": "1"}, folders, client=True)
    raise UnknownImageError(f"the rehearsal has no program in place of image {image!r}; it has them for {KNOWN}")
