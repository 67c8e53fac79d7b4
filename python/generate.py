#!/usr/bin/env python3
"""Makes tessera/_declarations.py, what cffi knows of the C library, from the public headers: every function, enum and struct, as it stands there.

usage: generate.py [--headers DIR] [--output FILE] [--cc COMPILER]

A new function of a header is reachable from Python after the next run: tessera.c.NAME. Needs a C preprocessor and cffi."""
import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Headers that are not for callers in Python: callbacks compiled in C, and MPI.
LEFT_OUT = {"mpi.h", "levelset_term.h"}


def preprocess(headers: pathlib.Path, compiler: str) -> str:
    """Text of all public headers without comments, macros and the system's own declarations."""
    names = sorted(h.name for h in (headers / "tessera").glob("*.h") if h.name not in LEFT_OUT)
    text = "".join(f'#include "tessera/{name}"\n' for name in names)
    out = subprocess.run([compiler, "-E", "-xc", "-std=gnu11", f"-I{headers}", "-"], input=text, capture_output=True, text=True, check=True).stdout
    kept, ours = [], False
    for line in out.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = "/tessera/" in mark.group(1)
        elif ours:
            kept.append(line)
    return "\n".join(kept)


def without_bodies(text: str) -> str:
    """Removes inline functions, whose bodies cffi does not read."""
    out, depth, start = [], 0, 0
    at = 0
    for match in re.finditer(r"\bstatic\s+inline\b", text):
        if match.start() < at:
            continue
        out.append(text[at : match.start()])
        place = text.index("{", match.end())
        depth = 1
        while depth:
            place += 1
            depth += {"{": 1, "}": -1}.get(text[place], 0)
        at = place + 1
    out.append(text[at:])
    return "".join(out)


def declarations(headers: pathlib.Path, compiler: str) -> str:
    text = preprocess(headers, compiler)
    previous = None
    while previous != text:  # attributes may hold parentheses
        previous = text
        text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    text = re.sub(r"\b__extension__\b|\b_Static_assert\s*\([^;]*;", "", text)
    text = without_bodies(text)
    return re.sub(r"\n\s*\n+", "\n", text)


def tables(headers: pathlib.Path, ffi) -> str:
    """What the preprocessor takes away: defaults of option structs that are not 0 (from the macros TSR_..._OPTIONS), and the common beginning of the names
    of each enum's enumerators."""
    text = re.sub(r"\\\n", " ", "".join(h.read_text() for h in sorted((headers / "tessera").glob("*.h"))))
    defaults = {}
    for body in re.findall(r"#define TSR_\w+[ \t]+\{([^\n]*)\}", text):
        kind = re.search(r"\.struct_size = sizeof\((\w+)\)", body)
        values = re.findall(r"\.(\w+) = (-?[\d.]+)\b", body)
        if kind and values:
            defaults[kind.group(1)] = {name: float(value) if "." in value else int(value) for name, value in values}
    prefixes = {}
    for name in ffi.list_types()[0]:
        kind = ffi.typeof(name)
        if kind.kind == "enum":
            names = [n for n, _ in sorted(kind.relements.items(), key=lambda pair: pair[1]) if not n.endswith("_COUNT")]
            # The last one may only say how many there are: TSR_FLUID_IMAGES behind TSR_FLUID_IMAGE_COLOR.
            if len(names) > 2 and names[-1].endswith("S") and len(os.path.commonprefix(names[:-1])) > len(os.path.commonprefix(names)):
                names.pop()
            if len(names) > 1:
                start = next(k for k in range(len(names[0]) + 1) if len({n[: k + 1] for n in names}) > 1 or k == len(names[0]))
                prefixes[name] = names[0][:start].rsplit("_", 1)[0] + "_"
            else:
                prefixes[name] = names[0].rsplit("_", 1)[0] + "_" if names else ""
    return (
        '"""Made by generate.py from the headers: do not edit."""\n'
        f"DEFAULTS: dict[str, dict[str, float]] = {defaults!r}\nPREFIXES: dict[str, str] = {prefixes!r}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headers", type=pathlib.Path, default=HERE.parent / "include")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "tessera" / "_declarations.py")
    parser.add_argument("--cc", default="cc")
    arguments = parser.parse_args()
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(declarations(arguments.headers, arguments.cc))
    ffi.set_source("tessera._declarations", None)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_python_code(str(arguments.output))
    arguments.output.with_name("_tables.py").write_text(tables(arguments.headers, ffi))
    return 0


if __name__ == "__main__":
    sys.exit(main())
