"""laspy (with lazrs for LAZ) writes files that tessera reads, and reads those that tessera writes: every version and point format."""
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
    raw = bytearray(open("a.las", "rb").read())
    raw[104] |= 128
    open("z.laz", "wb").write(raw)
    assert "LAZ without the record 'laszip encoded'" in run("info", "z.laz", code=1).stderr


def scan(laspy, random, version, point_format, n, noisy):
    """Points as a scanner gives them, or the noisiest that the format can hold, in several chunks and from several channels."""
    import numpy
    header = laspy.LasHeader(point_format=point_format, version=version)
    header.scales, header.offsets = [0.001, 0.01, 0.1], [100, -200, 300]
    if noisy:
        header.add_extra_dim(laspy.ExtraBytesParams("extra", numpy.uint16))
    las = laspy.LasData(header)
    walk = random.random((n, 3)) * 5000 if noisy else numpy.cumsum(random.normal(size=(n, 3)), 0) * 0.05
    las.x, las.y, las.z = walk[:, 0] + 100, walk[:, 1] - 200, walk[:, 2] + 300
    las.intensity = random.integers(0, 65536 if noisy else 40, n)
    las.classification = random.integers(0, 32, n) if noisy else numpy.arange(n) // 1000 % 32
    las.number_of_returns = random.integers(1, 6, n)
    las.return_number = numpy.minimum(random.integers(1, 6, n), las.number_of_returns)
    las.user_data, las.point_source_id = random.integers(0, 256, n), random.integers(0, 100, n)
    names = set(las.point_format.dimension_names)
    if "gps_time" in names:
        las.gps_time = numpy.cumsum(random.random(n)) * 1e-5 + (random.integers(0, 4, n) * 1e6 if noisy else 0)
    if point_format >= 6:
        las.scanner_channel = random.integers(0, 4, n) if noisy else numpy.arange(n) // 500 % 4
    if noisy:
        las.extra = random.integers(0, 65536, n)
    if "red" in names:
        las.red, las.green, las.blue = (random.integers(0, 65536 if noisy else 256, n) for _ in range(3))
        if not noisy:
            las.green = las.red
    return las


