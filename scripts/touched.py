#!/usr/bin/env python3
"""Which suites the sanitizers need not run: prints a regular expression of labels to leave out (ctest -LE), and on stderr what is due and why.

Due on the CPU: rooms that changed, rooms that use them, and a quarter of the others that moves on with every commit, so that four merges sanitise
everything. Due on the emulator: rooms whose kernels (.cu), headers or tests changed, and that quarter. What all rooms stand on (core, device, the build,
what tests share) makes every room due on the CPU. Changed means since the merge base with origin/main, or, on main itself, since the newest commit older
than six hours; TESSERA_BASE names another commit. Without a history, or with TESSERA_ALL=1, everything is due.
usage: touched.py"""
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
nothing = "^$"
quarters = 4


def git(*words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def finish(leave_out, why):
    print("due under sanitizers: " + why, file=sys.stderr)
    print(leave_out)
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
    finish(nothing, "everything")
changed, kernels, everywhere = set(), set(), False
for name in git("diff", "--name-only", since).splitlines():
    part = name.split("/")
    if part[0] in ("src", "tests") and len(part) > 2 and part[1] in uses:
        if part[-1] != "CMakeLists.txt":
            changed.add(part[1])
            if part[0] == "tests" or not name.endswith(".c"):
                kernels.add(part[1])
    elif part[0] == "include":
        needle = f'"tessera/{part[-1]}"'
        changed |= {room for room in rooms if any(needle in f.read_text(errors="replace") for f in (root / "src" / room).rglob("*.[ch]"))}
    everywhere |= part[0] == "cmake" or name == "CMakeLists.txt" or (part[0] == "tests" and len(part) == 2)
turn = int(git("rev-list", "--count", "HEAD") or 0) % quarters
quarter = {room for number, room in enumerate(rooms) if number % quarters == turn}
due = set(changed)
while True:
    more = {room for room in rooms if uses[room] & due} - due
    if not more:
        break
    due |= more
if everywhere:
    due = set(rooms)
on_cpu, on_emu = due | quarter, kernels | quarter
left = [re.escape(room) for room in rooms if room not in on_cpu] + [room + "_emu" for room in rooms if room not in on_emu]
told = {f"changed since {since[:10]}": changed, "their kernels or tests": kernels, "what uses them": due - changed,
        "the quarter of this commit": quarter}
finish(f"^({'|'.join(left)})$" if left else nothing, "; ".join(f"{what}: {' '.join(sorted(which)) or 'none'}" for what, which in told.items()))
