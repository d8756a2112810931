"""The ops: each a NumPy forward with a table of gradient rules beside it. Every file in this folder is loaded."""

import importlib
import pkgutil

for _file in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_file.name)
