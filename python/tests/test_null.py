"""NULL where a pointer must be given: every function of the C library is called with nothing but NULL and zeros, each in a process of its own. None may
crash, and those that return a status refuse it, but for the few that then have nothing to do."""

import os
import signal

import pytest

from tessera._core import ffi, lib

# Called with nothing they have nothing to do, or all that they take is optional.
CONTENT = {
    "tsr_context_create": "the default device",
}


def functions():
    names = [name for name in dir(lib) if name.startswith("tsr_")]
    return [name for name in names if ffi.typeof(getattr(lib, name)).kind == "function"]


def nothing(kind):
    if kind.kind in ("pointer", "function"):
        return ffi.NULL
    return ffi.new(ffi.getctype(kind, "*"))[0] if kind.kind in ("struct", "union") else kind.kind == "enum" and 0 or 0


def probe(name):
    """('crash', signal), ('status', value) or ('returned', 0) of a call with nothing."""
    function = getattr(lib, name)
    kind = ffi.typeof(function)
    child = os.fork()
    if child == 0:
        os.close(2)
        result = function(*(nothing(argument) for argument in kind.args))
        is_status = kind.result.cname in ("enum tsr_status", "tsr_status")
        os._exit(100 - int(result) if is_status else 0)
    _, how = os.waitpid(child, 0)
    if os.WIFSIGNALED(how):
        return "crash", signal.Signals(os.WTERMSIG(how)).name
    code = os.WEXITSTATUS(how)
    return ("status", 100 - code) if code else ("returned", 0)


@pytest.mark.parametrize("name", functions())
def test_null(name):
    what, value = probe(name)
    assert what != "crash", value
    takes_a_pointer = any(argument.kind == "pointer" for argument in ffi.typeof(getattr(lib, name)).args)
    if what == "status" and takes_a_pointer:
        assert value < 0 or name in CONTENT
