"""Tables of others: judgements and runs, two tables of scores, ratings of several raters."""
