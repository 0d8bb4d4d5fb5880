"""Written answers: who wrote and who judged them, what was decided on them, what a cache would serve."""
