"""Slurm's ResumeProgram and SuspendProgram: nodes are made and deleted, as VMs would be."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from rehearsal.home import Home
from rehearsal.processes import Processes
from rehearsal.slurm.cluster import SlurmCluster
from rehearsal.slurm.nodes import power_lock


def run(name: str, arguments: list[str], folder: Path) -> int:
    """`resume NODES` or `suspend NODES`, with nodes in Slurm's notation. The folder says whose they are."""
    # Slurm blocks signals in the programs it calls, and a node would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    listing = subprocess.run(
        ["scontrol", "show", "hostnames", arguments[0]], capture_output=True, text=True, check=True
    )
    wanted = listing.stdout.split()
    cluster = SlurmCluster(folder, Processes(processes_folder(folder)))
    with power_lock(folder):
        nodes = cluster.nodes
        for node in cluster.description.nodes():
            if node.name in wanted:
                nodes.kill(node.name)
                # Whoever ended the controller takes away all nodes that there are, and must find no new ones.
                if name == "resume" and cluster.controlled:
                    nodes.boot(node)
    return 0


def processes_folder(folder: Path) -> Path:
    """Where the rehearsal that owns a cluster records its processes: HOME/slurm/NAME lies in HOME."""
    return Home(folder.parent.parent).processes
