"""The control plane's endpoints, which GKE answers twice: controlPlaneEndpointsConfig and older fields."""

from __future__ import annotations

import base64
import hashlib
from ipaddress import ip_network
from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.documents import merge
from rehearsal.google.errors import invalid
from rehearsal.google.runtime import Endpoint
from rehearsal.google.services.compute.subnetworks import ranges_in_network
from rehearsal.google.services.container.records import ClusterRecord
from rehearsal.google.services.container.service import Place

Json = dict[str, Any]


def fill_in(cloud: Cloud, place: Place, record: ClusterRecord) -> None:
    """Settle a new cluster's endpoint settings, in whichever form they were stated."""
    cluster = record.cluster
    private: Json = cluster.setdefault("privateClusterConfig", {})
    stated: Json = cluster.get("controlPlaneEndpointsConfig", {}).get("ipEndpointsConfig", {})
    ip: Json = {"enabled": True, "enablePublicEndpoint": not private.get("enablePrivateEndpoint", False)}
    if "masterGlobalAccessConfig" in private:
        ip["globalAccess"] = private["masterGlobalAccessConfig"].get("enabled", False)
    ip["authorizedNetworksConfig"] = {
        "gcpPublicCidrsAccessEnabled": True,
        **cluster.get("masterAuthorizedNetworksConfig", {}),
    }
    digest = hashlib.sha256(record.name.encode()).hexdigest()[:32]
    dns = {
        "endpoint": f"gke-{digest}-{place.project.number}.{place.region}.gke.goog",
        "allowExternalTraffic": False,
    }
    config = {"dnsEndpointConfig": dns, "ipEndpointsConfig": merge(ip, stated)}
    cluster["controlPlaneEndpointsConfig"] = merge(config, cluster.get("controlPlaneEndpointsConfig", {}))
    networking = cluster["networkConfig"]
    networking.setdefault("defaultEnablePrivateNodes", private.get("enablePrivateNodes", False))
    if block := private.get("masterIpv4CidrBlock"):
        _check_block(cloud, cluster, place.project.id, block)
    mirror(cluster)


def mirror(cluster: Json) -> None:
    """Write the older fields from controlPlaneEndpointsConfig and networkConfig, which are the truth."""
    ip = cluster["controlPlaneEndpointsConfig"]["ipEndpointsConfig"]
    private = cluster["privateClusterConfig"]
    private["enablePrivateNodes"] = cluster["networkConfig"]["defaultEnablePrivateNodes"]
    private["enablePrivateEndpoint"] = not ip["enablePublicEndpoint"]
    if "globalAccess" in ip:
        private["masterGlobalAccessConfig"] = {"enabled": ip["globalAccess"]}
    for name in ("publicEndpoint", "privateEndpoint"):
        if name in ip:
            private[name] = ip[name]
    cluster["masterAuthorizedNetworksConfig"] = ip["authorizedNetworksConfig"]


def connect(cluster: Json, endpoint: Endpoint) -> None:
    """Enter the running control plane. Public and private endpoint are the same on one machine."""
    config = cluster["controlPlaneEndpointsConfig"]
    if endpoint.dns:  # the name that GKE would give leads nowhere from here
        config["dnsEndpointConfig"]["endpoint"] = endpoint.dns
    ip = config["ipEndpointsConfig"]
    ip |= {"publicEndpoint": endpoint.address, "privateEndpoint": endpoint.address}
    cluster["endpoint"] = endpoint.address
    certificate = base64.b64encode(endpoint.ca_pem.encode()).decode()
    cluster["masterAuth"] = {"clusterCaCertificate": certificate}  # GKE does not answer clientCertificateConfig
    mirror(cluster)


def _check_block(cloud: Cloud, cluster: Json, project: str, block: str) -> None:
    try:
        wanted = ip_network(block)
    except ValueError as error:
        raise invalid(f'Invalid master IPv4 CIDR block "{block}": {error}.') from error
    if wanted.prefixlen != 28:
        raise invalid(f'Invalid master IPv4 CIDR block "{block}": it must be a /28.')
    for subnet, cidr in ranges_in_network(cloud, cluster["networkConfig"]["network"], project):
        if wanted.overlaps(cidr):
            raise invalid(f'Master IPv4 CIDR block {block} overlaps with {cidr} of subnetwork "{subnet["name"]}".')
