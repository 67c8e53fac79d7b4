#!/usr/bin/env python3
"""What the sanitizers need not run. Prints six lines: a regular expression of labels to leave out (ctest -LE), the targets that the rest needs with the
emulator, those that it needs without, and names to leave out (ctest -E) under ASan, under TSan and in a plain run. On stderr: what is due, what is
not, and why.

Due on the CPU: rooms that changed, rooms that use them, and a quarter of the others that moves on with every commit, so that four merges sanitise
everything. What uses a room: the rooms that call it, and where a header changed those that use these in turn, for they may have been compiled
otherwise. Due on the emulator: rooms whose kernels (.cu), headers or tests changed, and that quarter. What all rooms stand on (core, device, the
build, what tests share) makes every room due on the CPU; a change of tests alone their room. Suites that took more than 20 s (tests/costs.txt) run
for their room's own changes and in their quarter only. Where what is left would still take longer than there is time for, as after many merges at
once, cheaper ones wait likewise, in the end those of changed rooms, too. In a plain run and under ASan suites on the emulator wait, but for those
that cover it: every kernel runs every time. Under TSan those wait that start no thread. Changed means since the merge base with origin/main, or, on
main itself, since the newest commit older than six hours; TESSERA_BASE names another commit. Without a history, or with TESSERA_ALL=1, everything is
due.
usage: touched.py"""
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
nothing = "^$"
quarters = 4
seconds_of = {"asan": 1300, "tsan": 1000}  # what the suites of a preset may take, one after another
slower = 5  # times: what a suite of unknown cost takes under a sanitizer, of its plain run
dear = (20, 8, 4, 2)  # seconds; the next where the time does not suffice
noted = [line.split() for line in (root / "tests/costs.txt").read_text().splitlines()]  # preset or note, entry, seconds
folders = {}


