"""`python -m rehearsal.google --home HOME --port P`: the double on loopback, until it is told to stop."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

import uvicorn

from rehearsal.google.app import create_app
from rehearsal.google.cloud import Cloud
from rehearsal.google.runtime import ClusterRuntime, LazyRuntime, LazySlurm, NullRuntime, NullSlurm, SlurmRuntime


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m rehearsal.google", description="Google Cloud on this machine.")
    parser.add_argument("--home", type=Path, required=True, help="folder of the rehearsal")
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1")
    parser.add_argument("--no-clusters", action="store_true", help="clusters in name only: start nothing for them")
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(message)s")
    home = options.home.resolve()
    url = f"http://127.0.0.1:{options.port}"
    runtime: ClusterRuntime = NullRuntime() if options.no_clusters else LazyRuntime(home)
    slurm: SlurmRuntime = NullSlurm() if options.no_clusters else LazySlurm(home, url)
    app = create_app(Cloud(home / "google", runtime, slurm))
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
