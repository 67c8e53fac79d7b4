"""numpy (.npz, Fortran order, halves) and Pillow (PNM, BMP) write what tessera reads, and read what it writes."""
import os

from exchange import array, info, main, run


def with_numpy(numpy):
    random = numpy.random.default_rng(6)
    for shape in ((7, 5, 3), (4, 6), (9,), (40, 50, 60)):
        for dtype in ("u1", "<i2", ">i2", "<f4", ">f8", "<f2", ">f2"):
            data = (random.standard_normal(shape) * 30 + 60).astype(dtype)
            numpy.save("f.npy", numpy.asfortranarray(data))
            numpy.save("c.npy", data)
            for name in ("f.npy", "c.npy"):
                got = array(name)
                assert numpy.array_equal(got.reshape(shape), data.astype("f4") if dtype[1:] == "f2" else data), (shape, dtype, name)
    four = random.integers(0, 255, (3, 4, 5, 6)).astype("u1")
    numpy.save("f4.npy", numpy.asfortranarray(four))
    for frame in range(3):
        assert numpy.array_equal(array("f4.npy", "--frame", frame), four[frame])
    halves = numpy.arange(65536, dtype="u2").view("f2").reshape(16, 64, 64)
    numpy.save("h.npy", halves)
    assert numpy.array_equal(array("h.npy"), halves.astype("f4"), equal_nan=True)
    volume = random.standard_normal((4, 5, 6)).astype("f4")
    for save in (numpy.savez, numpy.savez_compressed):
        save("one.npz", a=volume)
        assert numpy.array_equal(array("one.npz"), volume)
        save("two.npz", affine=numpy.eye(4), labels=numpy.arange(3), volume=volume)
        assert numpy.array_equal(array("two.npz"), volume)
        save("many.npz", a=volume, b=volume * 2)
        said = run("info", "many.npz", code=1).stderr
        assert "holds 2 arrays" in said and "a (4, 5, 6) <f4" in said and "b (4, 5, 6) <f4" in said, said
    for options in ((), ("--compression", "6")):
        numpy.save("v.npy", volume)
        run("convert", "v.npy", *options, "-o", "out.npz", "--force")
        with numpy.load("out.npz") as z:
            assert z.files == ["volume"] and numpy.array_equal(z["volume"], volume)


def with_pillow(pil):
    import numpy
    from PIL import Image
    random = numpy.random.default_rng(7)
    grey = random.integers(0, 256, (13, 17)).astype("u1")
    rgb = random.integers(0, 256, (13, 17, 3)).astype("u1")
    wide = random.integers(0, 65536, (13, 17)).astype("u2")
    Image.fromarray(grey).save("g.pgm")
    Image.fromarray(rgb).save("c.ppm")
    Image.fromarray(grey > 127).save("b.pbm")
    Image.fromarray(wide).convert("I").save("w.pgm")  # older versions write no I;16
    assert numpy.array_equal(array("g.pgm")[0], grey)
    assert numpy.array_equal(array("w.pgm")[0], wide)
    assert numpy.array_equal(numpy.moveaxis(array("c.ppm"), 0, 2), rgb)
    assert numpy.array_equal(array("b.pbm")[0], (grey > 127) * 255)
    for name, data in (("g.bmp", Image.fromarray(grey)), ("c.bmp", Image.fromarray(rgb)), ("p.bmp", Image.fromarray(rgb).quantize(200)),
                       ("q.bmp", Image.fromarray(rgb).quantize(12)), ("b.bmp", Image.fromarray(grey > 127))):
        data.save(name)
        expected = numpy.asarray(data.convert("RGB"))
        got = array(name)
        assert numpy.array_equal(numpy.moveaxis(numpy.broadcast_to(got, (3, 13, 17)), 0, 2), expected), name
    for suffix in ("bmp", "ppm", "pgm", "pam", "png"):
        for source in ("g.pgm", "c.ppm", "w.pgm"):
            if (source, suffix) in (("c.ppm", "pgm"), ("w.pgm", "bmp")):
                continue
            run("convert", source, "-o", "o." + suffix, "--force")
            if suffix != "pam":
                got = numpy.asarray(Image.open("o." + suffix).convert("I" if source[0] == "w" else "RGB" if source[0] == "c" else "L"))
                expected = {"g": grey, "c": rgb, "w": wide}[source[0]]
                if suffix == "ppm" and source[0] == "w":
                    continue # Pillow brings 16 bits of PPM to 8
                assert numpy.array_equal(got, expected), (source, suffix)
            assert numpy.array_equal(array("o." + suffix)[:1], array(source)[:1])
    rgba = random.integers(0, 256, (9, 11, 4)).astype("u1")
    Image.fromarray(rgba).save("a.png")
    run("convert", "a.png", "-o", "a.bmp")
    assert numpy.array_equal(numpy.asarray(Image.open("a.bmp").convert("RGBA")), rgba)
    assert numpy.array_equal(numpy.moveaxis(array("a.bmp"), 0, 2), rgba)
    run("convert", "a.png", "-o", "a.pam")
    assert numpy.array_equal(numpy.moveaxis(array("a.pam"), 0, 2), rgba)


