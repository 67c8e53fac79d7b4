"""numpy reads what tessera writes and tessera reads what numpy writes: every type and byte order, 1 to 3 axes, and coefficients of a transform.

    numpy_arrays.py TESSERA      exit code 77: no numpy
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

tessera = sys.argv[1]


def run(*arguments):
    subprocess.run([tessera, *arguments], check=True, stdout=subprocess.DEVNULL)


def main():
    random = numpy.random.default_rng(7)
    for code in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
        for order in "<>":
            array = numpy.frombuffer(random.bytes(5 * 7 * 13 * int(code[1])), dtype=order + code).reshape(5, 7, 13)
            if code[0] == "f":
                array = random.standard_normal((5, 7, 13)).astype(order + code)
            for shape in ((5, 7, 13), (35, 13), (455,)):
                numpy.save("in.npy", array.reshape(shape))
                run("convert", "in.npy", "-o", "out.npy", "--force")
                back = numpy.load("out.npy", allow_pickle=False)
                assert back.shape == (1,) * (3 - len(shape)) + shape, (code, order, back.shape)
                assert back.dtype == numpy.dtype("<" + code), (code, order, back.dtype)
                assert numpy.array_equal(back.reshape(5, 7, 13), array), (code, order, shape)
    # Python 2 on Windows wrote long numbers
    with open("old.npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }".ljust(69) + b"\n" + numpy.arange(6.0).tobytes())
    run("convert", "old.npy", "-o", "new.npy")
    assert numpy.array_equal(numpy.load("new.npy").ravel(), numpy.arange(6.0))
    mask = random.integers(0, 2, (4, 5, 6)).astype(bool)
    numpy.save("mask.npy", mask)
    run("convert", "mask.npy", "-o", "mask_u8.npy")
    assert numpy.array_equal(numpy.load("mask_u8.npy"), mask.astype("u1"))
    # One level of Haar without accuracy bits, by hand: high = odd - even, low = even + floor((high + 1) / 2).
    line = random.integers(-1000, 1000, 32).astype("i4")
    numpy.save("line.npy", line)
    run("dwt", "line.npy", "--filter", "haar", "--levels", "1", "--no-accuracy", "--dtype", "i32", "-o", "bands.nrrd")
    run("convert", "bands.nrrd", "-o", "bands.npy")
    high = line[1::2] - line[0::2]
    low = line[0::2] + ((high + 1) >> 1)
    assert numpy.array_equal(numpy.load("bands.npy").ravel(), numpy.concatenate([low, high]))
    run("idwt", "bands.nrrd", "-o", "again.npy")
    assert numpy.array_equal(numpy.load("again.npy").ravel(), line)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
