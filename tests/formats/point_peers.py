"""laspy writes LAS files that tessera reads, and reads those that tessera writes: every version and point format."""
from exchange import main, run


def table_of(path, *options):
    """The columns of a cloud of points as tessera reads them, through text."""
    import csv
    run("convert", path, *options, "-o", "peer.csv", "--force")
    rows = list(csv.reader(open("peer.csv")))
    import numpy
    return {name.strip(): numpy.array([float(r[k]) for r in rows[1:]]) for k, name in enumerate(rows[0])}


def with_laspy(laspy):
    import numpy
    random = numpy.random.default_rng(12)
    n = 500
    for version, formats in (("1.2", (0, 1, 2, 3)), ("1.3", (0, 1, 3, 4, 5)), ("1.4", (0, 1, 2, 3, 6, 7, 8))):
        for point_format in formats:
            try:
                header = laspy.LasHeader(point_format=point_format, version=version)
            except Exception:
                continue
            header.scales, header.offsets = [0.001, 0.01, 0.1], [100, -200, 300]
            las = laspy.LasData(header)
            las.x, las.y, las.z = (random.random(n) * 50 + 100, random.random(n) * 50 - 200, random.random(n) * 50 + 300)
            las.intensity = random.integers(1, 65536, n)
            las.classification = random.integers(0, 32, n)
            las.return_number = random.integers(1, 6, n)
            colored = "red" in las.point_format.dimension_names
            if colored:
                las.red, las.green, las.blue = (random.integers(0, 65536, n) for _ in range(3))
            las.write("a.las")
            got = table_of("a.las")
            for axis in "xyz":
                assert numpy.abs(got[axis] - getattr(las, axis)).max() < 1e-4, (version, point_format, axis)
            assert numpy.array_equal(got["intensity"], las.intensity) and numpy.array_equal(got["classification"], numpy.asarray(las.classification))
            assert numpy.array_equal(got["return_number"], numpy.asarray(las.return_number))
            if colored:
                for axis, name in zip("xyz", ("red", "green", "blue")):
                    assert numpy.array_equal(got["color_" + axis], getattr(las, name)), (version, point_format, name)
            run("convert", "a.las", "-o", "b.las", "--force")
            back = laspy.read("b.las")
            for axis in "xyz":
                assert numpy.abs(getattr(back, axis) - getattr(las, axis)).max() < 1e-4
            assert numpy.array_equal(back.intensity, las.intensity) and numpy.array_equal(numpy.asarray(back.classification), numpy.asarray(las.classification))
            assert not colored or numpy.array_equal(back.red, las.red)
    # places far off keep their digits
    header = laspy.LasHeader(point_format=0, version="1.2")
    header.scales, header.offsets = [0.001] * 3, [5e5, 4.6e6, 0]
    las = laspy.LasData(header)
    las.x, las.y, las.z = 5e5 + random.random(n), 4.6e6 + random.random(n), random.random(n)
    las.write("far.las")
    got = table_of("far.las")
    assert numpy.abs(got["y"] - las.y).max() < 1e-6 and numpy.abs(got["x"] - las.x).max() < 1e-6
    las.header.point_format
    raw = bytearray(open("a.las", "rb").read())
    raw[104] |= 128
    open("z.laz", "wb").write(raw)
    assert "LAZ" in run("info", "z.laz", code=1).stderr


main({"laspy": with_laspy})
