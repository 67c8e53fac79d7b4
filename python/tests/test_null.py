"""NULL where a pointer must be given: every function of the C library is called with nothing but NULL and zeros. None may crash, and those that return a
status refuse it, but for the few that then have nothing to do."""

import os
import signal
from typing import Any, Optional, TextIO

from tessera._core import ffi, lib

# Of these all that they take is optional.
CONTENT = {"tsr_context_create"}


def functions() -> list[str]:
    return [name for name in dir(lib) if name.startswith("tsr_") and ffi.typeof(getattr(lib, name)).kind == "function"]


def nothing(kind: Any) -> Any:
    if kind.kind in ("pointer", "function"):
        return ffi.NULL
    return ffi.new(ffi.getctype(kind, "*"))[0] if kind.kind in ("struct", "union") else 0


def call(name: str) -> Optional[int]:
    """The status of the call with nothing; None of a function that returns none or takes no pointer."""
    function = getattr(lib, name)
    kind = ffi.typeof(function)
    result = function(*(nothing(argument) for argument in kind.args))
    takes_a_pointer = any(argument.kind == "pointer" for argument in kind.args)
    return int(result) if takes_a_pointer and kind.result.cname in ("enum tsr_status", "tsr_status") else None


def call_all(names: list[str], out: TextIO) -> None:
    """In a process of its own: a line before each call and one behind it."""
    for name in names:
        out.write(f"{name} ")
        out.flush()
        out.write(f"{call(name)}\n")
    out.flush()
    os._exit(0)


def test_null() -> None:
    left, wrong = functions(), list[str]()
    assert len(left) > 800
    while left:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.close(2)
            call_all(left, os.fdopen(writing, "w"))
        os.close(writing)
        with os.fdopen(reading) as lines:
            told = lines.read().splitlines()
        _, how = os.waitpid(child, 0)
        for line in told:
            name, _, status = line.partition(" ")
            if status and status != "None" and int(status) >= 0 and name not in CONTENT:
                wrong.append(f"{name} takes it")
        if os.WIFSIGNALED(how):
            wrong.append(f"{told[-1].split()[0]}: {signal.Signals(os.WTERMSIG(how)).name}")
        assert told, "the process told nothing"
        left = left[len(told):]
    assert not wrong, "\n".join(wrong)
