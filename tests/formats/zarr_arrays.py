"""zarr-python reads what tessera writes and tessera reads what zarr-python writes: versions 2 and 3, types, packing, orders, shards, fill values, archives, pyramids.

    zarr_arrays.py TESSERA      exit code 77: no numpy or zarr 3
"""
import shutil
import warnings

from peers import TYPES, array, info, main, numpy, require_same, run, skip, transfers, volume

try:
    import numcodecs
    import zarr
    from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec
except ImportError:
    skip("zarr 3")

try:
    import numcodecs.zarr3 as three
except ImportError:
    three = None

warnings.simplefilter("ignore")


def layouts(code, element):
    for packer in (None, numcodecs.Blosc("lz4"), numcodecs.Blosc("zstd", shuffle=2), numcodecs.Blosc("blosclz"), numcodecs.Zlib(), numcodecs.GZip(), numcodecs.Zstd()):
        yield {"zarr_format": 2, "compressors": packer, "chunk_key_encoding": {"name": "v2", "separator": "." if packer else "/"}}
    yield {"zarr_format": 2, "compressors": numcodecs.Zlib(), "order": "F"}
    yield {"zarr_format": 2, "compressors": numcodecs.Zlib(), "filters": [numcodecs.Shuffle(element)]}
    yield {"zarr_format": 2, "compressors": numcodecs.LZ4()}
    yield {"zarr_format": 2, "compressors": numcodecs.LZMA()}
    if code != "f2":
        delta = numcodecs.Delta(dtype="<" + code)
        yield {"zarr_format": 2, "compressors": numcodecs.Zlib(), "filters": [delta]}
        yield {"zarr_format": 2, "compressors": numcodecs.LZ4(), "filters": [delta, numcodecs.Shuffle(element)]}
    if three is not None and code != "f2":
        yield {"zarr_format": 3, "compressors": [three.LZ4()], "filters": [three.Delta(dtype="<" + code)]}
        yield {"zarr_format": 3, "compressors": [three.Shuffle(elementsize=element), three.LZMA()]}
    for packers in (None, [ZstdCodec()], [GzipCodec()], [BloscCodec(cname="lz4")], [ZstdCodec(checksum=True), Crc32cCodec()]):
        yield {"zarr_format": 3, "compressors": packers}
    yield {"zarr_format": 3, "compressors": [ZstdCodec()], "filters": [TransposeCodec(order=(2, 0, 1))]}
    yield {"zarr_format": 3, "compressors": [ZstdCodec()], "shards": (16, 32, 48)}
    if element > 1:
        yield {"zarr_format": 3, "serializer": BytesCodec(endian="big")}


def rounded(random):
    a = random.standard_normal((25, 37, 43)).astype("f4")
    create("r.zarr", shape=a.shape, chunks=(7, 10, 11), dtype="f4", zarr_format=2, compressors=numcodecs.Zlib(), filters=[numcodecs.BitRound(10)])[:] = a
    require_same(volume("r.zarr"), zarr.open_array("r.zarr", mode="r")[:])


def create(name, **options):
    shutil.rmtree(name, ignore_errors=True)
    return zarr.create_array(name, **options)


def types(random):
    for code in (*TYPES, "f2", "b1"):
        a = array(random, code, (25, 37, 43))
        want = a.astype({"f2": "f4", "b1": "u1"}.get(code, code))
        for layout in layouts(code, a.itemsize) if code in ("u2", "f4", "f2") else ({"zarr_format": 2}, {"zarr_format": 3}):
            chunks = (8, 16, 16) if "shards" in layout else (7, 10, 11)
            create("a.zarr", shape=a.shape, chunks=chunks, dtype=a.dtype, fill_value=0, **layout)[:] = a
            if code == "f4" and "filters" in layout:  # sums of differences are rounded: as zarr-python rounds them
                assert numpy.allclose(volume("a.zarr"), zarr.open_array("a.zarr", mode="r")[:], rtol=0, atol=1e-5), layout
                continue
            require_same(volume("a.zarr"), want, code, layout)
            require_same(volume("a.zarr", "--box", "3,4,5:20,21,22"), want[5:22, 4:21, 3:20], code, layout)
        for order in "<>" if a.itemsize > 1 else "":
            create("a.zarr", shape=a.shape, chunks=(7, 10, 11), dtype=order + code, zarr_format=2)[:] = a
            require_same(volume("a.zarr"), want, code, order)
        for version in (2, 3):
            fill = {"f": numpy.nan, "u": 3, "i": -3, "b": True}[code[0]]
            z = create("a.zarr", shape=a.shape, chunks=(7, 10, 11), dtype=a.dtype, zarr_format=version, fill_value=fill)
            z[:7] = a[:7]
            assert numpy.array_equal(volume("a.zarr"), z[:].astype(want.dtype), equal_nan=code[0] == "f"), (code, version)
        if code in ("f2", "b1"):
            continue
        numpy.save("b.npy", a)
        for options in ([], ["--compression", "3"], ["--compression", "-1"], ["--big-endian"]):
            run("convert", "b.npy", "-o", "b.zarr", *options, "--force")
            require_same(zarr.open_group("b.zarr", mode="r")["0"][:], a, code, options)
            require_same(volume("b.zarr"), a, code, options)


