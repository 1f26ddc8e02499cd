"""Which class handles which resource type. A type is covered when it is here and in `facts/`."""

from __future__ import annotations

from rehearsal.provider.google import Google
from rehearsal.provider.resources import compute, container, hypercomputecluster, iam, services, storage
from rehearsal.provider.resources.base import Config, Refused, Resource

_CLASSES: dict[str, type[Resource]] = {
    "gcp:compute/address:Address": compute.Address,
    "gcp:compute/firewall:Firewall": compute.Firewall,
    "gcp:compute/globalAddress:GlobalAddress": compute.Address,
    "gcp:compute/network:Network": compute.Network,
    "gcp:compute/resourcePolicy:ResourcePolicy": compute.ResourcePolicy,
    "gcp:compute/router:Router": compute.Router,
    "gcp:compute/routerNat:RouterNat": compute.RouterNat,
    "gcp:compute/subnetwork:Subnetwork": compute.Subnetwork,
    "gcp:container/cluster:Cluster": container.Cluster,
    "gcp:container/nodePool:NodePool": container.NodePool,
    "gcp:hypercomputecluster/cluster:Cluster": hypercomputecluster.Cluster,
    "gcp:projects/iAMCustomRole:IAMCustomRole": iam.CustomRole,
    "gcp:projects/iAMMember:IAMMember": iam.ProjectMember,
    "gcp:projects/service:Service": services.Service,
    "gcp:serviceaccount/account:Account": iam.Account,
    "gcp:serviceaccount/iAMMember:IAMMember": iam.AccountMember,
    "gcp:storage/bucket:Bucket": storage.Bucket,
    "gcp:storage/bucketIAMMember:BucketIAMMember": iam.BucketMember,
    "gcp:storage/bucketObject:BucketObject": storage.BucketObject,
}


def covered() -> list[str]:
    """The type tokens that a rehearsal knows."""
    return sorted(_CLASSES)


def resource(token: str, google: Google, config: Config) -> Resource:
    """The resource type's handler. Raises Refused for a type that no rehearsal covers."""
    try:
        return _CLASSES[token](token, google, config)
    except KeyError:
        raise Refused(
            f"{token} is not covered by the rehearsal's gcp provider: leave the resource out of the rehearsed stack, "
            "or add the type to rehearsal/provider/resources and its facts to rehearsal/provider/facts"
        ) from None
