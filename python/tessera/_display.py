"""What objects show of themselves in notebooks, and the workbench in a notebook's frame."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np

from ._objects import Image, Mesh, Points, Volume
from ._tiles import Tiles


def volume_png(volume: Volume) -> bytes:
    """The three middle slices side by side, grey from the 1st to the 99th percentile, pixels as long as the voxels are."""
    values = (volume if volume.on_host else volume.to("cpu")).array
    z, y, x = (n // 2 for n in values.shape)
    sx, sy, sz = volume.spacing
    slices = [(values[z], sy, sx), (values[:, y], sz, sx), (values[:, :, x], sz, sy)]
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values.ravel()
    sample = finite[:: max(1, finite.size // 100000)]
    low, high = (np.percentile(sample, (1, 99)) if sample.size else (0.0, 1.0))
    shown = [s for s in slices if min(s[0].shape) > 1] or slices[:1]
    pictures = []
    for pixels, down, across in shown:
        least = min(down, across)
        rows = np.minimum(np.arange(max(1, round(pixels.shape[0] * down / least))) * least / down, pixels.shape[0] - 1).astype(int)
        columns = np.minimum(np.arange(max(1, round(pixels.shape[1] * across / least))) * least / across, pixels.shape[1] - 1).astype(int)
        grey = np.nan_to_num((pixels[np.ix_(rows, columns)].astype(float) - low) / max(high - low, 1e-30))
        pictures.append((np.clip(grey, 0, 1) * 255).astype(np.uint8))
    tall = max(p.shape[0] for p in pictures)
    sheet = np.concatenate([np.pad(p, ((0, tall - p.shape[0]), (0, 4))) for p in pictures], axis=1)
    return Image(sheet)._repr_png_()


def mesh_png(mesh: Mesh) -> bytes:
    """A picture from the front and above."""
    from ._pictures import render

    return render(mesh, size=(480, 360))._repr_png_()


class Viewer:
    """The workbench on an object: shows itself as a frame in notebooks; `address` opens in a browser; `close` ends it."""

    def __init__(self, thing: Any, size: tuple[int, int] = (960, 640)) -> None:
        import re
        import shutil
        import subprocess
        import tempfile

        from ._files import write

        program = os.environ.get("TESSERA_COMMAND") or shutil.which("tessera") or str(pathlib.Path(__file__).parent / "bin" / "tessera")
        if not os.access(program, os.X_OK):
            raise FileNotFoundError("the program 'tessera' is not installed: put it on the PATH or set TESSERA_COMMAND")
        self.size = size
        self._folder = tempfile.TemporaryDirectory()
        ending = ".tsr" if isinstance(thing, Tiles) else ".ply" if isinstance(thing, (Mesh, Points)) else ".png" if isinstance(thing, Image) else ".nrrd"
        path = pathlib.Path(self._folder.name) / f"object{ending}"
        write(thing, path)
        self._process = subprocess.Popen([program, "serve", str(path), "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.address = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = re.search(r"https?://\S+", line)
            if found:
                self.address = found.group(0)
                break
        if not self.address:
            self.close()
            raise RuntimeError("the workbench did not start")

    def close(self) -> None:
        """Ends the workbench and removes its file."""
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def _repr_html_(self) -> str:
        width, height = self.size
        return f'<iframe src="{self.address}" width="{width}" height="{height}" style="border:0"></iframe>'

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def view(thing: Any, size: tuple[int, int] = (960, 640)) -> Viewer:
    """Opens the workbench on a volume, picture, mesh, cloud or level set, in the notebook's frame."""
    return Viewer(thing, size)
