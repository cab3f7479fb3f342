"""Runs `python -m MODULE ...` in a fork of a process that has imported the package already.

Imports are most of the time of a command on a small file. `serve` imports the package and listens
on a socket; this file, run as a script, sends it a command with its environment and its standard
streams, and exits with its status. lit starts it instead of Python if `SCALIFY_LIT_SERVER` names
the socket, as `tests/py/house/test_lit.py` does.
"""

import json
import os
import socket
import sys

SERVER = "SCALIFY_LIT_SERVER"


def ask(path: str, command: list[str]) -> int:
    """Sends a command to a server, and returns its exit status; 1 if it ended without one."""
    request = json.dumps([command, os.getcwd(), dict(os.environ)]).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [len(request).to_bytes(4, "big")], [0, 1, 2])
        connection.sendall(request)
        status = connection.recv(1)
    return status[0] if status else 1


def serve(path: str) -> None:
    """Answers commands on a socket until standard input ends."""
    import select
    import signal

    import filecheck.main  # noqa: F401

    from scalify_hlo.cli import inspect, main, opt, rewrite  # noqa: F401
    from scalify_hlo.passes import pipeline  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                answer(connection)
            connection.close()


def answer(connection: socket.socket) -> None:
    """Runs one command on the streams that came with it, sends its status, and exits."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    request = b""
    while len(request) < int.from_bytes(size, "big"):
        request += connection.recv(1 << 16)
    command, folder, environment = json.loads(request)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    status = run(command)
    connection.send(bytes([status]))
    os._exit(0)


def run(command: list[str]) -> int:
    """Runs `-m MODULE ...` as Python does, and returns the exit status."""
    import runpy
    import traceback

    sys.argv = command[1:]
    status: object = 0
    try:
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if isinstance(status, str):
        print(status, file=sys.stderr, flush=True)
    return status if isinstance(status, int) else int(status is not None)


if __name__ == "__main__":
    sys.exit(ask(os.environ[SERVER], sys.argv[1:]))
