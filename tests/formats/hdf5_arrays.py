"""h5py reads what tessera writes and tessera reads what h5py writes: types, byte orders, chunks, filters, and the habits of the programs that write HDF5.

    hdf5_arrays.py TESSERA      exit code 77: no numpy or h5py
"""
import json

from peers import TYPES, array, info, main, numpy, require_same, run, skip, transfers, volume

try:
    import h5py
except ImportError:
    skip("h5py")

try:
    import numcodecs
except ImportError:
    numcodecs = None

LAYOUTS = ({}, {"chunks": (7, 8, 9)}, {"chunks": (7, 8, 9), "compression": "gzip", "shuffle": True}, {"chunks": True, "compression": "gzip", "fletcher32": True},
           {"chunks": (7, 8, 9), "compression": "lzf"}, {"chunks": (7, 8, 9), "compression": "lzf", "shuffle": True})


def types(random):
    for code in (*TYPES, "f2"):
        a = array(random, code, (25, 37, 43))
        want = a.astype("f4") if code == "f2" else a
        for order in "<>":
            for layout in LAYOUTS:
                with h5py.File("a.h5", "w") as file:
                    file.create_dataset("g/x", data=a, dtype=order + code, **layout)
                require_same(volume("a.h5"), want, code, order, layout)
                require_same(volume("a.h5", "--box", "3,4,5:20,21,22"), want[5:22, 4:21, 3:20], code, order, layout)
        if code == "f2":
            continue
        numpy.save("b.npy", a)
        for options in ([], ["--compression", "3"], ["--big-endian"], ["--big-endian", "--compression", "1"]):
            run("convert", "b.npy", "-o", "b.h5", *options, "--force")
            with h5py.File("b.h5") as file:
                require_same(file["data"][:], a, code, options)
            require_same(volume("b.h5"), a, code, options)


