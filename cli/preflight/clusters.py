"""GKE's versions, and the cluster that the stack creates or expects to be there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cli.cloud.errors import missing_as_none
from cli.cloud.google import Google
from cli.preflight.findings import AnyPlan, Finding, Probe, Question
from pathways import versions
from pathways.director.plan import DirectorPlan
from pathways.plan import Plan
from pathways.settings import Settings
from pathways.versions import GkeVersion

VERSION = Question("gke-version-offered", "GKE offers the version in the channel and the location")
CLUSTER = Question("cluster-usable", "an existing cluster is there, runs, is new enough, and has what the stack uses")
CLUSTER_NAME = Question("cluster-name-free", "no cluster has the name of the one that the stack creates", "warning")
POOL_NAMES = Question(
    "pool-names-free", "no node pool of an existing cluster has the name of one of the stack's", "warning"
)


def _version(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    if isinstance(plan, DirectorPlan) or plan.settings.cluster.existing:
        return
    settings, location = plan.settings, plan.settings.location
    served = google.gke("get_server_config", name=f"projects/{settings.project}/locations/{location}")
    channel = next((c for c in served.channels if c.channel.name == settings.cluster.release_channel), None)
    if channel is None:
        yield VERSION.found(
            f"{location} has no channel {settings.cluster.release_channel}", "write RAPID, REGULAR or STABLE"
        )
        return
    offered = [GkeVersion.parse(each) for each in channel.valid_versions]
    least, asked = versions.least_gke(settings), settings.cluster.version
    where = f"{settings.cluster.release_channel} in {location}"
    listed = ", ".join(channel.valid_versions) or "nothing"
    if asked:
        wanted = GkeVersion.parse(asked).parts
        fitting = [each for each in offered if each.parts[: len(wanted)] == wanted]
        if fitting:
            yield VERSION.ok(f"{where} offers {asked}")
        else:
            yield VERSION.found(
                f"{where} offers {listed}, not {asked}", "write one of these as pathways:cluster.version"
            )
        return
    default = GkeVersion.parse(channel.default_version)
    if not default < least.version:
        yield VERSION.ok(f"{where}: {default}, and {least.because} needs {least.version} or newer")
        return
    enough = [each for each in offered if each.is_surely_at_least(least.version)]
    said = f"{where}: {default}, which is too old: {least.because} needs {least.version} or newer"
    fix = f"write pathways:cluster.version: {enough[0]}" if enough else "write pathways:cluster.releaseChannel: RAPID"
    yield VERSION.found(said, fix)


def _cluster(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    if isinstance(plan, DirectorPlan):
        yield from _director_cluster(google, plan)
        return
    settings = plan.settings
    place = f"projects/{settings.project}/locations/{settings.location}"
    found = missing_as_none(lambda: google.gke("get_cluster", name=f"{place}/clusters/{plan.names.cluster}"))
    if settings.cluster.existing:
        yield from _existing_cluster(found, plan)
    elif found is None:
        yield CLUSTER_NAME.ok(f"{settings.location} has no cluster {plan.names.cluster}")
    else:
        yield _name_taken(plan.names.cluster, f"a GKE cluster {found.status.name.lower()}")


def _existing_cluster(found: Any, plan: Plan) -> Iterator[Finding]:
    settings = plan.settings
    name, least = settings.cluster.existing, versions.least_gke(settings)
    if found is None:
        yield CLUSTER.found(
            f"{settings.location} has no cluster {name}",
            "write its name and pathways:cluster.location: gcloud container clusters list --project "
            + settings.project,
        )
        return
    version, of_it = GkeVersion.parse(found.current_master_version), f"{name} --location {found.location}"
    said = f"{name} is {found.status.name}, GKE {version}"
    lacking = list(_lacking(found, settings, of_it))
    if found.status.name not in ("RUNNING", "RECONCILING"):
        yield CLUSTER.found(said, f"see why: gcloud container clusters describe {of_it}")
    elif version < least.version:
        yield CLUSTER.found(
            f"{said}; {least.because} needs {least.version}", f"gcloud container clusters upgrade {of_it} --master"
        )
    elif not lacking:
        yield CLUSTER.ok(said)
    for what, fix in lacking:
        yield CLUSTER.found(f"{name} {what}", fix)
    taken = {pool.name for pool in found.node_pools} & {plan.head_pool.name, *(pool.name for pool in plan.tpu_pools)}
    if taken:
        yield POOL_NAMES.found(
            f"{name} has node pools named {', '.join(sorted(taken))}",
            "fine where they are this stack's; otherwise another stack is there, and a cluster has room for one",
        )
    else:
        yield POOL_NAMES.ok(f"{name} has none of the stack's node pools")


def _lacking(found: Any, settings: Settings, of_it: str) -> Iterator[tuple[str, str]]:
    """What the stack needs of an existing cluster and does not find there, and what helps."""
    dataplane_v2 = found.network_config.datapath_provider.name == "ADVANCED_DATAPATH"
    if settings.slices.dranet and not dataplane_v2:
        yield "has no Dataplane V2, which DRANET needs", "use a cluster that was created with it, or leave dranet out"
    if settings.reach.load_balancer and not (dataplane_v2 or found.network_policy.enabled):
        yield (
            "enforces no network policies, so anyone in the VPC would reach the proxy",
            "use a cluster that was created with Dataplane V2, or leave pathways:reach.loadBalancer out",
        )
    if settings.workload.mounts and not found.addons_config.gcs_fuse_csi_driver_config.enabled:
        yield (
            "does not mount buckets",
            f"gcloud container clusters update {of_it} --update-addons GcsFuseCsiDriver=ENABLED",
        )
    endpoint = found.control_plane_endpoints_config.dns_endpoint_config
    if settings.cluster.dns_endpoint and not (endpoint.endpoint and endpoint.allow_external_traffic):
        yield "has no DNS endpoint", f"gcloud container clusters update {of_it} --enable-dns-access"
    domain = found.network_config.dns_config.cluster_dns_domain
    if settings.reach.dns_domain and settings.reach.dns_domain != domain:
        yield (
            f"has {'the DNS domain ' + domain if domain else 'no DNS domain of its own'}",
            f"write pathways:reach.dnsDomain: {domain}" if domain else "leave pathways:reach.dnsDomain out",
        )


def _director_cluster(google: Google, plan: DirectorPlan) -> Iterator[Finding]:
    name = str(plan.cluster["cluster_id"])
    path = f"projects/{plan.settings.project}/locations/{plan.settings.region}/clusters/{name}"
    found = missing_as_none(
        lambda: google.ask(
            "hypercomputecluster", "v1", lambda service: service.projects().locations().clusters().get(name=path)
        )
    )
    if found is None:
        yield CLUSTER_NAME.ok(f"{plan.settings.region} has no cluster {name}")
    else:
        yield _name_taken(name, "a Cluster Director cluster")


def _name_taken(name: str, what: str) -> Finding:
    return CLUSTER_NAME.found(
        f"{name} is there already: {what}",
        "fine where this stack is deployed; otherwise write another pathways:name, or use it: pathways:cluster.existing",
    )


PROBES = (
    Probe("GKE versions", (VERSION,), _version),
    Probe("the cluster", (CLUSTER, CLUSTER_NAME, POOL_NAMES), _cluster),
)
