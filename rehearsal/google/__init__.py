"""A double of the Google Cloud APIs that Pathways needs: Google's own routes and schemas, on loopback."""
