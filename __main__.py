"""Pathways from a stack file: read the settings, build the platform, export the outputs."""

import gc

import pulumi
from pulumi.runtime.config import get_config_env

from pathways import stackfile
from pathways.faults import StackError


def main() -> None:
    try:
        settings, warnings = stackfile.from_pulumi(get_config_env(), pulumi.get_stack())
    except StackError as error:
        # A RunError is printed as it is, without a traceback, and ends the update before anything is registered.
        raise pulumi.RunError(str(error)) from None
    for warning in warnings:
        pulumi.warn(str(warning))

    # Each imported only where it is built: it takes most of a second, which a faulty stack file need not wait for.
    if settings.platform == "gke":
        from components import gke_platform
        from pathways import plan

        outputs = gke_platform.build(plan.make(settings))
    else:
        from components import director_platform
        from pathways.director import plan as director_plan

        outputs = director_platform.build(director_plan.make(settings))
    for name, value in outputs.items():
        pulumi.export(name, value)


# The SDK's modules are very many objects, and all of them stay: searching them for garbage while they are
# loaded would take a tenth of a preview.
gc.disable()
main()
gc.freeze()
gc.enable()
