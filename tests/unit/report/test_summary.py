"""What a change costs, in slices, restarts, data and money, and the verdict that a pipeline reads."""

from __future__ import annotations

import pytest

from cli.report import reading, summary
from cli.report.summary import Verdict
from pathways import prices
from pathways.prices import Prices
from tests.unit.report import preview_documents as documents
from tests.unit.report.preview_documents import ROOT, State

NOTHING_KNOWN = Prices(as_of="today", source="none", currency="EUR")


def report(before: list[State], after: list[State], *extra: dict, **options: object) -> summary.StackReport:
    content = documents.events(before, after, *extra)
    return summary.summarise(reading.read(content, "s"), prices.example(), **options)  # type: ignore[arg-type]


def kinds(made: summary.StackReport) -> dict[str, set[str]]:
    return {
        name: {each.kind for each in group.consequences}
        for component in made.components
        for group in component.groups
        for name in group.names
    }


def test_a_topology_change_loses_every_slice_and_restarts_pathways() -> None:
    made = report(documents.gke(), documents.gke(slices__topology="4x8"))
    assert kinds(made) == {"tpu-np-0": {"slices", "restart"}, "tpu-np-1": {"slices", "restart"}, "jobset": {"restart"}}
    assert made.losses == ("2 slices lost or away", "running Pathways interrupted")
    assert (made.before.chips, made.after.chips) == (32, 64)


def test_the_property_that_replaces_comes_with_both_values() -> None:
    made = report(documents.gke(), documents.gke(slices__topology="4x8"))
    pools = next(g for c in made.components for g in c.groups if "tpu-np-0" in g.names)
    assert ("placementPolicy.tpuTopology", "4x4", "4x8", True) in [
        (each.path, each.old, each.new, each.replaces) for each in pools.properties
    ]


def test_a_slice_more_loses_none() -> None:
    made = report(documents.gke(), documents.gke(slices__count=3))
    assert (made.before.slices, made.after.slices) == (2, 3)
    assert made.losses == ("running Pathways interrupted",)


@pytest.mark.parametrize(("force", "kind"), [(True, "data"), (False, "refused")])
def test_deleting_a_bucket_says_whether_its_objects_go(force: bool, kind: str) -> None:
    bucket = State("gcp:storage/bucket:Bucket", "b", {"name": "scratch", "forceDestroy": force}, ROOT)
    made = report([bucket], [])
    assert kinds(made) == {"b": {kind}}
    assert "gs://scratch" in made.losses[0]


def test_the_pool_of_the_head_restarts_pathways_and_another_cpu_pool_does_not() -> None:
    other = State(
        "gcp:container/nodePool:NodePool",
        "web",
        {"name": "web", "nodeCount": 1, "nodeConfig": {"machineType": "n2-standard-8"}},
        ROOT,
    )
    before = [*documents.gke(), other]
    after = [
        *documents.gke(head__machineType="n2-standard-80"),
        State(other.type, "web", {**other.inputs, "nodeConfig": {"machineType": "n2-standard-16"}}, ROOT),
    ]
    assert kinds(report(before, after)) == {"cpu-np": {"restart"}, "web": set()}


def test_nodes_that_gke_recreates_in_place_take_the_slice_away() -> None:
    pool = {
        "name": "p",
        "nodeCount": 4,
        "placementPolicy": {"tpuTopology": "4x4"},
        "nodeConfig": {"machineType": "ct6e-standard-4t", "diskSizeGb": 100},
    }
    before = State("gcp:container/nodePool:NodePool", "p", pool, ROOT)
    after = State(before.type, "p", {**pool, "nodeConfig": {**pool["nodeConfig"], "diskSizeGb": 200}}, ROOT)  # type: ignore[dict-item]
    made = report([before], [after])
    assert made.counts == {"update": 1} and made.verdict is Verdict.DESTRUCTIVE
    assert made.losses == ("1 slice lost or away",)


def test_a_shape_that_google_is_not_told_about_is_pointed_out() -> None:
    pool = {
        "name": "p",
        "nodeCount": 4,
        "placementPolicy": {"tpuTopology": "4x4"},
        "nodeConfig": {"machineType": "ct6e-standard-4t"},
    }
    step = next(
        documents.steps(
            [State("a:b:C", "p", pool, ROOT)],
            [State("a:b:C", "p", {**pool, "placementPolicy": {"tpuTopology": "2x8"}}, ROOT)],
        )
    )
    log = documents.events(
        [],
        [],
        {
            "resourcePreEvent": {
                "metadata": {
                    **step,
                    "type": "gcp:container/nodePool:NodePool",
                    **{side: {**step[side], "type": "gcp:container/nodePool:NodePool"} for side in ("old", "new")},
                }
            }
        },
    )
    made = summary.summarise(reading.read(log, "s"), prices.example())
    assert "nothing is sent to Google" in made.losses[0]


