#!/usr/bin/env python3
"""Stream lines of tessera and of vtkStreamTracer (PyPI vtk): the same field, seeds, step and number of steps, one thread each, in the same run.

    vtk_streamlines.py TESSERA [SIZE]

Prints points per second of both and how far the ends of the lines are apart, in cells. Times of tessera are those it prints for the tracing alone; vtkStreamTracer's are of
Update() without vorticity."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy

STEPS = 200


def run(*arguments):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run(arguments, check=True, capture_output=True, text=True, env=environment).stdout


def lines_of(data):
    """Points and, for each line, its first and last point by the seed it goes through."""
    points = vtk_to_numpy(data.GetPoints().GetData())
    cells = data.GetLines()
    offsets = vtk_to_numpy(cells.GetOffsetsArray())
    corners = vtk_to_numpy(cells.GetConnectivityArray())
    return points, offsets, corners


def main():
    tessera, size = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "100"
    folder = tempfile.mkdtemp()
    field, seeds, out = (os.path.join(folder, name) for name in ("field.vtk", "seeds.xyz", "lines.vtk"))
    run(tessera, "make", "field-abc", "--size", size, "-o", field)
    run(tessera, "streamlines", field, "--seeding", "random", "--count", "5519", "--max-steps", "1", "--direction", "forward", "--ascii", "-o", out)
    reader = vtk.vtkPolyDataReader()
    reader.SetFileName(out)
    reader.Update()
    points, offsets, corners = lines_of(reader.GetOutput())
    start = points[corners[offsets[:-1]]].astype(numpy.float64)
    numpy.savetxt(seeds, start, fmt="%.9g")

    image = vtk.vtkStructuredPointsReader()
    image.SetFileName(field)
    image.Update()
    cell = min(image.GetOutput().GetSpacing())
    ends = {}
    for way, name in ((vtk.vtkStreamTracer.FORWARD, "forward"), (vtk.vtkStreamTracer.BACKWARD, "backward")):
        best = 0
        for _ in range(3):
            told = json.loads(run(tessera, "streamlines", field, "--seed-file", seeds, "--parameter", "arc", "--max-steps", str(STEPS), "--direction", name,
                                  "--json", "--force", "--threads", "1", "-o", out))
            best = max(best, told["points"] / told["seconds"])
        reader = vtk.vtkPolyDataReader()
        reader.SetFileName(out)
        reader.Update()
        points, offsets, corners = lines_of(reader.GetOutput())
        far = offsets[1:] - 1 if name == "forward" else offsets[:-1]
        ours = points[corners[far]]
        counts = numpy.diff(offsets)

        cloud = vtk.vtkPoints()
        for p in start:
            cloud.InsertNextPoint(*p)
        source = vtk.vtkPolyData()
        source.SetPoints(cloud)
        rate = 0
        for _ in range(3):
            tracer = vtk.vtkStreamTracer()
            tracer.SetInputData(image.GetOutput())
            tracer.SetSourceData(source)
            tracer.SetIntegrationDirection(way)
            tracer.SetIntegratorTypeToRungeKutta4()
            tracer.SetIntegrationStepUnit(vtk.vtkStreamTracer.LENGTH_UNIT)
            tracer.SetInitialIntegrationStep(0.5 * cell)
            tracer.SetMaximumNumberOfSteps(STEPS - 1)
            tracer.SetMaximumPropagation(1e9)
            tracer.SetTerminalSpeed(1e-12)
            tracer.SetComputeVorticity(False)
            began = time.perf_counter()
            tracer.Update()
            rate = max(rate, tracer.GetOutput().GetNumberOfPoints() / (time.perf_counter() - began))
        data = tracer.GetOutput()
        theirs, their_offsets, their_corners = lines_of(data)
        ids = vtk_to_numpy(data.GetCellData().GetArray("SeedIds"))
        print(f"{name}: tessera {best / 1e6:.1f} M points/s, vtkStreamTracer {rate / 1e6:.2f} M points/s: {best / rate:.1f} times")
        gaps = []
        for line, seed in enumerate(ids):
            last = theirs[their_corners[their_offsets[line + 1] - 1]]
            number = their_offsets[line + 1] - their_offsets[line]
            if counts[seed] == STEPS + 1 and number == STEPS + 1:  # neither met the border
                gaps.append(numpy.linalg.norm(last - ours[seed]) / cell)
        gaps = numpy.array(gaps)
        print(f"  {len(gaps)} lines of {STEPS} steps in both: ends apart by {numpy.median(gaps):.2g} cells (median), 99 % below {numpy.quantile(gaps, 0.99):.2g}, most {gaps.max():.2g}")
        ends[name] = gaps
    return 0


if __name__ == "__main__":
    sys.exit(main())
