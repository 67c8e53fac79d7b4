"""Exchange of memory as DLPack 1: capsules of DLManagedTensorVersioned, made and taken by the C library, so that they work for GPUs as for the host."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any, Optional

from . import _core
from ._core import check, ffi, lib

NAME = b"dltensor_versioned"
USED = b"used_dltensor_versioned"
READ_ONLY, COPIED = 1, 2
CPU, CUDA, PINNED = 1, 2, 3

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_python.PyCapsule_IsValid.restype = ctypes.c_int
_python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_SetName.restype = ctypes.c_int
_python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

# Who owns memory that is lent: kept until whoever borrowed it says that it is done.
_lent: dict[int, object] = {}
_numbers = itertools.count(1)


def _returned(owner: Any) -> None:
    _lent.pop(int(ffi.cast("uintptr_t", owner)), None)


_release: Any = ffi.callback("void(void *)", _returned)


class _Dropped:
    """Calls the deleter of a capsule that nobody took."""

    def __init__(self) -> None:
        self.function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self)
        self.valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
        self.pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))

    def __call__(self, capsule: int) -> None:
        if self.valid(capsule, NAME):
            tensor = ffi.cast("tsr_dlpack *", self.pointer(capsule, NAME))
            if tensor.deleter:
                tensor.deleter(tensor)


_dropped = _Dropped()


def give(owner: Any, fill: Any, *, stream: Any = None, max_version: Optional[tuple[int, int]] = None, dl_device: Optional[tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
    """A capsule over the memory that fill(tsr_array *) describes and `owner` keeps."""
    if max_version is not None and tuple(max_version)[0] < 1:
        raise BufferError("DLPack 1.0 is the oldest version that is given")
    array = ffi.new("tsr_array *")
    check(fill(array))
    here = (CUDA, int(array.device.index)) if array.device.kind == 1 else (CPU, 0)
    if dl_device is not None and tuple(dl_device) != here:
        raise BufferError(f"the memory lies on device {here}, not on {tuple(dl_device)}: .to() copies it")
    if copy:
        return give_copy(owner, max_version)
    if owner.context is not None:
        owner.context.synchronize()  # whoever takes it may use any stream
    number = next(_numbers)
    _lent[number] = owner
    array.release, array.owner = _release, ffi.cast("void *", number)
    made = ffi.new("tsr_dlpack **")
    try:
        check(lib.tsr_array_to_dlpack(array, made))
    except _core.Error:
        _lent.pop(number, None)
        raise
    return _python.PyCapsule_New(int(ffi.cast("uintptr_t", made[0])), NAME, ctypes.cast(_dropped.function, ctypes.c_void_p))


def give_copy(owner: Any, max_version: Optional[tuple[int, int]]) -> Any:
    """The same of a copy."""
    return owner.copy().__dlpack__(max_version=max_version or (1, 0))


def take(capsule: Any) -> Any:
    """The tsr_array of a capsule, which is used up; None for one of an older kind. Whoever gets it gives it to a function that adopts it."""
    if not _python.PyCapsule_IsValid(capsule, NAME):
        return None
    tensor = ffi.new("tsr_dlpack **", ffi.cast("tsr_dlpack *", _python.PyCapsule_GetPointer(capsule, NAME)))
    _python.PyCapsule_SetName(capsule, USED)
    array = ffi.new("tsr_array *", {"struct_size": ffi.sizeof("tsr_array")})
    check(lib.tsr_array_from_dlpack(tensor, array))
    return array
