"""Stack files of every kind, for property-based tests: plausible ones, and ones with anything in them."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from pathways import plan, stackfile, tpu
from pathways.faults import StackError
from pathways.plan import Plan
from pathways.settings import Settings
from pathways.workspace import PRIORITIES

Config = dict[str, Any]

MOST_VMS = 60_000

_WORD = st.from_regex(r"[a-z]([-a-z0-9]{0,14}[a-z0-9])?", fullmatch=True)
_VARIABLE = st.builds(
    lambda name, value: {"name": name, "value": value},
    st.sampled_from(["HF_HOME", "TPU_VMODULE", "TPU_MIN_LOG_LEVEL", "XLA_FLAGS", "A", "B"]),
    st.text("abc=/-", max_size=8),
)
_IMAGE = st.sampled_from(["client:1", "us-docker.pkg.dev/p/r/client:2026-12-01", "client"])


def _maybe(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Config]:
    """Any choice of these keys."""
    return st.fixed_dictionaries({}, optional=keys)


@st.composite
def stacks(draw: st.DrawFn) -> Config:
    """The `config:` of a stack: every section may be there, most settings are plausible, some do not go together."""
    generation = draw(st.sampled_from([each for each in tpu.catalogue().generations.values() if each.zones]))
    machines = [machine for machine in generation.machine_types if machine.supports_pathways]
    machine = draw(st.sampled_from(machines))
    zone = draw(st.sampled_from(generation.zones))
    topology = draw(st.sampled_from(machine.topologies))
    # As many slices as the largest network holds.
    count = draw(st.one_of(st.integers(1, 4), st.integers(1, min(1000, max(1, MOST_VMS // machine.vms(topology))))))
    slices: Config = {
        "accelerator": draw(st.sampled_from([generation.name, *generation.aliases])),
        "topology": str(topology),
        "count": count,
        "zone": zone,
        "machineType": machine.name,
        **draw(_maybe(capacity=_capacities(), autoscaling=st.booleans(), protect=st.booleans(), dranet=st.booleans())),
    }
    sections = draw(
        _maybe(
            workload=_workloads(),
            runtime=_runtimes(),
            scratch=_scratches(),
            cluster=_clusters(),
            head=_maybe(
                machineType=st.sampled_from(["n2-standard-64", "n2-standard-32", "n4-standard-80", "m9-huge-2"]),
                nodeCount=st.integers(1, 5),
            ),
            network=_maybe(second=st.just("192.168.0.0/16"), mtu=st.integers(1300, 8896)),
            reach=_maybe(
                loadBalancer=_maybe(globalAccess=st.booleans()).map(lambda b: {**b, "allowedRanges": ["10.0.0.0/8"]}),
                dnsDomain=st.sampled_from(["ml.example.internal", "cluster.local"]),
            ),
            kueue=_maybe(enabled=st.booleans(), queue=_WORD, install=st.booleans()),
            labels=st.dictionaries(st.from_regex(r"[a-z][-_a-z0-9]{0,8}", fullmatch=True), _WORD, max_size=3),
        )
    )
    config: Config = {
        "gcp:project": draw(st.sampled_from(["example-ml", "p12345", "a" * 30])),
        "gcp:region": zone.rpartition("-")[0],
        "pathways:slices": slices,
        **{f"pathways:{name}": section for name, section in sections.items()},
    }
    if count * machine.vms(topology) > 100:
        ranges = {"nodeRange": "10.0.0.0/16", "podRange": "10.128.0.0/9", "serviceRange": "10.8.0.0/20"}
        config["pathways:network"] = {**config.get("pathways:network", {}), **ranges}
    if draw(st.booleans()):
        config["pathways:name"] = draw(st.from_regex(r"[a-z]([-a-z0-9]{0,24}[a-z0-9])?", fullmatch=True))
    return config


def _capacities() -> st.SearchStrategy[Config]:
    named = _maybe(
        reservationProject=st.just("example-capacity"),
        reservationBlock=st.just("block-1"),
        reservationSubBlock=st.just("part-2"),
    ).map(lambda capacity: {**capacity, "reservation": "tpus"})
    return st.one_of(
        st.sampled_from([{"type": "onDemand"}, {"type": "spot"}]),
        _maybe(maxRunHours=st.integers(1, 168), queued=st.booleans()).map(lambda c: {**c, "type": "flexStart"}),
        st.builds(
            lambda capacity, kind: {**capacity, "type": kind}, named, st.sampled_from(["reservation", "calendar"])
        ),
    )


def _workloads() -> st.SearchStrategy[Config]:
    common = {
        "name": st.from_regex(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True),
        "namespace": _WORD,
        "subdomain": _WORD,
        "maxRestarts": st.integers(0, 2**31 - 1),
        "terminationGraceSeconds": st.integers(0, 3600),
        "priorityClass": st.sampled_from([*PRIORITIES, "theirs"]),
        "ttlSeconds": st.integers(0, 10**6),
        "suspend": st.booleans(),
        "serviceAccount": _WORD,
        "elastic": st.builds(
            lambda slices, restarts: {"slices": slices, "maxSliceRestarts": restarts},
            st.integers(1, 3),
            st.integers(1, 2**31 - 1),
        ),
        "mounts": st.lists(
            st.builds(
                lambda path, read_only: {"bucket": "example-data", "path": path, "readOnly": read_only},
                st.sampled_from(["/data", "/models", "/tmp/x"]),
                st.booleans(),
            ),
            max_size=2,
        ),
    }
    batch = {
        "command": st.lists(st.text("python-m ", min_size=1, max_size=9), max_size=3),
        "args": st.lists(st.text(max_size=9), max_size=3),
        "env": st.lists(_VARIABLE, max_size=3),
        "exitCodes": st.lists(st.integers(1, 256), min_size=1, max_size=4).map(lambda codes: {"fatal": codes}),
    }
    return st.one_of(
        _maybe(**common, mode=st.sampled_from(["interactive", "service"])),
        st.builds(lambda some, image: {**some, "mode": "batch", "image": image}, _maybe(**common, **batch), _IMAGE),
    )


def _runtimes() -> st.SearchStrategy[Config]:
    component = _maybe(
        args=st.lists(st.sampled_from(["--v=1", "--minloglevel=0", "--xla_x=true"]), max_size=2),
        env=st.lists(_VARIABLE, max_size=3),
    )
    sidecar = {"python": "3.12", "image": "r/sidecar:20260423-python_3.12-jax_0.11.1"}
    return _maybe(
        imageTag=st.sampled_from(["jax-0.11.1", "20261103-jax_0.11.1", "latest", "nightly"]),
        allowLatest=st.booleans(),
        resourceManager=component,
        proxy=component,
        worker=component,
        colocatedPython=st.sampled_from([sidecar, {**sidecar, "sharedMemoryGib": 64}]),
    )


def _scratches() -> st.SearchStrategy[Config]:
    common = {
        "prefix": st.sampled_from(["", "a/b"]),
        "lifecycleOwner": st.sampled_from(["stack", "pathways"]),
    }
    own = _maybe(
        **common,
        bucket=st.sampled_from(["example-scratch", "gs://no"]),
        retentionDays=st.integers(1, 3650),
        forceDestroy=st.booleans(),
    )
    return st.one_of(own, _maybe(**common).map(lambda s: {**s, "bucket": "theirs", "existing": True}))


def _clusters() -> st.SearchStrategy[Config]:
    return _maybe(
        releaseChannel=st.sampled_from(["RAPID", "REGULAR", "STABLE"]),
        version=st.sampled_from(["1.35", "1.36.1-gke.100", "1.30"]),
        privateEndpoint=st.booleans(),
        dnsEndpoint=st.booleans(),
        authorizedNetworks=st.lists(st.sampled_from(["10.0.0.0/8", "192.0.2.0/24"]), max_size=2),
    )


def anything() -> st.SearchStrategy[Config]:
    """A `config:` whose sections hold whatever YAML can."""
    scalar = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12))
    known = [field.alias or name for name, field in Settings.model_fields.items()]
    inner = [
        part.alias or name
        for field in Settings.model_fields.values()
        if isinstance(field.annotation, type) and hasattr(field.annotation, "model_fields")
        for name, part in field.annotation.model_fields.items()
    ]
    value = st.recursive(
        scalar,
        lambda deeper: st.one_of(
            st.lists(deeper, max_size=3),
            st.dictionaries(st.one_of(st.sampled_from(inner), st.text(max_size=5)), deeper, max_size=4),
        ),
        max_leaves=12,
    )
    key = st.sampled_from(["gcp:project", "gcp:region", *(f"pathways:{name}" for name in known), "pathways:"])
    return st.dictionaries(key, value, max_size=6)


def planned(config: Config) -> Plan:
    """The plan of a stack. Raises StackError where the checks refuse it."""
    found, _ = stackfile.read(config, "stack")
    return plan.make(found)


def accepted(config: Config) -> Plan:
    """The plan of a stack that the checks accept; a refused one is no example."""
    try:
        return planned(config)
    except StackError:
        assume(False)
        raise
