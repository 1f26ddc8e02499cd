"""The service account of the nodes."""

from __future__ import annotations

import pulumi
from pulumi_gcp import projects, serviceaccount

from pathways.plan import NODE_ROLES, Plan


class NodeIdentity(pulumi.ComponentResource):
    """A service account that may do what a node must, and nothing else in the project.

    Pathways pods use their node's network, which bypasses GKE's metadata server, so this is the account they act as.
    """

    email: pulumi.Output[str]
    member: pulumi.Output[str]

    def __init__(self, name: str, plan: Plan, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("pathways:gke:NodeIdentity", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        account = serviceaccount.Account(
            "nodes",
            account_id=plan.names.service_account,
            display_name=f"Nodes of the Pathways cluster {plan.names.cluster}",
            opts=child,
        )
        self.email, self.member = account.email, account.member
        self.roles = [
            projects.IAMMember(
                role.rpartition("/")[2],
                project=plan.settings.project,
                role=role,
                member=account.member,
                opts=child,
            )
            for role in NODE_ROLES
        ]
        self.register_outputs({"email": self.email})
