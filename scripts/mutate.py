#!/usr/bin/env python3
"""Do the tests notice faults? Makes small changes in src, one at a time, builds the room that it stands in, and runs that room's suites on cpu and emu,
then what else asks for the room's work (BESIDE).

    scripts/mutate.py [-n 20] [--seed 1] [--rooms region,mip] [--slow] [--seconds 600] [--log FILE]

Works in a copy of what git has at HEAD (build/mutate), never in the tree itself. A change is one of: a comparison or its opposite bound, a sum that becomes
a difference, a product that becomes a sum, and for or, a shift the other way, a minimum for a maximum, a number one larger, a fraction a quarter larger.
Lines of messages, checks by assert, includes and comments are left alone. A change that does not compile does not count, nor does one whose suites take
longer than --seconds without one of them failing; a suite that hangs has found it. With --slow what survives meets the room's slow suites, too.
Prints a line for each, the difference of those that survive, and at the end the share found.
The same seed and commit give the same changes. Exit code: 0, or 1 if the copy's suites fail before anything is changed."""

import argparse
import difflib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<", "+": "-", "-": "+",
         "*": "+", "+=": "-=", "-=": "+=", "&": "|", "|": "&", "fmin": "fmax", "fmax": "fmin", "fminf": "fmaxf", "fmaxf": "fminf", "tsr_mini": "tsr_maxi",
         "tsr_maxi": "tsr_mini", "tsr_min64": "tsr_max64", "tsr_max64": "tsr_min64", "tsr_minf": "tsr_maxf", "tsr_maxf": "tsr_minf"}
# What asks for a room's work and stands in another folder of tests: comparisons of devices (check), cases of its commands, suites of rooms built on it alone.
BESIDE = {
    "camera": "test_lens test_calibration test_views cli_cameras cli_calibrate",
    "compress": "cli_compress cli_losses",
    "device": "check_primitives cli_general stale_module old_gpu test_user_rule",
    "edit": "cli_edit",
    "flow": "cli_flow",
    "fluid": "cli_fluid cli_fluid-simulation",
    "formats": "cli_volumes cli_volume-kinds cli_meshes cli_points cli_general",
    "histopyramid": "check_surface check_features cli_pyramid",
    "io": "test_volume_files test_png cli_volumes",
    "light": "check_light cli_light",
    "mesh": "test_mesh_extras check_surface cli_meshes cli_points cli_voxelize",
    "mip": "cli_mip",
    "primitives": "check_primitives check_segments",
    "reconstruct": "cli_reconstruct",
    "region": "cli_trees cli_pyramid",
    "render": "cli_render",
    "segment": "cli_segment",
    "solver": "check_distance cli_evolve cli_distance agree_500_steps",
    "surface": "check_surface cli_surface",
    "tiles": "test_tile_files test_levelset test_engine cli_tiles cli_evolve",
    "video": "cli_dirac cli_films",
    "vision": "check_features cli_features cli_depth cli_depthfilm cli_calibrate cli_mvv cli_multiview-textures",
    "volume": "check_distance cli_volumes cli_distance",
    "wavelet": "check_wavelet cli_wavelet cli_losses",
}
UNRUN = "device/cuda"  # a GPU's own queues and memory: the emulator has others
SKIPPED = 77  # exit code of a suite that lacks what it compares with
# Operators between operands only, with a space on both sides as the tree is formatted: pointers and signs have none behind them.
SITE = re.compile(r"(?<= )(?:<=|>=|==|!=|&&|\|\||<<|>>|\+=|-=|[-<>+*&|])(?= )"
                  r"|\b(?:fminf?|fmaxf?|tsr_(?:mini|maxi|min64|max64|minf|maxf))(?=\()"
                  r"|(?<![\w.\"'])(?<!\de-)(?<!\dp-)(?:0x[0-9a-fA-F]+|\d+\.\d*|\d+)(?=[fuUlL]*\b)(?![\w.]*[\"'])")
# One more of these is never met: the room of an array that is declared (a name behind the name of a type, or in a line of nothing but names), and how many
# turns of a loop a thread takes at a time.
DECLARED = re.compile(r"\b(?!(?:return|else|sizeof|case|goto)\b)\w+ (?:\*+|const |TSR_RESTRICT )*\(?\*?\w+\)?((?:\[[^\[\]]*\])+)")
NAMES = re.compile(r"^\s*(?:const |struct |unsigned )*\w+ [^()=]*;\s*$")
UNSEEN = re.compile(r"(?<=[\w\]])\[(\d+)\](?=(?:\[[^\[\]]*\])* = \{)|^\s*(?!return )(?:static |const |struct )*\w+ \*?\w+\[(\d+)\](?=(?:\[[^\[\]]*\])*[;,])"
                    r"|tsr_parallel\([^,]+, [^,]+, (\d+),")
LEFT_ALONE = re.compile(r"TSR_PRINTF|^\s*(#|//|\*|/\*|assert|_Static_assert|static_assert|struct |typedef |enum |case |extern )|TSR_FAIL|TSR_FAILED|TSR_TRY_MESSAGE|snprintf|fprintf|printf|\"")


