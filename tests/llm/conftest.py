"""What the tests of this room share with others."""

from tests.fixtures import database_url

__all__ = ["database_url"]