def with_lazrs(_):
    import laspy
    import numpy
    random = numpy.random.default_rng(12)
    for version, formats in (("1.2", (0, 1, 2, 3)), ("1.4", (6, 7, 8))):
        for point_format in formats:
            for noisy in (False, True):
                las = scan(laspy, random, version, point_format, 51000 if noisy else 52000, noisy)
                las.write("a.laz")
                got = table_of("a.laz")
                what = (version, point_format, noisy)
                for axis in "xyz":
                    assert numpy.abs(got[axis] - getattr(las, axis)).max() < 2e-3, (what, axis)
                for name in ("intensity", "classification", "return_number"):
                    assert numpy.array_equal(got[name], numpy.asarray(getattr(las, name))), (what, name)
                colors = list(zip("xyz", ("red", "green", "blue"))) if "red" in las.point_format.dimension_names else []
                for axis, name in colors:
                    assert numpy.array_equal(got["color_" + axis], getattr(las, name)), (what, name)
                run("convert", "a.laz", "-o", "b.laz", "--force")
                back = laspy.read("b.laz")
                for axis in "xyz":
                    assert numpy.abs(getattr(back, axis) - getattr(las, axis)).max() < 2e-3, (what, axis)
                for name in ("intensity", "classification", "return_number", *(name for _, name in colors)):
                    assert numpy.array_equal(numpy.asarray(getattr(back, name)), numpy.asarray(getattr(las, name))), (what, name, "written")
    raw = open("a.laz", "rb").read()
    for cut in (len(raw) - 9, len(raw) // 2, 400):
        open("cut.laz", "wb").write(raw[:cut])
        said = run("info", "cut.laz", code=1).stderr
        assert "cut.laz: " in said and ("truncated" in said or "LAZ" in said), said
    one = laspy.LasData(laspy.LasHeader(point_format=0, version="1.2"))
    one.x, one.y, one.z = [1.0], [2.0], [3.0]
    one.write("one.laz")
    assert table_of("one.laz")["z"][0] == 3
    open("one.csv", "w").write("x,y,z\n1,2,3\n")
    run("convert", "one.csv", "-o", "own.laz")
    assert laspy.read("own.laz").y[0] == 2


def with_pye57(pye57):
    """Scans under poses, with colours and intensity, as libE57Format packs them; and what is damaged."""
    import numpy
    random = numpy.random.default_rng(5)
    n = 3000
    expected, colors = [], []
    file = pye57.E57("a.e57", mode="w")
    for k in range(3):
        xyz = random.random((n, 3)) * (10, 20, 30) - 5
        turn = random.standard_normal(4)
        turn /= numpy.linalg.norm(turn)
        move = random.random(3) * 100
        data = {"cartesianX": xyz[:, 0], "cartesianY": xyz[:, 1], "cartesianZ": xyz[:, 2], "intensity": random.random(n)}
        rgb = random.integers(0, 256, (n, 3)).astype("u1")
        data.update(colorRed=rgb[:, 0], colorGreen=rgb[:, 1], colorBlue=rgb[:, 2])
        file.write_scan_raw(data, rotation=turn, translation=move)
        w, u = turn[0], turn[1:]
        matrix = numpy.array([[1 - 2 * (u[1]**2 + u[2]**2), 2 * (u[0] * u[1] - u[2] * w), 2 * (u[0] * u[2] + u[1] * w)],
                              [2 * (u[0] * u[1] + u[2] * w), 1 - 2 * (u[0]**2 + u[2]**2), 2 * (u[1] * u[2] - u[0] * w)],
                              [2 * (u[0] * u[2] - u[1] * w), 2 * (u[1] * u[2] + u[0] * w), 1 - 2 * (u[0]**2 + u[1]**2)]])
        expected.append(xyz @ matrix.T + move)
        colors.append(rgb)
    file.close()
    got = table_of("a.e57")
    places = numpy.column_stack([got[c] for c in "xyz"])
    assert numpy.abs(places - numpy.concatenate(expected)).max() < 1e-4
    assert numpy.array_equal(numpy.column_stack([got["color_" + c] for c in "xyz"]), numpy.concatenate(colors))
    own = pye57.E57("a.e57")
    intensity = numpy.concatenate([own.read_scan(k, intensity=True, ignore_missing_fields=True)["intensity"] for k in range(3)])
    assert numpy.abs(got["intensity"] - intensity).max() < 1e-6
    raw = bytearray(open("a.e57", "rb").read())
    raw[2000] ^= 1
    open("b.e57", "wb").write(raw)
    assert "checksum of E57 page 1" in run("info", "b.e57", code=1).stderr
    open("c.e57", "wb").write(raw[:5000])
    assert "truncated" in run("info", "c.e57", code=1).stderr
    written_e57(pye57, random)


def colors_of_e57(pye57, file, n):
    """Whole colours; read_scan of pye57 has room for 8 bits."""
    import numpy
    found = numpy.zeros((3, n), "u2")
    buffers = pye57.libe57.VectorSourceDestBuffer()
    for k, name in enumerate(("colorRed", "colorGreen", "colorBlue")):
        buffers.append(pye57.libe57.SourceDestBuffer(file.image_file, name, found[k], n, True, True))
    assert file.get_header(0).points.reader(buffers).read() == n
    return found.T


def written_e57(pye57, random):
    """What tessera writes, as libE57Format reads it, with every checksum: few points and many, near and far off, with colours of 8 and 16 bits."""
    import numpy
    for n, far, most, parts in ((1, 0, 255, "ic"), (70000, 0, 255, "ic"), (5459, 5e5, 65535, "c"), (5460, 0, 255, ""), (20000, 4e6, 255, "i")):
        xyz = (random.random((n, 3)) * (10, 20, 30)).astype("f4").astype("f8") + far
        names, columns = ["x", "y", "z"], [xyz[:, k] for k in range(3)]
        colors = random.integers(0, most + 1, (n, 3))
        colors[0] = most
        brightness = random.random(n).astype("f4")
        if "i" in parts:
            names.append("intensity")
            columns.append(brightness)
        if "c" in parts:
            names += ["color_x", "color_y", "color_z"]
            columns += [colors[:, k] for k in range(3)]
        with open("p.csv", "w") as f:
            f.write(",".join(names) + "\n")
            for row in zip(*columns):
                f.write(",".join(repr(float(v)) for v in row) + "\n")
        run("convert", "p.csv", "-o", "own.e57", "--force")
        file = pye57.E57("own.e57")
        assert file.scan_count == 1 and file.get_header(0).point_count == n
        got = file.read_scan(0, intensity="i" in parts, ignore_missing_fields=True)
        places = numpy.column_stack([got["cartesian" + c] for c in "XYZ"])
        assert numpy.abs(places - xyz).max() <= (1e-6 if far else 0) * max(1, far), (n, far)
        if "i" in parts:
            assert numpy.array_equal(got["intensity"].astype("f4"), brightness)
        if "c" in parts:
            assert numpy.array_equal(colors_of_e57(pye57, file, n), colors)
        back = table_of("own.e57")
        assert numpy.abs(numpy.column_stack([back[c] for c in "xyz"]) - xyz).max() <= 1e-6 * max(1, far)
        raw = open("own.e57", "rb").read()
        assert len(raw) % 1024 == 0
        run("convert", "p.csv", "-o", "twice.e57", "--force")
        assert open("twice.e57", "rb").read() == raw
    open("none.csv", "w").write("x,y,z,nx,ny,nz\n1,2,3,0,0,1\n")
    assert "have no place in an E57 file" in run("convert", "none.csv", "-o", "normals.e57").stderr


main({"pye57": with_pye57, "laspy": with_laspy, "lazrs": with_lazrs})