def run(command, seconds=None, processor=None, **options):
    """Return code (None: ran too long, by the clock or by `processor` seconds of its own) and what was printed; nothing that it started stays behind."""
    if processor:
        options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(processor), int(processor) + 5))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, **options)
    try:
        text = process.communicate(timeout=seconds)[0]
        return None if processor and process.returncode == -signal.SIGXCPU else process.returncode, text
    except BaseException as why:  # two builds in one folder would spoil it
        os.killpg(process.pid, 9)
        process.communicate()
        if not isinstance(why, subprocess.TimeoutExpired):
            raise
        return None, ""


def code_lines(text):
    """Lines of the file that are code, by number."""
    inside = False
    for number, line in enumerate(text.split("\n")):
        comment = inside
        if "/*" in line and "*/" not in line[line.rindex("/*"):]:
            inside = True
        elif "*/" in line:
            inside = False
        if not comment and not LEFT_ALONE.search(line) and line.strip() and not line.rstrip().endswith("\\"):
            yield number, line


def sites(path):
    """(line, first, last, new text) of every change that the file allows."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = []
    for number, line in code_lines(text):
        code = line.split("/*")[0]
        unseen = {m.span(k) for m in UNSEEN.finditer(code) for k in (1, 2, 3)}
        rooms = [m.span(1) for m in DECLARED.finditer(code)] + ([(0, len(code))] if NAMES.match(code) and "[" in code else [])
        for m in SITE.finditer(code):
            old = m.group(0)
            if m.span() in unseen or old.isdigit() and any(a <= m.start() < b for a, b in rooms):
                continue
            if old in SWAPS:
                new = SWAPS[old]
            elif "." in old:
                new = repr(float(old) * 1.25 if float(old) else 0.25)
            else:
                new = hex(int(old, 16) + 1) if old.startswith("0x") else str(int(old) + 1)
            found.append((number, m.start(), m.end(), new))
    return text, found


class Copy:
    """A copy of the tree with a build folder of its own."""

    def __init__(self, tree, jobs, trusted, slow):
        self.tree, self.jobs, self.trusted, self.slow, self.build = tree, jobs, trusted, slow, os.path.join(tree, "build", "dev")
        if not os.path.isdir(os.path.join(tree, "src")):
            os.makedirs(tree, exist_ok=True)
            archive = subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE)
            subprocess.run(["tar", "x", "-C", tree], stdin=archive.stdout, check=True)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            code, text = run(["cmake", "--preset", "dev", "-G", "Ninja", "-DTESSERA_CUDA=OFF", *launcher], cwd=tree)
            if code:
                sys.exit(text)
        self.entries, self.needs = {}, {}

    def make(self, room, seconds=None):
        return run(["ninja", "-C", self.build, f"-j{self.jobs}", "tessera_emu", *self.needs.get(room, [f"suites_{room}"])], seconds)

    def listed(self, room):
        """What ctest knows of the room and of what stands beside it, built; `needs` becomes what a change is built into."""
        beside = BESIDE.get(room, "").split()
        for built in range(2):  # ctest does not say how to run what is not there
            tests, needs = [], {f"suites_{room}"}
            for test in json.loads(run(["ctest", "--test-dir", self.build, "--show-only=json-v1"])[1])["tests"]:
                labels = next((q["value"] for q in test.get("properties", []) if q["name"] == "LABELS"), [])
                own = room in labels
                if not own and re.sub(r"_(cpu|emu)$", "", test["name"]) not in beside:
                    continue
                tests.append((not own, test))
                if not built:
                    needs |= {f"suites_{label}" for label in labels} | {"examples/" + re.sub(r"_(cpu|emu)$", "", test["name"])}
                for word in " ".join(test.get("command", [])).split():
                    if word.startswith(self.build):
                        needs.add(os.path.relpath(word, self.build))
            known = {line.split(":")[0] for line in run(["ninja", "-C", self.build, "-t", "targets", "all"])[1].split("\n")}
            if beside:  # commands start programs and load modules that they do not name
                needs |= {n for n in known if n.startswith("bin/") or n.startswith("lib/") and n.endswith(".so")}
            self.needs[room] = sorted(n for n in needs if n in known or n.startswith("suites_") and any(k.endswith("/" + n) for k in known))
            code, text = self.make(room)
            if code:
                sys.exit(text[-3000:])
        lost = [test["name"] for _, test in tests if "command" not in test]
        if lost:
            print(f"{room}: left out, for what they run is not built: {' '.join(lost)}", flush=True)
        return [test for test in tests if "command" in test[1]]

    def suites(self, room):
        """The entries of a room, the quickest first, those beside it and slow ones last: [seconds, name, command, environment, folder]; measured, and left
        out where failing."""
        if room in self.entries:
            return self.entries[room]
        rows = []
        for near, test in self.listed(room):
            p = {q["name"]: q["value"] for q in test.get("properties", [])}
            slow = "slow" in p.get("LABELS", [])
            if slow and not self.slow:
                continue
            environment = {**os.environ, **dict(e.split("=", 1) for e in p.get("ENVIRONMENT", []))}
            folder = p.get("WORKING_DIRECTORY", self.build)
            row = [p.get("COST", 60 if slow else 1), test["name"], test["command"], environment, folder]
            if not self.trusted or row[0] < 5 and not row[1].startswith(("test_", "check_", "cli_")):
                began = time.time()
                code, _ = run(row[2], 900, env=environment, cwd=folder)
                row[0] = time.time() - began
                if code != 0:
                    print(f"{room}: {row[1]} {'lacks something' if code == SKIPPED else 'fails with nothing changed'} (exit code {code}): left out", flush=True)
                    continue
            rows.append((near, slow, row))
        self.entries[room] = [row for _, _, row in sorted(rows, key=lambda r: (r[1], r[0], r[2][0]))]
        return self.entries[room]

    def judge(self, room, path, seconds):
        """What found the change; None: nothing did; "": the time was over before all had been asked. Kernels alone are not asked for on the CPU, nor what
        only the CPU runs on the emulator."""
        began, self.asked = time.time(), 0
        other = "_cpu" if path.endswith(".cu") else "_emu" if path.endswith("_cpu.c") else None
        words = set(re.findall(r"[a-z]{3,}", os.path.basename(path)))
        for took, name, command, environment, folder in sorted(self.suites(room), key=lambda row: not words & set(row[1].split("_"))): # its namesakes first
            if other and name.endswith(other):
                continue
            if time.time() - began > seconds:
                return ""
            self.asked += 1
            # Processor time, for the machine may have other work; the clock for what waits for ever.
            code, _ = run(command, max(seconds, 60 * took), max(60, (60 if self.trusted else 6) * took), env=environment, cwd=folder)
            if code != 0:
                return name if code is not None else name + " (hangs)"
        return None


def rooms_with_suites(tree):
    return sorted(r for r in os.listdir(os.path.join(tree, "src")) if os.path.exists(os.path.join(tree, "tests", r, "CMakeLists.txt")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=20, help="changes that compile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", help="only these, with commas between")
    parser.add_argument("--headers", type=int, default=1, help="0: no changes in headers, which take long to build")
    parser.add_argument("--trusted", action="store_true", help="suites are known to pass: times of long ones are those of tests/costs.txt, only quick ones and those that are no test_... are run unchanged")
    parser.add_argument("--slow", action="store_true", help="ask the suites labelled slow, too, after the others")
    parser.add_argument("--seconds", type=float, default=600, help="for the suites of one change")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tree", default=os.path.join(ROOT, "build", "mutate"))
    parser.add_argument("--log", help="a JSON line for each change")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended: the file is put back"))
    copy = Copy(os.path.abspath(options.tree), options.jobs, options.trusted, options.slow)
    rooms = options.rooms.split(",") if options.rooms else rooms_with_suites(copy.tree)
    dice = random.Random(options.seed)
    found = survived = tries = 0
    by_room = {}
    while found + survived < options.n:
        tries += 1
        room = dice.choice(rooms)
        folder = os.path.join(copy.tree, "src", room)
        files = sorted(os.path.join(at, f) for at, _, names in os.walk(folder) for f in names
                       if (f.endswith((".c", ".cu")) or f.endswith(".h") and options.headers) and not at.endswith(UNRUN))
        places = [(path, site) for path in files for site in sites(path)[1]]
        if not places:
            continue
        path, (number, first, last, new) = dice.choice(places)
        if not copy.suites(room):
            sys.exit(f"{room}: no suite passes with nothing changed")
        text = sites(path)[0]
        lines = text.split("\n")
        old_line = lines[number]
        lines[number] = old_line[:first] + new + old_line[last:]
        name = f"{os.path.relpath(path, copy.tree)}:{number + 1}"
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(lines))
            code, _ = copy.make(room, 1800)
            if code != 0:
                print(f"      {name}: {'takes too long to build' if code is None else 'does not compile'}", flush=True)
                continue
            by = copy.judge(room, path, options.seconds)
            if by == "":
                print(f"      {name}: the suites take longer than {options.seconds:g} s", flush=True)
                continue
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        found += by is not None
        survived += by is None
        a, b = by_room.get(room, (0, 0))
        by_room[room] = (a + (by is not None), b + 1)
        print(f"{found + survived:4}  {name}: {'found by ' + by if by else f'SURVIVED {copy.asked} suites'}", flush=True)
        if not by:
            print("\n".join(difflib.unified_diff(text.split("\n"), lines, name, name, n=2, lineterm="")), flush=True)
        if options.log:
            with open(options.log, "a", encoding="utf-8") as f:
                f.write(json.dumps({"place": name, "old": old_line.strip(), "new": lines[number].strip(), "found": by, "seed": options.seed}) + "\n")
    print(f"found {found} of {found + survived} ({100 * found / max(1, found + survived):.0f} %), seed {options.seed}; by room: " +
          ", ".join(f"{r} {a}/{b}" for r, (a, b) in sorted(by_room.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
