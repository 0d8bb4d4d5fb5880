"""Files and folders of shared storage, by URL: brought to a local copy and read there; a folder sent whole.

A room of its own below those that read: data sets, tables and runs are then read from the disk by the one reader, with
its limits, and what they say is never taken for a URL.
"""
