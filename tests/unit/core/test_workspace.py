"""What the stack makes for its workload in a new cluster, and in no other."""

from __future__ import annotations

from typing import Any

import pytest

from pathways import plan, stackfile
from tests.unit.core.check_cases import stack

WORKLOAD = {"namespace": "training", "serviceAccount": "flagship", "priorityClass": "high"}


def made(workload: dict[str, Any], **cluster: Any) -> list[tuple[str, str, str | None]]:
    changes = {"pathways:workload": workload, "pathways:cluster": cluster}
    found = plan.make(stackfile.read(stack(changes), "s")[0]).workspace
    return [(each["kind"], each["metadata"]["name"], each["metadata"].get("namespace")) for each in found]


def test_a_new_cluster_gets_what_the_workload_names_the_namespace_first() -> None:
    assert made(WORKLOAD) == [
        ("Namespace", "training", None),
        ("ServiceAccount", "flagship", "training"),
        ("PriorityClass", "high", None),
    ]


@pytest.mark.parametrize("workload", [{}, {"namespace": "default", "serviceAccount": "default"}])
def test_what_kubernetes_makes_itself_is_not_made_again(workload: dict[str, Any]) -> None:
    assert made(workload) == []


def test_an_existing_cluster_has_it_already() -> None:
    assert made({**WORKLOAD, "priorityClass": "theirs"}, existing="shared") == []
