"""What an op is, and what a call of one runs."""