def plugins(random):
    """Chunks as hdf5plugin packs them, written directly: no plugin is needed."""
    if numcodecs is None:
        print("left out: no numcodecs: chunks of blosc, LZ4 and zstd")
        return
    a = random.integers(0, 300, (20, 24, 28)).astype("u2")
    step = (10, 12, 14)
    blosc, zstd = numcodecs.Blosc("lz4"), numcodecs.Zstd()

    def lz4(block):
        packed = numcodecs.LZ4().encode(block)[4:]
        packed = packed if len(packed) < block.nbytes else block.tobytes()
        return block.nbytes.to_bytes(8, "big") + block.nbytes.to_bytes(4, "big") + len(packed).to_bytes(4, "big") + packed

    for number, values, encode in ((32001, (2, 2, 2, 2 * 10 * 12 * 14, 5, 1, 1), blosc.encode), (32015, (3,), zstd.encode), (32004, (0,), lz4)):
        for damage in (False, True):
            with h5py.File("p.h5", "w") as file:
                plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                plan.set_chunk(step)
                plan.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)
                d = h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_UINT16, h5py.h5s.create_simple(a.shape), plan)
                for at in numpy.ndindex(2, 2, 2):
                    low = tuple(k * n for k, n in zip(at, step))
                    block = numpy.ascontiguousarray(a[tuple(slice(k, k + n) for k, n in zip(low, step))])
                    packed = bytes(encode(block))
                    d.write_direct_chunk(low, packed[: len(packed) // 2] if damage and at == (1, 1, 1) else packed)
            if damage:
                run("convert", "p.h5", "-o", "x.npy", "--force", fails="p.h5: HDF5: the voxels of /x")
            else:
                require_same(volume("p.h5"), a, number)
                require_same(volume("p.h5", "--box", "3,4,5:20,21,18"), a[5:18, 4:21, 3:20], number)


def choices(a):
    with h5py.File("m.h5", "w") as file:
        file["a/one"] = a[0]
        two = file.create_dataset("b/two", data=a, chunks=(1, 8, 8, 8))
        two.attrs["axistags"] = json.dumps({"axes": [{"key": k, "typeFlags": 2} for k in "tzyx"]})
        two.attrs["element_size_um"] = [2.0, 0.5, 0.25]
        file["mask"] = a[0] > 50
        file["name"] = "x"
        file["outside"] = h5py.ExternalLink("a.h5", "/g/x")
        file["soft"] = h5py.SoftLink("/a/one")
    with h5py.File("cf.nc", "w") as file:
        file["t"] = a[0].astype("i2")
        file["t"].attrs.update(scale_factor=0.5, add_offset=-3.0)
    require_same(volume("cf.nc"), (a[0].astype("i2") * 0.5 - 3).astype("f4"))
    with h5py.File("itk.h5", "w") as file:  # as itk::HDF5ImageIO has it: a row of Directions for each axis, LPS
        group = file.create_group("ITKImage/0")
        group["VoxelData"], group["Spacing"], group["Origin"] = a[0], [1.5, 2.0, 3.0], [10.0, 20.0, 30.0]
        group["Directions"] = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    about = info("itk.h5")  # the only one of three axes is shown, as it is read
    assert about["affine"][:3] == [[0, 0, 3, 10], [1.5, 0, 0, 20], [0, 2, 0, 30]] and about["space"] == "LPS", about
    run("convert", "m.h5", "-o", "no.npy", fails="--dataset says which")
    assert [e["name"] for e in info("m.h5")["contents"]] == ["/a/one", "/b/two", "/mask"]
    require_same(volume("m.h5", "--dataset", "/a/one"), a[0])
    require_same(volume("m.h5", "--dataset", "soft"), a[0])
    require_same(volume("m.h5", "--dataset", "mask"), (a[0] > 50).astype("u1"))
    require_same(volume("m.h5", "--dataset", "b/two", "--frame", "2"), a[2])
    about = info("m.h5", "--dataset", "b/two")
    assert about["spacing"] == [0.25, 0.5, 2.0] and about["unit"] == "um" and about["frames"] == 3, about
    run("convert", "m.h5", "--dataset", "outside", "-o", "no.npy", fails="no such array") # other files are not opened
    run("convert", "m.h5", "--dataset", "nothing", "-o", "no.npy", fails="no such array")
    run("convert", "m.h5", "--dataset", "name", "-o", "no.npy", fails="0 axes")
    layout = h5py.VirtualLayout(a[0].shape, "u2")
    layout[:] = h5py.VirtualSource("m.h5", "a/one", a[0].shape)
    with h5py.File("virtual.h5", "w") as file:
        file.create_virtual_dataset("v", layout)
    run("convert", "virtual.h5", "-o", "no.npy", fails="lie in other arrays")
    for choice in ("--level", "--series"):
        run("info", "virtual.h5", choice, "1", fails=f"{choice} is 1, expected 0")


def habits(a):
    with h5py.File("a.mat", "w", userblock_size=512) as file:
        file["A"] = numpy.transpose(a[0], (0, 2, 1))
    with open("a.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(128))
    require_same(volume("a.mat"), a[0])
    with h5py.File("b.mat", "w", userblock_size=512) as file:
        file["A"] = numpy.transpose(a, (0, 1, 3, 2))
    with open("b.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(128))
    require_same(volume("b.mat", "--frame", "1"), a[1])
    require_same(volume("b.mat", "--channel", "1"), a[1])
    with h5py.File("xyz.h5", "w") as file:
        file.create_dataset("v", data=numpy.transpose(a[0], (2, 1, 0)), chunks=(9, 9, 9)).attrs["axes"] = "xyz"
    require_same(volume("xyz.h5"), a[0])
    with h5py.File("n.nxs", "w") as file:
        file.attrs["default"] = "entry"
        entry = file.create_group("entry")
        entry.attrs["default"] = "data"
        data = entry.create_group("data")
        data.attrs["signal"] = "counts"
        data["counts"] = a[1]
        data["other"] = a[0]
    require_same(volume("n.nxs"), a[1])

    def letters(text):
        return numpy.array([c.encode() for c in text], dtype="S1")

    with h5py.File("i.ims", "w") as file:
        for level in range(2):
            for t in range(2):
                for c in range(2):
                    group = file.create_group(f"DataSet/ResolutionLevel {level}/TimePoint {t}/Channel {c}")
                    padded = numpy.zeros((32, 40, 48), "u2")
                    padded[:25, :37, :43] = a[t + c] + level
                    group.create_dataset("Data", data=padded, chunks=(8, 8, 8))
                    for axis, size in zip("ZYX", (25, 37, 43)):
                        group.attrs[f"ImageSize{axis}"] = letters(str(size))
        image = file.create_group("DataSetInfo/Image")
        for k, size in enumerate((43, 37, 25)):
            image.attrs[f"ExtMin{k}"] = letters("1.0")
            image.attrs[f"ExtMax{k}"] = letters(str(1.0 + size * 0.5))
        image.attrs["Unit"] = letters("um")
    require_same(volume("i.ims", "--frame", "1", "--channel", "1"), a[2])
    run("convert", "i.ims", "--frame", "0", "--channel", "1", "--rule", "average", "--level", "1", "-o", "half.npy")
    about = info("i.ims")
    assert about["spacing"] == [0.5, 0.5, 0.5] and about["unit"] == "um" and about["frames"] == 2 and about["affine"][0][3] == 1.25, about


def geometry(a):
    run("make", "sphere", "-o", "sphere.nii")
    about = info("sphere.nii")
    for options in ([], ["--compression", "1"]):
        run("convert", "sphere.nii", "-o", "sphere.h5", "--force", *options)
        again = info("sphere.h5")
        assert again["affine"] == about["affine"] and again["space"] == about["space"] and again["unit"] == "mm", again
        for key, value in about["meta"].items():
            assert again["meta"][key] == value, key
    with h5py.File("t.h5", "w") as file:
        file.create_dataset("v", data=a[0], chunks=(7, 8, 9), compression="gzip")
    transfers("t.h5", a[0], ("u.h5", "u.nrrd", "u.tif"))


def body(random):
    types(random)
    plugins(random)
    a = random.integers(0, 100, (3, 25, 37, 43)).astype("u2")
    choices(a)
    habits(a)
    geometry(a)


main(body)
