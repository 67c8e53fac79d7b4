// openvdb_peer: OpenVDB itself at the other end of .vdb files, for test_vdb.
//
//   openvdb_peer write FILE KIND                 a file made by OpenVDB; prints "active background" of its first grid
//   openvdb_peer read FILE GRID COORDINATES      COORDINATES: text, one "x y z" a line. Prints active voxels, background, the transform applied to
//                                                (1, 2, 3), then value and activity of each; values of inactive voxels as the side they are on
//   openvdb_peer values FILE GRID COORDINATES    a grid of any type: the box of its active voxels, how many, "class half trees" (how many grids share the tree of
//                                                this one), the transform applied to the corner of the box; then the components of each value
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include <openvdb/openvdb.h>
#include <openvdb/tools/Clip.h>
#include <openvdb/tools/Composite.h>
#include <openvdb/tools/LevelSetSphere.h>
#include <openvdb/tools/LevelSetUtil.h>
#include <openvdb/tools/MeshToVolume.h>

using openvdb::FloatGrid;
using openvdb::Vec3f;
using openvdb::Vec3s;

static FloatGrid::Ptr sphere(float radius, const Vec3f &centre, float h = 1)
{
    auto grid = openvdb::tools::createLevelSetSphere<FloatGrid>(radius, centre, h, 3);
    grid->setName("sphere");
    return grid;
}

// The upper half of a sphere as an open mesh of bands of quads.
static FloatGrid::Ptr bowl()
{
    std::vector<Vec3s> points;
    std::vector<openvdb::Vec4I> quads;
    const unsigned across = 48, down = 12;
    for (unsigned j = 0; j <= down; j++)
        for (unsigned i = 0; i < across; i++) {
            const double a = 2 * M_PI * i / across, b = 0.5 * M_PI * (j + 0.2) / (down + 0.2);
            points.emplace_back(20 * std::cos(a) * std::sin(b), 20 * std::sin(a) * std::sin(b), 20 * std::cos(b));
            if (j) quads.emplace_back((j - 1) * across + i, j * across + i, j * across + (i + 1) % across, (j - 1) * across + (i + 1) % across);
        }
    auto grid = openvdb::tools::meshToLevelSet<FloatGrid>(*openvdb::math::Transform::createLinearTransform(1), points, {}, quads, 3);
    grid->setName("bowl");
    return grid;
}

