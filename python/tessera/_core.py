"""The C library underneath: loading, errors, contexts, options, progress."""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import os
import threading
from typing import Any, Callable, Iterator, Mapping, Optional, Union

from ._declarations import ffi as _ffi
from ._tables import DEFAULTS, PREFIXES

ffi: Any = _ffi
Progress = Union[bool, Callable[[float, str], Any], None]


def _load() -> Any:
    """The shared library: that of the environment variable TESSERA_LIBRARY, the one inside this package, or the system's."""
    named = os.environ.get("TESSERA_LIBRARY")
    here = os.path.dirname(os.path.abspath(__file__))
    folder = os.path.join(here, "lib")
    modules = os.path.join(os.path.dirname(here), "tessera_cuda")  # the second wheel
    if os.path.isdir(modules):
        os.environ.setdefault("TESSERA_MODULES", modules)
    inside = sorted(os.path.join(folder, n) for n in (os.listdir(folder) if os.path.isdir(folder) else []) if n.startswith("libtessera.so"))
    tries = [named] if named else inside[:1] if inside else ["libtessera.so.0.1", "libtessera.so"]
    failures = []
    for name in tries:
        try:
            return ffi.dlopen(name)
        except OSError as failure:
            failures.append(str(failure))
    raise ImportError("tessera: the C library is not found (" + "; ".join(failures) + "). Set TESSERA_LIBRARY to the path of libtessera.so")


lib: Any = _load()


# ---- errors ------------------------------------------------------------------------------------------------------------------------


class Error(Exception):
    """A call of the library failed. `status` is its short English name, `trace` the chain of functions in C."""

    status: str = "internal"
    trace: str = ""


class ArgumentError(Error, ValueError):
    """A value is outside what the documentation allows."""


class FileError(Error, OSError):
    """The operating system refused to open, read, write or rename."""


class FormatError(Error, ValueError):
    """A file is cut, damaged or contradicts itself."""


class OutOfMemoryError(Error, MemoryError):
    """Host or device memory is exhausted."""


class UnsupportedError(Error, NotImplementedError):
    """Well-formed, but outside what this build or device can do."""


class DeviceError(Error, RuntimeError):
    """There is no such device or driver, or a kernel failed."""


class Cancelled(Error):
    """The progress function asked to stop."""


class StateError(Error, RuntimeError):
    """The object is not in a state that allows the call, for example a surface without a zero crossing."""


class CapacityError(Error, MemoryError):
    """A limit that was asked for is exhausted."""


_KINDS: Mapping[int, type[Error]] = {
    -1: ArgumentError,
    -2: OutOfMemoryError,
    -3: FileError,
    -4: FormatError,
    -5: UnsupportedError,
    -6: DeviceError,
    -7: Cancelled,
    -8: StateError,
    -9: CapacityError,
}


def check(status: int) -> None:
    """Raises what a status of the C library says."""
    if status == 0:
        return
    text = ffi.string(lib.tsr_error_message()).decode(errors="replace")
    error = _KINDS.get(status, Error)(text)
    error.status = ffi.string(lib.tsr_status_name(status)).decode()
    error.trace = ffi.string(lib.tsr_error_trace()).decode(errors="replace")
    raise error


def remarks() -> list[str]:
    """What successful calls of this thread had to say about their input, such as bytes of a file that were left out.

    Examples
    --------
    >>> import tessera as ts
    >>> _ = ts.remarks()
    >>> ts.remarks()
    []
    """
    text = ffi.new("char[1001]")
    lib.tsr_remarks_take(text, 1001)
    return [line for line in ffi.string(text).decode(errors="replace").split("\n") if line]


# ---- contexts ----------------------------------------------------------------------------------------------------------------------


