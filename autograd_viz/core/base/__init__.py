"""What everything else stands on: element types, modes, where code is, the names of ops."""
