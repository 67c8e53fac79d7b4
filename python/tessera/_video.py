"""Films: frame by frame, and the streams of Dirac and VC-2."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, Sequence, Union, overload

import numpy as np

from . import _core
from ._cameras import as_image, two
from ._core import Object, Report, check, ffi, lib
from ._arrays import numpy_view
from ._objects import Image

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    AnyArray = NDArray[Any]
    PathLike = Union[str, "os.PathLike[str]"]

_CHROMAS = (None, "420", "422", "444", "411", "mono")


class VideoFrame(Object):
    """Planes Y, Cb and Cr of one picture, as they lie in a film.

    Parameters
    ----------
    size : (width, height)
    chroma : str
        "420", "422", "444", "411" or "mono".
    bits : int
        8 to 16: samples are uint8, above 8 bits uint16.
    **options
        siting, matrix, range, as tsr_video_format.

    Examples
    --------
    >>> import tessera as ts
    >>> frame = ts.VideoFrame((8, 6), "420")
    >>> [plane.shape for plane in frame.planes]
    [(6, 8), (3, 4), (3, 4)]
    """

    def __init__(self, size: Sequence[int], chroma: str = "444", bits: int = 8, **options: Any) -> None:
        kind = ffi.new("tsr_video_format *")
        width, height = two(size)
        _core.fill(kind, "tsr_video_format", {"width": width, "height": height, "chroma": chroma_number(chroma), "bits": bits, **options}, [])
        made = ffi.new("tsr_video_frame *")
        check(lib.tsr_video_frame_create(kind, made))
        self._adopt(made)

    def _adopt(self, struct: Any) -> None:
        self._pointer = ffi.gc(struct, lib.tsr_video_frame_destroy)
        self._context = None
        self._kept = ()

    @classmethod
    def _taken(cls, struct: Any) -> "VideoFrame":
        self = cls.__new__(cls)
        self._adopt(struct)
        return self

    @classmethod
    def from_image(cls, image: Any, chroma: str = "444", bits: int = 8, **options: Any) -> "VideoFrame":
        """The planes of a picture of uint8."""
        picture = as_image(image)
        height, width, _ = picture.array.shape
        made = cls((width, height), chroma, bits, **options)
        check(lib.tsr_video_frame_from_image(made._pointer, picture._struct()))
        return made

    @classmethod
    def from_planes(cls, planes: Sequence["ArrayLike"], chroma: str = "444", bits: int = 8, **options: Any) -> "VideoFrame":
        """A frame of arrays: one, or Y, Cb and Cr."""
        arrays = [np.asarray(p) for p in planes]
        if arrays[0].ndim != 2:
            raise ValueError(f"planes[0] of shape {arrays[0].shape}, expected (height, width)")
        made = cls((arrays[0].shape[1], arrays[0].shape[0]), chroma, bits, **options)
        there = made.planes
        if len(there) != len(arrays):
            raise ValueError(f"{len(arrays)} planes, expected {len(there)}")
        for k, (place, given) in enumerate(zip(there, arrays)):
            if place.shape != given.shape or given.dtype.kind not in "ui":
                raise ValueError(f"planes[{k}] of shape {given.shape} and {given.dtype}, expected {place.shape} and whole numbers")
            place[...] = given
        return made

    @property
    def format(self) -> Report:
        """width, height, chroma, bits, siting, matrix, range."""
        told = dict(_core.report(ffi.addressof(self._pointer.format)))
        told["chroma"] = _CHROMAS[int(self._pointer.format.chroma)]
        return Report(told)

    @property
    def planes(self) -> "list[AnyArray]":
        """Arrays (height, width): views."""
        return [numpy_view("tsr_video_plane_array", self, k) for k in range(int(self._pointer.planes))]

    def to_image(self) -> Image:
        """As an 8-bit picture, grey or RGB."""
        made = ffi.new("tsr_image *")
        check(lib.tsr_video_frame_to_image(self._pointer, made))
        return Image._taken(made)

    def compare(self, reference: "VideoFrame") -> Report:
        """error and psnr of each plane, ssim of luma."""
        made, kept = _core.options("tsr_video_quality", {})
        check(lib.tsr_video_compare(self._pointer, reference._pointer, made))
        return _core.report(made)

    def copy(self) -> "VideoFrame":
        """A copy with memory of its own."""
        f = self._pointer.format
        return VideoFrame.from_planes(self.planes, _CHROMAS[int(f.chroma)] or "444", int(f.bits), siting=int(f.siting), matrix=int(f.matrix), range=int(f.range))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "VideoFrame":
        return self.copy()

    def __reduce__(self) -> Any:
        f = self._pointer.format
        return (_frame_again, ([np.array(p) for p in self.planes], _CHROMAS[int(f.chroma)], int(f.bits), int(f.siting), int(f.matrix), int(f.range)))

    def __repr__(self) -> str:
        f = self.format
        return f"<tessera.VideoFrame {f.width}x{f.height} {f.chroma}, {f.bits} bits>"

    def _repr_png_(self) -> bytes:
        return self.to_image()._repr_png_()


def _frame_again(planes: Any, chroma: Any, bits: int, siting: int, matrix: int, range_: int) -> VideoFrame:
    return VideoFrame.from_planes(planes, chroma, bits, siting=siting, matrix=matrix, range=range_)


def chroma_number(name: Optional[str]) -> int:
    """The library's number of a chroma format."""
    if name not in _CHROMAS:
        raise ValueError(f"chroma {name!r}, expected one of {', '.join(repr(c) for c in _CHROMAS[1:])}")
    return _CHROMAS.index(name)


