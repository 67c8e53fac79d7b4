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
from ._objects import Image, Mesh, Points, Volume
from ._tiles import Tiles
from ._levelsets import animal, csg, evolve, load_term, morph, offset, shape, tiles_from_parts, voxelize
from ._unstructured import Unstructured
from ._pictures import Transfer, features, mip, palette, render, render_slice
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
    from ._filters import MaxTree, combine, crop, flood, histogram, labels, laplacian, largest, pad, permute, redistance, reorient, resample, threshold, winding
    from ._flow import Contours, Field, Streamlines, ftle, pathlines, streaklines
    from ._fluid import Fluid, FluidLook, FluidSim
    from ._interchange import from_dlpack, to_meshio, to_nibabel, to_open3d, to_pyvista, to_simpleitk, to_trimesh, to_vtk, to_xarray, to_zarr
    from ._light import LightField, LightMatter, LightScene
    from ._mip import FilterPyramid, Mip, MipDense, MipGroup, MipStream, mip_errors, mip_hide
    from ._multiview import Footage, Multiview, MultiviewModel
    from ._pyramids import HistoPyramid, histopyramid, levels
    from ._rig_edit import RigEditor, align, draw_pitch, pitch_lines, read_lines
    from ._trees import RegionMerge, RegionTree, octree, octree_of_mesh, octree_tiled, quadtree, surface_points, triangle_octree
    from ._video import DiracDecoder, DiracEncoder, VideoFrame, VideoReader, VideoWriter, dirac_cut, dirac_decode, dirac_encode, dirac_inspect
    from ._class_pyramid import ClassPyramid, otsu, percentile
    from ._map import Map
    from ._phantoms import phantom, phantoms, picture, pictures, sampled, sampled_shapes, shape_distance
    from ._planes import Compressed, Planes, add_grid, compress_image, compressed_info, convert, decompress, decompress_file, write_frames, write_segments
    from ._primitives import count, gather, invert, joint_histogram, matrix, reduce, scan, scatter, segments, select, sort
    from ._reconstruct import fit_points, particles, reconstruct, reconstruct_plan
    from ._records import Records, RecordsTracker, SurfaceTracker, join, order, surface_labels, surfaces, unindexed
    from ._wavelets import WaveletDomain, dwt_file, idwt_file, wavelet_bands, wavelet_keep, wavelet_levels, wavelet_mosaic, wavelet_steps

