#!/usr/bin/env python3
"""Fusion of depth maps beside Open3D's ScalableTSDFVolume and VoxelBlockGrid, one thread each: fusion.py [--voxel 0.02 0.006] [--frames 12]

The maps are those of a ring of cameras around a generated scene, 640 x 480 with pictures, drawn before the clock starts. Times are processor times of
integration alone, the median over the maps. A peer whose volume is empty afterwards did not integrate, and is printed as such: its time says nothing.
Needs the Python package of this repository and PyPI `open3d` (or open3d-cpu)."""
import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
import open3d  # noqa: E402
import tessera as ts  # noqa: E402

SIZE = (640, 480)


def median_of(call, frames):
    spent = []
    for frame in frames:
        start = time.process_time()
        call(*frame)
        spent.append(time.process_time() - start)
    return 1e3 * float(np.median(spent))


def extent(points):
    points = np.asarray(points)
    return "a box of %s" % np.round(points.max(0) - points.min(0), 2).tolist() if len(points) else "EMPTY"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--voxel", type=float, nargs="*", default=[0.02, 0.006])
    parser.add_argument("--frames", type=int, default=12)
    o = parser.parse_args()
    core, integration = open3d.core, open3d.pipelines.integration
    own, legacy, blocks = [], [], []
    for camera in ts.Rig.make("ring", count=o.frames, distance=4, height=1.5, width=SIZE[0], height_pixels=SIZE[1]).cameras:
        picture, depth = ts.analytic("head", camera, SIZE)
        picture, depth = np.ascontiguousarray(picture), np.ascontiguousarray(depth, np.float32)
        own.append((depth, camera, picture))
        focal = SIZE[1] / 2 / np.tan(np.radians(camera.fov) / 2)
        pose = np.eye(4)
        pose[:3, :3] = np.diag([1.0, -1, -1]) @ np.asarray(camera.rotation)
        pose[:3, 3] = -pose[:3, :3] @ np.asarray(camera.position)
        rgbd = open3d.geometry.RGBDImage.create_from_color_and_depth(open3d.geometry.Image(picture), open3d.geometry.Image(depth), 1.0, 20.0, False)
        k = open3d.camera.PinholeCameraIntrinsic(*SIZE, focal, focal, SIZE[0] / 2 - 0.5, SIZE[1] / 2 - 0.5)
        legacy.append((rgbd, k, pose))
        image = open3d.t.geometry.Image
        blocks.append((image(depth), image(picture.astype(np.float32)), core.Tensor(k.intrinsic_matrix), core.Tensor(pose)))
    for voxel in o.voxel:
        fusion = ts.Fusion(voxel)
        scalable = integration.ScalableTSDFVolume(voxel, 4 * voxel, integration.TSDFVolumeColorType.RGB8)
        grid = open3d.t.geometry.VoxelBlockGrid(("tsdf", "weight", "color"), (core.float32, core.float32, core.float32), ((1), (1), (3)), voxel, 8, 60000)

        def integrate(depth, picture, k, pose):
            grid.integrate(grid.compute_unique_block_coordinates(depth, k, pose, 1.0, 20.0, 4.0), depth, picture, k, k, pose, 1.0, 20.0, 4.0)

        a = median_of(fusion.add, own)
        print("voxel %g  tessera             %7.1f ms a map, %s" % (voxel, a, extent(fusion.mesh().vertices)))
        b = median_of(scalable.integrate, legacy)
        print("voxel %g  ScalableTSDFVolume  %7.1f ms, %.1f times, %s" % (voxel, b, b / a, extent(scalable.extract_point_cloud().points)))
        c = median_of(integrate, blocks)
        print("voxel %g  VoxelBlockGrid      %7.1f ms, %.1f times, %s" % (voxel, c, c / a, extent(grid.extract_point_cloud(0.0).point.positions.numpy())))


if __name__ == "__main__":
    with ts.Context("cpu", threads=1):
        main()
