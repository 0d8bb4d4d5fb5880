"""What is shown: a module a topic. Functions of a result that return parts, and measure nothing."""
