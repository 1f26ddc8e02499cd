"""`pathways report`: what a preview is about to do, so that people can decide. No Pulumi here, only its documents."""
