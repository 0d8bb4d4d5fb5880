"""The field's present standard for answers: nuggets, support and citations, claims by whose they are, agents."""

OFFERS = {
    "commands": {"nuggets": "ragbench.old.extras.standards.command:application"},
    "metrics": {
        "nugget_score": "ragbench.old.extras.standards.nuggets",
        "citation_support": "ragbench.old.extras.standards.citations",
        "citation_quality": "ragbench.old.extras.standards.citations",
        "claim_recall": "ragbench.old.extras.standards.claim_roles",
        "relevance_grade": "ragbench.old.extras.standards.grades",
        "tool_call_accuracy": "ragbench.old.extras.standards.agents",
        "agent_turns": "ragbench.old.extras.standards.agents",
    },
    "notebooks": {"agents": "ragbench.old.extras.standards.agents_page:agents"},
    "views": dict.fromkeys(
        ("agent_steps", "agent_effort", "agent_unasked"), "ragbench.old.extras.standards.agents_page"
    ),
}
