"""Run where pathwaysutils is installed: reads a request as JSON, prints its JobSet as JSON."""

import json
import sys

from pathwaysutils.experimental.gke.jobset import PathwaysJobSet

request = json.load(sys.stdin)
made = PathwaysJobSet(**request["job_set"])
if request["client"]:
    made.add_user_workload(**request["client"])
if request["sidecar"]:
    made.add_colocated_python(image=request["sidecar"])
json.dump(made.to_dict(), sys.stdout)
