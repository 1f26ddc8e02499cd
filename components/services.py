"""The Google APIs a stack needs."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
from pulumi_gcp import projects


class Services(pulumi.ComponentResource):
    """Enables APIs. They stay enabled after a destroy: others in the project may use them."""

    def __init__(
        self, name: str, services: Sequence[str], opts: pulumi.ResourceOptions | None = None, platform: str = "gke"
    ) -> None:
        super().__init__(f"pathways:{platform}:Services", name, None, opts)
        for service in services:
            projects.Service(
                service.partition(".")[0],
                service=service,
                disable_on_destroy=False,
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({"services": list(services)})
