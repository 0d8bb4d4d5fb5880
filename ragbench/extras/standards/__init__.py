"""The field's present standard for answers: nuggets, support and citations, as TREC's RAG track judges them."""

OFFERS = {
    "metrics": {
        "nugget_score": "ragbench.extras.standards.nuggets",
        "citation_support": "ragbench.extras.standards.citations",
        "citation_quality": "ragbench.extras.standards.citations",
    },
}
