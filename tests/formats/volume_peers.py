"""nibabel (.mgz, .mgh, Analyze), mrcfile and SimpleITK (GIPL) read what tessera writes, and tessera reads what they write: voxels, geometry, frames."""
import glob
import os
import warnings

from exchange import array, info, main, run

warnings.filterwarnings("ignore")


def affine_of(volume):
    import numpy
    return numpy.array(volume["affine"])


def with_nibabel(nibabel):
    import numpy
    random = numpy.random.default_rng(3)
    turn = numpy.array([[0, -1.5, 0, 10], [0.2, 0, -2, -20], [1, 0.1, 0, 30], [0, 0, 0, 1.0]])
    for dtype in ("uint8", "int16", "int32", "float32"):
        for shape in ((7, 5, 3), (6, 4, 5, 3)):
            data = (random.standard_normal(shape) * 50 + 100).astype(dtype)
            for name in ("a.mgz", "a.mgh"):
                nibabel.save(nibabel.MGHImage(data, turn), name)
                affine = nibabel.load(name).affine
                for frame in range(shape[3] if len(shape) > 3 else 1):
                    options = ("--frame", frame) if len(shape) > 3 else ()
                    assert numpy.array_equal(array(name, *options).T, data[..., frame] if len(shape) > 3 else data), (dtype, shape, name)
                    assert numpy.allclose(affine_of(info(name, *options)), affine[:3], atol=1e-4)
                run("convert", name, "--frame", 0, "-o", "b.mgz", "--force")
                back = nibabel.load("b.mgz")
                assert numpy.array_equal(numpy.asanyarray(back.dataobj), data[..., 0] if len(shape) > 3 else data)
                assert back.get_data_dtype() == numpy.dtype(dtype).newbyteorder(">") and numpy.allclose(back.affine, affine, atol=1e-4)
    # Types that the format lacks become the smallest that holds them.
    for dtype, becomes in (("uint16", "int32"), ("int8", "int16"), ("uint32", "uint8"), ("float64", "float32")):
        data = random.integers(0, 120, (4, 3, 2)).astype(dtype)
        if dtype == "uint16":
            data[0, 0, 0] = 65535
        if dtype == "int8":
            data[0, 0, 0] = -100
        nibabel.save(nibabel.Nifti1Image(data, turn), "t.nii")
        run("convert", "t.nii", "-o", "t.mgz", "--force")
        assert numpy.array_equal(numpy.asanyarray(nibabel.load("t.mgz").dataobj), data) and nibabel.load("t.mgz").get_data_dtype() == numpy.dtype(becomes).newbyteorder(">")
    # Analyze with an origin of SPM, and without: where nibabel puts the voxels.
    for kind in (nibabel.Spm99AnalyzeImage, nibabel.AnalyzeImage):
        for dtype in ("uint8", "int16", "int32", "float32", "float64"):
            for order in "<>":
                data = (random.standard_normal((6, 5, 4)) * 50 + 100).astype(dtype)
                image = kind(data, None, kind.header_class(endianness=order))
                image.header.set_data_dtype(dtype)
                image.header.set_zooms((2, 3, 4))
                if kind is nibabel.Spm99AnalyzeImage:
                    image.header["origin"][:3] = (3, 2, 1)
                nibabel.save(image, "s.img")
                for mat in glob.glob("*.mat"):
                    os.remove(mat)
                here = nibabel.Spm99AnalyzeImage.load("s.img") if kind is nibabel.Spm99AnalyzeImage else nibabel.AnalyzeImage.load("s.img")
                for name in ("s.hdr", "s.img"):
                    assert numpy.allclose(array(name).T, numpy.asanyarray(here.dataobj), atol=1e-3), (kind, dtype)
                    assert numpy.allclose(affine_of(info(name)), here.affine[:3]), (affine_of(info(name)), here.affine)
    folder = os.path.join(os.path.dirname(nibabel.__file__), "tests", "data")
    if os.path.exists(os.path.join(folder, "test.mgz")):
        name = os.path.join(folder, "test.mgz")
        image = nibabel.load(name)
        data = numpy.asanyarray(image.dataobj)
        frames = data.shape[3] if data.ndim > 3 else 1
        for frame in range(frames):
            options = ("--frame", frame) if frames > 1 else ()
            assert numpy.array_equal(array(name, *options).T, data[..., frame] if data.ndim > 3 else data)
            assert numpy.allclose(affine_of(info(name, *options)), image.affine[:3], atol=1e-4)


