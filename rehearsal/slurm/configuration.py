"""The files that Slurm's daemons read."""

from __future__ import annotations

import getpass
import os
import secrets
import shlex
import sys
from pathlib import Path

import jinja2

from rehearsal import client
from rehearsal.home import CHECKOUT
from rehearsal.slurm.description import Description, Node, Partition
from rehearsal.slurm.install import program
from rehearsal.slurm.nodes import SHORT

# What stands in for programs that only Google's nodes have, or that Slurm calls.
_OURS = ("enroot", "gcloud", "python3", "sbatch", "sudo", "resume", "suspend")


def write(folder: Path, cluster: Description) -> None:
    """Write the configuration of a cluster, and its programs, into its folder."""
    for name in ("munge", "state", "spool", "run", "logs", "bin", "home", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    # munged accepts no socket in a folder that others may write.
    (folder / "munge").chmod(0o755)
    key = folder / "munge" / "key"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
    for name, daemon in (("slurm.conf", True), ("client.conf", False)):
        (folder / name).write_text(_slurm_conf(cluster, daemon))
    (folder / "hosts").write_text(_hosts(cluster))
    _programs(folder)


def _slurm_conf(cluster: Description, daemon: bool) -> str:
    """Daemons bind their own address only. A client, whom they call back on any, cannot."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rehearsal.slurm"), trim_blocks=True, undefined=jinja2.StrictUndefined
    )

    def node_names(partition: Partition) -> str:
        return ",".join(_names(cluster.members(cluster.node_set(name))) for name in partition.node_sets)

    return environment.get_template("slurm.conf.j2").render(
        cluster=cluster,
        folder=SHORT,
        user=getpass.getuser(),
        daemon=daemon,
        node_names=node_names,
        static=[node.name for node in cluster.nodes() if not node.dynamic],
    )


def _names(nodes: list[Node]) -> str:
    return ",".join(node.name for node in nodes)


def _hosts(cluster: Description) -> str:
    """The hosts file of every node: names resolve as the VPC's DNS would resolve them."""
    known = [("127.0.0.1", "localhost"), (cluster.controller_address, cluster.controller)]
    known += [("127.0.0.1", cluster.login(number + 1)) for number in range(cluster.logins)]
    known += [(node.address, node.name) for node in cluster.nodes()]
    return "".join(f"{address} {name}\n" for address, name in known)


def _programs(folder: Path) -> None:
    for name in _OURS:
        _script(
            folder / "bin" / name,
            f"export PYTHONPATH={shlex.quote(str(CHECKOUT))}\n"
            f"export REHEARSAL_SLURM={shlex.quote(str(folder))}\n"
            # A job's home is not that of the user whose cache has JAX.
            f"export {client.VARIABLE}={shlex.quote(str(client.ENVIRONMENT.folder))}\n"
            f'exec {shlex.join([sys.executable, "-m", "rehearsal.slurm.programs", name])} "$@"\n',
        )
    # Slurm gives a job the daemons' configuration, with which srun would listen where nobody calls it.
    for name in ("srun", "salloc"):
        _script(
            folder / "bin" / name,
            f'export SLURM_CONF={shlex.quote(str(folder / "client.conf"))}\nexec {shlex.quote(str(program(name, besides=folder / "bin")))} "$@"\n',
        )


def _script(path: Path, body: str) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(f"#!/bin/sh\n{body}")
    draft.chmod(0o755)
    os.replace(draft, path)
