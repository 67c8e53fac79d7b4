"""pygltflib and trimesh write glTF and 3MF scenes that tessera reads, and read what tessera writes: accessors of every kind, nodes, colours."""
import base64
import json
import os
import struct

from exchange import main, run


def vertices_of(path, *options):
    """Vertices, triangles and colours as tessera reads them, through a text that is easy to take apart."""
    import numpy
    run("convert", path, *options, "-o", "peer.ply", "--ascii", "--force")
    lines = open("peer.ply").read().split("\n")
    end = lines.index("end_header")
    head = lines[:end]
    n = next(int(l.split()[2]) for l in head if l.startswith("element vertex"))
    m = next((int(l.split()[2]) for l in head if l.startswith("element face")), 0)
    names = [l.split()[-1] for l in head[:next((i for i, l in enumerate(head) if l.startswith("element face")), len(head))] if l.startswith("property")]
    rows = numpy.array([[float(x) for x in l.split()] for l in lines[end + 1:end + 1 + n]])
    faces = numpy.array([[int(x) for x in l.split()[1:4]] for l in lines[end + 1 + n:end + 1 + n + m]])
    return {name: rows[:, k] for k, name in enumerate(names)}, faces


def positions(table):
    import numpy
    return numpy.stack([table["x"], table["y"], table["z"]], 1)


