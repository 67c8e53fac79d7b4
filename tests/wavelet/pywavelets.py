"""Float transforms against PyWavelets: pywavelets.py TESSERA. Exit code 77: PyWavelets or numpy is not installed.

PyWavelets stores the bands with a shift and a sign of its own for each wavelet; both are printed by every case and must be the same
for all signals. Its 'reflect' mode is our 'symmetric'; there its bands are longer than ours, which must be a part of them."""
import subprocess
import sys
import tempfile

try:
    import numpy
    import pywt
except ImportError:
    print("skipped: no PyWavelets")
    sys.exit(77)


def write(path, a):
    with open(path, "wb") as f:
        f.write(f"NRRD0004\ntype: double\ndimension: 3\nsizes: {a.size} 1 1\nendian: little\nencoding: raw\nspacings: 1 1 1\n\n".encode())
        f.write(a.astype("<f8").tobytes())


def read(path, n):
    with open(path, "rb") as f:
        return numpy.frombuffer(f.read()[-8 * n:], "<f8")


def ours(folder, x, name, boundary):
    write(folder + "/x.nrrd", x)
    subprocess.run([sys.argv[1], "dwt", folder + "/x.nrrd", "--filter", name, "--levels", "1", "--normalise", "--boundary", boundary,
                    "--force", "-o", folder + "/c.nrrd"], check=True)
    c = read(folder + "/c.nrrd", x.size)
    return c[: x.size // 2], c[x.size // 2:]


def placed(band, other, periodic):
    """(sign, shift, error) of the best placement of our band in the other one."""
    best = (0, 0, 1e30)
    for sign in (1, -1):
        for shift in range(-8, 9) if periodic else range(other.size - band.size + 1):
            part = numpy.roll(other, -shift) if periodic else other[shift:shift + band.size]
            error = numpy.abs(sign * part - band).max() / numpy.abs(band).max()
            if error < best[2]:
                best = (sign, shift, error)
    return best


failures = 0
with tempfile.TemporaryDirectory() as folder:
    for name, wavelet in (("haar", "haar"), ("legall53", "bior2.2"), ("daub97", "bior4.4")):
        for boundary, mode in (("periodic", "periodization"), ("symmetric", "reflect")):
            if name == "haar" and boundary == "symmetric":
                continue  # two samples never look beyond the ends
            seen = set()
            for n in (64, 38):
                x = numpy.random.default_rng(n).standard_normal(n)
                low, high = ours(folder, x, name, boundary)
                theirs = pywt.dwt(x, wavelet, mode)
                a, d = (placed(b, t, boundary == "periodic") for b, t in zip((low, high), theirs))
                seen.add(a[:2] + d[:2])
                print(f"{name} {boundary} {n}: low sign, shift, error {a}, high {d}")
                failures += not (a[2] < 1e-6 and d[2] < 1e-6)
                failures += a[0] != 1 or d[0] != -1  # as docs/guide/wavelets.md says
            failures += len(seen) != 1
sys.exit(1 if failures else 0)
