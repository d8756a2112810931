"""What runs while nobody looks: who is alive, the collector, interrupts."""
