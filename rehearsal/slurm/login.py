"""`pathways-login` of a rehearsal: runs a command on a cluster's login node, as ssh would."""

from __future__ import annotations

import os
import sys

from rehearsal.home import Home
from rehearsal.slurm.runtime import SlurmClusters

# As ssh ends where it does not get through.
_NO_WAY = 255


def main() -> None:
    """Become the command of the arguments, which are the cluster's name in Google's API and the command."""
    name, *command = sys.argv[1:]
    cluster = SlurmClusters(Home.default()).find(name)
    if not cluster.exists:
        print(f"There is no Slurm of {name} in this rehearsal.", file=sys.stderr)
        raise SystemExit(_NO_WAY)
    os.chdir(cluster.folder / "home")
    argv = cluster.on_login_node(*command)
    os.execve(argv[0], argv, cluster.environment())


if __name__ == "__main__":
    main()
