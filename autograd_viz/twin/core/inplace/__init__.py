"""In-place ops, and their effect on views and bases."""
