"""tessera: sparse and multiresolution data structures on volumes, surfaces and video, for NumPy.

Arrays have the axes (z, y, x); points, spacings and origins are (x, y, z) in world units. Memory is shared where it can be.

>>> import numpy as np, tessera as ts
>>> a = ts.shape("sphere", radius=10, spacing=0.5)
>>> b = ts.shape("box", half=(8, 8, 8), spacing=0.5)
>>> mesh = ts.surface(a & b)
>>> mesh.measure().boundary_edges
0
"""

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
from ._display import Viewer, view
from ._files import kind, read, write
from ._interchange import from_dlpack, to_meshio, to_nibabel, to_open3d, to_pyvista, to_simpleitk, to_trimesh, to_xarray
from ._objects import Image, Mesh, Points, Tiles, Volume
from ._operations import (
    RegionTree,
    Segmentation,
    compress,
    csg,
    denoise,
    distance,
    dwt,
    evolve,
    idwt,
    label,
    mip,
    morph,
    octree,
    offset,
    quadtree,
    reconstruct,
    render,
    segment,
    shape,
    smooth,
    statistics,
    surface,
    voxelize,
)

__version__: str = ffi.string(c.tsr_version()).decode()


def show_versions() -> None:
    """Prints what a report of a fault needs: versions, devices, the library's place."""
    import platform
    import sys

    import cffi
    import numpy

    print(f"tessera  {__version__}\npython   {sys.version.split()[0]}\nnumpy    {numpy.__version__}\ncffi     {cffi.__version__}\nsystem   {platform.platform()}")
    print(f"devices  {', '.join(devices())}")


__all__ = [
    "__version__",
    "ArgumentError",
    "c",
    "Cancelled",
    "CapacityError",
    "compress",
    "context",
    "Context",
    "csg",
    "denoise",
    "DeviceError",
    "devices",
    "distance",
    "dwt",
    "Error",
    "evolve",
    "ffi",
    "FileError",
    "FormatError",
    "from_dlpack",
    "idwt",
    "Image",
    "kind",
    "label",
    "Mesh",
    "mip",
    "morph",
    "octree",
    "offset",
    "OutOfMemoryError",
    "Points",
    "quadtree",
    "read",
    "reconstruct",
    "RegionTree",
    "remarks",
    "render",
    "Report",
    "segment",
    "Segmentation",
    "shape",
    "show_versions",
    "smooth",
    "StateError",
    "statistics",
    "surface",
    "Tiles",
    "to_meshio",
    "to_nibabel",
    "to_open3d",
    "to_pyvista",
    "to_simpleitk",
    "to_trimesh",
    "to_xarray",
    "UnsupportedError",
    "view",
    "Viewer",
    "Volume",
    "voxelize",
    "write",
]
