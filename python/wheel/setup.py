"""The wheel holds a shared library and no extension module: it is of one machine, and of every Python. In a source archive the library is built first."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class FromSource(build_py):
    """Builds the library with CMake where only its sources are there."""

    def run(self):
        super().run()
        source = HERE / "src"
        if not source.is_dir():
            return
        build = HERE / "build" / "library"
        subprocess.check_call(
            ["cmake", "-S", str(HERE), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DTESSERA_EMU=OFF", "-DTESSERA_TESTS=OFF", "-DTESSERA_BENCH=OFF"]
            + [f"-DTESSERA_CUDA={os.environ.get('TESSERA_CUDA', 'OFF')}"]
            + os.environ.get("CMAKE_ARGS", "").split()
        )
        subprocess.check_call(["cmake", "--build", str(build), "-j", os.environ.get("JOBS", str(os.cpu_count() or 1)), "--target", "tessera"])
        package = pathlib.Path(self.build_lib) / "tessera"
        (package / "lib").mkdir(parents=True, exist_ok=True)
        shutil.copy(build / "lib" / "libtessera.so.0.1", package / "lib" / "libtessera.so.0.1")
        if shutil.which("strip"):
            subprocess.check_call(["strip", str(package / "lib" / "libtessera.so.0.1")])
        subprocess.check_call([sys.executable, str(HERE / "python" / "generate.py"), "--headers", str(HERE / "include"), "--output", str(package / "_declarations.py")])


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ.get("TESSERA_WHEEL_TAG") or f"linux_{platform.machine()}"


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": AnyPython, "build_py": FromSource})
