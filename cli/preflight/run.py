"""Asks everything, several questions at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from cli.preflight import access, capacity, clusters, existing, inside, places
from cli.preflight.findings import AnyPlan, Finding, Probe

PROBES: tuple[Probe, ...] = tuple(
    probe for module in (access, places, capacity, clusters, inside, existing) for probe in module.PROBES
)
#: Questions at a time; Google counts requests by the minute.
AT_ONCE = 8


def run(google: Google, plan: AnyPlan, answered: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Every finding, in the order of the probes. `answered` is told which probe is done.

    Raises CloudError where nobody can be asked: no credentials, no network.
    """
    google.authorize()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {pool.submit(_findings, probe, google, plan): probe for probe in PROBES}
        try:
            for future in as_completed(futures):
                future.result()
                answered(futures[future].about)
        except CloudError:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [finding for future in futures for finding in future.result()]


def _findings(probe: Probe, google: Google, plan: AnyPlan) -> list[Finding]:
    try:
        return list(probe.body(google, plan))
    except CloudError as error:
        if error.stops_everything:
            raise
        return [probe.questions[0].unknown(error.reason, error.fix)]
