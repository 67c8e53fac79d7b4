/* Peer of bench_voxelize: OpenVDB's meshToLevelSet and volumeToMesh (MPL-2.0). A small library that bench_voxelize opens if it is there. */
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/VolumeToMesh.h>
#include <tbb/global_control.h>

#include <memory>
#include <vector>

namespace {
struct peer {
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    openvdb::FloatGrid::Ptr grid;
};
} // namespace

#define PEER_API extern "C" __attribute__((visibility("default")))

/* Copies the mesh into OpenVDB's vectors (not timed). */
PEER_API void *peer_openvdb_create(const float *vertices, long long vertex_count, const unsigned *triangles, long long triangle_count)
{
    openvdb::initialize();
    auto p = std::make_unique<peer>();
    for (long long i = 0; i < vertex_count; i++) p->points.emplace_back(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
    for (long long i = 0; i < triangle_count; i++) p->triangles.emplace_back(triangles[3 * i], triangles[3 * i + 1], triangles[3 * i + 2]);
    return p.release();
}
PEER_API void peer_openvdb_destroy(void *handle) { delete static_cast<peer *>(handle); }

/* Narrow-band level set with this voxel size and half width in voxels; returns its active voxels. */
PEER_API long long peer_openvdb_level_set(void *handle, double spacing, float half_width, int threads)
{
    peer *p = static_cast<peer *>(handle);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, (size_t)threads);
    p->grid = openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(*openvdb::math::Transform::createLinearTransform(spacing), p->points, p->triangles, half_width);
    return (long long)p->grid->activeVoxelCount();
}
/* Mesh of the last level set, no adaptivity; returns its quads. */
PEER_API long long peer_openvdb_mesh(void *handle, int threads)
{
    peer *p = static_cast<peer *>(handle);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, (size_t)threads);
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec4I> quads;
    openvdb::tools::volumeToMesh(*p->grid, points, quads, 0.0);
    return (long long)quads.size();
}
/* Value of a voxel of the last level set. */
PEER_API float peer_openvdb_value(void *handle, int x, int y, int z)
{
    return static_cast<peer *>(handle)->grid->tree().getValue(openvdb::Coord(x, y, z));
}
