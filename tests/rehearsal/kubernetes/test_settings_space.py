"""Whatever the checks accept, the API server, JobSet's webhook and the scheduler accept."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from pathways import manifests, names, plan, stackfile
from pathways.plan import Plan
from pathways.proxy_job import Client
from rehearsal.google.runtime import NullRuntime
from rehearsal.home import Home
from rehearsal.kubernetes.api import Api
from rehearsal.kubernetes.control_plane import ControlPlane
from rehearsal.kubernetes.nodes import POOL
from rehearsal.kubernetes.runtime import KubernetesRuntime
from rehearsal.provider.google import Google
from rehearsal.tools import Tools
from tests import program
from tests.rehearsal.kubernetes import addon
from tests.settings_space import Config, accepted, stacks
from tests.unit.google.running import serve

Json = dict[str, Any]
PROJECT, LOCATION = "example-ml", "us-east5"
KEY = f"{PROJECT}_{LOCATION}_space"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "jobset")
pytestmark = pytest.mark.skipif(
    bool(Tools.locate().missing(PROGRAMS)), reason="the Go programs are not built: make tools"
)
COLLECTIONS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "JobSet": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
    "Service": "/api/v1/namespaces/{}/services",
}
SLICES = {"accelerator": "v6e", "topology": "2x4", "count": 2, "zone": "us-east5-b"}
over_the_space = settings(
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@dataclass
class OneCluster(NullRuntime):
    """Gives the nodes of every cluster's pools to one control plane, whose API the tests ask."""

    kubernetes: KubernetesRuntime
    api: Api
    pools: set[str] = field(default_factory=set)

    def apply_pool(self, key: str, pool: Json, zones: dict[str, int], project: str, location: str) -> None:
        self.pools.add(pool["name"])
        self.kubernetes.apply_pool(KEY, pool, zones, PROJECT, LOCATION)

    def delete_pool(self, key: str, pool_name: str) -> None:
        """The pool that a cluster is born with goes while nobody looks; the others by `clear`."""
        self.kubernetes.delete_pool(KEY, pool_name)

    def clear(self) -> None:
        for pool in self.pools:
            self.kubernetes.delete_pool(KEY, pool)
        self.pools.clear()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneCluster]:
    """A control plane with JobSet, whose controller runs on a node of its own."""
    home = Home(tmp_path_factory.mktemp("space"))
    runtime = KubernetesRuntime(home, Tools.locate())
    runtime.create(KEY)
    system = {"name": "system", "config": {"machineType": "e2-standard-4"}}
    runtime.apply_pool(KEY, system, {"us-east5-b": 1}, PROJECT, LOCATION)
    with ControlPlane(KEY, home, Tools.locate()).api() as api:
        addon.install(api, Tools.locate().share)
        until(lambda: (api.get(addon.DEPLOYMENT) or {}).get("status", {}).get("availableReplicas"))
        yield OneCluster(runtime, api)
    runtime.delete(KEY)


@settings(over_the_space, max_examples=100)
@given(config=stacks())
def test_whatever_the_checks_accept_passes_the_api_server_and_the_webhook(config: Config, cluster: OneCluster) -> None:
    config.pop("pathways:kueue", None)  # its objects are of definitions that only its chart brings
    made = accepted(config)
    ensure_namespace(cluster.api, made)
    for manifest in [*manifests.of(made), *manifests.of_client(made), *jobs(made)]:
        cluster.api.create(f"{collection(manifest)}?dryRun=All", dict(manifest))


