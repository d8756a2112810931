"""``python -m autograd_viz.cli``."""

import sys

from .main import main

sys.exit(main())
