#!/bin/sh
# runpath.sh FOLDER: no program or library of the folder looks for libraries in the working folder: no search path has an empty or relative element.
set -u
command -v readelf >/dev/null || { echo "runpath: skipped (no readelf)"; exit 77; }
seen=0 bad=0
for file in $(find "$1/bin" "$1/lib"* -type f); do
    paths=$(readelf -d "$file" 2>/dev/null) || continue
    seen=$((seen + 1))
    paths=$(printf '%s\n' "$paths" | sed -n 's/.*(R[A-Z]*PATH).*\[\(.*\)\]/\1/p')
    [ -n "$paths" ] || continue
    for one in $(printf '%s\n' "$paths" | sed 's/^:/EMPTY:/; s/:$/:EMPTY/; s/::/:EMPTY:/g' | tr ':' ' '); do
        case $one in
        /* | '$ORIGIN'*) ;;
        *)
            echo "$file: search path '$paths' has the element '$one'"
            bad=1
            ;;
        esac
    done
done
[ "$seen" -gt 0 ] && [ "$bad" -eq 0 ]
