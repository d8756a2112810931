"""What everything else stands on: element types, modes, the user's place in the code, the names of ops."""
