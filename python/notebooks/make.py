#!/usr/bin/env python3
"""Makes .ipynb files of the notebooks here, which are Python programs with cells behind "# %%": make.py [FOLDER] [NAME ...]"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def cells(text: str) -> list:
    made = []
    for part in text.split("\n# %%")[0:]:
        part = part[4:] if part.startswith("# %%") else part
        head, _, body = part.partition("\n")
        lines = body.strip("\n").splitlines()
        if "[markdown]" in head:
            lines = [line[2:] if line.startswith("# ") else line.lstrip("#") for line in lines]
        kind = "markdown" if "[markdown]" in head else "code"
        cell = {"cell_type": kind, "metadata": {}, "source": [line + "\n" for line in lines[:-1]] + lines[-1:]}
        made.append(cell if kind == "markdown" else cell | {"execution_count": None, "outputs": []})
    return made


def notebook(path: pathlib.Path) -> dict:
    for k, made in enumerate(found := cells(path.read_text())):
        made["id"] = f"cell{k}"
    return {"cells": found, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}


def main() -> int:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(HERE.glob("[0-9]*.py")):
        if not sys.argv[2:] or path.stem in sys.argv[2:]:
            (folder / f"{path.stem}.ipynb").write_text(json.dumps(notebook(path), indent=1) + "\n")
    (folder / "_data.py").write_text((HERE / "_data.py").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