def git(*words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def entries_of(folder):
    """The entries of ctest that a folder of tests has, without the devices' names."""
    listing = root / "tests" / folder / "CMakeLists.txt"
    text = listing.read_text() if listing.exists() else ""
    found = re.findall(r"tessera_test\((\w+)", text) + re.findall(r"add_test\(NAME (\w+) ", text)
    found += ["check_" + name for name in re.findall(r"tessera_check\((\w+)", text)]
    return found + (["cli_" + path.stem for path in (root / "tests/cli").glob("*.cases")] if folder == "cli" else [])


def folder_of(name):
    """The folder of tests that an entry belongs to; None if it is no more."""
    if not folders:
        folders.update({entry: path.name for path in sorted((root / "tests").iterdir()) if path.is_dir() for entry in entries_of(path.name)})
    return folders.get(re.sub(r"_(cpu|emu)$", "", name), folders.get(name))


def costs_of(preset):
    """Seconds by entry. What has waited ever since costs are measured takes so many times as long as in a plain run."""
    known = {name: float(seconds) for which, name, seconds in noted if which == preset}
    devices = ("_cpu", "_emu") if preset == "asan" else ("_cpu",)
    return {name: float(seconds) * slower for which, name, seconds in noted if which == "dev" and name.startswith("test_") and name.endswith(devices)} | known


def rotating(costs, run_all, turn, least):
    """Dear entries that wait for their quarter: those of rooms that `run_all` does not name, and of other folders a quarter at a time."""
    if run_all is None:
        return {}
    waiting = {}
    for number, (name, seconds) in enumerate(sorted((name, seconds) for name, seconds in costs.items() if seconds > least)):
        folder = folder_of(name)
        if folder and folder not in run_all and (folder in rooms or number % quarters != turn):
            waiting[name] = seconds
    return waiting


def finish(leave_out, on_cpu, on_emu, why, run_all=None, quarter=frozenset(), turn=0):
    print("due under sanitizers: " + why, file=sys.stderr)
    print(leave_out)
    for of_rooms, others in ((on_cpu | on_emu, ["check", "cli", "fuzz", "viewer"]), (on_cpu, ["check", "viewer"])):
        print(*("suites_" + folder for folder in [*rooms, *others] if (folder in of_rooms or folder in others) and (root / "tests" / folder).is_dir()))
    cover = {name for which, name, _ in noted if which == "cover"}

    def idle(which, wanted):
        return {name: float(seconds) for preset, name, seconds in noted
                if run_all is not None and preset == which and wanted(name) and folder_of(name) not in run_all}

    emulated = idle("dev", lambda name: cover and name.endswith("_emu") and name not in cover)
    alone = idle("alone", lambda name: True)

    def is_due(name):
        folder = folder_of(name)
        return folder and (folder not in rooms or folder in (on_emu if name.endswith("_emu") else on_cpu))

    for preset in seconds_of:
        costs = costs_of(preset)
        taken = {name: seconds for name, seconds in costs.items() if is_due(name)}
        for run, least in [(run_all, least) for least in dear] + [(quarter, least) for least in dear if run_all is not None]:
            waiting = rotating(costs, run, turn, least) | (emulated if preset == "asan" else alone)
            left = sum(seconds for name, seconds in taken.items() if name not in waiting)
            if left <= seconds_of[preset]:
                break
        print(f"{preset}: about {left:.0f} s", file=sys.stderr)
        print(f"^({'|'.join(map(re.escape, waiting))})$" if waiting else nothing)
        if waiting:
            print(f"{preset}, those that wait for their quarter: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in waiting.items()), file=sys.stderr)
    print(f"^({'|'.join(map(re.escape, emulated))})$" if emulated else nothing)
    if emulated:
        print(f"plain run: {len(emulated)} suites on the emulator wait for their quarter, {sum(emulated.values()):.0f} s", file=sys.stderr)
    sys.exit(0)


def base():
    if os.environ.get("TESSERA_BASE"):
        return os.environ["TESSERA_BASE"]
    common, here = git("merge-base", "HEAD", "origin/main"), git("rev-parse", "HEAD")
    return common if common and common != here else git("rev-list", "-1", "--before=6 hours ago", "HEAD")


picture = subprocess.run([sys.executable, root / "scripts/lint-rooms.py", "--picture"], capture_output=True, text=True, check=True).stdout
uses = {line.split()[0]: set(line.split()[1:]) - {"nothing"} for line in picture.splitlines()}
rooms = sorted(uses)
since = base()
if os.environ.get("TESSERA_ALL") == "1" or not since:
    finish(nothing, set(rooms), set(rooms), "everything")
changed, headers, tested, kernels, everywhere = set(), set(), set(), set(), False
run_all = set()  # folders of tests whose dear suites run
for name in git("diff", "--name-only", since).splitlines():
    part = name.split("/")
    if part[0] == "tests" and len(part) > 2:
        run_all.add(part[1])
    elif part[0] == "tools":
        run_all |= {"cli", "viewer"}
    if part[0] in ("src", "tests") and len(part) > 2 and part[1] in uses:
        if part[-1] != "CMakeLists.txt":
            (changed if part[0] == "src" else tested).add(part[1])
            if part[0] == "tests" or not name.endswith(".c"):
                kernels.add(part[1])
            if name.endswith(".h") and part[0] == "src":
                headers.add(part[1])
    elif part[0] == "include":
        needle = f'"tessera/{part[-1]}"'
        for room in rooms:
            including = [f for f in (root / "src" / room).rglob("*.[ch]") if needle in f.read_text(errors="replace")]
            changed |= {room} if including else set()
            headers |= {room} if any(f.suffix == ".h" for f in including) else set()
    everywhere |= part[0] == "cmake" or name == "CMakeLists.txt" or (part[0] == "tests" and len(part) == 2 and not name.endswith(".txt"))
    everywhere |= name == "tests/CMakeLists.txt"
turn = int(git("rev-list", "--count", "HEAD") or 0) % quarters
quarter = {room for number, room in enumerate(rooms) if number % quarters == turn}
due = changed | tested | {room for room in rooms if uses[room] & changed}
through = set(headers)
while more := {room for room in rooms if uses[room] & through} - through:
    through |= more
due |= through
if everywhere:
    due = set(rooms)
on_cpu, on_emu = due | quarter, kernels | quarter
left = [re.escape(room) for room in rooms if room not in on_cpu] + [room + "_emu" for room in rooms if room not in on_emu]
told = {f"changed since {since[:10]}": changed, "their tests alone": tested - changed, "their kernels or tests": kernels,
        "what uses them": due - changed - tested, "the quarter of this commit": quarter}
finish(f"^({'|'.join(left)})$" if left else nothing, on_cpu, on_emu, "; ".join(f"{what}: {' '.join(sorted(which)) or 'none'}" for what, which in told.items()),
       run_all | changed | quarter, quarter, turn)
