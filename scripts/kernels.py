#!/usr/bin/env python3
"""Which kernels the emulator ran. Every suite of a build leaves a list of the kernels that it launched (TESSERA_EMU_LAUNCHES, src/device/emu/emu.cpp);
this puts them beside the kernels of src (TSR_KERNEL), prints how many each room has and who ran them, and fails for one that neither check/ nor a suite of
its room has launched, unless tests/kernels.txt names it with the reason (and for one that is named there and was launched). Where suites of a room have not run since the module was built, its kernels are not judged; ends with 77, skipped, if that leaves
none.
usage: kernels.py BUILD [--missing-in-check | --cover]
  --missing-in-check  lists the kernels that check/ does not launch, with suites that do
  --cover             prints nothing but the cheapest suites (tests/costs.txt) that together launch every kernel"""
import collections
import pathlib
import re
import subprocess
import sys

if len(sys.argv) < 2:
    sys.exit(__doc__)
root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1])
module = build / "lib/libtessera_emu.so"
rooms = re.search(r"set\(TESSERA_ROOMS\s+([^)]*)\)", (root / "cmake/TesseraRooms.cmake").read_text()).group(1).split()


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def body(name):
    text = (root / "src" / name).read_text(errors="replace")
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S).replace("\\\n", " ")


def files_of(name, seen=None):
    """The files of src that a .cu file is made of."""
    seen = {} if seen is None else seen
    if name not in seen and (root / "src" / name).is_file() and "device/" not in name[:7]:
        seen[name] = body(name)
        for inner in re.findall(r'#include "([^"]+)"', seen[name]):
            files_of(inner, seen)
    return seen


# The functions of the module that are local to a .cu file, by their places: (name, "name(parameters)", that file).
wrappers = {path.name: re.search(r'"([^"]+)"', path.read_text()).group(1) for path in (build / "emu").glob("*.cpp")}
symbols, unit = [], None
for word in map(str.split, said("readelf", "-sW", module).splitlines()):
    if len(word) > 7 and word[3] == "FILE":
        unit = wrappers.get(word[7])
    elif len(word) > 7 and word[3] == "FUNC" and word[4] == "LOCAL" and unit:
        symbols.append((int(word[1], 16), word[7], unit))
plain = subprocess.run(["c++filt"], input="\n".join(name for _, name, _ in symbols), capture_output=True, text=True, check=True).stdout.splitlines()
functions = {place: (re.sub(r"<.*|\(.*", "", text.removeprefix("void ")), text, unit) for (place, _, unit), text in zip(symbols, plain)}

# The kernels, (file where it is written, name), with the places of what the compiler made of it. A macro's kernels are told by its pattern of names and by
# the type of their first parameter.
places, of_place = collections.defaultdict(set), {}
for unit in sorted(set(wrappers.values())):
    here = [(place, name, text) for place, (name, text, of) in functions.items() if of == unit]
    for file, text in files_of(unit).items():
        for head, first in re.findall(r"TSR_KERNEL\(\s*((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*?)\s*\)\s*\(\s*(?:const )?([\w#]+)", text):
            name = head.split()[-1]
            macro = name == "name" or "##" in name
            pattern = re.compile(re.sub(r"(##)?\bname\b(##)?", r"\\w+", name) + "$")
            kind = re.compile(r"\b" + re.sub(r"##name##", r"\\w+", first) + r"\b")
            if name == "name":  # of a macro that takes it: the names that the macro is given
                made = re.findall(r"#define (\w+)\(name\b[^\n]*TSR_KERNEL\(name\)", text)
                pattern = re.compile("(" + "|".join(re.escape(n) for m in made for n in re.findall(rf"^{m}\((\w+)", text, re.M)) + ")$")
            if not macro:
                places[file, name]
            for place, function, whole in here:
                if pattern.match(function) and (not macro or kind.search(whole)):
                    places[file, function].add(place)
                    of_place[place] = (file, function)

