"""Pictures as files: the same drawing as in the notebook."""
