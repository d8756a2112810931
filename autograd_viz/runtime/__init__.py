"""Python's runtime around the package: weak references, the garbage collector, interrupts."""
