"""`kubectl logs`, `exec` and `port-forward`: kwok serves them for every node, and is told here where a pod's are.

Source: kwok documentation, Logs, Exec and PortForward.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

from rehearsal.kubernetes.api import Api

Json = dict[str, Any]
GROUP = "kwok.x-k8s.io"
VERSION = "v1alpha1"
# Kinds that kwok reads from the API, with their names in paths.
KINDS = {"Logs": "logs", "Exec": "execs", "PortForward": "portforwards"}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# The folder of runs of the container in which a command is to run.
CONTAINER = "REHEARSAL_CONTAINER"
# Links of these names lead to a container's latest log and the one before.
CURRENT_LOG, PREVIOUS_LOG = "current.log", "previous.log"


def install(api: Api) -> None:
    """Define the kinds, before kwok starts."""
    for kind, plural in KINDS.items():
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
        }
        api.create(DEFINITIONS, definition)


def link_commands(folder: Path, path: str) -> None:
    """Fill a folder with a link for every program on a PATH: each runs the program of its name in a container.

    kwok starts what `kubectl exec` names on this machine; with only this folder on its PATH it finds the links.
    """
    folder.mkdir(exist_ok=True)
    enter = [sys.executable, "-I", "-S", str(Path(__file__).with_name("enter.py"))]
    script = folder / ".enter"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(enter)} "${CONTAINER}" "${{0##*/}}" "$@"\n')
    script.chmod(0o755)
    for directory in filter(os.path.isdir, path.split(os.pathsep)):
        for entry in os.scandir(directory):
            link = folder / entry.name
            if not link.is_symlink():
                link.symlink_to(script.name)


def describe(api: Api, pod: Json, folder: Path, logs: Path, address: str) -> None:
    """Tell kwok where a pod's containers are; the garbage collector removes it with the pod.

    Ports that can be forwarded are those that the containers declare.
    """
    containers = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    names = [container["name"] for container in containers]
    ports = {port["containerPort"] for container in containers for port in container.get("ports") or ()}
    specs: dict[str, Json] = {
        "Logs": {
            "logs": [
                {
                    "containers": [name],
                    "logsFile": str(logs / name / CURRENT_LOG),
                    "previousLogsFile": str(logs / name / PREVIOUS_LOG),
                    "follow": True,
                }
                for name in names
            ]
        },
        "Exec": {
            "execs": [
                {"containers": [name], "local": {"envs": [{"name": CONTAINER, "value": str(folder / name)}]}}
                for name in names
            ]
        },
        "PortForward": {
            "forwards": [{"ports": [port], "target": {"port": port, "address": address}} for port in sorted(ports)]
        },
    }
    metadata = pod["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
    for kind, spec in specs.items():
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{metadata['namespace']}/{KINDS[kind]}"
        api.create(
            path,
            {
                "apiVersion": f"{GROUP}/{VERSION}",
                "kind": kind,
                "metadata": {"name": metadata["name"], "ownerReferences": [owner]},
                "spec": spec,
            },
        )
