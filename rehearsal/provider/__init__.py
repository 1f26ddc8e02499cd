"""`pulumi-resource-gcp` for rehearsals: what the official gcp provider decides, sent to the double instead of Google."""
