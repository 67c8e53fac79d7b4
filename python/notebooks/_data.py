"""Where the notebooks find their data, and how much they do: with TESSERA_SMALL set they take seconds (tests), else what one would do at a desk."""

import os
import pathlib

SMALL = bool(os.environ.get("TESSERA_SMALL"))
OUT = pathlib.Path(os.environ.get("TESSERA_OUT", "."))
OUT.mkdir(parents=True, exist_ok=True)


def real(*names):
    """The first of these files that is there: under TESSERA_DATA, or under data/, which scripts/get-data.sh fills. None: none."""
    source = pathlib.Path(os.environ.get("TESSERA_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
    folders = [os.environ.get("TESSERA_DATA"), source / "data", source.parent / "shared" / "data", "data"]
    for name in names:
        for folder in folders:
            if folder and (pathlib.Path(folder) / name).exists():
                return str(pathlib.Path(folder) / name)
    return None


def show(picture, name):
    """Keeps a picture beside the notebook, and gives it to be shown."""
    picture.save(OUT / name)
    return picture
