#!/usr/bin/env python3
"""tessera for Python beside other libraries for Python: the same work on the same data in one process on one core, both sides in turn.

usage: peers.py [--data FOLDER] [--repeat N] [--only NAME ...] [--json FILE]

FOLDER is the data/ that scripts/get-data.sh fills (the MRI and meshes). Times are processor seconds, the least of the repetitions, and include what a caller of
either library pays to get arrays back. Libraries that are not installed are left out, and the table says so."""

import argparse
import datetime
import importlib
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import time

for name in ("OMP_NUM_THREADS", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "OPENBLAS_NUM_THREADS", "VTK_SMP_MAX_THREADS"):
    os.environ[name] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np  # noqa: E402

import tessera as ts  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise LookupError(name) from missing


def race(ours, theirs, repeat):
    """Least processor seconds of both, in turn; what each gave the last time."""
    least, results = [float("inf"), float("inf")], [None, None]
    for _ in range(repeat):
        for k, work in enumerate((theirs, ours)):
            start = time.process_time()
            results[1 - k] = work()
            least[1 - k] = min(least[1 - k], time.process_time() - start)
    return least[0], least[1], results[0], results[1]


def head(data):
    return ts.read(data / "mri" / "ch2.nii.gz")


@case
def dwt(data, repeat):
    pywt = need("pywt")
    volume = np.ascontiguousarray(head(data).array[:176, :208, :176].astype(np.float32))

    def theirs():
        return pywt.wavedecn(volume, "bior4.4", mode="symmetric", level=3)

    a, b, coefficients, _ = race(lambda: ts.dwt(volume, "daub97", levels=3), theirs, repeat)
    back = ts.idwt(coefficients).array
    assert np.abs(back - volume).max() < 0.01
    yield f"9/7, 3 levels, MRI {'x'.join(map(str, reversed(volume.shape)))} float32", f"PyWavelets {pywt.__version__}, wavedecn", a, b, 20
    whole = volume.astype(np.int16)
    a, b, coefficients, _ = race(lambda: ts.dwt(whole, "legall53", levels=3), lambda: pywt.wavedecn(whole, "bior2.2", mode="symmetric", level=3), repeat)
    assert (ts.idwt(coefficients).array == whole).all()
    yield "5/3, 3 levels, the same as int16, without loss (theirs in floats)", f"PyWavelets {pywt.__version__}, wavedecn", a, b, 20


