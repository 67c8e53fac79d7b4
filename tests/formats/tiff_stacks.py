"""tifffile reads what tessera writes and tessera reads what tifffile writes: types, byte orders, strips, tiles, packing; stacks of ImageJ and OME, colours, pyramids.

    tiff_stacks.py TESSERA      exit code 77: no numpy or tifffile
"""
import subprocess

from peers import TYPES, array, info, main, numpy, require_same, run, skip, tessera, transfers, volume

try:
    import tifffile
except ImportError:
    skip("tifffile")

try:
    import imagecodecs  # noqa: F401  packs what tifffile alone does not

    PACKED = ({"compression": "zlib", "predictor": True}, {"compression": "lzw"}, {"compression": "zstd"}, {"compression": "packbits"})
except ImportError:
    PACKED = ()

LAYOUTS = ({}, {"compression": "zlib"}, {"tile": (16, 32)}, {"tile": (16, 16), "compression": "zlib"}, {"rowsperstrip": 5}, {"bigtiff": True}) + PACKED


def types(random):
    for code in (*TYPES, "f2"):
        a = array(random, code, (5, 17, 33))
        for order in "<>":
            for layout in LAYOUTS:
                if layout.get("predictor") and code in ("u8", "i8"):
                    continue
                tifffile.imwrite("a.tif", a.astype(order + code), photometric="minisblack", byteorder=order, **layout)
                require_same(volume("a.tif"), a.astype("f4") if code == "f2" else a, code, order, layout)
        if code == "f2":
            continue
        numpy.save("b.npy", a)
        for name, *options in (["b.tif"], ["b.tif", "--compression", "6"], ["b.tif", "--big-endian"], ["b.ome.tif"], ["b.tif", "--big-endian", "--compression", "1"]):
            run("convert", "b.npy", "-o", name, *options, "--force")
            with tifffile.TiffFile(name) as file:
                assert file.is_ome if "ome" in name else file.is_imagej
                require_same(file.asarray(), a, code, options)
            require_same(volume(name), a, code, options)


def few_bits(random):
    mask = random.integers(0, 2, (5, 17, 33)) > 0
    tifffile.imwrite("bits.tif", mask, photometric="minisblack")
    require_same(volume("bits.tif"), mask.astype("u1"))
    if not PACKED:
        return
    for bits in (2, 4, 6, 10, 12, 14):
        a = random.integers(0, 2**bits, (5, 17, 33)).astype("u1" if bits <= 8 else "u2")
        tifffile.imwrite("bits.tif", a, bitspersample=bits, photometric="minisblack")
        require_same(volume("bits.tif"), a, bits)


