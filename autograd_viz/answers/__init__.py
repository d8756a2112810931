"""What is told in sentences: causes of what a gradient is, and what a step of the backward pass does."""
