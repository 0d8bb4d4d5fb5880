"""A run for people elsewhere: folders to publish, tables, articles, packs."""
