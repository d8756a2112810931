"""What finds causes: the checks of `explain` and `check`, and the answers that accuse nobody."""
