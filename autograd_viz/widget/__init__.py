"""The stepper in a notebook: the widgets, and the page that steps without a kernel."""
