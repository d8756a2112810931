"""The command runs a script as Python does: each program here is run by both, and says the same."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from autograd_viz.cli.says import say

TENSOR = """
import autograd_viz as av
x = av.tensor([1.0, -2.0], requires_grad=True)
loss = (x * x).sum()
"""
FACTS = '''
"""A docstring."""
import atexit, dataclasses, inspect, os, pickle, sys, typing

@dataclasses.dataclass
class Point:
    x: int = 1
    other: "Point | None" = None

def double(n: int) -> int:
    return 2 * n

if __name__ == "__main__":
    print(__doc__, __file__, sys.argv, sys.path[0])
    print(sys.modules["__main__"].double is double, sys.modules["__main__"].__spec__, __package__)
    print(pickle.loads(pickle.dumps(Point(3))), pickle.loads(pickle.dumps(double)) is double)
    print(Point.__annotations__, typing.get_type_hints(Point)["x"], double.__annotations__)
    os.chdir("/")
    print(inspect.getsource(Point), inspect.getsource(double), inspect.getfile(Point))
    atexit.register(lambda: print("the end", pickle.dumps(Point()) != b""))
'''
CHILDREN = """
import multiprocessing as mp, os, sys

class Thing:
    pass

def report(queue):
    queue.put((Thing, sys.argv[1:]))

if __name__ == "__main__":
    for how in ("spawn", "fork"):
        context = mp.get_context(how)
        queue = context.SimpleQueue()
        child = context.Process(target=report, args=(queue,))
        child.start()
        print(how, queue.get()[0] is Thing)
        child.join()
    sys.stdout.flush()
    if os.fork() == 0:
        sys.exit(0)
    os.wait()
    if os.fork() == 0:
        print("a child that comes to the end of the script", flush=True)
    else:
        os.wait()
        print("its parent")
"""


def command(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `autograd-viz` as from a shell."""
    return run(folder, "-m", "autograd_viz.cli", *arguments, **environment)


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
        cwd=folder,
        timeout=100,
        env={**os.environ, "PYTHONPATH": path, "BROWSER": "true", **environment},
    )


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(FACTS + TENSOR, id="facts"),
        pytest.param(
            CHILDREN + indent(TENSOR, "    "), id="children", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
        ),
    ],
)
def test_a_script_says_what_it_says_in_python(tmp_path: Path, program: str) -> None:
    """Takes seconds: processes are begun."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "train.py").write_text(program)
    plain = run(tmp_path, "sub/train.py", "a", "--b")
    drawn = command(tmp_path, "render", "sub/train.py", "-o", "x.svg", "--", "a", "--b")
    assert (plain.returncode, plain.stderr) == (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout.replace("x.svg\n", "", 1) == plain.stdout and plain.stdout.count("\n") >= 4
    assert (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("sys.exit(3)", 3, "autograd-viz: train.py ended with exit code 3\n"),
        ("sys.exit('no data')", 1, "no data\n"),
        ("sys.exit()", 0, ""),
        ("raise KeyboardInterrupt", 130, ""),
    ],
)
def test_a_script_that_ends_itself_ends_the_command(tmp_path: Path, end: str, code: int, said: str) -> None:
    (tmp_path / "train.py").write_text(f"import sys\n{TENSOR}\n{end}\n")
    done = command(tmp_path, "render", "train.py", "-o", "x.svg")
    assert (done.returncode, done.stderr) == (code, said)
    assert (tmp_path / "x.svg").exists() == (code == 0)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of POSIX")
def test_ctrl_c_ends_it_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text('import time\nprint("begun", flush=True)\ntime.sleep(60)\n')
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a process of the background may not
    process = subprocess.Popen(
        [sys.executable, "-c", f"{heard}\nfrom autograd_viz.cli import main; exit(main())", "step", "train.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "") and process.returncode == 130


LAB = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: (print("shut down?", flush=True), time.sleep(1), print("yes"), sys.exit(7)))
print("begun", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of POSIX")
def test_ctrl_c_is_left_to_jupyterlab(tmp_path: Path) -> None:
    """Takes a second more than JupyterLab was given to answer before it was killed."""
    (tmp_path / "jupyterlab").mkdir()
    (tmp_path / "jupyterlab" / "__init__.py").touch()  # goes before the real one
    (tmp_path / "jupyterlab" / "__main__.py").write_text(LAB)
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    path = os.pathsep.join((str(tmp_path), str(Path(__file__).parents[1])))
    process = subprocess.Popen(
        [sys.executable, "-c", f"{heard}\nfrom autograd_viz.cli import main; exit(main())", "lab"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal sends Ctrl-C to all of it
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)][1] == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=60) == ("shut down?\nyes\n", "") and process.returncode == 7
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe of POSIX")
def test_who_stops_reading_gets_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TENSOR)
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "autograd_viz.cli", "explain", "train.py", "x"]
    done = subprocess.run(command, check=False, stdout=write, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(("encoding", "arrow"), [("cp1252", "->"), ("ascii", "->"), ("utf-8", "→")])
def test_a_terminal_of_few_letters_gets_others_for_them(tmp_path: Path, encoding: str, arrow: str) -> None:
    (tmp_path / "train.py").write_text(TENSOR + "dead = ((x - 5).relu() * 1).sum(); dead.backward()")
    explained = command(tmp_path, "explain", "train.py", "x", PYTHONIOENCODING=encoding)
    assert (explained.returncode, explained.stderr) == (0, "")
    assert f"\n{arrow} Use leaky_relu" in explained.stdout


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("utf-8", "→ × · größe² 数 ?"), ("cp1252", "-> × · größe² \\u6570 ?"), ("ascii", "-> x . gro\\xdfe2 \\u6570 ?")],
)
def test_what_is_said_is_readable_in_every_encoding(encoding: str, said: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    say("→ × · größe² 数 ?", stream)
    assert stream.buffer.getvalue().decode(encoding) == f"{said}\n"  # type: ignore[attr-defined]
