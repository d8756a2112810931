"""Imports modules, then forks for each program that is asked for: python server.py SOCKET MODULES."""

from __future__ import annotations

import contextlib
import gc
import importlib
import marshal
import os
import runpy
import select
import signal
import socket
import sys
import types
import warnings


def wanted(address: str) -> socket.socket:
    """Wait for programs until the process that started this one is gone; returns in the forks alone."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        os.write(1, b"ready\n")
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            guest, _ = door.accept()
            if not os.fork():
                return guest
            guest.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    os._exit(0)


def taken(guest: socket.socket) -> list[str]:
    """In a fork: its arguments, after it has taken over streams, folder and environment."""
    _, streams, _, _ = socket.recv_fds(guest, 7, 3)
    with guest.makefile("rb") as order:
        arguments, folder, environment = marshal.load(order)
    if program := os.fork():
        watch(program, guest)
    os.setpgid(0, 0)
    guest.close()
    for k, stream in enumerate(streams):
        os.dup2(stream, k)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return list(arguments)


def watch(program: int, guest: socket.socket) -> None:
    """Tell how a program ends, or end it when nobody waits for it any more; does not return."""
    os.closerange(0, 3)
    os.setpgid(program, program)
    end = os.pidfd_open(program)
    if end not in select.select([end, guest], [], [])[0]:
        os.killpg(program, signal.SIGKILL)
    guest.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]))
    os._exit(0)


def run(arguments: list[str]) -> None:
    """What Python does with these arguments."""
    sys.path[0] = ""
    while (option := arguments.pop(0)) == "-W":
        warnings.simplefilter(arguments.pop(0))  # type: ignore[arg-type]
    name = arguments[0]
    if option == "-m":
        sys.path[0], sys.argv = os.getcwd(), arguments
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["-c", *arguments[1:]]
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        exec(compile(name, "<string>", "exec"), vars(main))


for module in sys.argv[2:]:
    importlib.import_module(module)
gc.collect()
gc.freeze()  # no fork walks through them
run(taken(wanted(sys.argv[1])))
