"""``python -m autograd_viz.cli``."""

import sys

from . import main

sys.exit(main())