# Modules that are imported when one of their names is asked for: what a program does not use costs it nothing.
_LATER = {
    "_calibration": "Calibration calibrate draw_chessboard draw_target find_chessboard find_target homography pose_from_points target_points",
    "_cameras": "Camera Lens Pinhole Rig RigCamera board find_lens undistort",
    "_class_pyramid": "ClassPyramid otsu percentile",
    "_compare": "compare",
    "_depth": "DepthMaps Fusion Sweep analytic analytic_scenes decode_depth depth_image depth_mesh encode_depth fuse plane_sweep reproject stereo",
    "_depth_film": "DepthFilm write_depth_film",
    "_display": "Viewer view",
    "_edit": "Editor",
    "_filters": "MaxTree combine crop flood histogram labels laplacian largest pad permute redistance reorient resample threshold winding",
    "_flow": "Contours Field Streamlines ftle pathlines streaklines",
    "_fluid": "Fluid FluidLook FluidSim",
    "_interchange": "from_dlpack to_meshio to_nibabel to_open3d to_pyvista to_simpleitk to_trimesh to_vtk to_xarray to_zarr",
    "_light": "LightField LightMatter LightScene",
    "_map": "Map",
    "_mip": "FilterPyramid Mip MipDense MipGroup MipStream mip_errors mip_hide",
    "_multiview": "Footage Multiview MultiviewModel",
    "_phantoms": "phantom phantoms picture pictures sampled sampled_shapes shape_distance",
    "_planes": "Compressed Planes add_grid compress_image compressed_info convert decompress decompress_file write_frames write_segments",
    "_primitives": "count gather invert joint_histogram matrix reduce scan scatter segments select sort",
    "_pyramids": "HistoPyramid histopyramid levels",
    "_reconstruct": "fit_points particles reconstruct reconstruct_plan",
    "_records": "Records RecordsTracker SurfaceTracker join order surface_labels surfaces unindexed",
    "_rig_edit": "RigEditor align draw_pitch pitch_lines read_lines",
    "_trees": "RegionMerge RegionTree octree octree_of_mesh octree_tiled quadtree surface_points triangle_octree",
    "_video": "DiracDecoder DiracEncoder VideoFrame VideoReader VideoWriter dirac_cut dirac_decode dirac_encode dirac_inspect",
    "_wavelets": "WaveletDomain dwt_file idwt_file wavelet_bands wavelet_keep wavelet_levels wavelet_mosaic wavelet_steps",
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
    "add_grid",
    "align",
    "analytic",
    "analytic_scenes",
    "animal",
    "ArgumentError",
    "board",
    "c",
    "calibrate",
    "Calibration",
    "Camera",
    "Cancelled",
    "CapacityError",
    "ClassPyramid",
    "combine",
    "compare",
    "compress",
    "compress_image",
    "Compressed",
    "compressed_info",
    "Context",
    "context",
    "Contours",
    "convert",
    "count",
    "crop",
    "csg",
    "decode_depth",
    "decompress",
    "decompress_file",
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
    "dwt_file",
    "Editor",
    "encode_depth",
    "Error",
    "evolve",
    "features",
    "ffi",
    "Field",
    "FileError",
    "FilterPyramid",
    "find_chessboard",
    "find_lens",
    "find_target",
    "fit_points",
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
    "gather",
    "histogram",
    "HistoPyramid",
    "histopyramid",
    "homography",
    "idwt",
    "idwt_file",
    "Image",
    "invert",
    "join",
    "joint_histogram",
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
    "Map",
    "matrix",
    "MaxTree",
    "Mesh",
    "Mip",
    "mip",
    "mip_errors",
    "mip_hide",
    "MipDense",
    "MipGroup",
    "MipStream",
    "morph",
    "Multiview",
    "MultiviewModel",
    "octree",
    "octree_of_mesh",
    "octree_tiled",
    "offset",
    "order",
    "otsu",
    "OutOfMemoryError",
    "pad",
    "palette",
    "particles",
    "pathlines",
    "percentile",
    "permute",
    "phantom",
    "phantoms",
    "picture",
    "pictures",
    "Pinhole",
    "pitch_lines",
    "plane_sweep",
    "Planes",
    "Points",
    "pose_from_points",
    "quadtree",
    "read",
    "read_lines",
    "reconstruct",
    "reconstruct_plan",
    "Records",
    "RecordsTracker",
    "redistance",
    "reduce",
    "RegionMerge",
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
    "sampled",
    "sampled_shapes",
    "scan",
    "scatter",
    "segment",
    "Segmentation",
    "segments",
    "select",
    "shape",
    "shape_distance",
    "show_versions",
    "smooth",
    "sort",
    "StateError",
    "statistics",
    "stereo",
    "streaklines",
    "Streamlines",
    "surface",
    "surface_labels",
    "surface_points",
    "surfaces",
    "SurfaceTracker",
    "Sweep",
    "target_points",
    "threshold",
    "Tiles",
    "tiles_from_parts",
    "to_meshio",
    "to_nibabel",
    "to_open3d",
    "to_pyvista",
    "to_simpleitk",
    "to_trimesh",
    "to_vtk",
    "to_xarray",
    "to_zarr",
    "Transfer",
    "triangle_octree",
    "undistort",
    "unindexed",
    "Unstructured",
    "UnsupportedError",
    "__version__",
    "VideoFrame",
    "VideoReader",
    "VideoWriter",
    "view",
    "Viewer",
    "Volume",
    "voxelize",
    "wavelet_bands",
    "wavelet_keep",
    "wavelet_levels",
    "wavelet_mosaic",
    "wavelet_steps",
    "WaveletDomain",
    "winding",
    "write",
    "write_depth_film",
    "write_frames",
    "write_segments",
]
