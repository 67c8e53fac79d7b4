#!/usr/bin/env python3
"""The suites that failed in a report of ctest, each with the end of what it printed: the closing lines of a run, because the middle of a long log is cut.
Those that a second report tells to have passed when tried again are called unsteady.
usage: failures.py REPORT.xml [AGAIN.xml] | --names REPORT.xml
  --names  prints a regular expression of their names instead, for ctest -R"""
import pathlib
import re
import sys
import xml.etree.ElementTree

last_lines, widest = 15, 240


def cases(path):
    return list(xml.etree.ElementTree.parse(path).iter("testcase"))


if sys.argv[1] == "--names":
    print("^(" + "|".join(re.escape(case.get("name")) for case in cases(sys.argv[2]) if case.get("status") == "fail") + ")$")
    sys.exit()
steady = {case.get("name") for case in cases(sys.argv[2]) if case.get("status") != "fail"} if len(sys.argv) > 2 else set()
for case in cases(sys.argv[1]):
    if case.get("status") != "fail":
        continue
    word = "unsteady (passed when tried again)" if case.get("name") in steady else "failed"
    print(f"{word}: {pathlib.Path(sys.argv[1]).parent.name} {case.get('name')}, {float(case.get('time')):.1f} s")
    for line in (case.findtext("system-out") or "").rstrip().splitlines()[-last_lines:]:
        print("   ", line[:widest])
