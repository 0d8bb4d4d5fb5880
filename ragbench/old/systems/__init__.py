"""Systems under test (configured parts, your callable, a service, logged results), and who writes their answers."""

from typing import TYPE_CHECKING

from ragbench.old.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.old.systems.generation import Generation as Generation
    from ragbench.old.systems.generation import GenerationError as GenerationError
    from ragbench.old.systems.generation import Generator as Generator
    from ragbench.old.systems.generation import Shown as Shown
    from ragbench.old.systems.generation import Task as Task
    from ragbench.old.systems.generation import within as within
    from ragbench.old.systems.registry import make as make
    from ragbench.old.systems.registry import make_generator as make_generator
    from ragbench.old.systems.registry import once as once
    from ragbench.old.systems.registry import own_writer as own_writer
    from ragbench.old.systems.retrieval import Retrieval as Retrieval
    from ragbench.old.systems.retrieval import RetrievalError as RetrievalError
    from ragbench.old.systems.retrieval import System as System
    from ragbench.old.systems.retrieval import steps as steps

__all__, __getattr__, __dir__ = offers(__name__)