def notes(openexr):
    """Places and words that a picture has no pixels for, as OpenEXR reads them and as they come back."""
    import numpy
    open("place.nrrd", "wb").write(b"NRRD0004\ntype: float\ndimension: 3\nspace: left-posterior-superior\nsizes: 4 3 1\nspace directions: (0.5,0,0) (0,0.25,0) (0,0,2)\n"
                                   b"space origin: (10,-20,30)\nencoding: raw\nendian: little\nauthor:=Ada\n\n" + numpy.arange(12, dtype="<f4").tobytes())
    before = info("place.nrrd")
    said = run("convert", "place.nrrd", "-o", "place.exr", "--force").stderr
    assert "left out" not in said, said
    header = openexr.File("place.exr").header()
    assert header["tessera.affine"].split()[0] == "0.5" and header["pixelAspectRatio"] == 2 and header["tessera.space"] == "LPS", header
    after = info("place.exr")
    assert after["affine"] == before["affine"] and after["space"] == before["space"]
    for key, value in before["meta"].items():
        assert after["meta"][key] == value, key
    pixels = numpy.zeros((3, 4), "f4")
    openexr.File({"type": openexr.scanlineimage, "comments": "dawn", "owner": "Ada"}, {"Y": pixels}).write("words.exr")
    assert info("words.exr")["meta"]["exr.comments"] == "dawn"
    run("convert", "words.exr", "-o", "words2.exr", "--force")
    header = openexr.File("words2.exr").header()
    assert header["comments"] == "dawn" and header["owner"] == "Ada", header


def with_openexr(openexr):
    import numpy
    random = numpy.random.default_rng(10)
    kinds = {"half": "f2", "float": "f4", "uint": "u4"}
    said = run("convert", "/dev/null", "--input-format", "exr", "-o", "x.nrrd", code=1).stderr
    if "this build" in said:
        print("skipped: no OpenEXR in this build")
        return
    packings = [getattr(openexr, name) for name in ("NO_COMPRESSION", "RLE_COMPRESSION", "ZIPS_COMPRESSION", "ZIP_COMPRESSION", "PIZ_COMPRESSION", "B44_COMPRESSION") if hasattr(openexr, name)]
    for kind, dtype in kinds.items():
        for packing in packings:
            if kind == "half" and packing == getattr(openexr, "B44_COMPRESSION", None):
                continue  # is lossy; the others are stored
            for storage in (openexr.scanlineimage, openexr.tiledimage):
                planes = {c: (random.random((37, 53)) * 1000).astype(dtype) for c in ("R", "G", "B", "Z")}
                header = {"compression": packing, "type": storage}
                if storage == openexr.tiledimage:
                    header["tiles"] = openexr.TileDescription() if hasattr(openexr, "TileDescription") else None
                    if header["tiles"] is None:
                        continue
                    header["tiles"].xSize = header["tiles"].ySize = 16
                try:
                    openexr.File(header, dict(planes)).write("e.exr")
                except Exception as e:
                    assert storage == openexr.tiledimage, e
                    continue
                got = array("e.exr")
                assert got.dtype == ("u4" if kind == "uint" else "f4")
                for k, name in enumerate(("R", "G", "B", "Z")):
                    assert numpy.array_equal(got[k], planes[name].astype(got.dtype)), (kind, packing, name)
    assert info("e.exr")["meta"]["exr.channels"] == "R G B Z"
    for data in (random.standard_normal((3, 20, 30)).astype("f4"), random.standard_normal((1, 20, 30)).astype("f2").astype("f4"), random.random((4, 20, 30)).astype("f4")):
        numpy.save("v.npy", data)
        run("convert", "v.npy", "-o", "w.exr", "--force")
        assert numpy.array_equal(array("w.exr"), data)
        with openexr.File("w.exr", separate_channels=True) as f:
            channels = f.channels()
            # an array of numpy says nothing of channels
            names = sorted(channels)
            assert names == sorted({1: ["Y"], 3: ["R", "G", "B"], 4: ["R", "G", "B", "A"]}[len(data)])
            for k, name in enumerate({1: "Y", 3: "RGB", 4: "RGBA"}[len(data)]):
                assert numpy.array_equal(channels[name].pixels.astype("f4"), data[k])
            assert (channels[names[0]].pixels.dtype == "f2") == (len(data) == 1)
    notes(openexr)
    if hasattr(openexr, "Part"):  # of several parts one is chosen
        parts = [{c: random.random((8, 9)).astype("f4") for c in names} for names in ("RGB", "Z")]
        openexr.File([openexr.Part({"type": openexr.scanlineimage}, dict(p), name) for p, name in zip(parts, ("beauty", "depth"))]).write("p.exr")
        assert "'depth'" in run("info", "p.exr").stdout
        assert numpy.array_equal(array("p.exr", "--series", 1)[0], parts[1]["Z"])
        assert numpy.array_equal(array("p.exr", "--series", 0), numpy.stack([parts[0][c] for c in "RGB"]))
        assert "expected 0 to 1" in run("convert", "p.exr", "--series", 2, "-o", "x.npy", "--force", code=2).stderr


