// Compiles Python files with the page's own Python, in Node.js: node compile.mjs PYODIDE FOLDER PLACE
// FOLDER holds them as PLACE will in the page. Files that the page need not read stay as byte code alone.

import { loadPyodide } from "./node_modules/pyodide/pyodide.mjs";

const [folder, place, ...read] = process.argv.slice(2);
const python = await loadPyodide();
python.FS.mkdirTree("/folder");
python.mountNodeFS("/folder", folder);
python.globals.set("place", place);
python.globals.set("read", python.toPy(read));
python.runPython(`
import pathlib, py_compile
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
for file in sorted(pathlib.Path("/folder").rglob("*.py")):
    name = str(file.relative_to("/folder"))
    is_read = any(name.startswith(r) for r in read)
    compiled = file.parent / "__pycache__" / (file.stem + ".cpython-312.pyc") if is_read else file.with_suffix(".pyc")
    py_compile.compile(str(file), str(compiled), place + "/" + name, doraise=True, invalidation_mode=unchecked)
    if not is_read:
        file.unlink()
`);
