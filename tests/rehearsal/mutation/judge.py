"""Says of each change what becomes of it in a cluster that is up."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tests.rehearsal.mutation import failures, uses
from tests.rehearsal.mutation.lanes import SURVIVED, Cluster, Lane, Verdict
from tests.rehearsal.mutation.mutants import Manifests, Mutant
from tests.rehearsal.mutation.variants import Variant

# Stacks at a time.
LANES = 3


class Judge:
    """Judges changes in namespaces of their own."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._numbers = itertools.count()
        self._unchanged: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def all(self, what: Iterable[tuple[Variant, Mutant]]) -> list[Verdict]:
        """A verdict for each, several at a time."""
        pool = ThreadPoolExecutor(LANES)
        try:
            return list(pool.map(lambda pair: self.one(*pair), what))
        finally:
            # After Ctrl-C none that waits for its turn begins.
            pool.shutdown(cancel_futures=True)

    def one(self, variant: Variant, mutant: Mutant | None = None) -> Verdict:
        """What notices a change, or a stack without one."""
        manifests = mutant.of(variant.manifests) if mutant else variant.manifests
        with self._lane(variant, manifests) as lane:
            found = uses.use(lane)
            what = failures.concerning(mutant) if mutant else ""
            if found.failed or not what:
                return found
            said, expected = failures.outcome(lane, what), self._expected(variant, what)
            if said == expected:
                return SURVIVED
            return Verdict(
                "a later failure",
                f"after the end of {what}: {said}, not as before: {expected}; {failures.DECIDES[what]} decide that",
            )

    def _expected(self, variant: Variant, what: str) -> str:
        """What comes of a failure in a stack without a change."""
        with self._lock:
            if (variant.name, what) not in self._unchanged:
                with self._lane(variant, variant.manifests) as lane:
                    found = uses.use(lane)
                    assert not found.failed, (variant.name, found)
                    self._unchanged[variant.name, what] = failures.outcome(lane, what)
            return self._unchanged[variant.name, what]

    @contextmanager
    def _lane(self, variant: Variant, manifests: Manifests) -> Iterator[Lane]:
        lane = Lane(self._cluster, variant, f"m{next(self._numbers)}", manifests)
        try:
            yield lane
        finally:
            lane.remove()
