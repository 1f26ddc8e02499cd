"""Updates of clusters: PUT with desired* fields, and the older verbs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.documents import get_path, merge, set_path
from rehearsal.google.errors import condition_not_met, invalid, not_found, unimplemented
from rehearsal.google.services.container import endpoints, node_pools, operations
from rehearsal.google.services.container.clusters import CLUSTERS, save
from rehearsal.google.services.container.pool_rules import check_autoscaling
from rehearsal.google.services.container.pool_updates import change_locations, refuse_bad_autoscaling
from rehearsal.google.services.container.records import ClusterRecord, PoolRecord
from rehearsal.google.services.container.service import SERVICE, Place, cluster_of
from rehearsal.google.services.container.versions import number, resolve

Json = dict[str, Any]

IP_ENDPOINTS = "controlPlaneEndpointsConfig.ipEndpointsConfig"

REPLACED = {
    "desiredAnonymousAuthenticationConfig": "anonymousAuthenticationConfig",
    "desiredAuthenticatorGroupsConfig": "authenticatorGroupsConfig",
    "desiredBinaryAuthorization": "binaryAuthorization",
    "desiredClusterAutoscaling": "autoscaling",
    "desiredCostManagementConfig": "costManagementConfig",
    "desiredDatabaseEncryption": "databaseEncryption",
    "desiredDatapathProvider": "networkConfig.datapathProvider",
    "desiredDefaultEnablePrivateNodes": "networkConfig.defaultEnablePrivateNodes",
    "desiredDefaultSnatStatus": "networkConfig.defaultSnatStatus",
    "desiredDisableL4LbFirewallReconciliation": "networkConfig.disableL4LbFirewallReconciliation",
    "desiredDnsConfig": "networkConfig.dnsConfig",
    "desiredEnableCiliumClusterwideNetworkPolicy": "networkConfig.enableCiliumClusterwideNetworkPolicy",
    "desiredEnableFqdnNetworkPolicy": "networkConfig.enableFqdnNetworkPolicy",
    "desiredEnableMultiNetworking": "networkConfig.enableMultiNetworking",
    "desiredFleet": "fleet",
    "desiredGatewayApiConfig": "networkConfig.gatewayApiConfig",
    "desiredGcfsConfig": "nodePoolDefaults.nodeConfigDefaults.gcfsConfig",
    "desiredIdentityServiceConfig": "identityServiceConfig",
    "desiredInTransitEncryptionConfig": "networkConfig.inTransitEncryptionConfig",
    "desiredK8sBetaApis": "enableK8sBetaApis",
    "desiredLoggingConfig": "loggingConfig",
    "desiredLoggingService": "loggingService",
    "desiredManagedOpentelemetryConfig": "managedOpentelemetryConfig",
    "desiredMeshCertificates": "meshCertificates",
    "desiredMonitoringConfig": "monitoringConfig",
    "desiredMonitoringService": "monitoringService",
    "desiredNetworkPerformanceConfig": "networkConfig.networkPerformanceConfig",
    "desiredNodeKubeletConfig": "nodePoolDefaults.nodeConfigDefaults.nodeKubeletConfig",
    "desiredNodePoolAutoConfigKubeletConfig": "nodePoolAutoConfig.nodeKubeletConfig",
    "desiredNodePoolAutoConfigNetworkTags": "nodePoolAutoConfig.networkTags",
    "desiredNodePoolLoggingConfig": "nodePoolDefaults.nodeConfigDefaults.loggingConfig",
    "desiredNotificationConfig": "notificationConfig",
    "desiredPodAutoscaling": "podAutoscaling",
    "desiredPrivateIpv6GoogleAccess": "networkConfig.privateIpv6GoogleAccess",
    "desiredRbacBindingConfig": "rbacBindingConfig",
    "desiredReleaseChannel": "releaseChannel",
    "desiredResourceUsageExportConfig": "resourceUsageExportConfig",
    "desiredSecretManagerConfig": "secretManagerConfig",
    "desiredSecurityPostureConfig": "securityPostureConfig",
    "desiredServiceExternalIpsConfig": "networkConfig.serviceExternalIpsConfig",
    "desiredShieldedNodes": "shieldedNodes",
    "desiredStackType": "ipAllocationPolicy.stackType",
    "desiredVerticalPodAutoscaling": "verticalPodAutoscaling",
    "desiredWorkloadIdentityConfig": "workloadIdentityConfig",
    "gkeAutoUpgradeConfig": "gkeAutoUpgradeConfig",
}
"""Fields of ClusterUpdate that replace what stands at a path of the cluster."""

MERGED = {
    "desiredAddonsConfig": "addonsConfig",
    "desiredControlPlaneEndpointsConfig": "controlPlaneEndpointsConfig",
    "desiredMasterAuthorizedNetworksConfig": f"{IP_ENDPOINTS}.authorizedNetworksConfig",
}
"""Fields whose parts are changed one by one."""

INNER = {
    "desiredIntraNodeVisibilityConfig": ("enabled", "networkConfig.enableIntraNodeVisibility"),
    "desiredL4ilbSubsettingConfig": ("enabled", "networkConfig.enableL4ilbSubsetting"),
}
"""Fields of which one member is stored."""


@SERVICE.handles(CLUSTERS + "update")
def update(cloud: Cloud, call: Call) -> Json:
    place, record = cluster_of(cloud, call)
    wanted: Json = call.body.get("update", {})
    if not wanted:
        raise invalid("Must specify a field to update.")
    if wanted.get("etag", record.cluster["etag"]) != record.cluster["etag"]:
        raise condition_not_met("The etag of the cluster is not the current one.")
    pool_fields = {
        "desiredNodePoolId",
        "desiredNodePoolAutoscaling",
        "desiredImageType",
        "desiredNodeVersion",
    }
    if pool_fields & wanted.keys():
        return _update_pool(cloud, place, record, wanted)
    operations.refuse_while_busy(cloud, record, "")
    kind = "UPDATE_CLUSTER"
    for field, value in wanted.items():
        if field == "desiredMasterVersion":
            kind = "UPGRADE_MASTER"
            _upgrade(record.cluster, value)
        elif field == "desiredLocations":
            _relocate(cloud, place, record, value)
        elif field == "desiredEnablePrivateEndpoint":
            set_path(
                record.cluster,
                f"{IP_ENDPOINTS}.enablePublicEndpoint",
                not value,
            )
        elif field in REPLACED:
            set_path(record.cluster, REPLACED[field], value)
        elif field in MERGED:
            set_path(record.cluster, MERGED[field], merge(get_path(record.cluster, MERGED[field], {}), value))
        elif field in INNER:
            member, path = INNER[field]
            set_path(record.cluster, path, value.get(member, False))
        elif field != "etag":
            raise unimplemented(f"The rehearsal does not update a cluster by {field}.")
    if "desiredWorkloadIdentityConfig" in wanted and wanted["desiredWorkloadIdentityConfig"].get("workloadPool"):
        place.project.workload_pool = True
        cloud.projects.save(place.project)
    record.cluster["networkConfig"].setdefault("defaultEnablePrivateNodes", False)
    record.cluster["controlPlaneEndpointsConfig"]["ipEndpointsConfig"].setdefault("enablePublicEndpoint", False)
    endpoints.mirror(record.cluster)
    save(cloud, record)
    return operations.start(cloud, place, kind, "note", record.name)


def _upgrade(cluster: Json, wanted: str) -> None:
    version = resolve(wanted, get_path(cluster, "releaseChannel.channel", "UNSPECIFIED"))
    if number(version)[:2] < number(cluster["currentMasterVersion"])[:2]:
        raise invalid(f'Master cannot be downgraded from "{cluster["currentMasterVersion"]}" to "{version}".')
    cluster["currentMasterVersion"] = version


def _relocate(cloud: Cloud, place: Place, record: ClusterRecord, locations: list[str]) -> None:
    """Node locations of the cluster; pools that lay in all of the old ones follow."""
    if place.is_zone and place.location not in locations:
        raise invalid(f'Locations must include the cluster\'s zone "{place.location}".')
    old = record.cluster["locations"]
    record.cluster["locations"] = locations
    for pool in record.pools(cloud):
        if pool.pool["locations"] == old:
            change_locations(cloud, place, pool, locations)
            node_pools.store(cloud, pool)
            operations.start(cloud, place, "UPDATE_CLUSTER", "apply_pool", record.name, pool.pool["name"])


def _update_pool(cloud: Cloud, place: Place, record: ClusterRecord, wanted: Json) -> Json:
    """The updates of one node pool that go through its cluster."""
    id = wanted.get("desiredNodePoolId", "default-pool")
    pool = PoolRecord.load(cloud, f"{record.name}/nodePools/{id}")
    if pool is None:
        raise not_found(f"Not found: {place.link}/clusters/{record.cluster['name']}/nodePools/{id}.")
    operations.refuse_while_busy(cloud, record, id)
    kind = "UPDATE_CLUSTER"
    if "desiredNodePoolAutoscaling" in wanted:
        pool.pool["autoscaling"] = wanted["desiredNodePoolAutoscaling"]
        refuse_bad_autoscaling(pool.pool)
        check_autoscaling(pool.pool)
    if "desiredImageType" in wanted:
        kind = "UPGRADE_NODES"
        pool.pool["config"]["imageType"] = wanted["desiredImageType"]
    if "desiredNodeVersion" in wanted:
        kind = "UPGRADE_NODES"
        version = resolve(wanted["desiredNodeVersion"]) if wanted["desiredNodeVersion"] != "-" else ""
        pool.pool["version"] = version or record.cluster["currentMasterVersion"]
        if number(pool.pool["version"]) > number(record.cluster["currentMasterVersion"]):
            raise invalid(f'Node version "{version}" must not be newer than the control plane.')
    pool.pool["status"] = "RECONCILING"
    node_pools.store(cloud, pool)
    return operations.start(cloud, place, kind, "apply_pool", record.name, id)


@SERVICE.handles(CLUSTERS + "updateMaster")
def update_master(cloud: Cloud, call: Call) -> Json:
    place, record = cluster_of(cloud, call)
    operations.refuse_while_busy(cloud, record, "")
    _upgrade(record.cluster, call.body.get("masterVersion", ""))
    save(cloud, record)
    return operations.start(cloud, place, "UPGRADE_MASTER", "note", record.name)


@SERVICE.handles(CLUSTERS + "setResourceLabels")
def set_resource_labels(cloud: Cloud, call: Call) -> Json:
    place, record = cluster_of(cloud, call)
    operations.refuse_while_busy(cloud, record, "")
    if call.body.get("labelFingerprint") != record.cluster["labelFingerprint"]:
        raise condition_not_met("Labels fingerprint either invalid or resource labels have changed.")
    labels = call.body.get("resourceLabels", {})
    digest = hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).hexdigest()[:8]
    record.cluster |= {"resourceLabels": labels, "labelFingerprint": digest}
    save(cloud, record)
    return operations.start(cloud, place, "UPDATE_CLUSTER", "note", record.name)


@SERVICE.handles(
    CLUSTERS + "setLegacyAbac",
    CLUSTERS + "setMaintenancePolicy",
    CLUSTERS + "setNetworkPolicy",
    CLUSTERS + "setAddons",
    CLUSTERS + "setLogging",
    CLUSTERS + "setMonitoring",
)
def set_one(cloud: Cloud, call: Call) -> Json:
    """The verbs that set one field of a cluster."""
    place, record = cluster_of(cloud, call)
    operations.refuse_while_busy(cloud, record, "")
    body = call.body
    verb = call.method.id.rsplit(".", 1)[-1]
    if verb == "setMaintenancePolicy":
        policy = body.get("maintenancePolicy", {})
        digest = hashlib.sha256(json.dumps(policy.get("window"), sort_keys=True).encode()).hexdigest()[:8]
        record.cluster["maintenancePolicy"] = {**policy, "resourceVersion": digest}
    else:
        path, value = {
            "setLegacyAbac": ("legacyAbac.enabled", body.get("enabled", False)),
            "setNetworkPolicy": ("networkPolicy", body.get("networkPolicy", {})),
            "setAddons": (
                "addonsConfig",
                merge(record.cluster["addonsConfig"], body.get("addonsConfig", {})),
            ),
            "setLogging": ("loggingService", body.get("loggingService", "")),
            "setMonitoring": ("monitoringService", body.get("monitoringService", "")),
        }[verb]
        set_path(record.cluster, path, value)
    save(cloud, record)
    return operations.start(cloud, place, "UPDATE_CLUSTER", "note", record.name)
