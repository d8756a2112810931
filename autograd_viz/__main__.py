"""`python -m autograd_viz`: the command."""

import sys

from autograd_viz.cli import main

sys.exit(main())
