// nanovdb_peer: NanoVDB's own header at the other end of .nvdb files, for test_nvdb.
//
//   nanovdb_peer read FILE COORDINATES     COORDINATES: text, one "x y z" a line. Prints active voxels, background, leaves, statistics, the map
//                                          applied to (1,2,3), 1: valid level set, 2: valid fog volume, then one value a line.
//   nanovdb_peer write FILE KIND           a level set made by NanoVDB: sphere, torus, fp4, fp8, fp16, fpn, fog, or empty
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#define NANOVDB_USE_ZIP
#include <nanovdb/util/GridStats.h>
#include <nanovdb/util/GridValidator.h>
#include <nanovdb/util/IO.h>
#include <nanovdb/util/Primitives.h>

static int read(const char *path, const char *coordinates)
{
    auto handle = nanovdb::io::readGrid(path);
    const auto *grid = handle.grid<float>();
    if (!grid) throw std::runtime_error("no float grid");
    const auto &tree = grid->tree();
    const nanovdb::Vec3d p = grid->map().applyMap(nanovdb::Vec3d(1, 2, 3)), q = grid->map().applyInverseMap(p);
    float low, high;
    tree.extrema(low, high);
    const auto box = grid->indexBBox();
    std::printf("%llu %.9g %u %d\n", static_cast<unsigned long long>(grid->activeVoxelCount()), double(tree.background()), tree.nodeCount(0),
                nanovdb::isValid(*grid, false, true) ? grid->isLevelSet() ? 1 : grid->isFogVolume() ? 2 : 0 : 0);
    std::printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", p[0], p[1], p[2], q[0], q[1], q[2]);
    std::printf("%.9g %.9g %.9g %.9g %d %d %d %d %d %d\n", double(low), double(high), double(tree.root().average()),
                double(tree.root().stdDeviation()), box.min()[0], box.min()[1], box.min()[2], box.max()[0], box.max()[1], box.max()[2]);
    auto accessor = grid->getAccessor();
    std::ifstream list(coordinates);
    for (int x, y, z; list >> x >> y >> z;) {
        float v = 0;
        const bool active = accessor.probeValue(nanovdb::Coord(x, y, z), v);
        std::printf("%.9g %d\n", double(v), int(active));
    }
    return 0;
}

static int write(const char *path, const char *kind)
{
    nanovdb::GridHandle<> handle;
    const nanovdb::Vec3f centre(3, -20, 40);
    using nanovdb::createLevelSetSphere;
    if (!std::strcmp(kind, "sphere") || !std::strcmp(kind, "zip")) handle = createLevelSetSphere<float>(20.0f, centre, 0.5);
    else if (!std::strcmp(kind, "torus")) handle = nanovdb::createLevelSetTorus<float>(30.0f, 10.0f, centre, 1.0);
    else if (!std::strcmp(kind, "fog")) handle = nanovdb::createFogVolumeSphere<float>(20.0f, centre, 1.0);
    else if (!std::strcmp(kind, "fp4")) handle = createLevelSetSphere<float, nanovdb::Fp4>(20.0f, centre, 1.0);
    else if (!std::strcmp(kind, "fp8")) handle = createLevelSetSphere<float, nanovdb::Fp8>(20.0f, centre, 1.0);
    else if (!std::strcmp(kind, "fp16")) handle = createLevelSetSphere<float, nanovdb::Fp16>(20.0f, centre, 1.0);
    else if (!std::strcmp(kind, "fpn")) handle = createLevelSetSphere<float, nanovdb::FpN>(20.0f, centre, 1.0);
    else throw std::runtime_error(std::string("unknown kind ") + kind);
    nanovdb::io::writeGrid(path, handle, !std::strcmp(kind, "zip") ? nanovdb::io::Codec::ZIP : nanovdb::io::Codec::NONE);
    const auto *meta = handle.gridMetaData();
    std::printf("%llu\n", static_cast<unsigned long long>(meta->activeVoxelCount()));
    return 0;
}

int main(int argc, char **argv)
{
    try {
        if (argc == 4 && !std::strcmp(argv[1], "read")) return read(argv[2], argv[3]);
        if (argc == 4 && !std::strcmp(argv[1], "write")) return write(argv[2], argv[3]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "nanovdb_peer: %s\n", error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: %s read FILE COORDINATES | write FILE KIND\n", argv[0]);
    return 2;
}
