"""Preflight against the double: every finding, each produced by what goes wrong on Google's side."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.cloud.google import Google
from cli.cloud.kubernetes import Kubernetes
from cli.preflight.findings import Finding
from cli.preflight.run import PROBES
from tests.unit.dayafter.conftest import Surroundings
from tests.unit.google.running import POOLS, PROJECT, REGION, ZONE, cluster, tpu_pool

Ask = Callable[..., dict[str, list[Finding]]]

BUCKET = "scratch-of-team"
EXISTING_BUCKET = {"scratch": {"bucket": BUCKET, "existing": True, "retentionDays": None, "forceDestroy": None}}
EXISTING = {"existing": "c", "deletionProtection": None}
RESERVED = {"slices": {"capacity": {"type": "reservation", "reservation": "trillium"}}}


def bucket(cloud: Surroundings, **settings: Any) -> None:
    body = {"name": BUCKET, "location": REGION, **settings}
    cloud.double.call("POST", f"/storage/storage/v1/b?project={PROJECT}", body)


def reservation(cloud: Surroundings, project: str = PROJECT, zone: str = ZONE, **settings: Any) -> None:
    cloud.double.enable(project)
    held = {"count": "8", "instanceProperties": {"machineType": "ct6e-standard-4t"}}
    body = {"name": "trillium", "specificReservation": held, "specificReservationRequired": True, **settings}
    cloud.double.call("POST", f"/compute/compute/v1/projects/{project}/zones/{zone}/reservations", body)


def the(found: dict[str, list[Finding]], id: str, severity: str) -> Finding:
    """The one finding of that id, which is as severe."""
    [finding] = [each for each in found[id] if each.severity != "ok"] or found[id]
    assert finding.severity == severity, finding
    return finding


def test_nothing_stands_against_a_shipped_stack(ask: Ask) -> None:
    found = ask()
    assert {each.severity for findings in found.values() for each in findings} == {"ok"}
    assert "needs 32 chips, limit 4,096" in found["quota-suffices"][0].evidence


def test_nothing_stands_against_a_shipped_cluster_director_stack(ask: Ask) -> None:
    found = ask("slurm-v6e")
    assert {each.severity for findings in found.values() for each in findings} == {"ok"}
    assert [each.evidence.split(" in ")[0] for each in found["quota-suffices"]] == [
        "Preemptible TPU slices v6e",
        "N2 CPUs",
    ]


@pytest.mark.parametrize(
    ("fault", "id", "severity", "evidence", "fix"),
    [
        ("api-disabled", "services-enabled", "warning", "container.googleapis.com", "gcloud services enable container"),
        ("missing-permission", "caller-permitted", "error", "container.clusters.create", "roles/container.admin"),
        (
            "version-unavailable",
            "gke-version-offered",
            "error",
            "1.31.14-gke.1033000, which is too old",
            "releaseChannel",
        ),
        ("zone-down", "zone-up", "error", f"{ZONE} is DOWN", "another zone"),
        (
            "no-machine-type",
            "machine-types-offered",
            "error",
            "has no ct6e-standard-4t",
            "gcloud compute machine-types",
        ),
        ("no-accelerator", "accelerators-offered", "error", "has no ct6e", "gcloud compute accelerator-types"),
        ("quota", "quota-suffices", "error", "needs 32 chips, limit 0", "ask for 32 of TPUs per TPU family (CT6E)"),
    ],
)
def test_a_fault_of_the_cloud_is_found(
    cloud: Surroundings, ask: Ask, fault: str, id: str, severity: str, evidence: str, fix: str
) -> None:
    cloud.fault(fault)
    finding = the(ask(), id, severity)
    assert evidence in finding.evidence and fix in finding.fix


def test_each_image_that_is_missing_is_named(cloud: Surroundings, ask: Ask) -> None:
    cloud.fault("image-tag")
    missing = ask()["images-exist"]
    assert [each.severity for each in missing] == ["error", "error"]
    assert "cloud-pathways/server:jax-" in missing[0].evidence and "proxy_server:jax-" in missing[1].evidence
    assert "gcloud artifacts docker tags list us-docker.pkg.dev/" in missing[0].fix


def test_a_version_that_the_channel_lacks_is_found(ask: Ask) -> None:
    finding = the(ask(cluster={"version": "1.34.1-gke.999"}), "gke-version-offered", "error")
    assert "1.35.4-gke.1204000" in finding.evidence and "not 1.34.1-gke.999" in finding.evidence


def test_an_existing_bucket_in_another_region_is_found(cloud: Surroundings, ask: Ask) -> None:
    bucket(cloud)
    assert the(ask(**EXISTING_BUCKET), "bucket-usable", "ok")
    cloud.fault("bucket-region")
    finding = the(ask(**EXISTING_BUCKET), "bucket-usable", "error")
    assert "is in us-central1, the slices are in us-east5" in finding.evidence


def test_an_existing_bucket_must_be_there_and_let_the_caller_grant_access(cloud: Surroundings, ask: Ask) -> None:
    assert "there is no gs://" in the(ask(**EXISTING_BUCKET), "bucket-usable", "error").evidence
    bucket(cloud, storageClass="NEARLINE")
    assert "NEARLINE" in the(ask(**EXISTING_BUCKET), "bucket-class", "warning").evidence
    cloud.fault("missing-permission")
    finding = the(ask(**EXISTING_BUCKET), "bucket-usable", "error")
    assert "storage.buckets.setIamPolicy" in finding.evidence and "roles/storage.admin" in finding.fix


def test_a_bucket_of_that_name_elsewhere_stands_against_a_new_one(cloud: Surroundings, ask: Ask) -> None:
    bucket(cloud, location="us-central1")
    finding = the(ask(scratch={"bucket": BUCKET}), "bucket-name-free", "error")
    assert "is in us-central1" in finding.evidence


def test_a_reservation_that_does_not_exist_is_found(ask: Ask) -> None:
    finding = the(ask(**RESERVED), "reservation-exists", "error")
    assert finding.evidence == f"{PROJECT} has no reservation trillium"
    assert "gcloud compute reservations list" in finding.fix


def test_a_reservation_in_another_zone_is_found_with_the_zone_to_write(cloud: Surroundings, ask: Ask) -> None:
    reservation(cloud, zone="us-east5-a")
    finding = the(ask(**RESERVED), "reservation-exists", "error")
    assert "is in us-east5-a, not in us-east5-b" in finding.evidence and "us-east5-a" in finding.fix


def test_a_reservation_that_fits_is_fine(cloud: Surroundings, ask: Ask) -> None:
    reservation(cloud)
    found = ask(**RESERVED)
    for id in ("reservation-exists", "reservation-specific", "reservation-fits"):
        the(found, id, "ok")
    assert [each.evidence.split(" in ")[0] for each in found["quota-suffices"]] == ["N2 CPUs"]


def test_a_reservation_that_does_not_fit_is_found(cloud: Surroundings, ask: Ask) -> None:
    held = {"count": "7", "instanceProperties": {"machineType": "ct6e-standard-4t"}}
    reservation(cloud, specificReservation=held, specificReservationRequired=False)
    found = ask(**RESERVED)
    finding = the(found, "reservation-fits", "error")
    assert "holds 7 ct6e-standard-4t" in finding.evidence and "needs 8" in finding.evidence
    assert "slices.count: 1" in finding.fix
    assert "--require-specific-reservation" in the(found, "reservation-specific", "error").fix


def test_a_reservation_of_another_project_must_be_shared(cloud: Surroundings, ask: Ask) -> None:
    reservation(cloud, project="example-capacity")
    capacity = {"type": "reservation", "reservation": "trillium", "reservationProject": "example-capacity"}
    finding = the(ask(slices={"capacity": capacity}), "reservation-shared", "error")
    assert f"--add-share-with={PROJECT}" in finding.fix and ZONE in finding.fix


def test_an_existing_cluster_must_be_there(cloud: Surroundings, ask: Ask) -> None:
    assert the(ask(cluster=EXISTING), "cluster-usable", "error").evidence == f"{REGION} has no cluster c"
    cloud.double.network()
    cloud.double.cluster()
    assert "c is RUNNING, GKE 1.35" in the(ask(cluster=EXISTING), "cluster-usable", "ok").evidence


@pytest.mark.parametrize(
    ("changes", "evidence", "fix"),
    [
        ({"slices": {"dranet": True}}, "has no Dataplane V2", "leave dranet out"),
        (
            {"reach": {"loadBalancer": {"allowedRanges": ["10.0.0.0/8"]}}},
            "enforces no network policies",
            "leave pathways:reach.loadBalancer out",
        ),
        (
            {"workload": {"serviceAccount": "w", "mounts": [{"bucket": "data", "path": "/data"}]}},
            "does not mount buckets",
            f"update c --location {REGION} --update-addons GcsFuseCsiDriver=ENABLED",
        ),
        ({"cluster": {**EXISTING, "dnsEndpoint": True}}, "has no DNS endpoint", "--enable-dns-access"),
        ({"reach": {"dnsDomain": "ml.internal"}}, "has no DNS domain of its own", "leave pathways:reach.dnsDomain out"),
    ],
)
def test_an_existing_cluster_must_have_what_the_stack_uses(
    cloud: Surroundings, ask: Ask, changes: dict[str, Any], evidence: str, fix: str
) -> None:
    cloud.double.network()
    cloud.double.cluster()
    finding = the(ask(**{"cluster": EXISTING, **changes}), "cluster-usable", "error")
    assert evidence in finding.evidence and fix in finding.fix


def test_what_an_existing_cluster_has_does_not_stand_against_the_stack(cloud: Surroundings, ask: Ask) -> None:
    cloud.double.network()
    dns = {"clusterDns": "CLOUD_DNS", "clusterDnsScope": "VPC_SCOPE", "clusterDnsDomain": "ml.internal"}
    cloud.double.cluster(
        networkConfig={"datapathProvider": "ADVANCED_DATAPATH", "dnsConfig": dns},
        addonsConfig={"gcsFuseCsiDriverConfig": {"enabled": True}},
        controlPlaneEndpointsConfig={"dnsEndpointConfig": {"allowExternalTraffic": True}},
    )
    found = ask(
        cluster={**EXISTING, "dnsEndpoint": True},
        slices={"dranet": True},
        reach={"loadBalancer": {"allowedRanges": ["10.0.0.0/8"]}, "dnsDomain": "ml.internal"},
        workload={"serviceAccount": "w", "mounts": [{"bucket": "data", "path": "/data"}]},
    )
    the(found, "cluster-usable", "ok")
    the(found, "pool-names-free", "ok")


@pytest.mark.parametrize(
    ("changes", "evidence", "fix"),
    [
        ({"workload": {"namespace": "ml"}}, "no namespace ml", "kubectl create namespace ml"),
        (
            {"workload": {"serviceAccount": "w"}},
            "no service account default/w",
            "kubectl create serviceaccount w -n default",
        ),
        ({"workload": {"priorityClass": "theirs"}}, "no priority class theirs", "kubectl get priorityclasses"),
        ({"jobset": {"install": False}}, "no JobSet controller", "pathways:jobset.install"),
        ({"kueue": {"enabled": True, "install": False}}, "no Kueue", "pathways:kueue.install"),
    ],
)
def test_an_existing_cluster_must_have_what_the_workload_names(
    cloud: Surroundings,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    evidence: str,
    fix: str,
) -> None:
    objects = {"/api/v1/namespaces/default", "/apis/jobset.x-k8s.io/v1alpha2"}
    monkeypatch.setattr(Kubernetes, "get", lambda _, path: {} if path in objects else None)
    cloud.double.network()
    cloud.double.cluster()
    the(ask(cluster=EXISTING), "workload-surroundings", "ok")
    objects.discard("/apis/jobset.x-k8s.io/v1alpha2")
    finding = the(ask(cluster=EXISTING, **changes), "workload-surroundings", "error")
    assert evidence in finding.evidence and fix in finding.fix


def test_a_cluster_out_of_reach_leaves_the_other_questions_answered(cloud: Surroundings, ask: Ask) -> None:
    cloud.double.network()
    cloud.double.cluster()
    found = ask(cluster=EXISTING)
    the(found, "workload-surroundings", "unknown")
    the(found, "cluster-usable", "ok")


def test_another_stack_in_an_existing_cluster_is_worth_a_warning(cloud: Surroundings, ask: Ask) -> None:
    cloud.double.network()
    cloud.double.cluster()
    cloud.double.done(cloud.double.call("POST", POOLS, {"nodePool": tpu_pool(name="tpu-np-1")}))
    assert "node pools named tpu-np-1" in the(ask(cluster=EXISTING), "pool-names-free", "warning").evidence


def test_a_cluster_of_that_name_is_worth_a_warning(cloud: Surroundings, ask: Ask) -> None:
    cloud.double.network()
    operation = cloud.double.call(
        "POST", f"/container/v1/projects/{PROJECT}/locations/{REGION}/clusters", {"cluster": cluster(name="gke-v6e")}
    )
    cloud.double.done(operation)
    assert "a GKE cluster running" in the(ask(), "cluster-name-free", "warning").evidence


def test_an_existing_network_must_have_the_subnetwork_and_its_ranges(cloud: Surroundings, ask: Ask) -> None:
    network = {"existing": "net", "existingSubnetwork": "sub"}
    assert "has no network net" in the(ask(network=network), "network-usable", "error").evidence
    cloud.double.network()
    the(ask(network=network), "network-usable", "ok")
    other = the(ask(network={**network, "podRangeName": "gke-pods"}), "network-usable", "error")
    assert "no secondary range gke-pods; it has pods, services" in other.evidence
    assert (
        "no subnetwork other"
        in the(ask(network={**network, "existingSubnetwork": "other"}), "network-usable", "error").evidence
    )


def test_what_could_not_be_asked_is_said_and_the_rest_is_asked_all_the_same(cloud: Surroundings, ask: Ask) -> None:
    cloud.fault("api-disabled")
    finding = the(ask(), "gke-version-offered", "unknown")
    assert finding.evidence == "GKE is not enabled in the project."
    assert finding.fix == "gcloud services enable container.googleapis.com"


def test_an_api_that_does_not_answer_is_an_open_question_and_the_rest_is_asked_all_the_same(
    cloud: Surroundings, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE", f"http://127.0.0.1:{mute.getsockname()[1]}/")
        found = ask(by=Google(timeout=0.5, patience=0.5, retries=0))
    assert the(found, "zone-up", "unknown").evidence == "Compute Engine did not answer in time."
    the(found, "gke-version-offered", "ok")


def test_every_question_has_an_answer_somewhere_in_these_tests() -> None:
    text = Path(__file__).read_text("utf-8")
    for probe in PROBES:
        for question in probe.questions:
            assert f'"{question.id}"' in text, question.id
