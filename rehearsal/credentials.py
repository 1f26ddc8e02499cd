"""`gke-gcloud-auth-plugin` of a rehearsal: the credential that every rehearsed cluster accepts.

Source: client.authentication.k8s.io, ExecCredential.
"""

from __future__ import annotations

import json
import os

from rehearsal.home import Home

_DEFAULT = "client.authentication.k8s.io/v1beta1"


def main() -> None:
    """Print an ExecCredential in the version that the caller asks for."""
    asked = json.loads(os.environ.get("KUBERNETES_EXEC_INFO") or "{}")
    credential = {
        "apiVersion": asked.get("apiVersion", _DEFAULT),
        "kind": "ExecCredential",
        "status": {"token": Home.default().token.read_text().strip()},
    }
    print(json.dumps(credential))


if __name__ == "__main__":
    main()
