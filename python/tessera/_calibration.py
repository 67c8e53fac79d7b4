"""Cameras from what they saw: boards in pictures, poses, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._cameras import Pinhole, as_image, structs, two
from ._core import Object, Progress, Progressed, Report, check, ffi, lib
from ._arrays import rows
from ._objects import Image

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def _chessboard(columns: int, rows_: int, square: float) -> Any:
    return ffi.new("tsr_chessboard *", {"columns": int(columns), "rows": int(rows_), "square": float(square)})


def draw_chessboard(columns: int, rows: int, camera: Pinhole, square: float = 1.0) -> Image:
    """A picture of a chessboard of so many inner corners, whose pose the camera has.

    Examples
    --------
    >>> import tessera as ts
    >>> eye = ts.Pinhole(width=200, height=160, fx=200, fy=200, cx=100, cy=80, translation=(-3, -2, 12))
    >>> ts.find_chessboard(ts.draw_chessboard(7, 5, eye), 7, 5).shape
    (35, 2)
    """
    made = ffi.new("tsr_image *")
    check(lib.tsr_chessboard_draw(_chessboard(columns, rows, square), camera._struct, made))
    return Image._taken(made)


def find_chessboard(image: Any, columns: int, rows: int, **options: Any) -> "Optional[Floats]":
    """Inner corners (columns * rows, 2) of a chessboard in a picture, in pixels, row after row; None where it is not seen.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> ts.find_chessboard(np.zeros((64, 64), np.uint8), 7, 5) is None
    True
    """
    values, kept = _core.options("tsr_chessboard_options", options)
    found, pixels = ffi.new("int *"), np.zeros((columns * rows, 2))
    picture = as_image(image)._struct()
    check(lib.tsr_chessboard_find(picture, _chessboard(columns, rows, 1.0), values, ffi.cast("double (*)[2]", ffi.from_buffer(pixels)), found))
    return pixels if found[0] else None


# ---- targets of any kind -----------------------------------------------------------------------------------------------------------


def _target(text: str) -> Any:
    made = ffi.new("tsr_target *")
    check(lib.tsr_target_parse(text.encode(), made, ffi.NULL))
    return made


def target_points(target: str) -> "Floats":
    """Points (n, 3) of a target on its plane z = 0, by their numbers, in the unit of its text.

    Parameters
    ----------
    target : str
        "9x6,25mm" (a chessboard of so many inner corners), "circles:4x11,20mm" or "charuco:5x7,30mm,22mm,4x4_50".

    Examples
    --------
    >>> import tessera as ts
    >>> ts.target_points("9x6,25mm")[10].tolist()
    [25.0, 25.0, 0.0]
    """
    kind, count, at = _target(target), ffi.new("int32_t *"), ffi.new("double[2]")
    check(lib.tsr_target_count(kind, count))
    made = np.zeros((int(count[0]), 3))
    for k in range(len(made)):
        check(lib.tsr_target_point(kind, k, at))
        made[k, :2] = at[0], at[1]
    return made


def draw_target(target: str, camera: Pinhole) -> Image:
    """A picture of a target, on white paper, whose pose the camera has.

    Examples
    --------
    >>> import tessera as ts
    >>> eye = ts.Pinhole(width=300, height=300, fx=300, fy=300, cx=150, cy=150, translation=(-3.5, -5, 14))
    >>> pixels, seen = ts.find_target(ts.draw_target("circles:4x11,1", eye), "circles:4x11,1")
    >>> int(seen.sum())
    44
    """
    made = ffi.new("tsr_image *")
    check(lib.tsr_target_draw(_target(target), camera._struct, made))
    return Image._taken(made)


def find_target(image: Any, target: str, **options: Any) -> "tuple[Floats, NDArray[np.bool_]]":
    """Where the points of a target are seen: pixels (n, 2), NaN where not, and which are seen (n,): all or none, of "charuco" boards a part.

    `ts.calibrate([ts.target_points(t)[seen] ...], [pixels[seen] ...], size)` takes them.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> bool(ts.find_target(np.zeros((64, 64), np.uint8), "9x6,25mm")[1].any())
    False
    """
    kind, count, found = _target(target), ffi.new("int32_t *"), _core.begun("tsr_target_found")
    check(lib.tsr_target_count(kind, count))
    pixels, seen = np.zeros((int(count[0]), 2)), np.zeros(int(count[0]), np.uint8)
    values, kept = _core.options("tsr_chessboard_options", options)
    picture = as_image(image)._struct()
    check(lib.tsr_target_find(picture, kind, values, ffi.cast("double (*)[2]", ffi.from_buffer(pixels)), ffi.from_buffer("uint8_t[]", seen), found))
    pixels[seen == 0] = np.nan
    return pixels, seen.astype(bool)


class Calibration(Object):
    """What `calibrate` found: pinholes, rms, info, residuals, warnings."""

    _kind = "tsr_calibration"
    _destroy = "tsr_calibration_destroy"

    @property
    def info(self) -> Report:
        """rms, sigma, condition, iterations, converged, ..."""
        made, kept = _core.options("tsr_calibration_info", {})
        check(lib.tsr_calibration_get_info(self._pointer, made))
        return _core.report(made)

    @property
    def rms(self) -> float:
        """Root of the mean squared distance between seen and predicted places, pixels."""
        return float(self.info.rms)

    @property
    def pinholes(self) -> list[Pinhole]:
        """The cameras."""
        return [self.pinhole(k)[0] for k in range(self.info.cameras)]

    def pinhole(self, index: int = 0) -> tuple[Pinhole, Report, float]:
        """A camera, the standard deviations of its numbers, and its own rms."""
        made, sigma, rms = ffi.new("tsr_pinhole *"), ffi.new("tsr_calibration_sigma *"), ffi.new("double *")
        check(lib.tsr_calibration_camera(self._pointer, index, made, sigma, rms))
        return Pinhole._of(made), _core.report(sigma), float(rms[0])

    def pose(self, index: int) -> "tuple[Floats, Floats, float]":
        """Rotation (3, 3) and translation (3,) of a board in the frame of the result, and its rms."""
        made, rms = ffi.new("tsr_pose *"), ffi.new("double *")
        check(lib.tsr_calibration_pose(self._pointer, index, made, ffi.NULL, rms))
        return np.array([list(r) for r in made.rotation]), np.array(list(made.translation)), float(rms[0])

    @property
    def covariance(self) -> "Floats":
        """Of what was free in the cameras."""
        values, count = ffi.new("const double **"), ffi.new("int32_t *")
        check(lib.tsr_calibration_covariance(self._pointer, values, count))
        n = int(count[0])
        return np.frombuffer(ffi.buffer(values[0], n * n * 8), float).reshape(n, n).copy()

    @property
    def residuals(self) -> "Floats":
        """Seen less predicted (n, 2), pixels."""
        n = int(self.info.sightings)
        return np.frombuffer(ffi.buffer(lib.tsr_calibration_residuals(self._pointer), n * 16), float).reshape(n, 2).copy()

    @property
    def warnings(self) -> list[str]:
        """What is not well determined."""
        return [ffi.string(lib.tsr_calibration_warning(self._pointer, k)).decode() for k in range(self.info.warnings)]

    def __repr__(self) -> str:
        return f"<tessera.Calibration {self.info.cameras} cameras, rms {self.rms:.3g} pixels>"


FREE = {"focal": 1, "aspect": 2, "centre": 4, "k1": 8, "k2": 16, "k3": 32, "k4": 64, "k5": 128, "k6": 256, "tangential": 512, "pose_only": 1024}


def free_bits(names: Sequence[str]) -> int:
    """The number that says what is free."""
    unknown = [name for name in names if name not in FREE]
    if unknown:
        raise ValueError(f"free: {unknown[0]!r}, expected names of {', '.join(FREE)}")
    return sum(FREE[name] for name in set(names))


def calibrate(
    points: Sequence["ArrayLike"],
    pixels: Sequence["ArrayLike"],
    cameras: Union[Sequence[int], Pinhole, Sequence[Pinhole]],
    *,
    camera: Optional[Sequence[int]] = None,
    pose: Optional[Sequence[int]] = None,
    free: Sequence[str] = (),
    progress: Progress = None,
    **options: Any,
) -> Calibration:
    """Cameras from known points and where they were seen.

    Parameters
    ----------
    points : sequence of (n, 3) arrays
        Points of each picture, in the frame of the board.
    pixels : sequence of (n, 2) arrays
        Where they were seen.
    cameras : (width, height), Pinhole or a sequence of Pinhole
        Size of the pictures, or where to start from.
    camera, pose : sequence of int, optional
        Number of the camera of each picture (0), and of the board's pose (a new one each).
    free : names
        "focal", "aspect", "centre", "k1" ... "k6", "tangential", "pose_only"; none: focal, aspect, centre, k1 to k3, tangential.
    **options
        huber, use_pose, iterations, sigma, as tsr_calibrate_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> board = np.array([(x, y, 0.0) for y in range(5) for x in range(7)])
    >>> true = ts.Pinhole(width=640, height=480, fx=500, fy=500, cx=320, cy=240)
    >>> def seen(turn, shift):
    ...     c, s = np.cos(turn), np.sin(turn)
    ...     p = board @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]).T @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T + shift
    ...     return np.c_[500 * p[:, 0] / p[:, 2] + 320, 500 * p[:, 1] / p[:, 2] + 240]
    >>> views = [seen(0.1 * k - 0.3, (-3 + 0.3 * k, -2, 12 + k)) for k in range(6)]
    >>> c = ts.calibrate([board] * 6, views, (640, 480), free=["focal", "aspect", "centre"])
    >>> round(c.pinholes[0].fx, 3)
    500.0
    """
    if len(points) != len(pixels):
        raise ValueError(f"{len(points)} lists of points beside {len(pixels)} of pixels, expected as many")
    starts: Any
    if isinstance(cameras, Pinhole):
        starts = [cameras]
    elif len(cameras) and isinstance(cameras[0], Pinhole):
        starts = list(cameras)
    else:
        width, height = two(cameras)  # type: ignore[arg-type]
        starts = [Pinhole(width=width, height=height) for _ in range(1 + max(camera or [0]))]
    listed = []
    for k, (p, q) in enumerate(zip(points, pixels)):
        there, seen = rows(p, 3, f"points[{k}]"), rows(q, 2, f"pixels[{k}]")
        if len(there) != len(seen):
            raise ValueError(f"picture {k}: {len(there)} points beside {len(seen)} pixels, expected as many")
        listed += [(camera[k] if camera else 0, pose[k] if pose else k, a, b) for a, b in zip(there.tolist(), seen.tolist())]
    made_sightings = ffi.new("tsr_sighting[]", len(listed))
    for place, (which, board_pose, a, b) in zip(made_sightings, listed):
        place.camera, place.pose = which, board_pose
        place.point.x, place.point.y, place.point.z = a
        place.pixel[0], place.pixel[1] = b
    made = ffi.new("tsr_calibration **")
    with Progressed(progress) as progressed:
        values, kept = _core.options("tsr_calibrate_options", {"free": free_bits(free), **options}, progressed)
        progressed.check(lib.tsr_calibrate(made_sightings, len(listed), structs("tsr_pinhole", starts), len(starts), values, made))
    found = Calibration.__new__(Calibration)
    Object.__init__(found, made[0], None)
    return found


def pose_from_points(camera: Pinhole, points: "ArrayLike", pixels: "ArrayLike") -> Pinhole:
    """The camera with the pose from which points (n, 3) are seen at pixels (n, 2).

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> p = np.array([[0, 0, 5], [1, 0, 6], [0, 1, 7], [1, 1, 5], [-1, 0.5, 6]], float)
    >>> found = ts.pose_from_points(ts.Pinhole(width=640, height=480, fx=500, fy=500, cx=320, cy=240), p, 500 * p[:, :2] / p[:, 2:] + [320, 240])
    >>> bool(np.allclose(found.translation, 0, atol=1e-6))
    True
    """
    there, seen = rows(points, 3, "points"), rows(pixels, 2, "pixels")
    if len(there) != len(seen):
        raise ValueError(f"{len(there)} points beside {len(seen)} pixels, expected as many")
    found: Pinhole = camera.copy()
    check(lib.tsr_pose_from_points(found._struct, ffi.cast("tsr_vec3 *", ffi.from_buffer(there)), ffi.cast("double (*)[2]", ffi.from_buffer(seen)), len(there)))
    return found


def homography(plane: "ArrayLike", pixels: "ArrayLike") -> "Floats":
    """The 3 x 3 matrix that takes places (n, 2) of a plane to pixels (n, 2).

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> np.round(ts.homography(square, [[10, 10], [30, 10], [30, 30], [10, 30]]), 6).tolist()
    [[20.0, 0.0, 10.0], [0.0, 20.0, 10.0], [0.0, 0.0, 1.0]]
    """
    a, b = rows(plane, 2, "plane"), rows(pixels, 2, "pixels")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} places beside {len(b)} pixels, expected as many")
    made = ffi.new("double[3][3]")
    check(lib.tsr_homography_fit(ffi.cast("double (*)[2]", ffi.from_buffer(a)), ffi.cast("double (*)[2]", ffi.from_buffer(b)), len(a), made))
    return np.array([list(r) for r in made])
