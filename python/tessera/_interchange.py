"""Objects of other libraries, taken and made. None of those libraries is imported unless an object of it is here already or is asked for."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Callable, Sequence

import numpy as np

from ._objects import Mesh, Points, Volume


def _origin_of(thing: Any) -> str:
    return type(thing).__module__.split(".")[0]


def _from_nibabel(image: Any) -> Volume:
    data = np.asarray(image.dataobj)
    if data.ndim > 3:
        raise ValueError(f"image of shape {data.shape}, expected three axes: choose a frame, image.slicer[..., 0]")
    made = Volume(data.T, affine=image.affine, space="ras", unit={"mm": "mm", "micron": "um", "meter": "m"}.get(image.header.get_xyzt_units()[0]) if hasattr(image.header, "get_xyzt_units") else None)
    return made


def _from_simpleitk(image: Any) -> Volume:
    import SimpleITK

    if image.GetDimension() != 3 or image.GetNumberOfComponentsPerPixel() != 1:
        raise ValueError("expected a SimpleITK image of three axes and one component")
    matrix = np.eye(4)
    matrix[:3, :3] = np.reshape(image.GetDirection(), (3, 3)) @ np.diag(image.GetSpacing())
    matrix[:3, 3] = image.GetOrigin()
    return Volume(SimpleITK.GetArrayFromImage(image), affine=matrix, space="lps")


def _from_xarray(array: Any) -> Volume:
    spacing, origin = [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]
    if array.ndim > 3:
        raise ValueError(f"xarray of axes {array.dims}, expected at most three")
    for k, axis in enumerate(reversed(array.dims)):
        if axis in array.coords and array.sizes[axis] > 1:
            places = np.asarray(array.coords[axis], float)
            steps = np.diff(places)
            if not np.allclose(steps, steps[0]):
                raise ValueError(f"xarray: the coordinates along {axis} are not evenly spaced")
            spacing[k], origin[k] = float(steps[0]), float(places[0])
    return Volume(array.values, spacing=spacing, origin=origin)


def _from_pyvista(thing: Any) -> Any:
    if type(thing).__name__ in ("ImageData", "UniformGrid"):
        nx, ny, nz = thing.dimensions
        name = thing.active_scalars_name
        values = np.asarray(thing.point_data[name] if name in thing.point_data else next(iter(thing.point_data.values())))
        return Volume(values.reshape(nz, ny, nx), spacing=thing.spacing, origin=thing.origin)
    surface = thing if type(thing).__name__ == "PolyData" else thing.extract_surface()
    faces = np.asarray(surface.triangulate().faces) if surface.n_cells != surface.n_verts else np.empty(0)
    return Mesh(surface.triangulate().points, faces.reshape(-1, 4)[:, 1:]) if faces.size else Points(surface.points)


def _from_open3d(thing: Any) -> Any:
    if hasattr(thing, "triangles"):
        return Mesh(np.asarray(thing.vertices), np.asarray(thing.triangles))
    return Points(np.asarray(thing.points), normals=np.asarray(thing.normals) if thing.has_normals() else None)


def _from_trimesh(thing: Any) -> Any:
    return Mesh(thing.vertices, thing.faces) if hasattr(thing, "faces") else Points(thing.vertices)


def _from_meshio(thing: Any) -> Any:
    cells = thing.cells_dict.get("triangle")
    points = np.asarray(thing.points, float)
    points = np.c_[points, np.zeros(len(points))] if points.shape[1] == 2 else points
    return Points(points) if cells is None else Mesh(points, cells)


def _from_zarr(thing: Any) -> Volume:
    return Volume(np.asarray(thing[...]), spacing=thing.attrs.get("spacing"), origin=thing.attrs.get("origin"))


def _from_vtk(thing: Any) -> Any:
    from vtkmodules.util.numpy_support import vtk_to_numpy

    if thing.IsA("vtkImageData"):
        scalars = thing.GetPointData().GetScalars()
        if scalars is None or scalars.GetNumberOfComponents() != 1:
            raise ValueError("vtkImageData: expected scalars of one component at the points")
        turn = np.array([[thing.GetDirectionMatrix().GetElement(r, c) for c in range(3)] for r in range(3)])
        affine = np.eye(4)
        affine[:3, :3] = turn @ np.diag(thing.GetSpacing())
        affine[:3, 3] = np.array(thing.GetOrigin()) + affine[:3, :3] @ np.array(thing.GetExtent()[::2])
        return Volume(vtk_to_numpy(scalars).reshape(tuple(reversed(thing.GetDimensions()))), affine=affine)
    if not thing.IsA("vtkPolyData"):
        raise TypeError(f"{thing.GetClassName()}, expected vtkImageData or vtkPolyData")
    points = vtk_to_numpy(thing.GetPoints().GetData()) if thing.GetNumberOfPoints() else np.empty((0, 3))
    polygons = thing.GetPolys()
    if not polygons.GetNumberOfCells():
        return Points(points)
    starts, corners = vtk_to_numpy(polygons.GetOffsetsArray()), vtk_to_numpy(polygons.GetConnectivityArray())
    if np.any(np.diff(starts) != 3):
        raise ValueError("vtkPolyData: polygons that are no triangles: vtkTriangleFilter makes them")
    return Mesh(points, corners.reshape(-1, 3))


def _is_dicom(thing: Any) -> bool:
    return isinstance(thing, (list, tuple)) and len(thing) > 0 and _origin_of(thing[0]) == "pydicom"


def _from_dicom(slices: Sequence[Any]) -> Volume:
    """The slices of a series, in any order."""
    first = slices[0]
    orientation = np.array(getattr(first, "ImageOrientationPatient", (1, 0, 0, 0, 1, 0)), float)
    right, down = orientation[:3], orientation[3:]
    normal = np.cross(right, down)
    for s in slices:
        if (s.Rows, s.Columns) != (first.Rows, first.Columns) or not np.allclose(np.array(getattr(s, "ImageOrientationPatient", orientation), float), orientation, atol=1e-4):
            raise ValueError("pydicom: slices of different size or direction, expected those of one series")
    places = np.array([np.array(getattr(s, "ImagePositionPatient", (0, 0, float(getattr(s, "InstanceNumber", k)))), float) for k, s in enumerate(slices)])
    order = np.argsort(places @ normal, kind="stable")
    along = (places @ normal)[order]
    steps = np.diff(along)
    if len(steps) and (steps.min() <= 0 or np.ptp(steps) > 0.01 * steps.mean() + 1e-3):
        raise ValueError(f"pydicom: distances of the slices from {steps.min():.4g} to {steps.max():.4g}, expected even ones: some are missing, or there twice")
    between = float(steps.mean()) if len(steps) else float(getattr(first, "SliceThickness", 1.0) or 1.0)
    row, column = (float(v) for v in getattr(first, "PixelSpacing", (1, 1)))
    affine = np.eye(4)
    affine[:3, 0], affine[:3, 1], affine[:3, 2] = right * column, down * row, normal * between
    affine[:3, 3] = places[order[0]]
    made = Volume(np.stack([np.asarray(slices[k].pixel_array) for k in order]), affine=affine, space="lps")
    scaling = {(float(getattr(s, "RescaleSlope", 1)), float(getattr(s, "RescaleIntercept", 0))) for s in slices}
    if len(scaling) != 1:
        raise ValueError("pydicom: slices with scalings of their own, expected one for all")
    made.scaling = scaling.pop()
    return made


_TAKE: "dict[str, Callable[[Any], Any]]" = {
    "nibabel": _from_nibabel,
    "SimpleITK": _from_simpleitk,
    "xarray": _from_xarray,
    "pyvista": _from_pyvista,
    "open3d": _from_open3d,
    "trimesh": _from_trimesh,
    "meshio": _from_meshio,
    "zarr": _from_zarr,
    "vtkmodules": _from_vtk,
    "vtk": _from_vtk,
    "pydicom": lambda one: _from_dicom([one]),
}


def coerce(thing: Any, wanted: str) -> Any:
    """An object of another library as one of ours; an array stays what it is. `wanted` begins the message."""
    take = _TAKE.get(_origin_of(thing))
    if take is not None:
        return take(thing)
    if _is_dicom(thing):
        return _from_dicom(thing)
    if isinstance(thing, (Volume, Mesh, Points)):
        return thing
    if isinstance(thing, (list, np.ndarray)) or hasattr(thing, "__array__") or hasattr(thing, "__array_interface__"):
        return thing
    if hasattr(thing, "__dlpack__"):
        return from_dlpack(thing)
    raise TypeError(f"{type(thing).__module__}.{type(thing).__name__}, expected {'an object or array' if wanted == 'any' else wanted} that tessera knows")


def from_dlpack(thing: Any) -> Volume:
    """A volume over the memory of an array of PyTorch, CuPy, JAX or NumPy, without a copy: the axes are (z, y, x).

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> x = np.zeros((2, 3, 4), np.float32)
    >>> np.shares_memory(ts.from_dlpack(x).array, x)
    True
    """
    kind, index = (int(v) for v in thing.__dlpack_device__())
    if kind not in (1, 2, 3):
        raise TypeError(f"memory of device type {kind}, expected the CPU or CUDA")
    from ._core import check, context, ffi, lib
    from ._dlpack import take
    from ._arrays import geometry

    on_gpu = kind == 2
    array = None
    if not isinstance(thing, np.ndarray):
        try:
            capsule = thing.__dlpack__(max_version=(1, 0), **({"stream": 1} if on_gpu else {}))  # work of its stream is done before ours begins
            array = take(capsule)
        except TypeError:  # knows no versions
            if on_gpu:
                array = _cuda_array(thing, index)
    if array is None:
        if on_gpu:
            array = _cuda_array(thing, index)
        else:
            return Volume(thing if isinstance(thing, np.ndarray) else np.from_dlpack(thing))
    owner = context(f"cuda:{index}") if on_gpu else None
    made = ffi.new("tsr_volume **")
    with owner.lock if owner else nullcontext():
        check(lib.tsr_volume_from_array(owner._pointer if owner else ffi.NULL, array, geometry(), made))
    volume = Volume._of(made, owner)
    volume._kept = (thing,)
    return volume


def _cuda_array(thing: Any, index: int) -> Any:
    """A tsr_array by __cuda_array_interface__ (version 3)."""
    from ._core import ffi
    from ._arrays import dtype_number

    face = thing.__cuda_array_interface__  # waits for the stream of its owner
    if face.get("stream") not in (None, 1, 2):
        raise ValueError("the array's work is queued on a stream of its own: synchronise it first")
    item = np.dtype(face["typestr"])
    shape = face["shape"]
    strides = face.get("strides") or tuple(int(np.prod(shape[k + 1 :])) * item.itemsize for k in range(len(shape)))
    array = ffi.new("tsr_array *", {"struct_size": ffi.sizeof("tsr_array")})
    array.data = ffi.cast("void *", face["data"][0])
    array.dtype = dtype_number(item)
    array.device.kind, array.device.index = 1, index
    array.axes = len(shape)
    array.read_only = bool(face["data"][1])
    for k, (extent, stride) in enumerate(zip(shape, strides)):
        array.shape[k], array.stride[k] = int(extent), int(stride) // item.itemsize
    return array


# ---- the other way -----------------------------------------------------------------------------------------------------------------


def to_nibabel(volume: Volume) -> Any:
    """A nibabel image (NIfTI) over the volume's memory.

    Examples
    --------
    >>> import numpy as np, pytest, tessera as ts
    >>> _ = pytest.importorskip("nibabel")
    >>> ts.to_nibabel(ts.Volume(np.zeros((2, 3, 4), np.int16))).shape
    (4, 3, 2)
    """
    import nibabel

    matrix = volume.affine
    if volume.space == "lps":
        matrix = np.diag([-1.0, -1.0, 1.0, 1.0]) @ matrix
    make: Any = nibabel.Nifti1Image
    return make(volume.array.T, matrix)


def to_simpleitk(volume: Volume) -> Any:
    """A SimpleITK image."""
    import SimpleITK

    image: Any = SimpleITK.GetImageFromArray(volume.array)
    matrix = volume.affine
    if volume.space == "ras":
        matrix = np.diag([-1.0, -1.0, 1.0, 1.0]) @ matrix
    spacing = np.linalg.norm(matrix[:3, :3], axis=0)
    image.SetSpacing(spacing.tolist())
    image.SetOrigin(matrix[:3, 3].tolist())
    image.SetDirection((matrix[:3, :3] / spacing).ravel().tolist())
    return image


def to_xarray(volume: Volume) -> Any:
    """A DataArray with axes z, y, x and their coordinates; the volume's axes must be those of the world."""
    import xarray

    rotation = volume.affine[:3, :3]
    if np.any(rotation - np.diag(np.diag(rotation)) != 0):
        raise ValueError("the volume is turned: its coordinates are no three lists; reorient or resample it first")
    coords = {axis: rotation[k, k] * np.arange(n) + volume.affine[k, 3] for k, (axis, n) in enumerate(zip("xyz", reversed(volume.shape)))}
    return xarray.DataArray(volume.array, dims=("z", "y", "x"), coords=coords)


