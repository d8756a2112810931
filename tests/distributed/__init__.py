"""Several processes of one job, on this machine."""
