"""The kubeconfig of a GKE cluster, for users who authenticate as gcloud does."""

from __future__ import annotations

from typing import Any

EXEC_PLUGIN = "gke-gcloud-auth-plugin"


def kubeconfig(name: str, endpoint: str, ca_certificate: str | None) -> dict[str, Any]:
    """A kubeconfig without a secret of its own: the exec plugin gets a token when one is needed.

    `endpoint` is the cluster's host, with a port where it is not 443; `ca_certificate` is base64 of PEM, None where a
    public authority signed the endpoint's certificate.
    """
    trust = {"certificate-authority-data": ca_certificate} if ca_certificate else {}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": name,
                "cluster": {"server": f"https://{endpoint}", **trust},
            }
        ],
        "users": [
            {
                "name": name,
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": EXEC_PLUGIN,
                        "installHint": f"{EXEC_PLUGIN} is not on PATH: gcloud components install {EXEC_PLUGIN}",
                        "interactiveMode": "Never",
                        "provideClusterInfo": True,
                    }
                },
            }
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
