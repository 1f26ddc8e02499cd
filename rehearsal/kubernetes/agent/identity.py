"""Who a pod is to Google Cloud.

Source: GKE documentation, "About Workload Identity Federation for GKE" (pods on the host's network; direct access by
principal; service accounts impersonated by annotation).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from rehearsal.google.identity import token
from rehearsal.google.projects import project_number
from rehearsal.home import Home
from rehearsal.kubernetes.agent.environment import ConfigError, Lookup
from rehearsal.kubernetes.nodes import POOL
from rehearsal.processes import Processes

Json = dict[str, Any]
ANNOTATION = "iam.gke.io/gcp-service-account"
GOOGLE = "google"


class Identities:
    """The identities of pods in one cluster; `folder` is the cluster's, whose name says which one it is."""

    def __init__(self, home: Home, folder: Path) -> None:
        self._processes = Processes(home.processes)
        self._project, self._location, self._cluster = folder.name.split("_", 2)

    def variables(self, pod: Json, node: Json, lookup: Lookup) -> dict[str, str]:
        """The variables by which the stand-ins know who they are and where. May block on the rehearsed cloud.

        Raises ConfigError.
        """
        labels = node["metadata"]["labels"]
        found = {"REHEARSAL_REGION": labels["topology.kubernetes.io/region"]}
        cloud = self._cloud()
        if cloud is not None:
            config = self._config(cloud, labels[POOL])
            found |= {"REHEARSAL_CLOUD": cloud, "REHEARSAL_TOKEN": token(self._member(pod, config, lookup))}
        return found

    def _member(self, pod: Json, config: Mapping[str, Any], lookup: Lookup) -> str:
        """The pod's name in IAM policies: its node's where it sees the node's metadata server."""
        mode = (config.get("workloadMetadataConfig") or {}).get("mode")
        if pod["spec"].get("hostNetwork") or mode != "GKE_METADATA":
            account = config.get("serviceAccount") or "default"
            if account == "default":
                account = f"{project_number(self._project)}-compute@developer.gserviceaccount.com"
            return f"serviceAccount:{account}"
        name, namespace = pod["spec"].get("serviceAccountName") or "default", pod["metadata"]["namespace"]
        account = (lookup("serviceaccounts", name) or {}).get("metadata", {}).get("annotations", {}).get(ANNOTATION)
        return f"serviceAccount:{account or f'{self._project}.svc.id.goog[{namespace}/{name}]'}"

    def _cloud(self) -> str | None:
        """URL of the rehearsed Google Cloud; None where none runs."""
        process = self._processes.get(GOOGLE)
        return f"http://127.0.0.1:{process.argv[process.argv.index('--port') + 1]}" if process else None

    def _config(self, cloud: str, pool: str) -> Json:
        """The node configuration of a pool. Raises ConfigError while there is none."""
        place = f"projects/{self._project}/locations/{self._location}/clusters/{self._cluster}"
        try:
            answer = httpx.get(f"{cloud}/container/v1/{place}/nodePools/{pool}", trust_env=False, timeout=30)
        except httpx.TransportError as error:
            raise ConfigError(f"the rehearsed cloud does not say what node pool {pool} is: {error!r}") from error
        if not answer.is_success:
            raise ConfigError(f"the rehearsed cloud does not say what node pool {pool} is: {answer.text.strip()}")
        config: Json = answer.json().get("config", {})
        return config
