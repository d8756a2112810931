"""What an op is, and what a call of an op runs."""
