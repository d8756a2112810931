"""The ops. Each is a NumPy forward, followed by its table of backward rules. Every file in this folder is loaded.

`# fmt: off` stands where a table begins: its columns stay aligned. `# fmt: on` ends it.
"""

import importlib
import pkgutil

for _file in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_file.name)
