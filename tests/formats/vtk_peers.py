"""VTK itself reads the .vti and .vtp files that tessera writes, and tessera reads what VTK writes: every coding, packing and byte order."""
from exchange import array, info, main, run


def with_vtk(vtk):
    import numpy
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    random = numpy.random.default_rng(8)
    types = {"u1": vtk.VTK_UNSIGNED_CHAR, "i1": vtk.VTK_SIGNED_CHAR, "u2": vtk.VTK_UNSIGNED_SHORT, "i2": vtk.VTK_SHORT, "u4": vtk.VTK_UNSIGNED_INT, "i4": vtk.VTK_INT,
             "i8": vtk.VTK_LONG_LONG, "u8": vtk.VTK_UNSIGNED_LONG_LONG, "f4": vtk.VTK_FLOAT, "f8": vtk.VTK_DOUBLE}

    def image(data, cells=False, name="density"):
        i = vtk.vtkImageData()
        z, y, x = data.shape[:3]
        i.SetDimensions(*(n + cells for n in (x, y, z)))
        i.SetSpacing(0.5, 1.5, 2.5)
        i.SetOrigin(1, -2, 3)
        i.SetDirectionMatrix(0, 1, 0, -1, 0, 0, 0, 0, 1)
        a = numpy_to_vtk(data.reshape(z * y * x, -1) if data.ndim > 3 else data.ravel(), deep=True, array_type=types[data.dtype.str[1:]])
        a.SetName(name)
        (i.GetCellData() if cells else i.GetPointData()).SetScalars(a)
        return i

    def write(writer, data, name, mode="appended-raw", packed=None, big=False, wide=True):
        w = writer()
        w.SetFileName(name)
        w.SetInputData(data)
        {"ascii": w.SetDataModeToAscii, "binary": w.SetDataModeToBinary}.get(mode, w.SetDataModeToAppended)()
        w.SetEncodeAppendedData(mode == "appended-base64")
        {None: w.SetCompressorTypeToNone, "zlib": w.SetCompressorTypeToZLib, "lz4": w.SetCompressorTypeToLZ4, "lzma": w.SetCompressorTypeToLZMA}[packed]()
        (w.SetByteOrderToBigEndian if big else w.SetByteOrderToLittleEndian)()
        (w.SetHeaderTypeToUInt64 if wide else w.SetHeaderTypeToUInt32)()
        w.SetBlockSize(1024)
        assert w.Write()

    affine = numpy.array([[0, 1.5, 0, 1], [-0.5, 0, 0, -2], [0, 0, 2.5, 3]])
    data = (random.standard_normal((5, 6, 7)) * 1000).astype("f4")
    for mode in ("ascii", "binary", "appended-raw", "appended-base64"):
        for packed in (None, "zlib", "lz4"):
            for big in (False, True):
                for wide in (False, True):
                    write(vtk.vtkXMLImageDataWriter, image(data), "a.vti", mode, packed, big, wide)
                    assert numpy.array_equal(array("a.vti"), data), (mode, packed, big, wide)
    assert numpy.allclose(numpy.array(info("a.vti")["affine"]), affine)
    large = numpy.zeros((30, 40, 50), "u2")
    large[5:25, 10:30, 20:40] = random.integers(0, 3, (20, 20, 20))
    for packed in ("zlib", "lz4", "lzma"):
        write(vtk.vtkXMLImageDataWriter, image(large), "l.vti", packed=packed)
        assert numpy.array_equal(array("l.vti"), large)
    write(vtk.vtkXMLImageDataWriter, image(large * 0), "l.vti", packed="lzma")
    assert not array("l.vti").any()
    for dtype in types:
        typed = random.integers(0, 100, (3, 4, 5)).astype(dtype)
        for mode in ("ascii", "appended-raw"):
            write(vtk.vtkXMLImageDataWriter, image(typed), "t.vti", mode)
            got = array("t.vti")
            assert got.dtype == typed.dtype and numpy.array_equal(got, typed), (dtype, mode)
        for options in ((), ("--compression", "5"), ("--ascii",)):
            run("convert", "t.vti", *options, "-o", "o.vti", "--force")
            r = vtk.vtkXMLImageDataReader()
            r.SetFileName("o.vti")
            r.Update()
            o = r.GetOutput()
            assert numpy.array_equal(vtk_to_numpy(o.GetPointData().GetScalars()).reshape(3, 4, 5), typed), (dtype, options)
            m = o.GetDirectionMatrix()
            got = numpy.array([[m.GetElement(r, c) * o.GetSpacing()[c] for c in range(3)] + [o.GetOrigin()[r]] for r in range(3)])
            assert numpy.allclose(got, affine) and o.GetPointData().GetScalars().GetName() == "density"
    write(vtk.vtkXMLImageDataWriter, image(data, cells=True), "c.vti")
    assert numpy.array_equal(array("c.vti"), data)
    assert numpy.allclose(numpy.array(info("c.vti")["affine"])[:, 3], affine[:, :3] @ [0.5, 0.5, 0.5] + affine[:, 3])
    vectors = random.standard_normal((3, 4, 5, 3)).astype("f4")
    write(vtk.vtkXMLImageDataWriter, image(vectors), "v.vti")
    for k in range(3):
        assert numpy.array_equal(array("v.vti", "--channel", k), vectors[..., k])

    # surfaces
    def surface(file):
        import json
        return json.loads(run("info", "--json", file).stdout)

    sphere = vtk.vtkSphereSource()
    sphere.SetThetaResolution(20)
    sphere.SetPhiResolution(14)
    sphere.Update()
    mesh = sphere.GetOutput()
    strips = vtk.vtkStripper()
    strips.SetInputData(mesh)
    strips.Update()
    mass = vtk.vtkMassProperties()
    mass.SetInputData(mesh)
    for mode in ("ascii", "binary", "appended-raw", "appended-base64"):
        for packed in (None, "zlib", "lz4"):
            for big in (False, True):
                for polys in (mesh, strips.GetOutput()):
                    write(vtk.vtkXMLPolyDataWriter, polys, "s.vtp", mode, packed, big)
                    found = surface("s.vtp")
                    assert found["kind"] == "mesh" and found["vertices"] == mesh.GetNumberOfPoints() and found["triangles"] == mesh.GetNumberOfPolys(), (mode, packed, found)
                    assert abs(found["area"] - mass.GetSurfaceArea()) < 1e-5 and abs(found["volume"] - mass.GetVolume()) < 1e-5 and found["normals"]
    colors = numpy_to_vtk(random.integers(0, 256, (mesh.GetNumberOfPoints(), 4)).astype("u1"), deep=True, array_type=vtk.VTK_UNSIGNED_CHAR)
    colors.SetName("rgba")
    mesh.GetPointData().SetScalars(colors)
    write(vtk.vtkXMLPolyDataWriter, mesh, "c.vtp")
    for options in ((), ("--ascii",)):
        run("convert", "c.vtp", *options, "-o", "d.vtp", "--force")
        r = vtk.vtkXMLPolyDataReader()
        r.SetFileName("d.vtp")
        r.Update()
        back = r.GetOutput()
        for get in (lambda p: p.GetPoints().GetData(), lambda p: p.GetPolys().GetConnectivityArray(), lambda p: p.GetPointData().GetNormals(),
                    lambda p: p.GetPointData().GetScalars()):
            assert numpy.array_equal(vtk_to_numpy(get(back)), vtk_to_numpy(get(mesh))), options

    # curved lattices and cells of any kind: the surface of a value in them
    def cut(file, *options):
        import json
        return json.loads(run("surface", file, "--isovalue", 4, "-o", "cut.ply", "--json", "--force", *options).stdout)

    n = (14, 17, 19)
    z, y, x = numpy.meshgrid(*(numpy.linspace(-3, 3, k) for k in n), indexing="ij")
    places = numpy.stack([x + 0.2 * numpy.sin(2 * y), y + 0.2 * numpy.sin(2 * z), z + 0.1 * x * y / 3], -1).reshape(-1, 3)
    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(places, deep=True))
    value = numpy_to_vtk((places**2).sum(1), deep=True)
    value.SetName("square")
    other = numpy_to_vtk(places[:, 0].astype("f4"), deep=True)
    other.SetName("x")
    lattice = vtk.vtkStructuredGrid()
    lattice.SetDimensions(*n[::-1])
    lattice.SetPoints(points)
    lattice.GetPointData().AddArray(other)
    lattice.GetPointData().SetScalars(value)
    append = vtk.vtkAppendFilter()
    append.AddInputData(lattice)
    append.Update()
    cells = append.GetOutput()
    cells.GetPointData().SetActiveScalars("square")
    contour = vtk.vtkContourFilter()
    contour.SetInputData(lattice)
    contour.SetInputArrayToProcess(0, 0, 0, 0, "square")
    contour.SetValue(0, 4)
    contour.Update()
    mass.SetInputData(contour.GetOutput())
    for mode in ("ascii", "binary", "appended-raw"):
        for packed in (None, "zlib"):
            write(vtk.vtkXMLStructuredGridWriter, lattice, "l.vts", mode, packed)
            write(vtk.vtkXMLUnstructuredGridWriter, cells, "l.vtu", mode, packed)
            found = cut("l.vts")
            assert found["euler"] == 2 and found["boundary_edges"] == 0 and found["components"] == 1, found
            assert abs(found["area"] / mass.GetSurfaceArea() - 1) < 0.02 and abs(-found["volume"] / mass.GetVolume() - 1) < 0.02, (found, mass.GetVolume())  # inside is above
            below = cut("l.vts", "--inside", "below")
            assert abs(below["volume"] / mass.GetVolume() - 1) < 0.02 and abs(below["area"] / found["area"] - 1) < 1e-6, below
            same = cut("l.vtu")
            assert all(same[k] == found[k] for k in ("vertices", "triangles", "area", "volume")), (same, found)
            assert cut("l.vtu", "--values", "square")["area"] == found["area"]
    assert "no values named none at the points (arrays of one component: x, square)" in run("surface", "l.vts", "--values", "none", "-o", "n.ply", code=1).stderr
    assert "no surface" in run("surface", "l.vts", "--values", "x", "--isovalue", 99, "-o", "n.ply", code=1).stderr
    raw = open("l.vtu", "rb").read()
    open("cut.vtu", "wb").write(raw[:len(raw) * 2 // 3])
    run("surface", "cut.vtu", "-o", "n.ply", code=1)

    # legacy files: images of every type, in text and binary; cells; several arrays; even and uneven planes
    def legacy(writer, data, name, text=False, version=None):
        w = writer()
        w.SetFileName(name)
        w.SetInputData(data)
        (w.SetFileTypeToASCII if text else w.SetFileTypeToBinary)()
        if version is not None:
            w.SetFileVersion(version)
        assert w.Write()

    for dtype in types:
        typed = random.integers(0, 100, (3, 4, 5)).astype(dtype)
        if dtype == "i8":
            typed[0, 0, 0] = 2**53 + 1
        for text in (False, True):
            for cells in (False, True):
                legacy(vtk.vtkStructuredPointsWriter, image(typed, cells, "two words"), "s.vtk", text)
                got = array("s.vtk")
                assert got.dtype == typed.dtype and numpy.array_equal(got, typed), (dtype, text, cells)
                about = info("s.vtk")
                assert about["format"] == "vtk-image" and about["spacing"] == [0.5, 1.5, 2.5] and about["meta"]["vtk.array"] == "two words", about
                assert numpy.allclose(numpy.array(about["affine"])[:, 3], numpy.array([1, -2, 3]) + (numpy.array([0.25, 0.75, 1.25]) if cells else 0)), about
    several = image(data, name="first")
    vectors = random.standard_normal((5, 6, 7, 3)).astype("f4")
    for name, values in (("second", data[::-1]), ("flow", vectors)):
        a = numpy_to_vtk(numpy.ascontiguousarray(values).reshape(210, -1), deep=True)
        a.SetName(name)
        several.GetPointData().AddArray(a)
    for text in (False, True):
        legacy(vtk.vtkStructuredPointsWriter, several, "v.vtk", text)
        assert [e["name"] for e in info("v.vtk")["contents"]] == ["first", "second", "flow"]
        for want, options in ((data, ()), (data[::-1], ("--dataset", "second")), (vectors[..., 1], ("--dataset", "flow", "--channel", 1))):
            assert numpy.allclose(array("v.vtk", *options), want, rtol=1e-5 if text else 0), (text, options)
        assert numpy.allclose(array("v.vtk", "--box", "1,2,3:4,5,5"), data[3:5, 2:5, 1:4], rtol=1e-5)
    assert "'none'" in run("convert", "v.vtk", "--dataset", "none", "-o", "n.npy", code=2).stderr
    run("convert", "v.vtk", "--memory-limit", 400, "-o", "w.nrrd", code=1)
    legacy(vtk.vtkStructuredPointsWriter, image(large), "big.vtk")
    run("convert", "big.vtk", "--memory-limit", 50000, "-o", "big.nrrd")
    assert numpy.array_equal(array("big.nrrd"), large)
    planes = vtk.vtkRectilinearGrid()
    planes.SetDimensions(7, 6, 5)
    planes.GetPointData().SetScalars(image(data).GetPointData().GetScalars())
    for uneven in (False, True):
        for axis, n in (("X", 7), ("Y", 6), ("Z", 5)):
            along = numpy.arange(n) * 0.1 + 2 + (uneven and axis == "Z") * numpy.arange(n) ** 2 * 0.01
            getattr(planes, f"Set{axis}Coordinates")(numpy_to_vtk(along.astype("f4"), deep=True))
        for text in (False, True):
            legacy(vtk.vtkRectilinearGridWriter, planes, "r.vtk", text)
            if uneven:
                assert "planes along z are not evenly spaced" in run("info", "r.vtk", code=1).stderr
            else:
                assert numpy.allclose(array("r.vtk"), data, rtol=1e-5) and numpy.allclose(info("r.vtk")["spacing"], 0.1)
    for axis, along in (("X", range(7, 0, -1)), ("Y", range(6)), ("Z", range(0, -10, -2))):
        getattr(planes, f"Set{axis}Coordinates")(numpy_to_vtk(numpy.array(along, "f4"), deep=True))
    legacy(vtk.vtkRectilinearGridWriter, planes, "r.vtk", False)  # planes that fall
    assert numpy.allclose(array("r.vtk"), data, rtol=1e-5)
    assert info("r.vtk")["affine"] == [[-1, 0, 0, 7], [0, 1, 0, 0], [0, 0, -2, 0]]
    raw = open("big.vtk", "rb").read()
    open("cut.vtk", "wb").write(raw[:len(raw) * 2 // 3])
    assert "bytes" in run("info", "cut.vtk", code=1).stderr

    # surfaces of legacy files: polygons and strips, normals, colours, both versions
    ball = vtk.vtkSphereSource()
    ball.SetThetaResolution(30)
    ball.SetPhiResolution(20)
    strips = vtk.vtkStripper()
    strips.SetInputConnection(ball.GetOutputPort())
    for source, triangles in ((ball, 30 * 18 * 2), (strips, 30 * 18 * 2)):
        source.Update()
        surface = source.GetOutput()
        colours = numpy_to_vtk(random.integers(0, 256, (surface.GetNumberOfPoints(), 3)).astype("u1"), deep=True, array_type=vtk.VTK_UNSIGNED_CHAR)
        colours.SetName("rgb")
        surface.GetPointData().SetScalars(colours)
        mass.SetInputData(ball.GetOutput())
        for text in (False, True):
            for version in (42, 51):
                legacy(vtk.vtkPolyDataWriter, surface, "p.vtk", text, version)
                about = info("p.vtk")
                assert about["kind"] == "mesh" and about["format"] == "vtk-mesh" and about["triangles"] == triangles, about
                assert about["normals"] and about["colors"] and about["euler"] == 2, about
                assert abs(about["volume"] / mass.GetVolume() - 1) < 1e-4 and abs(about["area"] / mass.GetSurfaceArea() - 1) < 1e-4, about
                run("convert", "p.vtk", "-o", "p.vtp", "--force")
                r = vtk.vtkXMLPolyDataReader()
                r.SetFileName("p.vtp")
                r.Update()
                assert numpy.array_equal(vtk_to_numpy(r.GetOutput().GetPointData().GetScalars())[:, :3], vtk_to_numpy(colours)), (text, version)
                assert numpy.allclose(vtk_to_numpy(r.GetOutput().GetPoints().GetData()), vtk_to_numpy(surface.GetPoints().GetData()), rtol=1e-5), (text, version)
                run("convert", "p.vtk", "-o", "p.xyz", "--force")
                assert len(open("p.xyz").readlines()) == surface.GetNumberOfPoints()
    raw = open("p.vtk", "rb").read()
    open("cut.vtk", "wb").write(raw[:len(raw) // 2])
    run("convert", "cut.vtk", "-o", "cut.ply", code=1)


main({"vtk": with_vtk})
