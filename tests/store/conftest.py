"""What the tests of this room share with others."""

from tests.fixtures import database_url, store

__all__ = ["database_url", "store"]
