"""What operations take: objects of this package and of others, on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, Union

from . import _core
from ._core import Context, Object, check, ffi, lib
from ._interchange import coerce
from ._objects import Image, Mesh, Points, Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    VolumeLike = Union[Volume, ArrayLike, Any]


def as_volume(thing: Any) -> Volume:
    """A volume of an array, or of an image of nibabel, SimpleITK, xarray or pyvista; of a picture with the axes (channel, y, x)."""
    if isinstance(thing, Volume):
        return thing
    if isinstance(thing, Image):
        volume = ffi.new("tsr_volume **")
        check(lib.tsr_volume_from_image(thing._struct(), volume))
        return Volume._of(volume, None)
    made = coerce(thing, "volume")
    return made if isinstance(made, Volume) else Volume(made)


def as_mesh(thing: Any) -> Mesh:
    """A mesh of one of trimesh, meshio, pyvista or open3d, or of a pair (vertices, triangles)."""
    if isinstance(thing, Mesh):
        return thing
    if isinstance(thing, tuple) and len(thing) == 2:
        return Mesh(*thing)
    made = coerce(thing, "mesh")
    if isinstance(made, Mesh):
        return made
    raise TypeError(f"{type(thing).__name__}, expected a mesh or a pair (vertices, triangles)")


def as_points(thing: Any) -> Points:
    """Points of an array (n, 3), or of a cloud of open3d, trimesh or pyvista."""
    if isinstance(thing, Points):
        return thing
    made = coerce(thing, "points")
    return made if isinstance(made, Points) else Points(made)


def on_context(thing: Any) -> tuple[Any, Context]:
    """An object as calls can use it, and their context: its own, or, of host memory, the current one, to which it goes if that is a GPU."""
    owner = thing.context
    if owner is not None:
        return thing, owner
    current = _core.context()
    return (thing, current) if current.on_host else (thing.to(current), current)


def host_context() -> Context:
    """The current context, or, if that is a GPU, one of the CPU: of what works on arrays of NumPy."""
    current = _core.context()
    return current if current.on_host else _core.context("cpu")


def volume_call(function: str, volume: Volume, *arguments: Any, owner: Context) -> Volume:
    made = ffi.new("tsr_volume **")
    with owner.lock:
        check(getattr(lib, function)(owner._pointer, volume._pointer, *arguments, made))
    return Volume._of(made, owner)


def vec3(values: Sequence[float]) -> Any:
    x, y, z = (float(v) for v in values)
    return ffi.new("tsr_vec3 *", [x, y, z])[0]


def beside(volume: Volume, other: Object) -> Volume:
    """The volume where the other object works."""
    if volume.on_host and other.on_host:
        return volume
    assert other.context is not None
    return volume if volume.context is other.context else volume.to(other.context)