@case
def surface(data, repeat):
    volume = np.ascontiguousarray(head(data).array)
    vtk = need("vtkmodules.vtkFiltersCore")
    model, support, common = need("vtkmodules.vtkCommonDataModel"), need("vtkmodules.util.numpy_support"), need("vtkmodules.vtkCommonCore")
    image = model.vtkImageData()
    image.SetDimensions(*reversed(volume.shape))
    image.GetPointData().SetScalars(support.numpy_to_vtk(volume.ravel()))

    def edges():
        filter = vtk.vtkFlyingEdges3D()
        filter.SetInputData(image)
        filter.SetValue(0, 60.5)
        filter.ComputeNormalsOff()
        filter.ComputeGradientsOff()
        filter.Update()
        return filter.GetOutput()

    a, b, mesh, polygons = race(lambda: ts.surface(volume, 60.5), edges, repeat)
    assert abs(len(mesh.triangles) / polygons.GetNumberOfPolys() - 1) < 0.01
    yield f"MRI at 60.5, {len(mesh.triangles) / 1e6:.1f} M triangles", f"vtkFlyingEdges3D {common.vtkVersion.GetVTKVersion()}", a, b, 3
    skimage = need("skimage.measure")
    a, b, mesh, theirs = race(lambda: ts.surface(volume, 60.5), lambda: skimage.marching_cubes(volume, 60.5), max(1, repeat // 2))
    assert abs(len(mesh.triangles) / len(theirs[1]) - 1) < 0.02
    yield f"MRI at 60.5, {len(mesh.triangles) / 1e6:.1f} M triangles", f"scikit-image {need('skimage').__version__}, marching_cubes", a, b, 30


@case
def distance(data, repeat):
    ndimage = need("scipy.ndimage")
    mask = np.ascontiguousarray(head(data).array > 60)
    a, b, ours, theirs = race(lambda: ts.distance(mask, mode="to_mask"), lambda: ndimage.distance_transform_edt(~mask), repeat)
    assert np.allclose(ours.array, theirs, rtol=1e-5)
    yield "Euclidean distance to the head in the MRI, 7.1 M voxels", f"SciPy {need('scipy').__version__}, distance_transform_edt", a, b, 4


@case
def segment(data, repeat):
    sitk = need("SimpleITK")
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    image = head(data)
    steps, target, epsilon, alpha = 150, 92.0, 34.0, 0.45
    centre, radius = np.array([90, 115, 80]), 28.0
    z, y, x = np.mgrid[: image.shape[0], : image.shape[1], : image.shape[2]]
    start = (np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2) - radius).astype(np.float32)
    feature = sitk.GetImageFromArray((image.array.astype(np.float32) - target) / epsilon)
    initial = sitk.GetImageFromArray(start)

    def theirs():
        filter = sitk.ThresholdSegmentationLevelSetImageFilter()
        filter.SetLowerThreshold(-1)
        filter.SetUpperThreshold(1)
        filter.SetPropagationScaling(alpha)
        filter.SetCurvatureScaling(1 - alpha)
        filter.SetMaximumRMSError(0)
        filter.SetNumberOfIterations(steps)
        filter.ReverseExpansionDirectionOff()
        return filter.Execute(initial, feature)

    mask = (start < 0).astype(np.uint8)
    plain = ts.Volume(np.ascontiguousarray(image.array))

    def ours():
        s = ts.Segmentation(plain, target=target, epsilon=epsilon, alpha=alpha)
        s.from_mask(mask)
        s.step(steps)
        return s.mask()

    a, b, first, second = race(ours, theirs, max(1, repeat // 2))
    grown = (int(first.array.sum()), int((sitk.GetArrayViewFromImage(second) < 0).sum()), int(mask.sum()))
    yield f"{steps} steps from a ball in the brain (voxels: ours {grown[0]}, theirs {grown[1]}, at first {grown[2]})", f"SimpleITK {sitk.Version_VersionString()}, ThresholdSegmentationLevelSet", a, b, 10


# OpenVDB's module is the distribution's, for its own Python and NumPy: it runs there, by the same clock.
VDB = """
import sys, time
import numpy, pyopenvdb
body = numpy.load(sys.argv[1])
vertices, triangles = body["vertices"], body["triangles"]
transform = pyopenvdb.createLinearTransform(voxelSize=float(sys.argv[3]))
least = 1e30
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    grid = pyopenvdb.FloatGrid.createLevelSetFromPolygons(vertices, triangles=triangles, transform=transform, halfWidth=3.0)
    least = min(least, time.process_time() - start)
print(least, grid.activeVoxelCount())
"""


@case
def voxelize(data, repeat):
    body = ts.read(data / "meshes" / "meshes" / "armadillo.off")
    vertices, triangles = np.array(body.vertices), np.array(body.triangles)
    voxel = float(np.ptp(vertices, axis=0).max()) / 512
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "body.npz"
        np.savez(path, vertices=vertices, triangles=triangles)
        done = subprocess.run(["/usr/bin/python3", "-c", VDB, str(path), str(repeat), str(voxel)], capture_output=True, text=True)
    if done.returncode:
        raise LookupError("pyopenvdb (package python3-openvdb)")
    theirs, count = done.stdout.split()
    a, _, ours, _ = race(lambda: ts.voxelize((vertices, triangles), voxel, band=3 * voxel), lambda: None, repeat)
    yield (
        f"armadillo of {len(triangles) / 1e3:.0f} k triangles at 512 voxels to a level set (voxels: ours {ours.describe().active_voxels}, theirs {count})",
        "OpenVDB 10.0, createLevelSetFromPolygons",
        a,
        float(theirs),
        10,
    )


@case
def reconstruct(data, repeat):
    o3d = need("open3d")
    o3d.utility.set_verbosity_level(o3d.utility.VerbosityLevel.Error)
    turn = np.random.default_rng(1).random((60000, 2)) * 2 * np.pi
    # A torus: the distance of a vertex from the true surface is known.
    ring, tube = 1.0, 0.35
    out = np.c_[np.cos(turn[:, 1]) * np.cos(turn[:, 0]), np.cos(turn[:, 1]) * np.sin(turn[:, 0]), np.sin(turn[:, 1])]
    points = np.c_[ring * np.cos(turn[:, 0]), ring * np.sin(turn[:, 0]), np.zeros(len(turn))] + tube * out
    points += np.random.default_rng(2).normal(0, 0.002, points.shape)
    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points))
    cloud.normals = o3d.utility.Vector3dVector(out)
    positions = points.astype(np.float32)

    def error(vertices):
        flat = np.hypot(vertices[:, 0], vertices[:, 1])
        return float(np.sqrt(np.mean((np.hypot(flat - ring, vertices[:, 2]) - tube) ** 2)))

    for depth in (7, 8):
        a, b, ours, theirs = race(
            lambda depth=depth: ts.surface(ts.reconstruct(positions, depth=depth, start_depth=5)),
            lambda depth=depth: o3d.geometry.TriangleMesh.create_from_point_cloud_poisson(cloud, depth=depth, n_threads=1)[0],
            max(1, repeat // 2),
        )
        errors = error(ours.vertices), error(np.asarray(theirs.vertices))
        yield (
            f"torus of 60 000 noisy points, depth {depth} (rms error: ours {errors[0]:.5f} without normals, theirs {errors[1]:.5f})",
            f"Open3D {o3d.__version__}, Poisson with normals",
            a,
            b,
            1,
            errors[0] <= errors[1],  # the bar asks for no larger error, too
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "data")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = []
    print(f"{'':11} {'ours':>9} {'theirs':>9} {'times':>7}  {'bar':>4}")
    with ts.Context("cpu", threads=1):
        for name in options.only:
            try:
                for text, peer, ours, theirs, bar, *also in CASES[name](options.data, options.repeat):
                    holds = theirs / ours >= bar and all(also)
                    print(f"ts.{name:<12} {ours:8.4f} s {theirs:8.4f} s {theirs / ours:6.1f}x {bar:>4}x {'' if holds else 'MISSED'}\n    {text}\n    {peer}", flush=True)
                    results.append(
                        {"case": f"ts.{name}: {text}", "device": "cpu", "threads": 1, "min_s": round(ours, 6), "peer": peer, "peer_min_s": round(theirs, 6)}
                        | {"ratio": round(theirs / ours, 3), "bar": f"{bar} times {peer.split()[0]} per core", "holds": bool(holds)}
                    )
            except LookupError as missing:
                print(f"ts.{name:<12} left out: {missing.args[0]} is not installed", flush=True)
    if options.json:
        cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
        commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True).stdout.strip()
        top = {"machine": "vm", "cpu": cpu, "gpu": None, "commit": commit, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "clock": "processor"}
        text = json.dumps(top)[:-1] + ', "results": [\n' + ",\n".join("  " + json.dumps(r) for r in results) + "\n]}\n"
        options.json.write_text(text)


if __name__ == "__main__":
    main()
