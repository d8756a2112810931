"""The checks of `explain` and `check`: one page each."""