@pytest.mark.extended
@settings(over_the_space, max_examples=6)
@given(config=stacks())
def test_the_pods_of_a_drawn_stack_run_on_the_pools_of_its_slices(
    config: Config, cluster: OneCluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config.pop("pathways:kueue", None)
    config["pathways:slices"]["count"] = min(config["pathways:slices"]["count"], 3)
    config.setdefault("pathways:workload", {})["suspend"] = False
    made = accepted(config)
    assume(made.shape.vms <= 64)
    runs(made, cluster, tmp_path_factory.mktemp("google"), manifests.of_client(made))


@pytest.mark.parametrize(
    "sections",
    [
        {"workload": {"mode": "service"}, "head": {"nodeCount": 3, "machineType": "n2-standard-32"}},
        {"slices": {**SLICES, "capacity": {"type": "flexStart"}}, "workload": {"mode": "batch", "image": "client:1"}},
        {"slices": {**SLICES, "machineType": "ct6e-standard-8t"}},
        {"slices": {"accelerator": "tpu7x", "topology": "2x2x2", "count": 2, "zone": "us-central1-c"}},
    ],
    ids=["shared service", "flex start", "single host", "workload policy"],
)
def test_the_pods_run_on_the_pools_of_their_slices(sections: Json, cluster: OneCluster, tmp_path: Path) -> None:
    stated = {"slices": SLICES, **sections}
    region = stated["slices"]["zone"].rpartition("-")[0]
    config = {"gcp:project": PROJECT, "gcp:region": region, **{f"pathways:{key}": v for key, v in stated.items()}}
    found, _ = stackfile.read(config, "stack")
    made = plan.make(found)
    clients = [Client("one"), Client("two")] if made.settings.workload.mode == "service" else []
    runs(made, cluster, tmp_path, [manifest for client in clients for manifest in manifests.of_client(made, client)])


def runs(made: Plan, cluster: OneCluster, folder: Path, clients: Sequence[Mapping[str, Any]]) -> None:
    """Make the stack's nodes through Google's double, its JobSet and clients' Jobs, and see where the pods run."""
    api = cluster.api
    namespace = ensure_namespace(api, made)
    for manifest in made.workspace:
        api.create(collection(manifest), dict(manifest))
    with serve(folder, cluster) as (_, url):
        whole = program.run(made, Google(url, timeout=120))
    try:
        # Of a bucket that exists already there is none here.
        assert [refusal for refusal in whole.refusals if not made.scratch.existing] == []
        for manifest in [made.job_set, *clients]:
            api.create(collection(manifest), dict(manifest))
        expected = made.settings.slices.count * made.shape.vms + 1 + len(clients)
        pods = until(lambda: (found := running(api, namespace)) and len(found) == expected and found)
        pool_of = {node["metadata"]["name"]: node["metadata"]["labels"][POOL] for node in api.items("/api/v1/nodes")}
        slices: dict[str, Counter[str]] = defaultdict(Counter)
        proxies: list[str] = []
        for pod in pods:
            node, job = pod["spec"]["nodeName"], pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]
            if f"-{names.WORKER_JOB}-" in job:
                slices[job][pool_of[node]] += 1
                continue
            assert pool_of[node] == names.HEAD_POOL
            if any(container["name"] == "pathways-proxy" for container in containers_of(pod)):
                proxies.append(node)
        # Proxies use the same port of their nodes.
        assert len(proxies) == len(set(proxies)) == max(1, len(clients))
        by_pool = [{pool.name: pool.nodes} for pool in made.tpu_pools]
        assert sorted(map(dict, slices.values()), key=str) == sorted(by_pool, key=str)
    finally:
        for manifest in [made.job_set, *clients]:
            api.delete(f"{collection(manifest)}/{manifest['metadata']['name']}")
        until(lambda: not api.items(collection(made.job_set)))
        for pod in api.items(pods_of(namespace)):
            api.delete(f"{pods_of(namespace)}/{pod['metadata']['name']}", at_once=True)
        cluster.clear()


def containers_of(pod: Json) -> list[Json]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def jobs(made: Plan) -> Iterator[Json]:
    """The Jobs of which the JobSet consists: their pods are checked when a Job is made, not a JobSet."""
    for job in made.job_set["spec"]["replicatedJobs"]:
        name = f"{made.job_set['metadata']['name']}-{job['name']}-{job['replicas'] - 1}"
        metadata = {"name": name, "namespace": made.job_set["metadata"]["namespace"]}
        yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job["template"]["spec"]}


def running(api: Api, namespace: str) -> list[Json]:
    pods = api.items(pods_of(namespace))
    return [pod for pod in pods if pod["status"].get("phase") == "Running"]


def pods_of(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def collection(manifest: Mapping[str, Any]) -> str:
    return COLLECTIONS[manifest["kind"]].format(manifest["metadata"].get("namespace"))


def ensure_namespace(api: Api, made: Plan) -> str:
    namespace = str(made.job_set["metadata"]["namespace"])
    api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
    until(lambda: api.get(path))
    return namespace


def until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} seconds"
        time.sleep(0.2)
    return result