def to_trimesh(mesh: Mesh) -> Any:
    """A trimesh.Trimesh."""
    import trimesh

    return trimesh.Trimesh(np.array(mesh.vertices), np.array(mesh.triangles), process=False)


def to_pyvista(thing: Any) -> Any:
    """A pyvista.PolyData of a mesh or points, ImageData of a volume."""
    import pyvista

    if isinstance(thing, Mesh):
        triangles = np.empty((len(thing.triangles), 4), np.int64)
        triangles[:, 0], triangles[:, 1:] = 3, thing.triangles
        return pyvista.PolyData(np.array(thing.vertices), triangles.ravel())
    if isinstance(thing, Points):
        return pyvista.PolyData(np.array(thing.positions))
    grid = pyvista.ImageData(dimensions=tuple(reversed(thing.shape)), spacing=thing.spacing, origin=thing.origin)
    grid.point_data["values"] = thing.array.ravel()
    return grid


def to_meshio(mesh: Mesh) -> Any:
    """A meshio.Mesh."""
    import meshio

    return meshio.Mesh(np.array(mesh.vertices), [("triangle", np.array(mesh.triangles, np.int64))])


def to_open3d(thing: Any) -> Any:
    """An open3d TriangleMesh or PointCloud."""
    import open3d

    if isinstance(thing, Mesh):
        return open3d.geometry.TriangleMesh(open3d.utility.Vector3dVector(np.array(thing.vertices, float)), open3d.utility.Vector3iVector(np.array(thing.triangles, np.int32)))
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(np.array(thing.positions, float)))
    if thing.normals is not None:
        cloud.normals = open3d.utility.Vector3dVector(np.array(thing.normals, float))
    return cloud