class VideoReader(Object):
    """A film, frame by frame: an iterator of Images, or with `frames()` of VideoFrames. .y4m, numbered pictures, and what ffmpeg reads if it is installed.

    Examples
    --------
    >>> import numpy as np, tessera as ts, tempfile, os
    >>> with tempfile.TemporaryDirectory() as d:
    ...     name = os.path.join(d, "a.y4m")
    ...     with ts.VideoWriter(name, (16, 8), (25, 1)) as film:
    ...         for k in range(3):
    ...             film.append(np.full((8, 16, 3), 80 * k, np.uint8))
    ...     means = [round(float(picture.array.mean())) for picture in ts.VideoReader(name)]
    >>> means
    [0, 80, 160]
    """

    _kind = "tsr_video_reader"
    _destroy = "tsr_video_reader_destroy"

    def __init__(self, path: "PathLike", **options: Any) -> None:
        values, kept = _core.options("tsr_video_read_options", options)
        made = ffi.new("tsr_video_reader **")
        check(lib.tsr_video_reader_create(os.fsencode(path), values, made))
        super().__init__(made[0], None)

    @property
    def info(self) -> Report:
        """format, rate, aspect, interlacing, frames, container."""
        told = dict(_core.report(lib.tsr_video_reader_info(self._pointer)))
        told["format"].chroma = _CHROMAS[int(lib.tsr_video_reader_info(self._pointer).format.chroma)]
        return Report(told)

    def __iter__(self) -> Iterator[Image]:
        return self

    def __next__(self) -> Image:
        made, more = ffi.new("tsr_image *"), ffi.new("int *")
        check(lib.tsr_video_reader_next(self._pointer, made, more))
        if not more[0]:
            raise StopIteration
        return Image._taken(made)

    def frames(self) -> Iterator[VideoFrame]:
        """The planes as they lie in the file."""
        while True:
            made, more = ffi.new("tsr_video_frame *"), ffi.new("int *")
            check(lib.tsr_video_reader_next_frame(self._pointer, made, more))
            if not more[0]:
                return
            yield VideoFrame._taken(made)

    def __repr__(self) -> str:
        f = self.info.format
        return f"<tessera.VideoReader {f.width}x{f.height} {f.chroma}>"


