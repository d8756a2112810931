"""Ops that few programs use: Fourier, decompositions, resampling, rare losses."""

import importlib
import pkgutil

for _file in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_file.name}")
