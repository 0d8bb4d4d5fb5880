"""Traces of systems in production, and test cases of other tools: a module a vendor, one record for all of them."""
