"""`python -m rehearsal.kubernetes.agent`: runs the pods of one cluster on this machine until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

import yaml

from rehearsal.client import ENVIRONMENT
from rehearsal.home import Home
from rehearsal.kubernetes.agent.addresses import Loopback
from rehearsal.kubernetes.agent.identity import Identities
from rehearsal.kubernetes.agent.node_agent import NodeAgent
from rehearsal.kubernetes.agent.surroundings import Surroundings
from rehearsal.kubernetes.api import Api


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m rehearsal.kubernetes.agent", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="folder of the rehearsal")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="in the cluster's folder")
    parser.add_argument("--logs", type=Path, required=True, help="folder of the pods' logs")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    folder: Path = options.kubeconfig.parent
    cluster = yaml.safe_load(options.kubeconfig.read_text())["clusters"][0]["cluster"]
    host, _, port = cluster["server"].removeprefix("https://").rpartition(":")
    loopback = Loopback(folder)
    loopback.claim()
    with Api.of(options.kubeconfig) as api:
        around = Surroundings(
            api=api,
            server=(host, port),
            folder=folder,
            logs=options.logs,
            loopback=loopback,
            client=ENVIRONMENT.folder,
            identity=Identities(Home(options.home), folder).variables,
            nodes={},
            pods={},
            services={},
        )
        asyncio.run(NodeAgent(around).serve())


if __name__ == "__main__":
    main()
