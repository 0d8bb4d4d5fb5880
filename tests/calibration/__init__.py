"""A kept simulation: do intervals cover, and do tests hold their level?

`python -m tests.calibration [STUDIES] [OUT.csv]`; some minutes with 40 studies a cell. Not run by
pytest.
"""
