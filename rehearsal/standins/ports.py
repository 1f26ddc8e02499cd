"""The ports that a container declares, against those that its server opens.

On a node's own network pods are kept apart by what they declare: nothing fails where a number there is wrong, until
two pods meet on one node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

VARIABLE = "REHEARSAL_PORTS"


def told(declared: Sequence[Mapping[str, Any]]) -> str:
    """A container's `ports` as the value of the variable, such as 29001/TCP,29002/TCP."""
    return ",".join(f"{port['containerPort']}/{port.get('protocol', 'TCP')}" for port in declared)


def check(opened: Mapping[int, str], environment: Mapping[str, str]) -> None:
    """Compare the ports that a server opens, each with what it has it from, with what its container declares.

    Raises ValueError naming the one that differs. Where there are no containers, as on Slurm, all is well.
    """
    if VARIABLE not in environment:
        return
    declared = environment[VARIABLE].split(",") if environment[VARIABLE] else []
    for port, source in opened.items():
        if f"{port}/TCP" not in declared:
            raise ValueError(
                f"port {port}/TCP ({source}) is not among the container's ports, which are "
                f"{', '.join(declared) or 'none'}: another pod could be put onto this node that wants it as well"
            )
    for each in declared:
        if each not in {f"{port}/TCP" for port in opened}:
            raise ValueError(f"the container's ports have {each}, and this server opens {_listed(opened)} only")


def _listed(opened: Mapping[int, str]) -> str:
    return " and ".join(f"{port}/TCP ({source})" for port, source in opened.items())
