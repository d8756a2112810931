"""Where graphs come from. Only this package knows both tensors and the document."""
