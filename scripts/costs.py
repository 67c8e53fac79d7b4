#!/usr/bin/env python3
"""Refreshes tests/costs.txt, from which ctest knows what to start first and scripts/touched.py what is dear, by what the suites took when they last ran in
build/PRESET, and says what the dearest are. After a whole run of dev it also notes the suites that cover the emulator ("cover": the cheapest that together
launch every kernel), after one of tsan those that started no thread ("alone"). Entries that were not run keep their line; entries that are no more lose it where --whole says that everything has run.
usage: costs.py [--whole | --print] [PRESET...] | --log FILE
  PRESET      dev asan tsan, default: those that have run
  --print     writes nothing and says it in lines that begin with "costs PRESET"
  --log FILE  takes it from such lines of the log of a run whose build folder is gone"""
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

root = pathlib.Path(__file__).resolve().parent.parent
table = root / "tests/costs.txt"
known = ("dev", "asan", "tsan")
notes = ("cover", "alone")
least = 0.95  # seconds that get a line


def measured(preset):
    """What the suites took that ran in build/PRESET, seconds by their names."""
    report = root / "build" / preset / "junit.xml"
    if not report.exists():
        return {}
    return {case.get("name"): float(case.get("time")) for case in xml.etree.ElementTree.parse(report).iter("testcase") if case.get("status") == "run"}


def logged(path):
    """The same of the lines of a log, by preset."""
    found = {}
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        words = line.split()
        if words[:1] == ["costs"] and words[1:2] and words[1] in (*known, *notes):
            found.setdefault(words[1], {}).update((name, float(seconds)) for name, seconds in (word.split("=") for word in words[2:]))
    return found


def covering(costs):
    """The suites that launch every kernel of the emulator, if all have run since it was built."""
    if not (root / "build/dev/lib/libtessera_emu.so").exists():
        return {}
    said = subprocess.run([sys.executable, root / "scripts/kernels.py", root / "build/dev", "--cover"], capture_output=True, text=True, check=False)
    return {name: costs.get(name, 0.0) for name in said.stdout.split()} if said.returncode == 0 else {}


def without_threads(costs):
    """The suites that ThreadSanitizer had nothing to watch in, of those that have been asked (tests/suites.c)."""
    said = {path.stem: path.read_text().split() for path in (root / "build/tsan/teams").glob("*.txt")}
    return {name: costs[name] for name, words in said.items() if words == ["began"] and name in costs}


words = sys.argv[1:]
if words[:1] == ["--log"] and len(words) == 2:
    runs = logged(words[1])
else:
    presets = [word for word in words if not word.startswith("--")] or known
    if unknown := [word for word in words if word not in (*known, "--whole", "--print")]:
        sys.exit(f"costs.py: unknown word '{unknown[0]}', expected dev, asan, tsan, --whole or --print\n{__doc__}")
    runs = {preset: ran for preset in presets if (ran := measured(preset))}
    if "dev" in runs and (cover := covering(runs["dev"])):
        runs["cover"] = cover
    if "tsan" in runs and (alone := without_threads(runs["tsan"])):
        runs["alone"] = alone
for preset, ran in runs.items():
    dearest = sorted(ran.items(), key=lambda entry: -entry[1])
    if preset not in notes:
        print(f"{preset}: {len(ran)} entries, {sum(ran.values()):.0f} s, the dearest", ", ".join(f"{name} {seconds:.0f}" for name, seconds in dearest[:12]))
    if "--print" in words:
        print("costs", preset, *(f"{name}={seconds:.1f}" for name, seconds in dearest if seconds >= least or preset == "cover"))
if "--print" in words:
    sys.exit()
costs = {}
for line in table.read_text().splitlines():
    preset, name, seconds = line.split()
    if not (preset == "cover" and "cover" in runs) and not (preset == "alone" and name in runs.get("tsan", {})) and not ("--whole" in words and preset in runs and name not in runs[preset]):
        costs[preset, name] = float(seconds)
for preset, ran in runs.items():
    costs.update({(preset, name): seconds for name, seconds in ran.items()})
table.write_text("".join(f"{preset} {name} {seconds:.1f}\n" for (preset, name), seconds in sorted(costs.items()) if seconds >= least or preset == "cover"))
