"""What a VM of a machine type offers to pods."""

from __future__ import annotations

from dataclasses import dataclass

from pathways.machines import cpu_machine, reserved_mib, reserved_millicpus
from pathways.tpu import catalogue

# Shared-core types, whose names do not say their size: vCPUs and GiB.
SHARED_CORE = {"e2-micro": (2, 1), "e2-small": (2, 2), "e2-medium": (2, 4), "g1-small": (1, 1.7)}
# Taken where no source states a size: large, so that no pod is refused for a size that was guessed.
UNPUBLISHED = (224, 960)


@dataclass(frozen=True)
class Machine:
    """A VM of one machine type. `topology` is the TPU topology of a single VM, None without TPUs."""

    name: str
    vcpus: int
    memory_gib: float
    chips: int = 0
    accelerator: str | None = None
    topology: str | None = None

    @classmethod
    def of(cls, name: str) -> Machine:
        """The machine type of that name; an unknown one gets a guessed size and no TPU."""
        tpu = catalogue().machine_types.get(name)
        if tpu is not None:
            single = next((str(t) for t in tpu.topologies if t.chips == tpu.chips_per_vm), None)
            label = catalogue().generations[tpu.generation].gke_label
            vcpus, memory = tpu.vcpus or UNPUBLISHED[0], tpu.memory_gib or UNPUBLISHED[1]
            return cls(name, vcpus, memory, tpu.chips_per_vm, label, single)
        known = cpu_machine(name)
        vcpus, gib = (known.vcpus, known.memory_gib) if known else SHARED_CORE.get(name, UNPUBLISHED)
        return cls(name, vcpus, gib)

    @property
    def capacity(self) -> dict[str, str]:
        """Resources of the VM, as Kubernetes quantities."""
        return self._quantities(self.vcpus * 1000, int(self.memory_gib * 1024))

    @property
    def allocatable(self) -> dict[str, str]:
        """What GKE leaves to pods of it."""
        mib = int(self.memory_gib * 1024)
        return self._quantities(self.vcpus * 1000 - reserved_millicpus(self.vcpus), mib - reserved_mib(mib))

    def _quantities(self, millicpus: int, mib: int) -> dict[str, str]:
        tpus = {"google.com/tpu": str(self.chips)} if self.chips else {}
        cpu = f"{millicpus}m" if millicpus % 1000 else str(millicpus // 1000)
        return {"cpu": cpu, "memory": f"{mib}Mi", "ephemeral-storage": "98Gi", "hugepages-2Mi": "0", **tpus}
