"""The ops: each a NumPy forward with a table of gradient rules beside it. Every file in this folder is loaded."""

import importlib
import pkgutil

for _file in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_file.name}")
