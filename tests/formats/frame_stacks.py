"""Frames in one file: what tessera writes with --frames, beside nibabel, SimpleITK, tifffile and zarr; XDMF beside h5py.

    frame_stacks.py TESSERA      exit code 77: no numpy, nibabel, tifffile, zarr, h5py or SimpleITK
"""
import json
import os

from peers import TYPES, array, info, main, numpy, require_same, run, skip, volume

try:
    import h5py
    import nibabel
    import SimpleITK
    import tifffile
    import zarr
except ImportError as missing:
    skip(missing.name)


def frames(random):
    for code in TYPES:
        a = array(random, code, (5, 4, 6, 7))  # t z y x
        image = nibabel.Nifti1Image(a.T, numpy.diag((0.5, 0.75, 2, 1)), dtype=a.dtype)
        image.header.set_xyzt_units("mm", "sec")
        image.header["pixdim"][4] = 2.5
        nibabel.save(image, "a.nii")
        for output in ("b.nii.gz", "b.nrrd", "b.tif", "b.ome.tif", "b.zarr"):
            run("convert", "a.nii", "--frames", "1-3", "-o", output, "--force")
            about = info(output, "--frame", "2")
            assert about["frames"] == 3 and about["size"] == [7, 6, 4] and numpy.allclose(about["spacing"], (0.5, 0.75, 2)), about
            for t in range(3):
                require_same(volume(output, "--frame", str(t)), a[1 + t], output, code, t)
        back = nibabel.load("b.nii.gz")
        require_same(numpy.asanyarray(back.dataobj).T, a[1:4], code, "nibabel")
        assert back.header["pixdim"][4] == 2.5 and back.header.get_xyzt_units() == ("mm", "sec") and numpy.allclose(back.affine, image.affine)
        if code not in ("i8", "u8"):  # which SimpleITK has no vectors of
            itk = SimpleITK.ReadImage("b.nrrd")
            require_same(numpy.moveaxis(SimpleITK.GetArrayFromImage(itk), -1, 0), a[1:4], code, "SimpleITK")  # to it a list is numbers of a voxel
        with tifffile.TiffFile("b.tif") as file:
            if file.is_imagej:
                assert file.imagej_metadata["frames"] == 3 and file.imagej_metadata["slices"] == 4, file.imagej_metadata
            require_same(file.asarray().reshape(3, 4, 6, 7), a[1:4], code, "tifffile")
        with tifffile.TiffFile("b.ome.tif") as file:
            assert file.series[0].axes == "TZYX", file.series[0].axes
            require_same(file.series[0].asarray(), a[1:4], code, "OME")
        require_same(zarr.open("b.zarr/0", mode="r")[:], a[1:4], code, "zarr")
        axes = json.load(open("b.zarr/.zattrs"))["multiscales"][0]["axes"]
        assert [axis["name"] for axis in axes] == ["t", "z", "y", "x"] and axes[0]["type"] == "time"
    run("convert", "a.nii", "--frames", "0-9", "-o", "c.nii", fails="expected A-B within 0-4")
    run("convert", "a.nii", "--frames", "0-1", "-o", "c.mgz", fails="no axis for frames")
    assert not os.path.exists("c.nii") and not os.path.exists("c.mgz")
    run("convert", "a.nii", "--frames", "0-1", "--slice", "z=2", "--dtype", "f32", "-o", "s.nii")
    assert nibabel.load("s.nii").shape == (7, 6, 1, 2)


TEXT = """<?xml version="1.0"?><!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" []>
<Xdmf Version="2.0"><Domain><Grid Name="all" GridType="Collection" CollectionType="Temporal">{}</Grid></Domain></Xdmf>"""
GRID = """<Grid Name="g"><Time Value="{0}"/><Topology TopologyType="3DCoRectMesh" Dimensions="4 5 6"/>
<Geometry GeometryType="ORIGIN_DXDYDZ"><DataItem Dimensions="3">10 20 30</DataItem><DataItem Dimensions="3">1 2 3</DataItem></Geometry>
<Attribute Name="p" Center="Node"><DataItem Dimensions="4 5 6" NumberType="Float" Precision="4" Format="HDF">a.h5:/step{0}/p</DataItem></Attribute>
<Attribute Name="q" Center="Node"><DataItem Dimensions="4 5 6" NumberType="Int" Precision="2" Endian="Big" Seek="7" Format="Binary">q{0}.raw</DataItem></Attribute></Grid>"""


def xdmf(random):
    for code in TYPES:
        a = array(random, code, (4, 5, 6))
        numpy.save("a.npy", a)
        run("convert", "a.npy", "-o", "b.nrrd", "--force")
        run("convert", "b.nrrd", "-o", "b.xdmf", "--force")
        with h5py.File("b.h5") as file:
            require_same(file["data"][:], a, code)
        require_same(volume("b.xdmf"), a, code)
        require_same(volume("b.xdmf", "--box", "1,2,1:5,4,3"), a[1:3, 2:4, 1:5], code)
    p, q = array(random, "f4", (3, 4, 5, 6)), array(random, "i2", (3, 4, 5, 6))
    with h5py.File("a.h5", "w") as file:
        for t in range(3):
            file[f"step{t}/p"] = p[t]
            open(f"q{t}.raw", "wb").write(b"1234567" + q[t].astype(">i2").tobytes())
    open("t.xmf", "w").write(TEXT.format("".join(GRID.format(t) for t in range(3))))
    run("convert", "t.xmf", "--dataset", "p", "-o", "x.npy", "--force", fails="--frame 0 to 2 says which")
    run("convert", "t.xmf", "--frame", "0", "-o", "x.npy", "--force", fails="--dataset names one")
    for t in range(3):
        require_same(volume("t.xmf", "--dataset", "p", "--frame", str(t)), p[t], t)
        require_same(volume("t.xmf", "--dataset", "q", "--frame", str(t)), q[t], t)
    about = info("t.xmf", "--dataset", "p", "--frame", "1")
    assert about["spacing"] == [3, 2, 1] and [row[3] for row in about["affine"]] == [30, 20, 10] and about["frames"] == 3, about
    assert [entry["name"] for entry in about["contents"]] == ["p", "q"], about
    run("convert", "t.xmf", "--dataset", "p", "--frames", "0-", "-o", "t.nii", "--force")
    assert nibabel.load("t.nii").shape == (6, 5, 4, 3)
    one = GRID.format(0)
    one = one[:one.index("<Attribute Name=\"q\"")] + "</Grid>"
    one = one.replace("HDF", "XML").replace("a.h5:/step0/p", " ".join(repr(float(v)) for v in p[0].ravel()))
    open("x.xmf", "w").write(TEXT.format(one))
    require_same(volume("x.xmf"), p[0], "XML")
    open("far.xmf", "w").write(TEXT.format(GRID.format(0)).replace("a.h5", "../a.h5"))
    run("info", "far.xmf", "--dataset", "p", fails="does not lie beside the header")
    open("bad.xmf", "w").write("<Xdmf><Domain><Grid></Grid></Domain></Xdmf>")
    run("info", "bad.xmf", fails="XDMF without an <Attribute>")


def body(random):
    frames(random)
    xdmf(random)


main(body)