class VideoWriter(Object):
    """Writes a film: `with` it, and append Images, arrays or VideoFrames. The file has its name when the block ends well.

    Parameters
    ----------
    path : str or path
        .y4m, a pattern of numbered pictures ("a-%04d.png"), or what ffmpeg writes if it is installed.
    size : (width, height)
    rate : pair of int
        Frames a second as a fraction.
    **options
        overwrite, chroma, bits, matrix, range, codec, ..., as tsr_video_write_options.
    """

    _kind = "tsr_video_writer"
    _destroy = "tsr_video_writer_destroy"

    def __init__(self, path: "PathLike", size: Sequence[int], rate: Sequence[int] = (25, 1), *, overwrite: bool = True, chroma: Optional[str] = None, **options: Any) -> None:
        values, kept = _core.options("tsr_video_write_options", {"overwrite": overwrite, "chroma": chroma_number(chroma), **options})
        width, height = two(size)
        made = ffi.new("tsr_video_writer **")
        check(lib.tsr_video_writer_create(os.fsencode(path), width, height, int(rate[0]), int(rate[1]), values, made))
        super().__init__(made[0], None)

    def append(self, picture: Any) -> None:
        """One frame."""
        if self._pointer is None:
            raise _core.StateError("the film is finished")
        if isinstance(picture, VideoFrame):
            check(lib.tsr_video_writer_append_frame(self._pointer, picture._pointer))
        else:
            check(lib.tsr_video_writer_append(self._pointer, as_image(picture)._struct()))

    def __len__(self) -> int:
        return 0 if self._pointer is None else int(lib.tsr_video_writer_frames(self._pointer))

    def finish(self) -> None:
        """Completes the film."""
        if self._pointer is not None:
            check(lib.tsr_video_writer_finish(self._let_go()))

    def _let_go(self) -> Any:
        """The pointer, for a call of the library that destroys the object itself."""
        held = ffi.new("tsr_video_writer **", self._forget())
        self._pointer = None
        return held

    def __enter__(self) -> "VideoWriter":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.finish()
        elif self._pointer is not None:
            lib.tsr_video_writer_destroy(self._let_go())


# ---- Dirac and VC-2 ----------------------------------------------------------------------------------------------------------------


class DiracEncoder(Object):
    """Frames to a Dirac or VC-2 stream.

    Parameters
    ----------
    **options
        coding ("high_quality", "low_delay", "arithmetic", "variable"), wavelet, depth, slice, lossless, quantiser, picture_bytes, bit_rate, group, preset, ..., as
        tsr_dirac_encode_options. The format is that of the first frame.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> encoder = ts.DiracEncoder(lossless=True)
    >>> stream = encoder.encode(ts.VideoFrame.from_image(np.full((64, 64, 3), 90, np.uint8)))
    >>> stream += encoder.end()
    >>> stream[:4]
    b'BBCD'
    """

    _kind = "tsr_dirac_encoder"
    _destroy = "tsr_dirac_encoder_destroy"

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._pointer = None
        self._context = _core.context()
        self.pictures: list[Report] = []
        _core.options("tsr_dirac_encode_options", options)  # wrong names are said at once

    def _begin(self, frame: VideoFrame) -> None:
        values, kept = _core.options("tsr_dirac_encode_options", self._options)
        values.format = frame._pointer.format
        self._told = ffi.callback("void(void *, const tsr_dirac_picture *, const tsr_video_frame *)", lambda _, info, __: self.pictures.append(_core.report(info)))
        values.picture = self._told
        made = ffi.new("tsr_dirac_encoder **")
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_dirac_encoder_create(self._context._pointer, values, made))
        Object.__init__(self, made[0], self._context, kept)

    def encode(self, frame: Any) -> bytes:
        """The bytes that are ready after a frame."""
        given = frame if isinstance(frame, VideoFrame) else VideoFrame.from_image(frame)
        if self._pointer is None:
            self._begin(given)
        return self._bytes(lib.tsr_dirac_encoder_frame, given._pointer)

    def _bytes(self, function: Any, *arguments: Any) -> bytes:
        data, size = ffi.new("const void **"), ffi.new("size_t *")
        assert self._context is not None
        with self._context.lock:
            check(function(self._pointer, *arguments, data, size))
            return bytes(ffi.buffer(data[0], size[0])) if size[0] else b""

    def end(self) -> bytes:
        """What still waits, and the end of the sequence."""
        if self._pointer is None:
            raise _core.StateError("no frame was encoded, expected one at least")
        return self._bytes(lib.tsr_dirac_encoder_end)


