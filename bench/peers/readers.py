#!/usr/bin/env python3
"""Reading of volumes, pictures, meshes and points beside the best readers that Python has: readers.py [--edge N] [--only WORD] [--output FILE.json].

The files are written by the peers. Each reader gets the whole content as an array (of meshes and points the coordinates), which is compared; then the processor time that a
reading takes, of all threads together, is that of one core: the least of several. Bar: at least 70 % of the speed of the fastest peer."""
import argparse
import json
import os
import tempfile
import time

for name in ("OMP_NUM_THREADS", "BLOSC_NTHREADS", "NUMEXPR_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

import tessera as ts


def phantom(n):
    """Counts such as a scanner has them: smooth, with five bits of noise, and air of one value round it."""
    z, y, x = np.meshgrid(*(np.linspace(-1, 1, k, dtype=np.float32) for k in n), indexing="ij")
    r = np.sqrt(x * x + y * y + z * z)
    v = 1000 + 400 * np.sin(9 * x) * np.sin(7 * y) + 300 * np.cos(11 * z) + np.random.default_rng(1).normal(0, 8, n)
    return np.where(r < 0.9, v, 24).astype(np.uint16)


def cases(n):
    v = phantom((n, 2 * n, 2 * n))
    f = (v / np.float32(7)).astype(np.float32)

    def tiff(**options):
        def write(path, data):
            import tifffile
            tifffile.imwrite(path, data, **options)
        return write

    def read_tiff(path):
        import tifffile
        return tifffile.imread(path, maxworkers=1)

    yield "tiff, plain", "a.tif", v, tiff(), {"tifffile": read_tiff}
    yield "tiff, deflate", "a.tif", v, tiff(compression="zlib"), {"tifffile": read_tiff}
    yield "tiff, lzw with predictor", "a.tif", v, tiff(compression="lzw", predictor=True), {"tifffile": read_tiff}
    yield "tiff, zstd in tiles", "a.tif", v, tiff(compression="zstd", tile=(256, 256)), {"tifffile": read_tiff}
    yield "tiff, deflate of float32", "a.tif", f, tiff(compression="zlib", predictor=True), {"tifffile": read_tiff}

    def zarr_write(version, codec):
        def write(path, data):
            import numcodecs
            import zarr
            from zarr import codecs
            made = {"lz4": (numcodecs.Blosc("lz4"), codecs.BloscCodec(cname="lz4")), "zstd": (numcodecs.Blosc("zstd"), codecs.ZstdCodec()),
                    "gzip": (numcodecs.GZip(), codecs.GzipCodec())}[codec][version == 3]
            a = zarr.create_array(store=path, shape=data.shape, chunks=(64, 64, 64), dtype=data.dtype, zarr_format=version, compressors=made)
            a[...] = data
        return write

    def read_zarr(path):
        import numcodecs.blosc
        import zarr
        numcodecs.blosc.set_nthreads(1)
        return zarr.open_array(path, mode="r")[...]

    for version, codec in ((2, "lz4"), (2, "zstd"), (3, "lz4"), (3, "zstd"), (3, "gzip")):
        yield f"zarr {version}, {codec}", "a.zarr", v, zarr_write(version, codec), {"zarr": read_zarr}

    def hdf5_write(**options):
        def write(path, data):
            import h5py
            with h5py.File(path, "w") as h:
                h.create_dataset("data", data=data, **options)
        return write

    def read_hdf5(path):
        import h5py
        with h5py.File(path) as h:
            return h["data"][...]

    yield "hdf5, plain", "a.h5", v, hdf5_write(), {"h5py": read_hdf5}
    yield "hdf5, deflated chunks", "a.h5", v, hdf5_write(chunks=(64, 64, 64), compression="gzip", shuffle=True), {"h5py": read_hdf5}
    yield "hdf5, LZF chunks", "a.h5", v, hdf5_write(chunks=(64, 64, 64), compression="lzf", shuffle=True), {"h5py": read_hdf5}

    yield "npy", "a.npy", v, lambda path, data: np.save(path, data), {"numpy": np.load}
    yield "npz, deflated", "a.npz", v, lambda path, data: np.savez_compressed(path, data=data), {"numpy": lambda path: np.load(path)["data"]}

    def nifti_write(path, data):
        import nibabel
        nibabel.save(nibabel.Nifti1Image(data.T, np.eye(4)), path)

    def read_nifti(path):
        import nibabel
        return np.asarray(nibabel.load(path).dataobj).T

    def read_sitk(path):
        import SimpleITK
        SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
        return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path))

    def sitk_write(packed):
        def write(path, data):
            import SimpleITK
            SimpleITK.WriteImage(SimpleITK.GetImageFromArray(data), path, packed)
        return write

    def read_nrrd(path):
        import nrrd
        return nrrd.read(path, index_order="C")[0]

    yield "nifti", "a.nii", v, nifti_write, {"nibabel": read_nifti, "SimpleITK": read_sitk}
    yield "nifti, gz", "a.nii.gz", v, nifti_write, {"nibabel": read_nifti, "SimpleITK": read_sitk}
    yield "nrrd", "a.nrrd", v, sitk_write(False), {"SimpleITK": read_sitk, "pynrrd": read_nrrd}
    yield "nrrd, gz", "a.nrrd", v, sitk_write(True), {"SimpleITK": read_sitk, "pynrrd": read_nrrd}
    yield "metaimage, zlib", "a.mha", v, sitk_write(True), {"SimpleITK": read_sitk}

    def mrc_write(path, data):
        import mrcfile
        with mrcfile.new(path) as m:
            m.set_data(data)

    def read_mrc(path):
        import mrcfile
        return mrcfile.read(path)

    yield "mrc", "a.mrc", f, mrc_write, {"mrcfile": read_mrc}

    def dicom_write(packed):
        def write(path, data):
            import pydicom
            from pydicom.dataset import FileDataset, FileMetaDataset
            from pydicom.uid import ExplicitVRLittleEndian, RLELossless
            os.mkdir(path)
            for k, plane in enumerate(data):
                meta = FileMetaDataset()
                meta.TransferSyntaxUID = ExplicitVRLittleEndian
                meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2"
                meta.MediaStorageSOPInstanceUID = f"1.2.3.{k + 1}"
                d = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
                d.SOPClassUID, d.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
                d.SeriesInstanceUID, d.Modality, d.InstanceNumber = "1.2.4", "CT", k + 1
                d.ImagePositionPatient, d.ImageOrientationPatient, d.PixelSpacing = [0, 0, k], [1, 0, 0, 0, 1, 0], [1, 1]
                d.SamplesPerPixel, d.PhotometricInterpretation, d.PixelRepresentation = 1, "MONOCHROME2", 0
                d.Rows, d.Columns, d.BitsAllocated, d.BitsStored, d.HighBit = *plane.shape, 16, 16, 15
                d.PixelData = plane.tobytes()
                if packed:
                    d.compress(RLELossless)
                pydicom.dcmwrite(f"{path}/{k:04d}.dcm", d, enforce_file_format=True)
        return write

    def read_dicom_sitk(path):
        import SimpleITK
        reader = SimpleITK.ImageSeriesReader()
        reader.SetFileNames(reader.GetGDCMSeriesFileNames(path))
        return SimpleITK.GetArrayFromImage(reader.Execute())

    def read_pydicom(path):
        import pydicom
        files = sorted((pydicom.dcmread(f"{path}/{name}") for name in os.listdir(path)), key=lambda d: d.ImagePositionPatient[2])
        return np.stack([d.pixel_array for d in files])

    yield "dicom series", "series", v, dicom_write(False), {"SimpleITK": read_dicom_sitk, "pydicom": read_pydicom}
    yield "dicom series, RLE", "rle", v[: n // 4], dicom_write(True), {"SimpleITK": read_dicom_sitk, "pydicom": read_pydicom}

    def vti_write(packed):
        def write(path, data):
            import vtk
            from vtkmodules.util.numpy_support import numpy_to_vtk
            image = vtk.vtkImageData()
            image.SetDimensions(*data.shape[::-1])
            image.GetPointData().SetScalars(numpy_to_vtk(data.ravel(), deep=True, array_type=vtk.VTK_UNSIGNED_SHORT))
            w = vtk.vtkXMLImageDataWriter()
            w.SetFileName(path)
            w.SetInputData(image)
            w.EncodeAppendedDataOff()
            (w.SetCompressorTypeToZLib if packed else w.SetCompressorTypeToNone)()
            w.Write()
        return write

    def read_vti(path):
        import vtk
        from vtkmodules.util.numpy_support import vtk_to_numpy
        r = vtk.vtkXMLImageDataReader()
        r.SetFileName(path)
        r.Update()
        return vtk_to_numpy(r.GetOutput().GetPointData().GetScalars()).reshape(r.GetOutput().GetDimensions()[::-1])

    yield "vti, raw", "a.vti", v, vti_write(False), {"vtk": read_vti}
    yield "vti, zlib", "a.vti", v, vti_write(True), {"vtk": read_vti}

    # pictures: [y][x][channel]
    rgb = np.stack([phantom((1, 16 * n, 16 * n))[0] >> k & 255 for k in (3, 4, 5)], -1).astype(np.uint8)

    def coded(encode):
        def write(path, data):
            with open(path, "wb") as file:
                file.write(encode(data))
        return write

    def read_cv(path):
        import cv2
        cv2.setNumThreads(1)
        return cv2.imread(path, cv2.IMREAD_UNCHANGED)[..., ::-1]

    def read_with(decode):
        def read(path):
            import imagecodecs
            with open(path, "rb") as file:
                return getattr(imagecodecs, decode)(file.read())
        return read

    import imagecodecs
    yield "png", "a.png", rgb, coded(imagecodecs.png_encode), {"OpenCV": read_cv, "imagecodecs": read_with("png_decode")}
    yield "webp", "a.webp", rgb, coded(lambda d: imagecodecs.webp_encode(d, lossless=True)), {"imagecodecs": read_with("webp_decode"), "OpenCV": read_cv}
    yield "jpeg xl", "a.jxl", rgb[: 4 * n, : 4 * n], coded(lambda d: imagecodecs.jpegxl_encode(np.ascontiguousarray(d), lossless=True, numthreads=1)), {
        "imagecodecs": lambda path: imagecodecs.jpegxl_decode(open(path, "rb").read(), numthreads=1)}

    def exr_write(path, data):
        import OpenEXR
        with OpenEXR.File({"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}, {"RGB": data}) as file:
            file.write(path)

    def read_exr(path):
        import OpenEXR
        with OpenEXR.File(path) as file:
            return np.asarray(file.channels()["RGB"].pixels)

    yield "exr, zip", "a.exr", rgb[: 8 * n, : 8 * n].astype(np.float32) / 255, exr_write, {"OpenEXR": read_exr}

    # meshes and points: corners and places
    u, w = np.meshgrid(np.linspace(0, 2 * np.pi, 12 * n, endpoint=False), np.linspace(0, np.pi, 6 * n), indexing="ij")
    places = np.stack([np.sin(w) * np.cos(u), np.sin(w) * np.sin(u), np.cos(w)], -1).reshape(-1, 3).astype(np.float32)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(12 * n - 1), np.arange(6 * n - 1), indexing="ij"))
    a, b = i * 6 * n + j, (i + 1) * 6 * n + j
    corners = np.concatenate([np.stack([a, b, a + 1], -1), np.stack([b, b + 1, a + 1], -1)]).astype(np.int32)

    def mesh_write(path, data):
        import trimesh
        trimesh.Trimesh(places, corners, process=False).export(path)

    def read_trimesh(path):
        import trimesh
        mesh = trimesh.load(path, process=False, force="mesh")
        return np.asarray(mesh.vertices)[np.asarray(mesh.faces)].mean((0, 1))

    def read_open3d(path):
        import open3d
        mesh = open3d.io.read_triangle_mesh(path)
        return np.asarray(mesh.vertices)[np.asarray(mesh.triangles)].mean((0, 1))

    middle = places.astype(float)[corners].mean((0, 1))
    for end in ("ply", "stl", "obj", "glb", "off"):
        yield f"mesh, {end}", f"m.{end}", middle, mesh_write, {"trimesh": read_trimesh, "Open3D": read_open3d}

    def las_write(path, data):
        import laspy
        header = laspy.LasHeader(point_format=3, version="1.2")
        header.scales, header.offsets = [1e-4] * 3, [0] * 3
        las = laspy.LasData(header)
        las.x, las.y, las.z = data.T.astype(float)
        las.write(path)

    def read_las(path):
        import laspy
        return np.asarray(laspy.read(path).xyz)

    grid = (np.round(places * 1e4) / 1e4).astype(np.float32)
    yield "points, las", "p.las", grid, las_write, {"laspy": read_las}
    yield "points, laz", "p.laz", grid, las_write, {"laspy": read_las}


def content(path, name, expected):
    if name.startswith("mesh"):
        mesh = ts.read(path)
        return np.asarray(mesh.vertices, float)[np.asarray(mesh.triangles)].mean((0, 1))
    if name in ("png", "webp", "jpeg xl"):  # side by side, as the peers have them
        return np.asarray(ts.read(path, what="image"))
    if name.startswith("points"):
        return np.asarray(ts.read(path, what="points").positions)
    return np.asarray(ts.read(path, what="volume"))


def agrees(got, expected):
    got = np.squeeze(got)
    if got.shape != expected.shape and expected.ndim == 3 and got.shape[0] == expected.shape[2]:
        got = np.moveaxis(got, 0, -1)  # channels along z
    return got.shape == expected.shape and np.allclose(got, expected, atol=1e-4 if expected.dtype.kind == "f" else 0)


def seconds(read, path, tries):
    least = np.inf
    for _ in range(tries):
        start = time.process_time()
        got = np.asarray(read(path))
        np.ravel(got, order="K")[:: max(1, 4096 // got.itemsize)].max()  # a file that is only mapped is not read yet: every page is touched
        least = min(least, time.process_time() - start)
    return least


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--edge", type=int, default=128, help="volumes of N x 2N x 2N")
arguments.add_argument("--tries", type=int, default=3)
arguments.add_argument("--only", default="")
arguments.add_argument("--output")
a = arguments.parse_args()
rows = []
for name, file, data, write, peers in cases(a.edge):
    if a.only not in name:
        continue
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, file)
        try:
            write(path, data)
        except Exception as error:
            print(f"{name:28}skipped: {str(error)[:80]}")
            continue
        times = {}
        for peer, read in peers.items():
            try:
                if not agrees(np.asarray(read(path)), data):
                    print(f"{name}: {peer} reads other values")
                    continue
            except ImportError:
                continue
            times[peer] = seconds(read, path, a.tries)
        ours = lambda p: content(p, name, data)
        assert agrees(ours(path), data), name
        own = seconds(ours, path, a.tries)
        best = min(times, key=times.get) if times else None
        ratio = times[best] / own if best else None
        rows.append({"case": name, "min_s": own, "peer": best, "peer_min_s": times.get(best), "ratio": ratio, "bar": "at least 0.7 x the best reader of Python",
                     "holds": None if ratio is None else ratio >= 0.7})
        print(f"{name:28}{own:9.4f} s   " + "   ".join(f"{p} {t:.4f} s" for p, t in times.items()) + (f"   {ratio:.2f} x{'' if ratio >= 0.7 else ' MISSED'}" if ratio else ""), flush=True)
if a.output:
    with open(a.output, "w") as out:
        out.write(json.dumps({"machine": "vm", "clock": "processor", "threads": 1, "edge": a.edge, "results": []})[:-2] + "\n")
        out.write(",\n".join("  " + json.dumps(row) for row in rows) + "\n]}\n")