def test_cluster_director_entries_change_only_by_a_new_id() -> None:
    before = documents.cluster_director()
    same_id = report(before, documents.cluster_director("ct5p-hightpu-4t"))
    assert same_id.losses == (
        "Google refuses to change the config of computeResources tpu; give the changed entry a new id",
    )
    new_id = report(before, documents.cluster_director("ct5p-hightpu-4t", "tpu-v5p"))
    assert new_id.losses == ("the nodes of compute resource tpu go, and the jobs on them end",)
    assert not new_id.slices_known


@pytest.mark.parametrize(("shape", "slices"), [("2x4", 4), ("4x4", 2), ("5x5", 0)])
def test_the_slices_of_a_node_set_are_those_that_its_label_says(shape: str, slices: int) -> None:
    cluster = documents.cluster_director()
    (node_set,) = cluster[-1].inputs["orchestrator"]["slurm"]["nodeSets"]
    node_set["computeInstance"] = {"labels": {"pathways-topology": shape}}
    made = report(cluster, [])
    assert (made.before.slices, made.slices_known) == (slices, slices > 0)
    assert ("2 slices lost or away" in made.losses) == (slices == 2)


def test_deleting_a_cluster_director_cluster_takes_the_storage_it_made() -> None:
    assert "data lost: filestore home, which the cluster made" in report(documents.cluster_director(), []).losses


VIOLATED = documents.policy_event("bucket-public-access", "open it is")


@pytest.mark.parametrize(
    ("before", "after", "extra", "verdict"),
    [
        (documents.gke(), documents.gke(), [], Verdict.NOTHING),
        ([], documents.gke(), [], Verdict.CHANGES),
        (documents.gke(), documents.gke(slices__topology="4x8"), [], Verdict.DESTRUCTIVE),
        (documents.gke(), [], [], Verdict.DESTRUCTIVE),
        (documents.gke(), [], [VIOLATED], Verdict.VIOLATION),
        ([], [], [VIOLATED, {"summaryEvent": None}], Verdict.VIOLATION),
        ([], [], [documents.policy_event("p", "only advice", "advisory")], Verdict.NOTHING),
        (documents.gke(), [], [VIOLATED, documents.diagnostic("error", "boom")], Verdict.FAILURE),
    ],
)
def test_the_verdict_is_the_worst_that_applies(before: list, after: list, extra: list, verdict: Verdict) -> None:
    assert report(before, after, *extra).verdict is verdict


def test_the_worst_stack_decides_and_failure_outweighs_all() -> None:
    fine, broken = report([], documents.gke()), report([], [], VIOLATED)
    failed = report([], [], documents.diagnostic("error", "boom"))
    assert summary.worst([fine, broken]) is Verdict.VIOLATION
    assert summary.worst([fine, failed, broken]) is Verdict.FAILURE


def test_destruction_that_is_acknowledged_by_name_is_a_change_like_any() -> None:
    before, after = documents.gke(), documents.gke(slices__topology="4x8")
    assert report(before, after, acknowledged=["tpu-np-0", "jobset"]).verdict is Verdict.DESTRUCTIVE
    assert report(before, after, acknowledged=["tpu-np-0", "tpu-np-1", "jobset"]).verdict is Verdict.CHANGES


def test_like_changes_are_one_group_and_others_are_not() -> None:
    after = documents.gke(slices__topology="4x8", slices__count=3)
    made = report(documents.gke(), after)
    slices = next(component for component in made.components if component.name == "slices")
    assert [(group.op, group.names) for group in slices.groups] == [
        ("replace", ("tpu-np-0", "tpu-np-1")),
        ("create", ("tpu-np-2",)),
    ]


def test_a_resource_below_a_chart_belongs_to_the_outermost_component() -> None:
    outer = State("pathways:gke:JobSetController", "jobset-controller", custom=False)
    chart = State("kubernetes:helm.sh/v4:Chart", "jobset", custom=False, parent=outer.urn)
    inner = State("kubernetes:core/v1:ConfigMap", "config", {}, chart.urn)
    (component,) = report([], [outer, chart, inner]).components
    assert (component.name, component.type) == ("jobset-controller", "pathways:gke:JobSetController")


def test_what_has_no_price_is_named_and_not_estimated() -> None:
    made = summary.summarise(reading.read(documents.events([], documents.gke()), "s"), NOTHING_KNOWN)
    assert made.cost_after.per_hour == 0
    assert made.cost_after.unpriced == (
        "n2-standard-64 in us-east5, on demand",
        "ct6e-standard-4t in us-east5, on demand",
    )


def test_spot_and_reserved_capacity_have_prices_of_their_own() -> None:
    spot = report([], documents.gke(slices__capacity={"type": "spot"}))
    on_demand = report([], documents.gke())
    assert spot.cost_after.per_hour == pytest.approx(on_demand.cost_after.per_hour - 32 * (2.70 - 1.35))
    reserved = documents.gke()
    reserved = [
        State(
            each.type,
            each.name,
            {
                **each.inputs,
                "nodeConfig": {
                    "machineType": "ct6e-standard-4t",
                    "reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"},
                },
            },
            each.parent,
        )
        if each.name.startswith("tpu")
        else each
        for each in reserved
    ]
    assert report([], reserved).cost_after.unpriced == ("ct6e-standard-4t in us-east5, from a reservation",)
