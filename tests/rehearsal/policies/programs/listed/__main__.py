"""Makes the resources that its configuration lists as [type, name, inputs, protect]. Knows nothing of this project."""

import json

import pulumi
import pulumi_kubernetes as kubernetes

resources = json.loads(pulumi.Config().require("resources"))
cluster = None
if any(type_.startswith("kubernetes:") for type_, *_ in resources):
    cluster = kubernetes.Provider("kubernetes", render_yaml_to_directory="rendered")
for type_, name, inputs, protect in resources:
    provider = cluster if type_.startswith("kubernetes:") else None
    pulumi.CustomResource(type_, name, inputs, pulumi.ResourceOptions(provider=provider, protect=protect))
