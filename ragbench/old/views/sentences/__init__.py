"""What pages say in words, of whatever they show."""
