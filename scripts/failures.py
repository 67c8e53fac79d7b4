#!/usr/bin/env python3
"""The suites that failed in reports of ctest, each with the end of what it printed: the closing lines of a run, because the middle of a long log is cut.
usage: failures.py REPORT.xml..."""
import pathlib
import sys
import xml.etree.ElementTree

last_lines, widest = 15, 240
for path in map(pathlib.Path, sys.argv[1:]):
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.get("status") != "fail":
            continue
        print(f"failed: {path.parent.name} {case.get('name')}, {float(case.get('time')):.1f} s")
        for line in (case.findtext("system-out") or "").rstrip().splitlines()[-last_lines:]:
            print("   ", line[:widest])