def hyperstacks(random):
    a = random.integers(0, 1000, (3, 4, 2, 17, 19)).astype("u2")
    tifffile.imwrite("h.tif", a, imagej=True, metadata={"axes": "TZCYX", "spacing": 0.5, "unit": "um"}, resolution=(1 / 0.3, 1 / 0.25))
    about = info("h.tif")
    assert about["spacing"] == [0.3, 0.25, 0.5] and about["unit"] == "um" and about["frames"] == 3 and about["channels"] == 2, about
    run("convert", "h.tif", "-o", "no.npy", fails="--channel 0 to 1")
    run("convert", "h.tif", "--channel", "0", "-o", "no.npy", fails="--frame 0 to 2")
    for t in range(3):
        for c in range(2):
            require_same(volume("h.tif", "--frame", str(t), "--channel", str(c)), a[t, :, c])
    require_same(volume("h.tif", "--frame", "1", "--channel", "1", "--box", "2,3,1:9,11,3"), a[1, 1:3, 1, 3:11, 2:9])
    sizes = {"T": 3, "Z": 4, "C": 2, "Y": 17, "X": 19}
    for axes in ("TZCYX", "CTZYX", "ZTCYX", "TCZYX", "CZTYX", "ZCTYX"):
        a = random.integers(0, 1000, [sizes[k] for k in axes]).astype("f4")
        physical = {"PhysicalSizeX": 0.3, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.25, "PhysicalSizeYUnit": "µm", "PhysicalSizeZ": 1.5, "PhysicalSizeZUnit": "µm"}
        tifffile.imwrite("o.ome.tif", a, metadata={"axes": axes, "Channel": {"Name": ["A", "B"]}, **physical}, compression="zlib")
        about = info("o.ome.tif")
        assert about["spacing"] == [0.3, 0.25, 1.5] and about["unit"] == "um" and about["channels"] == 2 and about["frames"] == 3, about
        assert about["meta"]["ome.channels"] == "A, B", about
        ordered = numpy.transpose(a, [axes.index(k) for k in "TCZYX"])
        for t in range(3):
            for c in range(2):
                require_same(volume("o.ome.tif", "--frame", str(t), "--channel", str(c)), ordered[t, c], axes)
    a = random.integers(0, 1000, (2, 3, 17, 19)).astype("u2")
    tifffile.imwrite("shaped.tif", a, photometric="minisblack", metadata={"axes": "TZYX"})
    require_same(volume("shaped.tif", "--frame", "1"), a[1])
    tifffile.imwrite("short.tif", a, photometric="minisblack", metadata={"axes": "TZYX"}, truncate=True)  # one header for all pages
    require_same(volume("short.tif", "--frame", "1"), a[1])
    tifffile.imwrite("short.tif", a[0], photometric="minisblack", truncate=True, resolution=(100, 50), resolutionunit="CENTIMETER")
    require_same(volume("short.tif"), a[0])
    for name in ("shaped.tif", "short.tif"):  # the pages' headers lie behind the voxels
        said = subprocess.run([tessera, "info", "--frame", "0", name], capture_output=True, text=True, check=True).stderr
        assert "behind the voxels" not in said, said
    assert info("short.tif")["spacing"] == [0.1, 0.2, 0.1], info("short.tif")
    tifffile.imwrite("cut.tif", a[0, :2], photometric="minisblack", description="ImageJ=1.53\nimages=3\nslices=3\n", metadata=None)
    assert "of 3 images" in subprocess.run([tessera, "info", "cut.tif"], capture_output=True, text=True, check=True).stderr
    for lie in ('{"shape": [100000000, 17, 19], "truncated": true}', "ImageJ=1.53\nimages=900000000000000\nslices=900000000000000\n"):
        tifffile.imwrite("lie.tif", a[0, 0], photometric="minisblack", description=lie, metadata=None)
        run("convert", "lie.tif", "-o", "no.npy", fails="truncated")
    tifffile.imwrite("deep.tif", numpy.zeros((32, 32, 32), "u1"), tile=(16, 16, 16), volumetric=True)
    run("convert", "deep.tif", "-o", "no.npy", fails="32 slices (ImageDepth)")
    tifffile.imwrite("unit.ome.tif", a[0], metadata={"axes": "ZYX", "PhysicalSizeX": 3.0, "PhysicalSizeXUnit": "Å"})
    assert info("unit.ome.tif")["unit"] == "angstrom", info("unit.ome.tif")
    said = subprocess.run([tessera, "convert", "unit.ome.tif", "-o", "unit.npy"], capture_output=True, text=True, check=True).stderr
    assert "spacing, origin and axes have no place in a npy file" in said, said
    b = random.integers(0, 1000, (7, 17, 19)).astype("u2")
    tifffile.imwrite("one.tif", b, imagej=True, truncate=True, metadata={"axes": "ZYX"})  # one header for all
    with tifffile.TiffFile("one.tif") as file:
        assert len(file.pages) == 1
    require_same(volume("one.tif"), b)
    require_same(volume("one.tif", "--box", "2,3,1:15,16,6"), b[1:6, 3:16, 2:15])


def colours(random):
    for planar in ("contig", "separate"):
        def lay(x):
            return x if planar == "contig" else numpy.moveaxis(x, -1, -3)
        one = random.integers(0, 255, (17, 19, 3)).astype("u1")
        tifffile.imwrite("r.tif", lay(one), photometric="rgb", planarconfig=planar)
        require_same(volume("r.tif"), numpy.moveaxis(one, -1, 0))
        require_same(volume("r.tif", "--channel", "1")[0], one[..., 1])
        stack = random.integers(0, 255, (5, 17, 19, 3)).astype("u2")
        tifffile.imwrite("s.tif", lay(stack), photometric="rgb", planarconfig=planar, compression="zlib")
        require_same(volume("s.tif", "--channel", "2"), stack[..., 2])
        for options in ([], ["--compression", "5"]):
            run("convert", "r.tif", "-o", "again.tif", "--force", *options)
            require_same(tifffile.imread("again.tif"), one)