@overload
def dirac_encode(frames: Iterable[Any], path: None = None, *, overwrite: bool = True, **options: Any) -> bytes: ...
@overload
def dirac_encode(frames: Iterable[Any], path: "PathLike", *, overwrite: bool = True, **options: Any) -> int: ...
def dirac_encode(frames: Iterable[Any], path: "Optional[PathLike]" = None, *, overwrite: bool = True, **options: Any) -> Union[bytes, int]:
    """Frames (VideoFrames, Images or arrays) as a stream: its bytes, or, written to `path`, how many there are.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> film = [np.full((32, 48, 3), 20 * k, np.uint8) for k in range(4)]
    >>> back = list(ts.dirac_decode(ts.dirac_encode(film, lossless=True)))
    >>> len(back), back[3].planes[0].shape
    (4, (32, 48))
    """
    encoder = DiracEncoder(**options)
    if path is None:
        made = b"".join([encoder.encode(f) for f in frames])
        return made + encoder.end()
    if not overwrite and os.path.exists(path):
        raise FileExistsError(f"{os.fspath(path)}: there is such a file; overwrite=True replaces it")
    part, written = f"{os.fspath(path)}.part", 0
    try:
        with open(part, "wb") as file:
            for frame in frames:
                written += file.write(encoder.encode(frame))
            written += file.write(encoder.end())
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)
    return written


class DiracDecoder(Object):
    """A Dirac or VC-2 stream to frames: push bytes as they come, take frames with next_frame, `end` when no more come. strict, pictures, ... as
    tsr_dirac_decode_options; `damages` lists (offset, what was lost).

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> decoder = ts.DiracDecoder()
    >>> decoder.push(ts.dirac_encode([np.zeros((16, 16, 3), np.uint8)]))
    >>> decoder.end()
    >>> decoder.next_frame()
    <tessera.VideoFrame 16x16 444, 8 bits>
    >>> decoder.next_frame() is None
    True
    """

    _kind = "tsr_dirac_decoder"
    _destroy = "tsr_dirac_decoder_destroy"

    def __init__(self, **options: Any) -> None:
        owner = _core.context()
        self.damages: list[tuple[int, str]] = []
        self.info: Optional[Report] = None
        self._told = ffi.callback("void(void *, int64_t, const char *)", lambda _, at, text: self.damages.append((int(at), ffi.string(text).decode())))
        values, kept = _core.options("tsr_dirac_decode_options", options)
        values.damage = self._told
        made = ffi.new("tsr_dirac_decoder **")
        with owner.lock:
            check(lib.tsr_dirac_decoder_create(owner._pointer, values, made))
        super().__init__(made[0], owner)

    def push(self, data: Any) -> None:
        """Bytes of the stream."""
        view = memoryview(data).cast("B")
        check(lib.tsr_dirac_decoder_push(self._pointer, ffi.from_buffer(view), len(view)))

    def end(self) -> None:
        """No more bytes come."""
        check(lib.tsr_dirac_decoder_end(self._pointer))

    def next_frame(self) -> Optional[VideoFrame]:
        """The next frame, None when more bytes are needed or there is none; `info` tells about it."""
        made, more = ffi.new("tsr_video_frame *"), ffi.new("int *")
        info, kept = _core.options("tsr_dirac_frame_info", {})
        assert self._context is not None
        with self._context.lock:
            check(lib.tsr_dirac_decoder_next(self._pointer, made, info, more))
        if not more[0]:
            return None
        self.info = _core.report(info)
        return VideoFrame._taken(made)

    @property
    def sequence(self) -> Report:
        """The header of the sequence that the last frame belongs to."""
        made, kept = _core.options("tsr_dirac_sequence", {})
        check(lib.tsr_dirac_decoder_sequence(self._pointer, made))
        return _core.report(made)


