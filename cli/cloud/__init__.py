"""Google's clients and the cluster's API, as the commands use them: patient, read-only, with errors in sentences."""
