"""What the components of Pathways said, from wherever it is kept."""
