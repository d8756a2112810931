"""The stepper in a notebook: the widgets, and a page that steps without a kernel."""
