#!/usr/bin/env python3
"""Fails on a room of src/ that uses a room above it, by an #include or by a call. The floors are the list in cmake/TesseraRooms.cmake.
CONTRIBUTING.md must hold the picture of the rooms as it is.
usage: lint-rooms.py [--picture]    --picture prints the rooms with what each uses, highest floor first"""
import collections
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
source = root / "src"
rooms = re.search(r"set\(TESSERA_ROOMS\s+([^)]*)\)", (root / "cmake/TesseraRooms.cmake").read_text()).group(1).split()
floor = {room: number for number, room in enumerate(rooms)}


def room_of(path):
    return path.relative_to(source).parts[0]


files = [f for f in sorted(source.rglob("*")) if f.suffix in (".c", ".h", ".cu", ".cpp") and len(f.relative_to(source).parts) > 1]
text = {f: f.read_text(errors="replace") for f in files}
unknown = {room_of(f) for f in files} - set(rooms)
bare = {f: re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"/\*.*?\*/|//[^\n]*", "", t, flags=re.S)) for f, t in text.items()}
defined = {}
for f in files:
    if f.suffix == ".h":
        continue
    for name in re.findall(r"^(?!static\b|extern\b|typedef\b)[A-Za-z_][^\n;={}]*?\b(tsr_\w+)\(", bare[f], re.M):
        defined.setdefault(name, f)
uses = collections.defaultdict(lambda: collections.defaultdict(set))
for f in files:
    here = room_of(f)
    for name in re.findall(r'#include "([^"]+)"', text[f]):
        there = source / name
        if there in text and room_of(there) != here:
            uses[here][room_of(there)].add(f"{f.relative_to(source)} includes {name}")
    for name in set(re.findall(r"\b(tsr_\w+)\s*\(", bare[f])):
        there = defined.get(name)
        if there and room_of(there) != here:
            uses[here][room_of(there)].add(f"{f.relative_to(source)} calls {name} of {there.relative_to(source)}")
faults = [f"room {room} is not in the list of cmake/TesseraRooms.cmake" for room in sorted(unknown)]
for here in rooms:
    for there in uses[here]:
        if there in floor and floor[there] > floor[here]:
            faults += [f"upward: {line}" for line in sorted(uses[here][there])]
present = {room_of(f) for f in files}
picture = "\n".join(f"    {room:13} {' '.join(r for r in rooms if r in uses[room]) or 'nothing'}" for room in reversed(rooms) if room in present)
if "--picture" in sys.argv[1:]:
    print(picture)
elif picture not in (root / "CONTRIBUTING.md").read_text():
    faults.append("CONTRIBUTING.md: the picture of the rooms is not that of scripts/lint-rooms.py --picture")
names = collections.Counter(f.name for f in files)
faults += [f"two files of src are called {name}" for name, count in names.items() if count > 1]
if faults:
    print("\n".join(faults))
    sys.exit(1)
