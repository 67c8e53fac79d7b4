#!/usr/bin/env bash
# API reference of include/tessera as HTML in build/docs.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/docs
doxygen - <<END
PROJECT_NAME = tessera
INPUT = include/tessera README.md docs/guide docs/theory docs/references.md docs/measured.md
USE_MDFILE_AS_MAINPAGE = README.md
RECURSIVE = YES
OUTPUT_DIRECTORY = build/docs
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = YES
OPTIMIZE_OUTPUT_FOR_C = YES
MACRO_EXPANSION = YES
PREDEFINED = TSR_API= TSR_CHECKED=
GENERATE_LATEX = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
END
echo "build/docs/html/index.html"
