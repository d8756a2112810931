"""Where graphs come from: the only floor that knows both a tensor's maker and the document."""