def with_mrcfile(mrcfile):
    import numpy
    random = numpy.random.default_rng(4)
    for dtype, reads in (("int8", "int8"), ("int16", "int16"), ("uint16", "uint16"), ("float32", "float32"), ("float16", "float32")):
        data = (random.standard_normal((4, 5, 6)) * 20).astype(dtype) if dtype != "uint16" else random.integers(0, 65536, (4, 5, 6)).astype(dtype)
        for order in (1, 2):
            with mrcfile.new("a.mrc", overwrite=True) as m:
                m.set_data(data)
                m.voxel_size = (1.5, 2.5, 3.5)
                m.header.origin = (10, -20, 30)
                if order == 2:
                    m.header.mapc, m.header.mapr, m.header.maps = 3, 1, 2
            got = array("a.mrc")
            assert got.dtype == numpy.dtype(reads) and numpy.array_equal(got, data.astype(reads)), dtype
            v = info("a.mrc")
            assert v["unit"] == "angstrom"
            # the header's cell is along x, y and z; mx, my, mz are those of mrcfile, which counts them along columns, rows and sections
            with mrcfile.open("a.mrc") as m:
                step = [float(m.header.cella[a]) / int(m.header["m" + a]) for a in "xyz"]
                axes = [int(m.header["map" + a]) - 1 for a in "crs"]
            expected = numpy.zeros((3, 4))
            for k, a in enumerate(axes):
                expected[a, k] = step[a]
            expected[:, 3] = (10, -20, 30)
            assert numpy.allclose(affine_of(v), expected), (affine_of(v), expected)
            run("convert", "a.mrc", "-o", "b.mrc", "--force")
            with mrcfile.open("b.mrc") as b, mrcfile.open("a.mrc") as a:
                assert numpy.array_equal(b.data, a.data.astype(reads))
                assert [int(b.header["map" + k]) for k in "crs"] == [k + 1 for k in axes]
                assert numpy.allclose([float(b.header.origin[k]) for k in "xyz"], (10, -20, 30))
                assert abs(float(b.header.dmean) - float(a.data.astype("f8").mean())) < 1e-3 * max(1, abs(float(b.header.dmean)))
            assert order == 2 or mrcfile.validate("b.mrc")
    # big-endian, start indices, a stack of volumes
    data = numpy.arange(2 * 3 * 4 * 5, dtype="f4").reshape(2, 3, 4, 5)
    with mrcfile.new("s.mrc", overwrite=True) as m:
        m.set_data(data)
        m.voxel_size = 2
    for frame in range(2):
        assert numpy.array_equal(array("s.mrc", "--frame", frame), data[frame])
    with mrcfile.new("n.mrc", overwrite=True) as m:
        m.set_data(data[0])
        m.voxel_size = 2
        m.nstart = (3, -4, 5)
    assert numpy.allclose(affine_of(info("n.mrc"))[:, 3], (6, -8, 10))
    for mode in ("complex64",):
        with mrcfile.new("c.mrc", overwrite=True) as m:
            m.set_data(numpy.zeros((2, 3, 4), mode))
        assert "complex" in run("info", "c.mrc", code=1).stderr
    # a volume in another unit: millimetres become angstroms
    run("make", "sphere", "--size", 12, "-o", "u.nrrd", "--force")
    numpy.save("p.npy", numpy.arange(24, dtype="f4").reshape(2, 3, 4))
    run("convert", "p.npy", "-o", "p.mrc", "--force")
    with mrcfile.open("p.mrc") as m:
        assert numpy.array_equal(m.data, numpy.load("p.npy")) and float(m.voxel_size.x) == 1
    for name in glob.glob(os.path.join(os.path.dirname(mrcfile.__file__), "**", "*.m[ra][cp]*"), recursive=True):
        try:
            expected = mrcfile.open(name, permissive=True).data
        except Exception:
            continue
        if expected is not None and expected.ndim == 3 and expected.dtype.kind != "c":
            assert numpy.array_equal(array(name), expected), name


def with_simpleitk(itk):
    import numpy
    random = numpy.random.default_rng(5)
    for dtype in ("uint8", "int8", "int16", "uint16", "uint32", "int32", "float32", "float64"):
        data = (random.random((4, 5, 6)) * 100).astype(dtype)
        image = itk.GetImageFromArray(data)
        image.SetSpacing((0.5, 1.5, 2.5))
        image.SetOrigin((1, -2, 3))
        for name in ("g.gipl", "g.gipl.gz"):
            try:
                itk.WriteImage(image, name)
            except RuntimeError:
                continue
            assert numpy.array_equal(array(name), data), (name, dtype)
            assert numpy.allclose(affine_of(info(name)), [[0.5, 0, 0, 1], [0, 1.5, 0, -2], [0, 0, 2.5, 3]], atol=1e-6), (dtype, info(name)["affine"])


def with_scipy(scipy):
    """MATLAB's files of level 5: classes, packing, several arrays, boxes; what is no array of numbers is passed over."""
    import numpy
    import scipy.io
    random = numpy.random.default_rng(8)
    for packed in (False, True):
        for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
            a = random.integers(0, 100, (6, 5, 4)).astype(dtype) if dtype[0] != "f" else random.standard_normal((6, 5, 4)).astype(dtype)
            scipy.io.savemat("a.mat", {"A": a, "text": "hello", "cell": numpy.array([1, "x"], dtype=object), "z": numpy.array([1 + 2j])}, do_compression=packed)
            got = array("a.mat")  # slices, rows, columns
            assert got.dtype == numpy.dtype(dtype) and numpy.array_equal(got, a.transpose(2, 0, 1)), (dtype, packed)
            assert numpy.array_equal(array("a.mat", "--box", "1,2,1:4,5,3"), a.transpose(2, 0, 1)[1:3, 2:5, 1:4])
        b, c = random.random((3, 4)), random.integers(0, 9, (3, 4, 2, 5)).astype("f8")
        scipy.io.savemat("b.mat", {"plane": b, "film": c, "mask": c[..., 0] > 4}, do_compression=packed)
        assert "one of them" in run("convert", "b.mat", "-o", "x.npy", "--force", code=1).stderr
        assert numpy.array_equal(array("b.mat", "--dataset", "film", "--frame", 3), c[..., 3].transpose(2, 0, 1))
        assert numpy.array_equal(array("b.mat", "--dataset", "plane"), b[None])
        assert numpy.array_equal(array("b.mat", "--dataset", "mask"), (c[..., 0] > 4).astype("u1").transpose(2, 0, 1))
        raw = open("b.mat", "rb").read()
        open("cut.mat", "wb").write(raw[:len(raw) - 40])
        assert "truncated" in run("info", "cut.mat", code=1).stderr


main({"scipy": with_scipy, "nibabel": with_nibabel, "mrcfile": with_mrcfile, "SimpleITK": with_simpleitk})