class Context:
    """A device with its memory, its queue and its number of threads.

    Most programs never make one: the first call makes a context of the device that the environment variable TESSERA_DEVICE or "auto" says.

    Parameters
    ----------
    device : str, optional
        "auto", "cpu", "cuda", "cuda:1" or "emu".
    threads : int, optional
        Threads of the CPU; 0: all.

    Examples
    --------
    >>> import tessera as ts
    >>> with ts.Context("cpu", threads=1) as context:
    ...     context.device
    'cpu'
    """

    def __init__(self, device: Optional[str] = None, threads: int = 0) -> None:
        made = ffi.new("tsr_context **")
        name = ffi.new("char[]", device.encode()) if device else ffi.NULL
        options = ffi.new("tsr_context_options *", {"struct_size": ffi.sizeof("tsr_context_options"), "device": name, "threads": threads})
        check(lib.tsr_context_create(options, made))
        self._life = _Life(made[0])
        self._pointer = ffi.gc(made[0], self._life.user(None))
        self.lock = threading.RLock()

    @property
    def device(self) -> str:
        """Kind of the device: "cpu", "cuda" or "emu"."""
        device = lib.tsr_context_device(self._pointer)
        kind = ffi.string(lib.tsr_device_kind_name(device.kind)).decode()
        return f"{kind}:{device.index}" if device.index else kind

    @property
    def on_host(self) -> bool:
        """Whether its memory is the host's, so that NumPy sees it."""
        return int(lib.tsr_context_device(self._pointer).kind) == 0

    @property
    def threads(self) -> int:
        """Threads of the CPU that it uses."""
        return int(lib.tsr_context_threads(self._pointer))

    @property
    def memory(self) -> "Report":
        """Memory of the device that it holds: current_bytes, peak_bytes (the most so far) and allocations."""
        return report(lib.tsr_context_memory(self._pointer))

    def reset_peak(self) -> None:
        """The most that is held counts from now on."""
        lib.tsr_context_reset_peak(self._pointer)

    def describe(self) -> "Report":
        """The device: name, detail (SIMD or compute capability), memory_bytes, processors."""
        made = begun("tsr_device_info")
        check(lib.tsr_device_describe(lib.tsr_context_device(self._pointer), made))
        return report(made)

    def synchronize(self) -> None:
        """Waits for all queued work and raises the first failure among it."""
        with self.lock:
            check(lib.tsr_context_synchronize(self._pointer))

    def __enter__(self) -> "Context":
        _current.set((*_current.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.set(_current.get()[:-1])

    def __repr__(self) -> str:
        return f"<tessera.Context {self.device}, {self.threads} threads>"


def _destroyer(function: str, kind: str) -> Callable[[Any], None]:
    destroy, new = getattr(lib, function), ffi.new
    return lambda pointer: destroy(new(f"{kind} **", pointer))


def _after(end: Callable[[Any], None], others: "list[Callable[[Any], None]]") -> Callable[[Any], None]:
    """What ends an object that uses further contexts, which go after it."""

    def run(pointer: Any) -> None:
        end(pointer)
        for other in others:
            other(pointer)

    return run if others else end


_ending: list[bool] = []  # the interpreter ends
atexit.register(_ending.append, True)
_lives: "set[_Life]" = set()


class _Life:
    """A context and what uses it, each by the function that ends it. The context is destroyed with the last of them, for the garbage collector lets go of them in any order;
    what is held here it does not clear before. At the end of the interpreter contexts stay, since objects that are left still use them."""

    def __init__(self, context: Any) -> None:
        self.users: set[Callable[[Any], None]] = set()
        self.context = [] if context is None else [context]
        self.destroy = None if context is None else _destroyer("tsr_context_destroy", "tsr_context")
        self.ending, self.lives = _ending, _lives  # names of the module are gone at the end
        _lives.add(self)

    def user(self, end: Optional[Callable[[Any], None]]) -> Callable[[Any], None]:
        """What to call when one more user goes."""

        def run(pointer: Any) -> None:
            if end is not None:
                end(pointer)
            self.users.discard(run)
            if self.users or self.ending or self.destroy is None or not self.context:
                return
            self.lives.discard(self)
            self.destroy(self.context.pop())

        self.users.add(run)
        return run


_without = _Life(None)  # of objects in plain memory


_current: "contextvars.ContextVar[tuple[Context, ...]]" = contextvars.ContextVar("tessera_context", default=())  # the innermost comes last
_default: dict[str, Context] = {}
_default_lock = threading.Lock()


def context(device: Optional[str] = None) -> Context:
    """The context that calls use now: that of the innermost `with ts.Context(...)`, else one for the whole process. `device` asks for
    another one's: each device has one default context.

    Examples
    --------
    >>> import tessera as ts
    >>> ts.context("cpu").threads > 0
    True
    """
    if device is None:
        inner = _current.get()
        if inner:
            return inner[-1]
    with _default_lock:
        key = device or ""
        if key not in _default:
            _default[key] = Context(device)
        return _default[key]


def devices() -> list[str]:
    """Devices that work here, for example ['cpu', 'cuda:0'].

    Examples
    --------
    >>> import tessera as ts
    >>> 'cpu' in ts.devices()
    True
    """
    found = []
    for kind in range(3):
        name = ffi.string(lib.tsr_device_kind_name(kind)).decode()
        count = int(lib.tsr_device_count(kind, ffi.NULL))
        found += [name] if count == 1 and name != "cuda" else [f"{name}:{k}" for k in range(count)]
    return found


# ---- objects -----------------------------------------------------------------------------------------------------------------------


class Object:
    """Something of the library, destroyed when nobody holds it any longer."""

    _kind = ""
    _destroy = ""
    _noun = "object"

    def __init__(self, pointer: Any, owner: Optional[Context], *kept: object) -> None:
        self._life = _without if owner is None else owner._life
        others = [k._life.user(None) for k in kept if isinstance(k, Context) and k._life is not self._life]
        self._end = self._life.user(_after(_destroyer(self._destroy, self._kind), others)) if pointer else None
        self._pointer = ffi.gc(pointer, self._end) if pointer else pointer
        self._context = owner  # must outlive the object
        self._kept = kept

    def _forget(self) -> Any:
        """The pointer, which from now on is not destroyed with the object."""
        ffi.gc(self._pointer, None)
        if self._end is not None:
            self._life.users.discard(self._end)
        return self._pointer

    def __reduce__(self) -> Any:
        """Of what has no copy: better told than two objects that are one."""
        raise TypeError(f"tessera.{type(self).__name__} cannot be copied or pickled: make it again, or write it to a file where it has one")

    @property
    def context(self) -> Optional[Context]:
        """The context whose memory it uses; None: plain memory of the host."""
        return self._context

    @property
    def on_host(self) -> bool:
        """Whether its memory is the host's."""
        return self._context is None or self._context.on_host

    @property
    def _owner(self) -> Context:
        """The context, of what always has one."""
        assert self._context is not None
        return self._context

    @property
    def _host_context(self) -> Context:
        """The same, of what NumPy asks."""
        if not self.on_host or self._context is None:
            raise TypeError(f"the {self._noun} lies on a GPU: make it on the CPU to ask it from NumPy")
        return self._context


def pointer(thing: Optional[Object]) -> Any:
    """The C pointer of an object, NULL for None."""
    return ffi.NULL if thing is None else thing._pointer


# ---- progress ----------------------------------------------------------------------------------------------------------------------


class _Reporter:
    """Calls the user's function, and remembers what it raised: Ctrl-C included, so that long work can be stopped."""

    def __init__(self, function: Optional[Callable[[float, str], Any]]) -> None:
        self.function = function
        self.raised: Optional[BaseException] = None

    def __call__(self, fraction: float, stage: str) -> bool:
        try:
            return self.function is not None and self.function(fraction, stage) is False
        except BaseException as raised:  # noqa: BLE001 - handed on after the call
            self.raised = raised
            return True


def _told(user: Any, fraction: float, stage: Any) -> int:
    return int(ffi.from_handle(user)(fraction, ffi.string(stage).decode(errors="replace") if stage else ""))


_stray = threading.local()


def _strayed(kind: Any, raised: BaseException, trace: Any) -> None:
    """What was raised on the way to the reporter, as Ctrl-C may be anywhere: the call is cancelled, and `Progressed.check` raises it."""
    _stray.raised = raised


_report: Any = ffi.callback("int(void *, double, const char *)", _told, error=1, onerror=_strayed)


def _bar(close: contextlib.ExitStack) -> Optional[Callable[[float, str], Any]]:
    """A bar of tqdm, in notebooks too, if it is there."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = tqdm(total=1.0, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}")
    close.callback(bar.close)

    def show(fraction: float, stage: str) -> None:
        bar.set_description(stage, refresh=False)
        if fraction >= 0:
            bar.n = fraction
        bar.refresh()

    return show


class Progressed:
    """`with Progressed(progress) as p:` gives p.struct for an option struct and p.pointer for a parameter; raises what the function raised."""

    def __init__(self, progress: Progress) -> None:
        self._stack = contextlib.ExitStack()
        self._reporter = _Reporter(self._function(progress))
        self._handle = ffi.new_handle(self._reporter)
        self.pointer = ffi.new("tsr_progress *", {"report": _report, "user": self._handle})
        self.struct = self.pointer[0]

    def _function(self, progress: Progress) -> Optional[Callable[[float, str], Any]]:
        return _bar(self._stack) if progress is True else progress if callable(progress) else None

    def again(self, progress: Progress) -> "Progressed":
        """For the next call of an object that keeps the struct."""
        self._reporter.function, self._reporter.raised = self._function(progress), None
        return self

    def __enter__(self) -> "Progressed":
        return self

    def check(self, status: int) -> None:
        """As check(), but first what the progress function raised."""
        stray = getattr(_stray, "raised", None)
        if stray is not None:
            _stray.raised = None
            raise stray
        if self._reporter.raised is not None:
            raise self._reporter.raised
        check(status)

    def __exit__(self, *_: object) -> None:
        self._stack.close()


# ---- options -----------------------------------------------------------------------------------------------------------------------


def enum(type_name: str, value: Union[int, str]) -> int:
    """The number of an enumerator that is given by its name ("even_odd") or its number."""
    kind = ffi.typeof(type_name)
    names = {text: number for number, text in kind.elements.items()}
    if isinstance(value, str):
        prefix = PREFIXES[type_name]
        key = prefix + value.upper().replace("-", "_")
        if key not in names:
            known = ", ".join(repr(n[len(prefix) :].lower()) for n in sorted(names, key=lambda n: names[n]) if n.startswith(prefix))
            raise ValueError(f"{value!r}, expected one of {known}")
        return int(names[key])
    if int(value) not in kind.elements:
        raise ValueError(f"{value!r}, expected one of the numbers {sorted(kind.elements)}")
    return int(value)


def enum_name(type_name: str, number: int) -> str:
    """The name of an enumerator, as `enum` takes it."""
    return str(ffi.typeof(type_name).elements.get(int(number), str(number)))[len(PREFIXES[type_name]) :].lower()


def _plain(kind: Any) -> str:
    """The name of a type without "struct" and "enum"."""
    return str(kind.cname).removeprefix("struct ").removeprefix("enum ")


def _assign(target: Any, name: str, field: Any, value: Any, kept: list[Any]) -> None:
    kind = field.type.kind
    text = _plain(field.type)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if kind == "enum":
        setattr(target, name, enum(text, value))
    elif kind == "struct" and isinstance(value, Struct):
        kept.append(value)
        setattr(target, name, value._struct[0])
    elif kind == "struct" and isinstance(value, (tuple, list)):  # a point, a size, a colour: its fields in their order
        fields = field.type.fields
        if len(value) != len(fields):
            raise ValueError(f"{len(value)} numbers, expected {len(fields)} ({', '.join(f for f, _ in fields)})")
        setattr(target, name, ffi.new(f"{text} *", [float(v) if f.type.cname in ("double", "float") else int(v) for v, (_, f) in zip(value, fields)])[0])
    elif kind == "struct":
        if not hasattr(value, "keys"):
            raise TypeError(f"{type(value).__name__}, expected a dict of {', '.join(f for f, _ in field.type.fields)}")
        fill(getattr(target, name), text, dict(value), kept)
    elif kind == "array":
        place = getattr(target, name)
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{type(value).__name__}, expected a sequence of {field.type.length}")
        if field.type.length is not None and len(value) > field.type.length:
            raise ValueError(f"{len(value)} values, expected {field.type.length} at most")
        item = field.type.item
        for index, element in enumerate(value):
            if item.kind == "struct" and _plain(item) not in ("tsr_vec3", "tsr_size3"):
                fill(place[index], _plain(item), element, kept)
            elif item.kind == "struct":
                place[index] = ffi.new(f"{_plain(item)} *", list(element))[0]
            elif item.kind == "pointer":
                place[index] = pointer(element)
                kept.append(element)
            else:
                place[index] = element
    elif kind == "pointer" and hasattr(value, "keys"):  # options of a part of the work
        made, held = options(text.removesuffix(" *"), value)
        kept += [made, held]
        setattr(target, name, made)
    elif kind == "pointer" and isinstance(value, Struct):
        kept.append(value)
        setattr(target, name, value._struct)
    elif kind == "pointer" and text == "char *":
        made = ffi.new("char[]", os.fsencode(value)) if value is not None else ffi.NULL
        kept.append(made)
        setattr(target, name, made)
    elif kind == "pointer":
        kept.append(value)
        setattr(target, name, pointer(value) if isinstance(value, Object) or value is None else value)
    elif text in ("double", "float"):
        setattr(target, name, float(value))
    else:
        setattr(target, name, int(value))


def fill(target: Any, type_name: str, values: Mapping[str, Any], kept: list[Any]) -> None:
    """Writes values into a struct by the names of its fields."""
    fields = dict(ffi.typeof(type_name).fields)
    for name, value in values.items():
        if name not in fields or name == "struct_size":
            known = ", ".join(f for f in fields if f not in ("struct_size", "progress"))
            raise TypeError(f"unknown option {name!r}, expected one of: {known}")
        try:
            _assign(target, name, fields[name], value, kept)
        except (TypeError, ValueError, OverflowError) as wrong:
            raise type(wrong)(f"option {name}: {wrong}") from None


def options(type_name: str, values: Mapping[str, Any], progress: Optional[Progressed] = None) -> tuple[Any, list[Any]]:
    """A struct of options with its defaults, values by name, and the progress; and what must stay alive during the call."""
    made = begun(type_name)
    kept: list[Any] = []
    fill(made, type_name, DEFAULTS.get(type_name, {}), kept)
    fill(made, type_name, {k: v for k, v in values.items() if v is not None}, kept)
    if progress is not None and "progress" in dict(ffi.typeof(type_name).fields):
        made.progress = progress.struct
    return made, kept


def begun(type_name: str) -> Any:
    """A struct that the library fills."""
    made = ffi.new(f"{type_name} *")
    made.struct_size = ffi.sizeof(type_name)
    return made


class Struct:
    """A plain struct of the C library: its fields are attributes, those that are no numbers are copies."""

    _type = ""
    _struct: Any

    def __init__(self, **values: Any) -> None:
        made, kept = options(self._type, {}) if "struct_size" in dict(ffi.typeof(self._type).fields) else (ffi.new(f"{self._type} *"), [])
        fill(made, self._type, values, kept)
        self.__dict__.update(_struct=made, _held=kept)

    @classmethod
    def _of(cls, struct: Any) -> Any:
        """Over a struct or a copy of one that the library wrote."""
        self = cls.__new__(cls)
        if ffi.typeof(struct).kind != "pointer":
            struct = ffi.new(f"{cls._type} *", struct)
        self.__dict__.update(_struct=struct, _held=[])
        return self

    @classmethod
    def _again(cls, data: bytes) -> Any:
        made = ffi.new(f"{cls._type} *")
        ffi.memmove(made, data, min(len(data), ffi.sizeof(cls._type)))
        return cls._of(made)

    def _bytes(self) -> bytes:
        return bytes(ffi.buffer(self._struct))

    def __getattr__(self, name: str) -> Any:
        fields = dict(ffi.typeof(self._type).fields)
        if name.startswith("_") or name not in fields:
            raise AttributeError(f"{type(self).__name__} has no {name!r}" + ("" if name.startswith("_") else f", it has {', '.join(fields)}"))
        return _value(getattr(self._struct, name), fields[name].type)

    def __setattr__(self, name: str, value: Any) -> None:
        fill(self._struct, self._type, {name: value}, self._held)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *dict(ffi.typeof(self._type).fields)])

    def __copy__(self) -> Any:
        return self._again(self._bytes())

    copy = __copy__

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return (self._again, (self._bytes(),))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._bytes() == other._bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = _values(self._struct)
        said = ", ".join(f"{k}={v!r}" for k, v in values.items() if v not in (0, 0.0, None) and not (isinstance(v, (tuple, list)) and not any(np_any(v))))
        return f"{type(self).__name__}({said})"


def np_any(values: Any) -> list[Any]:
    """All numbers of nested lists."""
    return [n for v in values for n in (np_any(v) if isinstance(v, (list, tuple)) else [v])]


class Report:
    """Numbers that a call gave, by name: report.steps, dict(report)."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def keys(self) -> Any:
        return self.__dict__.keys()

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the report has no {name!r}, it has {', '.join(self.__dict__)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Report(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"


def report(struct: Any) -> Report:
    """A struct that the library wrote, as Python values."""
    return Report(_values(struct))


def _values(struct: Any) -> dict[str, Any]:
    kind = ffi.typeof(struct)
    if kind.kind == "pointer":
        kind, struct = kind.item, struct[0]
    return {name: _value(getattr(struct, name), field.type) for name, field in kind.fields if name != "struct_size"}


def _value(value: Any, kind: Any) -> Any:
    if kind.kind == "enum":
        name = _plain(kind)
        return enum_name(name, int(value)) if name in PREFIXES else int(value)
    if kind.kind == "struct":
        if _plain(kind) in ("tsr_vec3", "tsr_size3"):
            return (value.x, value.y, value.z)
        return Report(_values(value))
    if kind.kind == "array":
        if kind.item.cname == "char":
            return ffi.string(value).decode(errors="replace")
        return [_value(element, kind.item) for element in value]
    if kind.kind == "pointer":
        return (ffi.string(value).decode(errors="replace") if value else None) if kind.cname in ("char *",) else value
    return value
