"""What processes that work at the same time hold together in the database: budgets, limits, claims."""