static void write(const char *path, const std::string &kind)
{
    openvdb::GridPtrVec grids;
    uint32_t compression = openvdb::io::COMPRESS_ACTIVE_MASK;
    if (kind == "sphere" || kind == "zip" || kind == "blosc" || kind == "plain" || kind == "half") {
        grids.push_back(sphere(20, Vec3f(3, -20, 40)));
        if (kind == "zip") compression |= openvdb::io::COMPRESS_ZIP;
        if (kind == "blosc") compression |= openvdb::io::COMPRESS_BLOSC;
        if (kind == "plain") compression = openvdb::io::COMPRESS_NONE;
        if (kind == "half") grids[0]->setSaveFloatAsHalf(true);
    } else if (kind == "turned") { // uneven spacing, rotated, far away
        auto grid = sphere(15, Vec3f(0, 0, 0));
        auto transform = openvdb::math::Transform::createLinearTransform(1);
        transform->preScale(openvdb::Vec3d(0.5, 0.75, 2));
        transform->postRotate(0.7, openvdb::math::Z_AXIS);
        transform->postRotate(-0.3, openvdb::math::X_AXIS);
        transform->postTranslate(openvdb::Vec3d(1000, -20, 3));
        grid->setTransform(transform);
        grids.push_back(grid);
    } else if (kind == "frustum") {
        auto grid = sphere(15, Vec3f(0, 0, 0));
        grid->setTransform(openvdb::math::Transform::createFrustumTransform(openvdb::BBoxd(openvdb::Vec3d(-30), openvdb::Vec3d(30)), 0.5, 10, 1));
        grids.push_back(grid);
    } else if (kind == "several") {
        auto points = openvdb::Vec3SGrid::create();
        points->setName("velocity");
        auto fog = sphere(9, Vec3f(0, 0, 0));
        openvdb::tools::sdfToFogVolume(*fog);
        fog->setName("density");
        auto second = sphere(12, Vec3f(1, 2, 3), 0.5f);
        second->setName("second");
        second->setCreator("openvdb_peer");
        second->insertMeta("frame", openvdb::Int32Metadata(12));
        grids = { points, fog, sphere(20, Vec3f(3, -20, 40)), second };
    } else if (kind == "fog") {
        grids.push_back(sphere(20, Vec3f(0, 0, 0)));
        openvdb::tools::sdfToFogVolume(static_cast<FloatGrid &>(*grids[0]));
        grids[0]->setName("density");
    } else if (kind == "unnamed-fog") { // of no class: the background tells
        grids.push_back(sphere(20, Vec3f(0, 0, 0)));
        openvdb::tools::sdfToFogVolume(static_cast<FloatGrid &>(*grids[0]));
        grids[0]->setGridClass(openvdb::GRID_UNKNOWN);
        grids[0]->setName("density");
    } else if (kind == "empty") {
        auto grid = FloatGrid::create(3);
        grid->setGridClass(openvdb::GRID_LEVEL_SET);
        grid->setName("empty");
        grids.push_back(grid);
    } else if (kind == "clipped" || kind == "clipped-far") { // the inside ends at a face; the second one within cells of 128^3
        const bool far = kind == "clipped-far";
        auto whole = far ? sphere(116, Vec3f(64, 64, 64)) : sphere(40, Vec3f(3, 5, 7));
        auto grid = openvdb::tools::clip(*whole, openvdb::BBoxd(openvdb::Vec3d(far ? -0.3 : -11.3), openvdb::Vec3d(far ? 300 : 100)));
        grid->setGridClass(openvdb::GRID_LEVEL_SET);
        grid->setName("clipped");
        grids.push_back(grid);
    } else if (kind == "pieces") { // what is left of the active voxels of a difference where the inside of the first is gone
        auto a = sphere(30, Vec3f(0, 0, 0)), b = sphere(20, Vec3f(20, 0, 0));
        openvdb::tools::csgDifference(*a, *b);
        a->tree().root().eraseBackgroundTiles();
        auto mask = sphere(12, Vec3f(0, 0, 30));
        auto grid = openvdb::tools::clip(*a, *openvdb::tools::sdfInteriorMask(*mask));
        grid->setGridClass(openvdb::GRID_LEVEL_SET);
        grid->setName("pieces");
        grids.push_back(grid);
    } else if (kind == "far-active") { // constants of 128^3 that are active, but outside the band: no more than inactive ones
        auto grid = sphere(20, Vec3f(3, -20, 40));
        for (int k = 0; k < 4; k++) grid->tree().addTile(2, openvdb::Coord(1024 + 256 * k, 0, 0), 3, true);
        grids.push_back(grid);
    } else if (kind == "cube-128" || kind == "cube-4096" || kind == "inside-4096" || kind == "checkers") { // small files of large lists
        auto grid = FloatGrid::create(3);
        grid->setGridClass(openvdb::GRID_LEVEL_SET);
        grid->setName("large");
        if (kind == "cube-128") grid->tree().addTile(2, openvdb::Coord(0), 1, true);
        if (kind == "cube-4096") grid->tree().addTile(3, openvdb::Coord(0), 1, true);
        if (kind == "inside-4096") grid->tree().addTile(3, openvdb::Coord(0), -3, false);
        for (int i = 0; kind == "checkers" && i < 1000; i++)
            grid->tree().addTile(2, openvdb::Coord(256 * (i % 10), 256 * (i / 10 % 10), 256 * (i / 100)), -3, false);
        grids.push_back(grid);
    } else if (kind == "many") { // of every type, one stored as half, one that shares a tree, all with words of their own
        auto density = sphere(20, Vec3f(3, -20, 40));
        openvdb::tools::sdfToFogVolume(*density);
        density->setName("density");
        density->setCreator("openvdb_peer");
        density->insertMeta("frame", openvdb::Int32Metadata(12));
        density->insertMeta("note", openvdb::StringMetadata("two\nlines"));
        auto half = density->deepCopy();
        half->setName("half");
        half->setSaveFloatAsHalf(true);
        auto twin = density->copy(); // another place, the same tree
        twin->setName("twin");
        twin->setTransform(openvdb::math::Transform::createLinearTransform(0.5));
        auto heat = openvdb::DoubleGrid::create(0);
        auto count = openvdb::Int32Grid::create(0);
        auto wide = openvdb::Int64Grid::create(0);
        auto solid = openvdb::BoolGrid::create(false);
        auto where = openvdb::MaskGrid::create();
        auto velocity = openvdb::Vec3SGrid::create();
        for (auto it = density->cbeginValueOn(); it; ++it) {
            openvdb::CoordBBox box;
            it.getBoundingBox(box);
            const double v = it.getValue();
            heat->tree().fill(box, v / 3, true);
            count->tree().fill(box, static_cast<int32_t>(1000 * v), true);
            wide->tree().fill(box, static_cast<int64_t>(1e15 * v), true);
            solid->tree().fill(box, v > 0.5, true);
            where->tree().fill(box, true, true);
            velocity->tree().fill(box, Vec3s(float(v), float(-2 * v), float(box.min().x())), true);
        }
        heat->setName("heat"), count->setName("count"), wide->setName("wide"), solid->setName("solid"), where->setName("where"), velocity->setName("velocity");
        heat->setGridClass(openvdb::GRID_FOG_VOLUME);
        grids = { density, half, twin, heat, count, wide, solid, where, velocity, sphere(20, Vec3f(3, -20, 40)) };
    } else if (kind == "tiles") { // a cloud of constants of 8^3 and 128^3 voxels around some that differ
        auto grid = FloatGrid::create(0.25f);
        grid->tree().addTile(2, openvdb::Coord(0, 0, 0), 2, true);
        grid->tree().addTile(1, openvdb::Coord(128, 8, 16), 3, true);
        for (int i = 0; i < 50; i++) grid->tree().setValue(openvdb::Coord(-i, 3 * i % 17, i % 5), float(i) / 7);
        grid->setGridClass(openvdb::GRID_FOG_VOLUME);
        grid->setName("cloud");
        grids.push_back(grid);
    } else if (kind == "bowl") {
        grids.push_back(bowl());
    } else {
        throw std::runtime_error("unknown kind " + kind);
    }
    openvdb::io::File file(path);
    file.setCompression(compression);
    file.write(grids);
    const auto first = openvdb::gridPtrCast<FloatGrid>(grids[0]);
    std::printf("%llu %.9g\n", static_cast<unsigned long long>(grids[0]->activeVoxelCount()), first ? double(first->background()) : 0);
}