built = f"module {module.stat().st_mtime_ns // 10**9}.{module.stat().st_mtime_ns % 10**9:09d}"
lists = {path.stem: path.read_text().split() for path in sorted((build / "launches").glob("*.txt"))}
launched, ran = collections.defaultdict(set), set()  # kernel: entries of ctest
for entry, words in lists.items():
    for place in (int(word, 16) for word in words[2:] if " ".join(words[:2]) == built):
        if place in of_place:
            launched[of_place[place]].add(entry)
            ran.add(place)
entries = re.findall(r"Test +#\d+: (\S+)", said("ctest", "--test-dir", build, "-N", "-L", "^(emu|check)$"))
waiting = [entry for entry in entries if " ".join(lists.get(entry, [])[:2]) != built]
room_of = {}
for room in [*rooms, "check"]:
    listing = build / "tests" / room / "CTestTestfile.cmake"
    if listing.exists():
        room_of |= {name: room for name in re.findall(r"add_test\((?:\[=*\[)?([^\s\]]+)", listing.read_text())}

open_rooms = {room_of.get(entry) for entry in waiting}
if "check" in open_rooms:  # which launches kernels of all
    open_rooms |= set(rooms)
missing, table = [], []
for room in rooms:
    keys = [key for key in places if key[0].split("/")[0] == room]
    by_check = [key for key in keys if any(room_of.get(entry) == "check" for entry in launched[key])]
    by_room = [key for key in keys if any(room_of.get(entry) in ("check", room) for entry in launched[key])]
    if room not in open_rooms:
        missing += sorted(set(keys) - set(by_room))
    if keys:
        instances = set().union(*(places[key] for key in keys))
        table.append((room, len(keys), len(by_check), len(by_room), len(instances & ran), len(instances)))
if "--cover" not in sys.argv:
    print(f"{'kernels of':14}{'all':>6}{'check':>8}{'its suites':>12}{'instances':>14}")
for room, *counts in [*table, ("all rooms", *map(sum, zip(*[row[1:] for row in table])))]:
    if "--cover" not in sys.argv:
        print(f"{room:14}{counts[0]:6}{counts[1]:8}{counts[2]:12}{counts[3]:8} of {counts[4]:4}")
if "--missing-in-check" in sys.argv:
    for key in sorted(places):
        if not any(room_of.get(entry) == "check" for entry in launched[key]):
            print(f"{key[0]}: {key[1]}: {' '.join(sorted(launched[key])[:3]) or 'nobody'}")
if "--cover" in sys.argv:
    costs = {name: float(seconds) for preset, name, seconds in map(str.split, (root / "tests/costs.txt").read_text().splitlines()) if preset == "dev"}
    runs, left, chosen = collections.defaultdict(set), {key for key in places if launched[key]}, []
    for key in left:
        for entry in launched[key]:
            runs[entry].add(key)
    while left:
        chosen.append(max(runs, key=lambda entry: (len(runs[entry] & left) / costs.get(entry, 0.5), entry)))
        left -= runs[chosen[-1]]
    print(*sorted(chosen))
    sys.exit(77 if waiting else 0)
if waiting:
    print(f"{len(waiting)} suites have not run since the emulator was built: {' '.join(waiting[:8])}{' ...' if len(waiting) > 8 else ''}")
if open_rooms >= {row[0] for row in table}:
    print("skipped: no room whose suites have all run")
    sys.exit(77)
excused = {tuple(line.split()[:2]) for line in (root / "tests/kernels.txt").read_text().splitlines() if line and not line.startswith("#")}
by_its_room = {key for key in excused if any(room_of.get(entry) in ("check", key[0].split("/")[0]) for entry in launched[key])}
stale = sorted(key for key in excused if key not in places or key in by_its_room)
missing = [key for key in missing if key not in excused]
for file, name in stale:
    print(f"tests/kernels.txt names {name} of {file}, which " + (f"was launched: {' '.join(sorted(launched[file, name])[:3])}" if launched[file, name] else "is no kernel"))
for file, name in missing:
    print(f"no suite of its room launches {name} of {file}" + (f", only {' '.join(sorted(launched[file, name])[:3])}" if launched[file, name] else ""))
sys.exit(1 if missing or stale else 0)