def with_numpy(numpy):
    """Scenes by hand: every component type, interleaved, sparse, strips and fans, data URIs and files beside, transforms."""
    open("none.gltf", "w").write('{"asset":{"version":"2.0"}}')
    if "this build" in run("info", "none.gltf", code=1).stderr:
        print("skipped: no glTF in this build")
        return
    random = numpy.random.default_rng(9)
    points = random.standard_normal((6, 3)).astype("f4")
    order = numpy.array([0, 1, 2, 2, 1, 3, 3, 4, 5])

    def scene(blob, views, accessors, primitive, nodes=None, extra=None, name="a.gltf", uri=None):
        root = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": len(blob), "uri": uri or "data:application/octet-stream;base64," + base64.b64encode(blob).decode()}],
                "bufferViews": views, "accessors": accessors, "meshes": [{"primitives": primitive if isinstance(primitive, list) else [primitive]}],
                "nodes": nodes or [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0, **(extra or {})}
        open(name, "w").write(json.dumps(root))
        return name

    for code, kind in ((5121, "u1"), (5123, "<u2"), (5125, "<u4")):
        index = order.astype(kind).tobytes()
        blob = points.tobytes() + index
        views = [{"buffer": 0, "byteLength": 72}, {"buffer": 0, "byteOffset": 72, "byteLength": len(index)}]
        accessors = [{"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3"}, {"bufferView": 1, "componentType": code, "count": 9, "type": "SCALAR"}]
        table, faces = vertices_of(scene(blob, views, accessors, {"attributes": {"POSITION": 0}, "indices": 1}))
        assert numpy.array_equal(positions(table).astype("f4"), points) and numpy.array_equal(faces, order.reshape(3, 3)), code
    # a file beside, with a blank in its name; interleaved with a normal
    both = numpy.concatenate([points, numpy.tile([[0, 0, 1]], (6, 1))], 1).astype("f4")
    open("the data.bin", "wb").write(both.tobytes())
    accessors = [{"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3"}, {"bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 6, "type": "VEC3"}]
    for mode, expected in ((4, [[0, 1, 2], [3, 4, 5]]), (5, [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]), (6, [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])):
        table, faces = vertices_of(scene(both.tobytes(), [{"buffer": 0, "byteLength": 144, "byteStride": 24}], accessors,
                                         {"attributes": {"POSITION": 0, "NORMAL": 1}, "mode": mode}, uri="the%20data.bin"))
        assert numpy.array_equal(positions(table).astype("f4"), points) and numpy.array_equal(faces, expected) and numpy.array_equal(table["nz"], numpy.ones(6)), mode
    # sparse: two of six are other ones, on zeros
    blob = numpy.array([1, 4], "<u2").tobytes() + points[:2].tobytes()
    table, faces = vertices_of(scene(blob, [{"buffer": 0, "byteLength": 4}, {"buffer": 0, "byteOffset": 4, "byteLength": 24}],
                                     [{"componentType": 5126, "count": 6, "type": "VEC3", "sparse": {"count": 2, "indices": {"bufferView": 0, "componentType": 5123}, "values": {"bufferView": 1}}}],
                                     {"attributes": {"POSITION": 0}}))
    expected = numpy.zeros((6, 3), "f4")
    expected[[1, 4]] = points[:2]
    assert numpy.array_equal(positions(table).astype("f4"), expected)
    # nodes: a turn about z by 90 degrees, a scale, a mirror by a matrix below it
    half = 2 ** -0.5
    nodes = [{"children": [1, 2], "rotation": [0, 0, half, half], "translation": [10, 0, 0], "scale": [2, 2, 2]}, {"mesh": 0}, {"mesh": 0, "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1]}]
    one = [{"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3"}]
    table, faces = vertices_of(scene(points.tobytes(), [{"buffer": 0, "byteLength": 72}], one, {"attributes": {"POSITION": 0}}, nodes))
    turn = lambda p: numpy.stack([10 - 2 * p[:, 1], 2 * p[:, 0], 2 * p[:, 2]], 1)
    expected = numpy.concatenate([turn(points), turn(points * [-1, 1, 1] + [0, 0, 5])])
    assert numpy.allclose(positions(table), expected, atol=1e-5) and numpy.array_equal(faces, [[0, 1, 2], [3, 4, 5], [6, 8, 7], [9, 11, 10]])
    # colours are linear; those of the material are multiplied in
    color = random.integers(0, 256, (6, 4)).astype("u1")
    blob = points.tobytes() + color.tobytes()
    table, faces = vertices_of(scene(blob, [{"buffer": 0, "byteLength": 72}, {"buffer": 0, "byteOffset": 72, "byteLength": 24}],
                                     one + [{"bufferView": 1, "componentType": 5121, "normalized": True, "count": 6, "type": "VEC4"}],
                                     {"attributes": {"POSITION": 0, "COLOR_0": 1}, "material": 0}, extra={"materials": [{"pbrMetallicRoughness": {"baseColorFactor": [0.5, 1, 1, 1]}}]}))
    linear = color[:, :3] / 255 * [0.5, 1, 1]
    expected = numpy.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055) * 255
    assert numpy.abs(numpy.stack([table["red"], table["green"], table["blue"]], 1) - expected).max() < 0.51
    for name, what in (("KHR_draco_mesh_compression", "Draco"), ("EXT_meshopt_compression", "meshopt"), ("XYZ_unknown", "XYZ_unknown")):
        scene(points.tobytes(), [{"buffer": 0, "byteLength": 72}], one, {"attributes": {"POSITION": 0}}, extra={"extensionsRequired": [name]})
        assert what in run("info", "a.gltf", code=1).stderr


def with_trimesh(trimesh):
    import glob
    import numpy
    for mesh in (trimesh.creation.icosphere(3), trimesh.creation.box((1, 2, 3))):
        for name in ("t.glb", "t.gltf", "t.3mf"):
            if name.endswith("gltf"):
                for key, value in trimesh.exchange.gltf.export_gltf(trimesh.Scene(mesh)).items():
                    open("t.gltf" if key.endswith(".gltf") else key, "wb").write(value)
            else:
                try:
                    mesh.export(name)
                except Exception as e:
                    print("trimesh writes no", name, e)
                    continue
            table, faces = vertices_of(name)
            assert numpy.allclose(positions(table), mesh.vertices, atol=1e-6) and numpy.array_equal(faces, mesh.faces), name
    a, b = trimesh.creation.icosphere(1), trimesh.creation.box()
    scene = trimesh.Scene()
    scene.add_geometry(a, node_name="ball", transform=trimesh.transformations.translation_matrix((5, 0, 0)))
    scene.add_geometry(b, node_name="box", transform=trimesh.transformations.rotation_matrix(0.3, (1, 2, 3)))
    scene.export("s.glb")
    table, faces = vertices_of("s.glb")
    whole = scene.to_geometry() if hasattr(scene, "to_geometry") else scene.dump(concatenate=True)
    assert len(faces) == len(whole.faces) and abs(positions(table).sum() - whole.vertices.sum()) < 1e-4
    # back: positions, normals, triangles, colours, parts
    ball = trimesh.creation.icosphere(2)
    ball.visual.vertex_colors = numpy.random.default_rng(1).integers(0, 256, (len(ball.vertices), 4)).astype("u1")
    ball.export("b.ply")
    for suffix in ("glb", "3mf"):
        run("convert", "b.ply", "-o", "b." + suffix, "--force")
        back = trimesh.load("b." + suffix, force="mesh", process=False)
        assert numpy.allclose(back.vertices, ball.vertices, atol=1e-6) and numpy.array_equal(back.faces, ball.faces), suffix
        table, faces = vertices_of("b." + suffix)
        got = numpy.stack([table[c] for c in ("red", "green", "blue")], 1)
        assert numpy.array_equal(got, ball.visual.vertex_colors[:, :3]), suffix
    models = os.path.join(os.path.dirname(trimesh.__file__), "..", "models")
    for name in sorted(glob.glob(os.path.join(models, "*.gl*")) + glob.glob(os.path.join(models, "*.3mf"))):
        try:
            expected = trimesh.load(name, force="scene", process=False)
            expected = expected.to_geometry() if hasattr(expected, "to_geometry") else expected.dump(concatenate=True)
        except Exception:
            continue
        table, faces = vertices_of(name)
        assert len(faces) == len(expected.faces), (name, len(faces), len(expected.faces))


def with_pygltflib(pygltflib):
    import numpy
    open("t.off", "w").write("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
    run("convert", "t.off", "-o", "t.glb")
    g = pygltflib.GLTF2().load("t.glb")
    a = g.accessors[g.meshes[0].primitives[0].attributes.POSITION]
    assert a.count == 4 and a.min == [0, 0, 0] and a.max == [1, 1, 1] and g.asset.version == "2.0"
    blob = g.binary_blob()
    index = g.accessors[g.meshes[0].primitives[0].indices]
    view = g.bufferViews[index.bufferView]
    assert struct.unpack("<12I", blob[view.byteOffset:view.byteOffset + 48]) == (0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3)


main({"numpy": with_numpy, "trimesh": with_trimesh, "pygltflib": with_pygltflib})
