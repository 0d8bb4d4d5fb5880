"""The field's present standard for answers: nuggets, support and citations, claims by whose they are, agents."""

OFFERS = {
    "commands": {"nuggets": "ragbench.extras.standards.command:application"},
    "metrics": {
        "nugget_score": "ragbench.extras.standards.nuggets",
        "citation_support": "ragbench.extras.standards.citations",
        "citation_quality": "ragbench.extras.standards.citations",
        "claim_recall": "ragbench.extras.standards.claim_roles",
        "relevance_grade": "ragbench.extras.standards.grades",
        "tool_call_accuracy": "ragbench.extras.standards.agents",
        "agent_turns": "ragbench.extras.standards.agents",
    },
    "notebooks": {"agents": "ragbench.extras.standards.agents_page:agents"},
    "views": dict.fromkeys(("agent_steps", "agent_effort", "agent_unasked"), "ragbench.extras.standards.agents_page"),
}
