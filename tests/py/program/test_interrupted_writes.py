"""An output that is cut short, or cannot be, leaves nothing behind."""

import os
import signal
from pathlib import Path

import pytest

from scalify_hlo.errors import InputError
from scalify_hlo.storage import files
from tests.py.shared.commands import python

_WRITER = """
import os, signal, sys
from scalify_hlo.storage import files

def save(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass
    file.write(b"rest")

files.save_file(sys.argv[1], save)
"""


def test_a_terminated_write_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("before")
    python("-c", _WRITER, output, code=-signal.SIGTERM)
    assert os.listdir(tmp_path) == ["out.mlir"]
    assert output.read_text() == "before"


def test_a_write_restores_the_handler(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    files.write_file(str(tmp_path / "out"), "text")
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_loop_of_links_is_no_output(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="cannot write the output: too many levels"):
        files.require_writable(str(loop))
    with pytest.raises(InputError, match="cannot write the output: too many levels"):
        files.write_file(str(loop), "text")
    assert loop.is_symlink()
