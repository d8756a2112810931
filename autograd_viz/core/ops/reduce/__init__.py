"""Many elements to fewer; their order."""
