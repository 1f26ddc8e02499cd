"""The steps of the pipelines, as commands: `python -m ci STEP`. Workflow files only call them."""
