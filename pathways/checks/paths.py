"""Paths of the settings that several checks read."""

ACCELERATOR, TOPOLOGY = "pathways:slices.accelerator", "pathways:slices.topology"
MACHINE, COUNT, ZONE = "pathways:slices.machineType", "pathways:slices.count", "pathways:slices.zone"
SHAPE = (ACCELERATOR, TOPOLOGY, MACHINE)
