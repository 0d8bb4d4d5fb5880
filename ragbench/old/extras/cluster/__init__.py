"""Work in parts on a Dask cluster."""

OFFERS = {"pool": {"cluster": "ragbench.old.extras.cluster.storage"}}
