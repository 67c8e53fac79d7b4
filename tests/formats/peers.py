"""What the tests beside other readers share: the program, and volumes as numpy arrays."""
import json
import os
import subprocess
import sys
import tempfile


def skip(missing):
    print(f"skipped: no {missing}")
    sys.exit(77)


try:
    import numpy
except ImportError:
    skip("numpy")

tessera = os.path.abspath(sys.argv[1])


def run(*arguments, fails=None):
    """Standard output; `fails`: a part of the message that is expected."""
    result = subprocess.run([tessera, *arguments], capture_output=True, text=True, check=False)
    if fails is None:
        assert result.returncode == 0, (arguments, result.stderr)
    else:
        assert result.returncode != 0 and fails in result.stderr, (arguments, result.returncode, result.stderr)
    return result.stdout


def info(*arguments):
    return json.loads(run("info", "--json", *arguments))


def volume(path, *options):
    run("convert", path, *options, "-o", "volume.npy", "--force")
    return numpy.load("volume.npy")


def require_same(a, b, *what):
    assert a.shape == b.shape and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=") and numpy.array_equal(a, b), (a.shape, a.dtype, b.shape, b.dtype, *what)


TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")


def array(random, code, shape):
    if code[0] == "f":
        return random.standard_normal(shape).astype(code)
    return random.integers(0, 100, shape).astype(code)


def transfers(source, expected, targets):
    """Slab by slab, in less memory than the volume takes."""
    for target in targets:
        run("convert", source, "-o", target, "--memory-limit", "100000", "--force")
        require_same(volume(target), expected, source, target)


def main(body):
    seed = 20261129
    print("seed", seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        body(numpy.random.default_rng(seed))
        os.chdir("/")
