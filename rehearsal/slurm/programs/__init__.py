"""Programs on a rehearsed node's PATH that Google's nodes have and this machine lacks, or that Slurm calls."""
