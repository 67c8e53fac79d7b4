#!/usr/bin/env bash
# Installs the system packages that are missing, with apt (as root or through sudo), and says so. Does nothing when all are there.
#   scripts/setup.sh [--deep] [--docs] [--lint]    core packages, plus those of sanitizer/fuzz runs, of the reference, of formatting
# Package names are those of Debian 12 and Ubuntu 24.04.
set -euo pipefail

packages=(build-essential cmake ninja-build pkg-config zlib1g-dev libdeflate-dev libzstd-dev libpng-dev libcmocka-dev
    libtiff-dev libhdf5-dev libblosc-dev libopenexr-dev libwebp-dev libjxl-dev liblzma-dev libgdcm-dev # file formats
    libjpeg-dev libwebsockets-dev libjansson-dev) # the workbench; libjpeg-dev brings libjpeg-turbo
for option in "$@"; do
    case $option in
    --deep) packages+=(clang libomp-dev libboost-iostreams-dev libnanovdb-dev libopenvdb-dev libopenjp2-7-dev libopenmpi-dev openmpi-bin python3-pywt python3-numpy python3-cffi python3-pytest python3-pip python3-venv python3-wheel python3-setuptools ffmpeg) # clang's OpenMP; OpenVDB's headers need Boost's
        if apt-cache show chromium-driver >/dev/null 2>&1; then packages+=(chromium chromium-driver); fi ;; # Ubuntu has them as snaps only: the browser test is skipped there
    --docs) packages+=(doxygen) ;;
    --lint) packages+=(clang-format clang-tidy shellcheck) ;;
    *) echo "setup: unknown option '$option', expected --deep, --docs or --lint" >&2; exit 2 ;;
    esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup: no apt here. Needed: a C11/C++17 compiler, CMake 3.25, pkg-config, zlib, libpng; better with libdeflate; tests with cmocka." >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: missing packages: ${missing[*]}. Install them as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
quiet=(-qq -o Dpkg::Use-Pty=0)
install() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${quiet[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null; }
if ! install 2>/dev/null; then # package lists may be missing or old
    "${as_root[@]}" apt-get "${quiet[@]}" update
    install
fi