def _chunks(stream: Any) -> Iterator[Any]:
    if isinstance(stream, (str, os.PathLike)):
        with open(stream, "rb") as file:
            while True:
                data = file.read(1 << 20)
                if not data:
                    return
                yield data
    else:
        view = memoryview(stream).cast("B")
        for at in range(0, len(view), 1 << 20):
            yield view[at : at + (1 << 20)]


def dirac_decode(stream: Any, **options: Any) -> Iterator[VideoFrame]:
    """The frames of a Dirac or VC-2 stream: bytes, or the path of a file.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> next(ts.dirac_decode(ts.dirac_encode([np.zeros((16, 16, 3), np.uint8)])))
    <tessera.VideoFrame 16x16 444, 8 bits>
    """
    decoder = DiracDecoder(**options)
    for data in _chunks(stream):
        decoder.push(data)
        frame = decoder.next_frame()
        while frame is not None:
            yield frame
            frame = decoder.next_frame()
    decoder.end()
    frame = decoder.next_frame()
    while frame is not None:
        yield frame
        frame = decoder.next_frame()


def dirac_inspect(stream: Any) -> list[Report]:
    """The data units of a stream: code, name, bytes, references, band_bits, ..., without decoding pictures.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> [unit.name for unit in ts.dirac_inspect(ts.dirac_encode([np.zeros((16, 16, 3), np.uint8)]))][0]
    'sequence header'
    """
    made, more = ffi.new("tsr_dirac_inspector **"), ffi.new("int *")
    check(lib.tsr_dirac_inspector_create(made))
    found: list[Report] = []

    def take() -> None:
        info, kept = _core.options("tsr_dirac_unit_info", {})
        while True:
            check(lib.tsr_dirac_inspector_next(made[0], info, more))
            if not more[0]:
                return
            found.append(_core.report(info))

    try:
        for data in _chunks(stream):
            check(lib.tsr_dirac_inspector_push(made[0], ffi.from_buffer(data), len(data)))
            take()
        check(lib.tsr_dirac_inspector_end(made[0]))
        take()
    finally:
        lib.tsr_dirac_inspector_destroy(made)
    return found


def dirac_cut(streams: Sequence[Any], **options: Any) -> bytes:
    """Streams one behind the other, without coding anything anew: first, count, fragment, whole, drop as tsr_dirac_transcode_options.

    Examples
    --------
    >>> import numpy as np, tessera as ts
    >>> film = ts.dirac_encode([np.full((16, 16, 3), k, np.uint8) for k in range(4)], lossless=True)
    >>> [int(f.planes[0][0, 0]) for f in ts.dirac_decode(ts.dirac_cut([film], first=2))] == [int(f.planes[0][0, 0]) for f in ts.dirac_decode(film)][2:]
    True
    """
    parts: list[bytes] = []

    def write(_: Any, data: Any, size: int) -> int:
        parts.append(bytes(ffi.buffer(data, size)))
        return 0

    told = ffi.callback("tsr_status(void *, const void *, size_t)", write)
    values, kept = _core.options("tsr_dirac_transcode_options", options)
    made = ffi.new("tsr_dirac_transcoder **")
    check(lib.tsr_dirac_transcoder_create(values, told, ffi.NULL, made))
    try:
        for stream in streams:
            for data in _chunks(stream):
                check(lib.tsr_dirac_transcoder_push(made[0], ffi.from_buffer(data), len(data)))
            check(lib.tsr_dirac_transcoder_end(made[0], ffi.NULL))
    finally:
        lib.tsr_dirac_transcoder_destroy(made)
    return b"".join(parts)


