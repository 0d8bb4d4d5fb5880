"""ragbench: how good is a Retrieval-Augmented Generation system, is its new version better, and how sure is that?"""

from importlib.metadata import version as _version

__version__ = _version("ragbench")
