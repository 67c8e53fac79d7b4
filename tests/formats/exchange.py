"""What the peer tests share: the program, numbers out of it, and a skip where the library is missing.

    SCRIPT TESSERA      exit code 77: nothing could be compared.
"""
import importlib
import json
import os
import subprocess
import sys
import tempfile

tessera = os.path.abspath(sys.argv[1])


def run(*arguments, code=0):
    done = subprocess.run([tessera, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


def info(*arguments):
    return json.loads(run("info", "--json", *arguments).stdout)


def array(path, *options):
    """The real values of a volume file as tessera reads them, [z][y][x]."""
    import numpy
    run("convert", path, *options, "-o", "peer-array.npy", "--force")
    return numpy.load("peer-array.npy")


def main(parts):
    """parts: {name of the library: function(module)}. Each runs in a folder of its own."""
    done = 0
    for name, part in parts.items():
        try:
            importlib.import_module("numpy")
            module = importlib.import_module(name)
        except ImportError:
            print("skipped: no", name)
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            part(module)
            os.chdir("/")
        print("compared with", name, getattr(module, "__version__", ""))
        done += 1
    sys.exit(0 if done else 77)
