"""Work in parts on a Dask cluster."""

OFFERS = {"pool": {"cluster": "ragbench.extras.cluster.storage"}}