def to_vtk(thing: Any) -> Any:
    """A vtkPolyData of a mesh or points, a vtkImageData of a volume, over copies of their arrays."""
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkImageData, vtkPolyData

    made: Any
    if isinstance(thing, Volume):
        made = vtkImageData()
        made.SetDimensions(*reversed(thing.shape))
        made.SetSpacing(*thing.spacing)
        made.SetOrigin(*thing.origin)
        made.SetDirectionMatrix(*(thing.affine[:3, :3] / np.array(thing.spacing)).ravel())
        made.GetPointData().SetScalars(numpy_to_vtk(thing.array.ravel(), deep=True))
        return made
    made, points = vtkPolyData(), vtkPoints()
    points.SetData(numpy_to_vtk(np.array(thing.vertices if isinstance(thing, Mesh) else thing.positions), deep=True))
    made.SetPoints(points)
    cells = vtkCellArray()
    if isinstance(thing, Mesh):
        corners = np.array(thing.triangles, np.int64).ravel()
        cells.SetData(numpy_to_vtkIdTypeArray(np.arange(0, len(corners) + 1, 3), deep=True), numpy_to_vtkIdTypeArray(corners, deep=True))
        made.SetPolys(cells)
    else:
        count = len(thing)
        cells.SetData(numpy_to_vtkIdTypeArray(np.arange(count + 1), deep=True), numpy_to_vtkIdTypeArray(np.arange(count), deep=True))
        made.SetVerts(cells)
    return made


def to_zarr(volume: Volume, store: Any = None, **options: Any) -> Any:
    """A zarr array with the attributes spacing and origin, in memory or in a store; options are those of zarr.create_array."""
    import zarr

    create: Any = zarr.create_array
    made = create(store={} if store is None else store, data=volume.array, **options)
    made.attrs.update({"spacing": list(volume.spacing), "origin": list(volume.origin)})
    return made
