"""What the client in a pod has to find, by what the pod's own servers are told: the check in place of its program."""

from __future__ import annotations

import os
from typing import Any

from rehearsal.client import CHECK as PROGRAM
from rehearsal.kubernetes.agent.environment import ConfigError
from rehearsal.standins.slices import InstanceType

Json = dict[str, Any]
# The variable in which client_command.py finds the command.
CHECK = "REHEARSAL_CHECK"
# A user's program computes for longer than a cluster takes to say that all its pods are ready.
STAY_SECONDS = 20
PATIENCE_SECONDS = 300
_ELASTIC = ("--num_elastic_instances=", "--num_elastic_slices=")


def check_of(pod: Json) -> list[str] | None:
    """The command of the check for a client's pod; None where no resource manager is in the pod.

    Raises ConfigError for slices that do not exist.
    """
    containers = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    arguments = [word for container in containers for word in container.get("args") or ()]
    stated = dict(word[2:].partition("=")[::2] for word in arguments if word.startswith("--instance_"))
    if not stated:
        return None
    try:
        count = int(stated["instance_count"])
        devices = count * InstanceType.parse(stated["instance_type"]).devices_per_slice
    except (KeyError, ValueError) as error:
        flags = ", ".join(f"--{name}={value}" for name, value in stated.items())
        raise ConfigError(f"the resource manager has {flags}, so nobody knows what its client should find") from error
    elastic = ["--elastic"] if any(word.startswith(_ELASTIC) for word in arguments) else []
    numbers = [f"--slices={count}", f"--devices={devices}", f"--timeout={PATIENCE_SECONDS}", f"--stay={STAY_SECONDS}"]
    return ["python", os.fspath(PROGRAM), *numbers, *elastic]