def run_any(verb, name, encode, data):
    """Writes a picture and says what tessera does about it."""
    import subprocess
    from exchange import tessera
    open(name, "wb").write(encode(data))
    return subprocess.run([tessera, verb, name], capture_output=True, text=True).stderr


def with_imagecodecs(codecs):
    """Radiance, WebP and JPEG XL."""
    import numpy
    random = numpy.random.default_rng(11)
    light = (random.random((20, 30, 3)) * numpy.exp(random.standard_normal((20, 30, 1)) * 3)).astype("f4")
    light[3:5] = 0.25
    try:
        encoded = codecs.rgbe_encode(light, header=True) if codecs.RGBE.available else None
    except Exception:
        encoded = None
    if encoded is not None:
        open("r.hdr", "wb").write(encoded)
        expected = codecs.rgbe_decode(encoded)
        got = numpy.moveaxis(array("r.hdr"), 0, 2)
        step = numpy.maximum(expected.max(2, keepdims=True), 1e-30) / 128
        assert (numpy.abs(got - expected) <= step).all()
    for channels in (3, 4):
        picture = random.integers(0, 256, (19, 23, channels)).astype("u1")
        for name, encode in (("w.webp", lambda d: codecs.webp_encode(d, lossless=True)), ("j.jxl", lambda d: codecs.jpegxl_encode(d, lossless=True))):
            if "this build" in run_any("info", name, encode, picture):
                continue
            assert numpy.array_equal(numpy.moveaxis(array(name), 0, 2)[..., :3], picture[..., :3]), name
    wide = random.integers(0, 65536, (19, 23, 3)).astype("u2")
    real = random.random((19, 23, 3)).astype("f4")
    for data in (wide, real):
        if "this build" not in run_any("info", "k.jxl", lambda d: codecs.jpegxl_encode(d, lossless=True), data):
            assert numpy.array_equal(numpy.moveaxis(array("k.jxl"), 0, 2), data)
    for code in ("u1", "u2"):  # what is written
        for channels in (1, 3, 4):
            data = random.integers(0, numpy.iinfo(code).max + 1, (19, 23, channels)).astype(code)
            open("x.png", "wb").write(codecs.png_encode(data if channels > 1 else data[..., 0]))
            if "this build" in run_any("info", "j.jxl", lambda d: codecs.jpegxl_encode(d, lossless=True), data):
                continue
            run("convert", "x.png", "-o", "x.jxl", "--force")
            back = numpy.asarray(codecs.jpegxl_decode(open("x.jxl", "rb").read()))
            assert back.dtype == data.dtype and numpy.array_equal(back.reshape(data.shape), data), (code, channels)
            assert numpy.array_equal(numpy.moveaxis(array("x.jxl"), 0, 2), data)
    codes = random.integers(0, 256, (19, 23, 3)).astype("u1")
    numpy.save("p.npy", codes)
    open("p.ppm", "wb").write(b"P6 23 19 255\n" + codes.tobytes())
    run("convert", "p.ppm", "-o", "p.webp", "--force")
    assert numpy.array_equal(codecs.webp_decode(open("p.webp", "rb").read())[..., :3], codes)
    numpy.save("l.npy", numpy.ascontiguousarray(numpy.moveaxis(light, 2, 0)))
    run("convert", "l.npy", "--format", "radiance", "-o", "o.hdr", "--force")
    got = numpy.moveaxis(array("o.hdr"), 0, 2)
    assert (numpy.abs(got - light) <= light.max(2, keepdims=True) / 255 + 1e-30).all()
    if encoded is not None:
        assert numpy.abs(codecs.rgbe_decode(open("o.hdr", "rb").read()) - light).max() <= light.max() / 127


main({"numpy": with_numpy, "PIL": with_pillow, "OpenEXR": with_openexr, "imagecodecs": with_imagecodecs})