static void read(const char *path, const char *name, const char *coordinates)
{
    openvdb::io::File file(path);
    file.open(false);
    const auto grid = openvdb::gridPtrCast<FloatGrid>(file.readGrid(name));
    if (!grid) throw std::runtime_error("no float grid");
    const openvdb::Vec3d p = grid->transform().indexToWorld(openvdb::Vec3d(1, 2, 3));
    const float band = grid->background();
    std::printf("%llu %.9g %.17g %.17g %.17g\n", static_cast<unsigned long long>(grid->activeVoxelCount()), double(band), p.x(), p.y(), p.z());
    auto accessor = grid->getConstAccessor();
    std::ifstream list(coordinates);
    for (int x, y, z; list >> x >> y >> z;) {
        float v = 0;
        const bool active = accessor.probeValue(openvdb::Coord(x, y, z), v);
        std::printf("%.9g %d\n", double(active ? v : v < 0 ? -band : band), int(active));
    }
}

template<typename T> static void put_value(const T &v) { std::printf("%.17g\n", static_cast<double>(v)); }
static void put_value(const Vec3s &v) { std::printf("%.17g %.17g %.17g\n", double(v.x()), double(v.y()), double(v.z())); }

template<typename Grid> static bool put_values(const openvdb::GridBase &base, const char *coordinates)
{
    if (!base.isType<Grid>()) return false;
    auto accessor = static_cast<const Grid &>(base).getConstAccessor();
    std::ifstream list(coordinates);
    for (int x, y, z; list >> x >> y >> z;) put_value(accessor.getValue(openvdb::Coord(x, y, z)));
    return true;
}

static void values(const char *path, const char *name, const char *coordinates)
{
    openvdb::io::File file(path);
    file.open(false);
    openvdb::GridBase::Ptr grid;
    int trees = 0;
    const auto all = file.getGrids();
    for (const auto &g : *all)
        if (g->getName() == name) grid = g;
    if (!grid) throw std::runtime_error("no grid " + std::string(name));
    for (const auto &g : *all) trees += g->constBaseTreePtr() == grid->constBaseTreePtr();
    const auto box = grid->evalActiveVoxelBoundingBox();
    const auto p = grid->transform().indexToWorld(box.min());
    std::printf("%d %d %d %d %d %d %llu\n", box.min().x(), box.min().y(), box.min().z(), box.max().x(), box.max().y(), box.max().z(),
                static_cast<unsigned long long>(grid->activeVoxelCount()));
    std::printf("%d %d %d %.17g %.17g %.17g\n", int(grid->getGridClass()), int(grid->saveFloatAsHalf()), trees, p.x(), p.y(), p.z());
    const bool known = put_values<FloatGrid>(*grid, coordinates) || put_values<openvdb::DoubleGrid>(*grid, coordinates) ||
                       put_values<openvdb::Int32Grid>(*grid, coordinates) || put_values<openvdb::Int64Grid>(*grid, coordinates) ||
                       put_values<openvdb::BoolGrid>(*grid, coordinates) || put_values<openvdb::MaskGrid>(*grid, coordinates) ||
                       put_values<openvdb::Vec3SGrid>(*grid, coordinates);
    if (!known) throw std::runtime_error("a grid of another type");
}

int main(int argc, char **argv)
{
    try {
        openvdb::initialize();
        if (argc == 4 && !std::strcmp(argv[1], "write")) write(argv[2], argv[3]);
        else if (argc == 5 && !std::strcmp(argv[1], "read")) read(argv[2], argv[3], argv[4]);
        else if (argc == 5 && !std::strcmp(argv[1], "values")) values(argv[2], argv[3], argv[4]);
        else throw std::runtime_error("usage: openvdb_peer write FILE KIND | read FILE GRID COORDINATES | values FILE GRID COORDINATES");
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "openvdb_peer: %s\n", error.what());
        return 1;
    }
}
