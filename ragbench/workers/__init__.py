"""Work in parts on other processes: a Dask cluster, here or beyond this machine, with the numbers of one process."""
