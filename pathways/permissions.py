"""What whoever runs `pulumi up` must be allowed to do in the project, from what the stack creates there.

Source: Google's IAM permissions reference; each line is one kind of resource of the components.
"""

from __future__ import annotations

from collections.abc import Iterable

from pathways.director.plan import DirectorPlan
from pathways.plan import Plan

_SERVICES = ("serviceusage.services.get", "serviceusage.services.enable")
_NETWORK = (
    "compute.networks.create",
    "compute.networks.updatePolicy",
    "compute.subnetworks.create",
    "compute.routers.create",
)
_CLUSTER = ("container.clusters.create", "container.clusters.get", "container.operations.get")
_NODE_POOLS = ("container.clusters.update", "compute.instanceGroupManagers.get")
_IN_THE_CLUSTER = (
    "container.clusterRoles.create",
    "container.clusterRoleBindings.create",
    "container.customResourceDefinitions.create",
    "container.deployments.create",
    "container.namespaces.create",
    "container.thirdPartyObjects.create",
)
_IDENTITY = (
    "iam.serviceAccounts.create",
    "iam.serviceAccounts.actAs",
    "resourcemanager.projects.getIamPolicy",
    "resourcemanager.projects.setIamPolicy",
)
_CUSTOM_ROLE = ("iam.roles.create",)
_BUCKET = ("storage.buckets.create",)
_BUCKET_POLICY = ("storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy")
_WORKLOAD_POLICY = ("compute.resourcePolicies.create",)
_DIRECTOR = (
    "hypercomputecluster.clusters.create",
    "hypercomputecluster.clusters.get",
    "hypercomputecluster.operations.get",
    "compute.firewalls.create",
)
#: Predefined roles, and what begins the permissions that each holds.
_ROLES = {
    "roles/serviceusage.serviceUsageAdmin": ("serviceusage.services.",),
    "roles/compute.admin": ("compute.",),
    "roles/container.admin": ("container.",),
    "roles/hypercomputecluster.editor": ("hypercomputecluster.",),
    "roles/iam.serviceAccountAdmin": ("iam.serviceAccounts.create",),
    "roles/iam.serviceAccountUser": ("iam.serviceAccounts.actAs",),
    "roles/iam.roleAdmin": ("iam.roles.",),
    "roles/resourcemanager.projectIamAdmin": ("resourcemanager.projects.getIam", "resourcemanager.projects.setIam"),
    "roles/storage.admin": ("storage.buckets.",),
}
#: What a bucket that exists already must allow besides.
EXISTING_BUCKET = ("storage.buckets.get", *_BUCKET_POLICY)


def of(plan: Plan | DirectorPlan) -> tuple[str, ...]:
    """Permissions on the project, in the order in which `pulumi up` needs them."""
    settings = plan.settings
    wanted = [*_SERVICES]
    if isinstance(plan, DirectorPlan):
        wanted += [*_DIRECTOR]
    else:
        if not settings.cluster.existing:
            wanted += [*(() if settings.network.existing else _NETWORK), *_CLUSTER]
        wanted += [*_NODE_POOLS, *_IDENTITY, *_IN_THE_CLUSTER]
        if any(pool.placement == "workload_policy" for pool in plan.tpu_pools):
            wanted += _WORKLOAD_POLICY
    if not plan.scratch.existing:
        wanted += _BUCKET
    if plan.scratch.permissions:
        wanted += _CUSTOM_ROLE
    return tuple(dict.fromkeys([*wanted, *_BUCKET_POLICY]))


def roles(permissions: Iterable[str]) -> list[str]:
    """The predefined roles that hold permissions of `of`, one for each kind of resource."""
    wanted = tuple(permissions)
    return [role for role, held in _ROLES.items() if any(each.startswith(held) for each in wanted)]
