"""`python -m rehearsal.google --home HOME --port P`: the double on loopback, until it is told to stop."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

import uvicorn

from rehearsal.google import grpc_front
from rehearsal.google.app import create_app
from rehearsal.google.cloud import Cloud
from rehearsal.google.runtime import ClusterRuntime, LazyRuntime, LazySlurm, NullRuntime, NullSlurm, SlurmRuntime
from rehearsal.google.services import SERVICES
from rehearsal.home import Home


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m rehearsal.google", description="Google Cloud on this machine.")
    parser.add_argument("--home", type=Path, required=True, help="folder of the rehearsal")
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1")
    parser.add_argument("--grpc-port", type=int, help="port on 127.0.0.1 for gRPC clients of GKE")
    parser.add_argument("--no-clusters", action="store_true", help="clusters in name only: start nothing for them")
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(message)s")
    home = options.home.resolve()
    url = f"http://127.0.0.1:{options.port}"
    runtime: ClusterRuntime = NullRuntime() if options.no_clusters else LazyRuntime(home)
    token = Home(home).token
    slurm: SlurmRuntime = NullSlurm() if options.no_clusters else LazySlurm(home, url)
    cloud = Cloud(home / "google", runtime, slurm, token.read_text().strip() if token.exists() else "rehearsal")
    app = create_app(cloud)
    if options.grpc_port:
        # Kept in a name: a server that nobody holds stops.
        front, _ = grpc_front.start(cloud, SERVICES, options.grpc_port)
    # Nothing is closed at the end: a kill must do no harm either.
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=options.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
    )


if __name__ == "__main__":
    main()
