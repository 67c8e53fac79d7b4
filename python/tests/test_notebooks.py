"""The notebooks run to their end, on small settings, as programs; and, where nbclient is installed, one of them as the notebook that is made of it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NAMES = sorted(p.stem for p in FOLDER.glob("[0-9]*.py"))
SETTINGS = {"TESSERA_SMALL": "1", "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("name", NAMES)
def test_program(name: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(FOLDER / f"{name}.py")], env=os.environ | SETTINGS | {"TESSERA_OUT": str(tmp_path)}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    print(done.stdout)


def made(folder: Path) -> list[Any]:
    subprocess.run([sys.executable, str(FOLDER / "make.py"), str(folder)], check=True)
    return [json.loads((folder / f"{name}.ipynb").read_text()) for name in NAMES]


def test_ten_notebooks(tmp_path: Path) -> None:
    assert len(NAMES) == 10
    for name, notebook in zip(NAMES, made(tmp_path)):
        kinds = [cell["cell_type"] for cell in notebook["cells"]]
        assert kinds[0] == "markdown" and kinds.count("code") >= 2, name
        code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
        compile(code, name, "exec")
        assert "assert" in code and "tessera" in code, name


@pytest.mark.skipif(not importlib.util.find_spec("nbclient"), reason="nbclient is not installed")
def test_as_a_notebook(tmp_path: Path) -> None:
    import nbclient
    import nbformat

    made(tmp_path)
    notebook = nbformat.read(str(tmp_path / "09_octree_queries.ipynb"), 4)
    os.environ.update(SETTINGS)
    nbclient.NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = [o.get("text", "") for cell in notebook.cells for o in cell.get("outputs", [])]
    assert any("leaves" in t for t in texts)
