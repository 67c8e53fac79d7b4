"""tessera: sparse and multiresolution data structures on volumes, surfaces and video, for NumPy.

Arrays have the axes (z, y, x); points, spacings and origins are (x, y, z) in world units. Memory is shared where it can be.

>>> import numpy as np, tessera as ts
>>> a = ts.shape("sphere", radius=10, spacing=0.5)
>>> b = ts.shape("box", half=(8, 8, 8), spacing=0.5)
>>> mesh = ts.surface(a & b)
>>> mesh.measure().boundary_edges
0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import (
    ArgumentError,
    Cancelled,
    CapacityError,
    Context,
    DeviceError,
    Error,
    FileError,
    FormatError,
    OutOfMemoryError,
    Report,
    StateError,
    UnsupportedError,
    context,
    devices,
    remarks,
)
from ._core import ffi as ffi
from ._core import lib as c
from ._files import kind, read, write
from ._objects import Image, Mesh, Points, Tiles, Volume
from ._levelsets import csg, evolve, load_term, morph, offset, particles, reconstruct, shape, voxelize
from ._unstructured import Unstructured
from ._pictures import features, mip, palette, render, render_slice
from ._volumes import Segmentation, compress, denoise, distance, dwt, idwt, label, segment, smooth, statistics, surface

if TYPE_CHECKING:
    from ._cameras import (
        Camera,
        Lens,
        Pinhole,
        Rig,
        RigCamera,
        board,
        find_lens,
        undistort,
    )
    from ._calibration import Calibration, calibrate, draw_chessboard, draw_target, find_chessboard, find_target, homography, pose_from_points, target_points
    from ._compare import compare
    from ._depth import (
        DepthMaps,
        Fusion,
        Sweep,
        analytic,
        analytic_scenes,
        decode_depth,
        depth_image,
        depth_mesh,
        encode_depth,
        fuse,
        plane_sweep,
        reproject,
        stereo,
    )
    from ._depth_film import DepthFilm, write_depth_film
    from ._display import Viewer, view
    from ._edit import Editor
    from ._filters import MaxTree, crop, flood, histogram, labels, laplacian, largest, pad, reorient, resample, threshold, winding
    from ._flow import Contours, Field, Streamlines, ftle, pathlines, streaklines
    from ._fluid import Fluid, FluidLook, FluidSim
    from ._interchange import from_dlpack, to_meshio, to_nibabel, to_open3d, to_pyvista, to_simpleitk, to_trimesh, to_vtk, to_xarray, to_zarr
    from ._light import LightField, LightMatter, LightScene
    from ._mip import Mip
    from ._multiview import Footage, Multiview, MultiviewModel
    from ._pyramids import HistoPyramid, histopyramid, levels
    from ._rig_edit import RigEditor, align, draw_pitch, pitch_lines, read_lines
    from ._trees import RegionTree, octree, quadtree
    from ._video import DiracDecoder, DiracEncoder, VideoFrame, VideoReader, VideoWriter, dirac_cut, dirac_decode, dirac_encode, dirac_inspect

# Modules that are imported when one of their names is asked for: what a program does not use costs it nothing.
_LATER = {
    "_calibration": "Calibration calibrate draw_chessboard draw_target find_chessboard find_target homography pose_from_points target_points",
    "_cameras": "Camera Lens Pinhole Rig RigCamera board find_lens undistort",
    "_compare": "compare",
    "_depth": "DepthMaps Fusion Sweep analytic analytic_scenes decode_depth depth_image depth_mesh encode_depth fuse plane_sweep reproject stereo",
    "_depth_film": "DepthFilm write_depth_film",
    "_display": "Viewer view",
    "_edit": "Editor",
    "_filters": "MaxTree crop flood histogram labels laplacian largest pad reorient resample threshold winding",
    "_flow": "Contours Field Streamlines ftle pathlines streaklines",
    "_fluid": "Fluid FluidLook FluidSim",
    "_interchange": "from_dlpack to_meshio to_nibabel to_open3d to_pyvista to_simpleitk to_trimesh to_vtk to_xarray to_zarr",
    "_light": "LightField LightMatter LightScene",
    "_mip": "Mip",
    "_multiview": "Footage Multiview MultiviewModel",
    "_pyramids": "HistoPyramid histopyramid levels",
    "_rig_edit": "RigEditor align draw_pitch pitch_lines read_lines",
    "_trees": "RegionTree octree quadtree",
    "_video": "DiracDecoder DiracEncoder VideoFrame VideoReader VideoWriter dirac_cut dirac_decode dirac_encode dirac_inspect",
}
_MODULE = {name: module for module, names in _LATER.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'tessera' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


__version__: str = ffi.string(c.tsr_version()).decode()


def show_versions() -> None:
    """Prints what a report of a fault needs: versions, devices, the library's place.

    >>> import tessera as ts
    >>> ts.show_versions()  # doctest: +ELLIPSIS
    tessera  ...
    """
    import platform
    import sys

    import cffi
    import numpy

    print(f"tessera  {__version__}\npython   {sys.version.split()[0]}\nnumpy    {numpy.__version__}\ncffi     {cffi.__version__}\nsystem   {platform.platform()}")
    print(f"devices  {', '.join(devices())}")


__all__ = [
    "__version__",
    "align",
    "analytic",
    "analytic_scenes",
    "ArgumentError",
    "board",
    "c",
    "calibrate",
    "Calibration",
    "Camera",
    "Cancelled",
    "CapacityError",
    "compare",
    "compress",
    "Context",
    "context",
    "Contours",
    "crop",
    "csg",
    "decode_depth",
    "denoise",
    "depth_image",
    "depth_mesh",
    "DepthFilm",
    "DepthMaps",
    "DeviceError",
    "devices",
    "dirac_cut",
    "dirac_decode",
    "dirac_encode",
    "dirac_inspect",
    "DiracDecoder",
    "DiracEncoder",
    "distance",
    "draw_chessboard",
    "draw_pitch",
    "draw_target",
    "dwt",
    "Editor",
    "encode_depth",
    "Error",
    "evolve",
    "features",
    "ffi",
    "Field",
    "FileError",
    "find_chessboard",
    "find_lens",
    "find_target",
    "flood",
    "Fluid",
    "FluidLook",
    "FluidSim",
    "Footage",
    "FormatError",
    "from_dlpack",
    "ftle",
    "fuse",
    "Fusion",
    "histogram",
    "HistoPyramid",
    "histopyramid",
    "homography",
    "idwt",
    "Image",
    "kind",
    "label",
    "labels",
    "laplacian",
    "largest",
    "Lens",
    "levels",
    "LightField",
    "LightMatter",
    "LightScene",
    "load_term",
    "MaxTree",
    "Mesh",
    "Mip",
    "mip",
    "morph",
    "Multiview",
    "MultiviewModel",
    "octree",
    "offset",
    "OutOfMemoryError",
    "pad",
    "palette",
    "particles",
    "pathlines",
    "Pinhole",
    "pitch_lines",
    "plane_sweep",
    "Points",
    "pose_from_points",
    "quadtree",
    "read",
    "read_lines",
    "reconstruct",
    "RegionTree",
    "remarks",
    "render",
    "render_slice",
    "reorient",
    "Report",
    "reproject",
    "resample",
    "Rig",
    "RigCamera",
    "RigEditor",
    "segment",
    "Segmentation",
    "shape",
    "show_versions",
    "smooth",
    "StateError",
    "statistics",
    "stereo",
    "streaklines",
    "Streamlines",
    "surface",
    "Sweep",
    "target_points",
    "threshold",
    "Tiles",
    "to_meshio",
    "to_nibabel",
    "to_open3d",
    "to_pyvista",
    "to_simpleitk",
    "to_trimesh",
    "to_vtk",
    "to_xarray",
    "to_zarr",
    "undistort",
    "Unstructured",
    "UnsupportedError",
    "VideoFrame",
    "VideoReader",
    "VideoWriter",
    "view",
    "Viewer",
    "Volume",
    "voxelize",
    "winding",
    "write",
    "write_depth_film",
]