def archives():
    a = numpy.arange(210, dtype="u2").reshape(5, 6, 7)
    numpy.save("b.npy", a)
    run("convert", "b.npy", "-o", "b.zarr.zip")
    require_same(zarr.open_group(zarr.storage.ZipStore("b.zarr.zip", mode="r"), mode="r")["0"][:], a)
    require_same(volume("b.zarr.zip"), a)
    store = zarr.storage.ZipStore("c.zip", mode="w")
    zarr.create_array(store, shape=a.shape, chunks=(2, 3, 4), dtype="u2", name="x/y")[:] = a
    store.close()
    require_same(volume("c.zip"), a)


def groups():
    group = zarr.open_group("g.zarr", mode="w")
    group.create_array("p/q", data=numpy.ones((3, 4, 5)))
    group.create_array("r", data=numpy.zeros((2, 3, 4, 5), "u1"))
    run("convert", "g.zarr", "-o", "no.npy", fails="--dataset says which")
    require_same(volume("g.zarr", "--dataset", "p/q"), numpy.ones((3, 4, 5)))
    require_same(volume("g.zarr", "--dataset", "/r", "--frame", "1"), numpy.zeros((3, 4, 5), "u1"))
    run("convert", "g.zarr", "--dataset", "nothing", "-o", "no.npy", fails="no array")
    run("convert", "g.zarr", "--dataset", "../a", "-o", "no.npy", fails="expected the path of an array")
    ome = {"multiscales": [{"version": "0.5", "axes": [{"name": "c", "type": "channel"}, *({"name": k, "type": "space", "unit": "micrometer"} for k in "zyx")],
                            "datasets": [{"path": "s0", "coordinateTransformations": [{"type": "scale", "scale": [1, 2.0, 0.5, 0.25]}]}]}]}
    for version, attributes in ((2, ome), (3, {"ome": ome})):
        group = zarr.open_group("o.zarr", mode="w", zarr_format=version, attributes=attributes)
        a = numpy.arange(2 * 3 * 4 * 5, dtype="u2").reshape(2, 3, 4, 5)
        group.create_array("s0", data=a)
        require_same(volume("o.zarr", "--channel", "1"), a[1])
        about = info("o.zarr")
        assert about["spacing"] == [0.25, 0.5, 2.0] and about["unit"] == "um" and about["channels"] == 2, about


def scaled():
    group = zarr.open_group("s.zarr", mode="w", zarr_format=2)  # as xarray has it
    for name, a in (("lat", numpy.arange(4.0)), ("t", numpy.arange(60, dtype="i2").reshape(3, 4, 5)), ("x", numpy.arange(5.0))):
        group.create_array(name, data=a)
    group["t"].attrs.update(scale_factor=0.5, add_offset=-3.0)
    require_same(volume("s.zarr"), (numpy.arange(60).reshape(3, 4, 5) * 0.5 - 3).astype("f4"))
    about = info("s.zarr")  # shows what is read
    assert about["size"] == [5, 4, 3] and about["slope"] == 0.5 and about["contents"][0]["name"] == "/t", about
    run("convert", "s.zarr", "--series", "1", "-o", "no.npy", fails="--series is 1")


def halved(a):
    total, count = a.astype("f8"), numpy.ones(a.shape)
    for axis, size in enumerate(a.shape):
        first = numpy.arange((size + 1) // 2) * 2
        total, count = numpy.add.reduceat(total, first, axis), numpy.add.reduceat(count, first, axis)
    return numpy.rint(total / count).astype(a.dtype)


def pyramids(random):
    a = random.integers(0, 1000, (37, 50, 61)).astype("u2")
    numpy.save("t.npy", a)
    run("convert", "t.npy", "-o", "p.zarr", "--pyramid", "4")
    group, want = zarr.open_group("p.zarr", mode="r"), a
    for level in range(4):
        require_same(group[str(level)][:], want, level)
        require_same(volume("p.zarr", *(["--level", str(level)] if level else [])), want, level)
        affine = info("p.zarr", "--level", str(level))["affine"]
        assert affine[0] == [2.0**level, 0, 0, (2.0**level - 1) / 2], affine
        want = halved(want)
    run("info", "p.zarr", "--level", "4", fails="--level is 4")
    transfers("p.zarr", a, ("u.zarr", "u.tif", "u.zarr.zip"))
    run("make", "sphere", "-o", "sphere.nii")
    run("convert", "sphere.nii", "-o", "sphere.zarr")
    about, again = info("sphere.nii"), info("sphere.zarr")
    assert again["affine"] == about["affine"] and again["space"] == about["space"] and again["unit"] == "mm", again
    for key, value in about["meta"].items():
        assert again["meta"][key] == value, key


def body(random):
    types(random)
    rounded(random)
    archives()
    groups()
    scaled()
    pyramids(random)


main(body)