def several(random):
    with tifffile.TiffWriter("m.tif") as file:
        file.write(numpy.zeros((3, 8, 9), "u1"), photometric="minisblack")
        file.write(numpy.ones((2, 5, 6), "f4"), photometric="minisblack")
    run("convert", "m.tif", "-o", "no.npy", fails="--series 0 to 1")
    require_same(volume("m.tif", "--series", "1"), numpy.ones((2, 5, 6), "f4"))
    assert [e["size"] for e in info("m.tif")["contents"]] == [[3, 8, 9], [2, 5, 6]]
    a = random.integers(0, 99, (4, 64, 96)).astype("u2")
    with tifffile.TiffWriter("p.ome.tif") as file:
        file.write(a, subifds=2, tile=(32, 32), metadata={"axes": "ZYX"})
        for step in (2, 4):
            file.write(a[:, ::step, ::step], subfiletype=1, tile=(32, 32))
    for level in (1, 2):
        require_same(volume("p.ome.tif", "--level", str(level)), a[:, :: 2**level, :: 2**level])
    assert [e["size"] for e in info("p.ome.tif")["contents"]] == [[64, 96], [32, 48], [16, 24]]


def geometry(random):
    run("make", "sphere", "-o", "sphere.nii")
    about = info("sphere.nii")
    for name in ("sphere.tif", "sphere.ome.tif"):
        run("convert", "sphere.nii", "-o", name)
        again = info(name)
        assert again["affine"] == about["affine"] and again["space"] == about["space"] and again["unit"] == "mm", again
        for key, value in about["meta"].items():
            assert again["meta"][key] == value, key
    a = array(random, "u2", (40, 60, 50))
    tifffile.imwrite("t.tif", a, compression="zlib", photometric="minisblack")
    transfers("t.tif", a, ("u.tif", "u.nrrd", "u.ome.tif"))


def several_files(random):
    """OME-XML in every file that names the others, one a channel and time, as Bio-Formats and MicroManager write them."""
    import os
    a = random.integers(0, 1000, (3, 2, 4, 17, 19)).astype("u2")  # t c z y x
    os.makedirs("set", exist_ok=True)
    data = "".join(f'<TiffData IFD="{z}" FirstT="{t}" FirstC="{c}" FirstZ="{z}" PlaneCount="1"><UUID FileName="s_t{t}_c{c}.ome.tif">urn:uuid:{t}{c}</UUID></TiffData>'
                   for t in range(3) for c in range(2) for z in range(4))
    xml = ('<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" '
           'Type="uint16" SizeX="19" SizeY="17" SizeZ="4" SizeC="2" SizeT="3" PhysicalSizeX="0.5" PhysicalSizeY="0.25" PhysicalSizeZ="2">'
           f'<Channel ID="Channel:0:0"/><Channel ID="Channel:0:1"/>{data}</Pixels></Image></OME>')
    for compression in (None, "zlib"):
        for t in range(3):
            for c in range(2):
                tifffile.imwrite(f"set/s_t{t}_c{c}.ome.tif", a[t, c], photometric="minisblack", compression=compression, description=xml, metadata=None)
        for start in ("set/s_t0_c0.ome.tif", "set/s_t2_c1.ome.tif"):
            about = info(start, "--frame", "1", "--channel", "1")
            assert about["frames"] == 3 and about["channels"] == 2 and about["size"] == [19, 17, 4] and about["spacing"] == [0.5, 0.25, 2] and about["unit"] == "um", about
            for t in range(3):
                for c in range(2):
                    require_same(volume(start, "--frame", str(t), "--channel", str(c)), a[t, c], compression, t, c)
            require_same(volume(start, "--frame", "1", "--channel", "0", "--box", "2,3,1:15,16,4"), a[1, 0, 1:4, 3:16, 2:15])
    os.remove("set/s_t1_c1.ome.tif")
    run("convert", "set/s_t0_c0.ome.tif", "--frame", "1", "--channel", "1", "-o", "x.npy", "--force", fails="'set/s_t1_c1.ome.tif' is missing")
    require_same(volume("set/s_t0_c0.ome.tif", "--frame", "0", "--channel", "1"), a[0, 1])
    os.rename("set/s_t0_c0.ome.tif", "alone.tif")  # without the others, of none of which it is
    run("convert", "alone.tif", "--frame", "1", "--channel", "0", "-o", "x.npy", "--force", fails="is missing")


def body(random):
    several_files(random)
    for part in (types, few_bits, hyperstacks, colours, several, geometry):
        part(random)


main(body)
