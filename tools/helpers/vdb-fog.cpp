#include "vdb-fog.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <openvdb/openvdb.h>
#include <openvdb/tools/Dense.h>

using openvdb::Coord;
using openvdb::CoordBBox;
using openvdb::GridBase;
template <typename T> using Dense = openvdb::tools::Dense<T, openvdb::tools::LayoutXYZ>; // x fastest

// ---- what a file holds --------------------------------------------------------------------------------------------------------------------------

// Which grid shares the tree of which: OpenVDB's reader keeps that to itself, and the heads of the grids say it.
static std::map<std::string, std::string> shared_trees(const char *path)
{
    std::map<std::string, std::string> parents;
    std::ifstream file(path, std::ios::binary);
    const auto number = [&file](auto value) {
        file.read(reinterpret_cast<char *>(&value), sizeof value);
        return value;
    };
    const auto text = [&file, &number] { // lengths were compared with the file before (Scan)
        std::string value(number(uint32_t()), '\0');
        file.read(&value[0], static_cast<std::streamsize>(value.size()));
        return value;
    };
    number(int64_t());
    if (number(uint32_t()) < 222) return parents;
    file.seekg(8 + 1 + 36, std::ios::cur);
    for (int32_t k = number(int32_t()); k > 0 && file; k--) { text(), text(), text(); }
    for (int32_t k = number(int32_t()); k > 0 && file; k--) {
        const std::string name = text();
        text();
        const std::string parent = text();
        number(int64_t()), number(int64_t());
        const int64_t end = number(int64_t());
        if (!parent.empty()) parents[openvdb::io::GridDescriptor::nameAsString(name)] = openvdb::io::GridDescriptor::nameAsString(parent);
        file.seekg(end);
    }
    return parents;
}

static std::string plain(std::string text)
{
    for (char &c : text)
        if (static_cast<unsigned char>(c) < 32) c = ' ';
    return text;
}

void list_grids(const char *path)
{
    openvdb::io::File file(path);
    file.open();
    const auto parents = shared_trees(path);
    for (auto it = file.beginName(); it != file.endName(); ++it) {
        const std::string name = it.gridName();
        const auto grid = file.readGridMetadata(name);
        const auto parent = parents.find(name);
        const auto tree = parent == parents.end() ? grid : file.readGridMetadata(parent->second); // its head says what the tree holds
        const auto low = tree->getMetadata<openvdb::Vec3IMetadata>("file_bbox_min"),
                   high = tree->getMetadata<openvdb::Vec3IMetadata>("file_bbox_max");
        const auto count = tree->getMetadata<openvdb::Int64Metadata>("file_voxel_count");
        const openvdb::Vec3i a = low ? low->value() : openvdb::Vec3i(0), b = high ? high->value() : openvdb::Vec3i(-1);
        std::printf("%s\t%s\t%s\t%d\t%s\t%d %d %d %d %d %d\t%lld\n", plain(name).c_str(), grid->valueType().c_str(),
                    GridBase::gridClassToString(grid->getGridClass()).c_str(), grid->saveFloatAsHalf() ? 1 : 0,
                    parent == parents.end() ? "" : plain(parent->second).c_str(), a.x(), a.y(), a.z(), b.x(), b.y(), b.z(),
                    static_cast<long long>(count ? count->value() : -1));
    }
}

// ---- reading -----------------------------------------------------------------------------------------------------------------------------------

static void put(const void *bytes, size_t size)
{
    if (std::fwrite(bytes, 1, size, stdout) != size) throw std::runtime_error("standard output is closed");
}

// What OpenVDB says of a grid by metadata of its own, which it makes again when it writes.
static bool is_own(const std::string &key)
{
    static const char *const own[] = { "class", "name", "is_local_space", "is_saved_as_half_float", "vector_type", "delayed_load", "value_type" };
    for (const char *word : own)
        if (key == word) return true;
    return key.compare(0, 5, "file_") == 0;
}

static void put_head(const GridBase &grid, const char *dtype, int channels, const CoordBBox &box, double background)
{
    std::vector<std::pair<std::string, std::string>> meta;
    for (auto it = grid.beginMeta(); it != grid.endMeta(); ++it)
        if (!is_own(it->first) && it->second) meta.emplace_back(it->first, it->second->str());
    const auto size = box.dim();
    std::printf("fog %s %d %d %d %d %.9g %zu %zu", dtype, channels, size.x(), size.y(), size.z(), background, grid.getName().size(), meta.size());
    const openvdb::Mat4d m = grid.transform().baseMap()->getAffineMap()->getMat4(); // row vectors: world = (x, y, z, 1) M
    const openvdb::Vec3d origin = grid.transform().indexToWorld(openvdb::Vec3d(box.min().x(), box.min().y(), box.min().z()));
    for (int r = 0; r < 3; r++) std::printf(" %.17g %.17g %.17g %.17g", m(0, r), m(1, r), m(2, r), origin[r]);
    std::printf("\n");
    put(grid.getName().data(), grid.getName().size());
    for (const auto &m2 : meta) {
        std::printf("%zu %zu\n", m2.first.size(), m2.second.size());
        put(m2.first.data(), m2.first.size());
        put(m2.second.data(), m2.second.size());
    }
}

// Slabs of 64 slices, from the lower leaves up.
template <typename Tree, typename T, typename Pick> static void put_voxels(const Tree &tree, const CoordBBox &box, Pick pick)
{
    using Value = typename Tree::ValueType;
    for (int z = box.min().z(); z <= box.max().z();) {
        const int end = std::min(box.max().z(), (z | 63));
        const CoordBBox slab(Coord(box.min().x(), box.min().y(), z), Coord(box.max().x(), box.max().y(), end));
        Dense<Value> dense(slab);
        openvdb::tools::copyToDense(tree, dense);
        const Value *from = dense.data();
        const size_t count = static_cast<size_t>(slab.volume());
        std::vector<T> to(count);
        for (size_t i = 0; i < count; i++) to[i] = pick(from[i]);
        put(to.data(), count * sizeof(T));
        z = end + 1;
    }
}

template <typename Grid, typename T, typename Pick>
static bool put_grid(const GridBase &base, const char *dtype, int channels, double background, Pick pick)
{
    if (!base.isType<Grid>()) return false;
    const Grid &grid = static_cast<const Grid &>(base);
    CoordBBox box = grid.evalActiveVoxelBoundingBox();
    if (box.empty()) box = CoordBBox(Coord(0), Coord(0));
    put_head(base, dtype, channels, box, background);
    put_voxels<typename Grid::TreeType, T>(grid.tree(), box, pick);
    return true;
}

template <typename Grid, typename T> static bool put_scalar(const GridBase &base, const char *dtype)
{
    const double background = base.isType<Grid>() ? static_cast<double>(static_cast<const Grid &>(base).background()) : 0;
    return put_grid<Grid, T>(base, dtype, 1, background, [](typename Grid::ValueType v) { return static_cast<T>(v); });
}
template <typename Grid, typename T> static bool put_vector(const GridBase &base, const char *dtype, int channel)
{
    return put_grid<Grid, T>(base, dtype, 3, 0, [channel](const typename Grid::ValueType &v) { return static_cast<T>(v[channel]); });
}

static bool is_number(const GridBase &grid) { return grid.isType<openvdb::FloatGrid>() || grid.isType<openvdb::DoubleGrid>(); }

// The grid of that name; else the first fog volume, else the first of numbers that is no level set, else the first that is none.
static GridBase::Ptr find_fog(const char *path, const char *name)
{
    openvdb::io::File file(path);
    file.open(false); // values now, not when they are touched
    std::string seen, best;
    int rank = 0;
    for (auto it = file.beginName(); it != file.endName(); ++it) {
        const auto grid = file.readGridMetadata(it.gridName());
        const auto kind = grid->getGridClass();
        seen += (seen.empty() ? "" : ", ") + it.gridName() + " (" + grid->valueType() + ", " + GridBase::gridClassToString(kind) + ")";
        const int own = name                              ? it.gridName() == name
                        : kind == openvdb::GRID_LEVEL_SET ? 0
                        : is_number(*grid)                ? kind == openvdb::GRID_FOG_VOLUME ? 3 : 2
                                                          : 1;
        if (own > rank) best = it.gridName(), rank = own;
    }
    if (!rank)
        throw std::runtime_error((name ? "no grid named '" + std::string(name) + "'" : std::string("no fog volume")) + ", the file holds " +
                                 (seen.empty() ? "no grid" : seen));
    const auto grid = file.readGrid(best);
    if (grid->getGridClass() == openvdb::GRID_LEVEL_SET)
        throw std::runtime_error("grid '" + best + "' is a level set, expected a fog volume: it is read as a tile list");
    if (!grid->transform().isLinear()) throw std::runtime_error("grid '" + best + "' has a frustum transform, expected an affine one");
    return grid;
}

void read_fog(const char *path, const char *name, int channel)
{
    const auto grid = find_fog(path, name);
    const GridBase &g = *grid;
    if (channel < 0 || channel > 2) channel = 0; // that there is no such component is said at the other end
    const bool done = put_scalar<openvdb::FloatGrid, float>(g, "f32") || put_scalar<openvdb::DoubleGrid, double>(g, "f64") ||
                      put_scalar<openvdb::Int32Grid, int32_t>(g, "i32") || put_scalar<openvdb::Int64Grid, int64_t>(g, "i64") ||
                      put_scalar<openvdb::BoolGrid, uint8_t>(g, "u8") || put_scalar<openvdb::MaskGrid, uint8_t>(g, "u8") ||
                      put_vector<openvdb::Vec3SGrid, float>(g, "f32", channel) || put_vector<openvdb::Vec3DGrid, double>(g, "f64", channel) ||
                      put_vector<openvdb::Vec3IGrid, int32_t>(g, "i32", channel);
    if (!done)
        throw std::runtime_error("grid '" + grid->getName() + "' holds " + grid->valueType() +
                                 ", expected float, double, int32, int64, bool, mask or vectors of three");
    if (std::fflush(stdout)) throw std::runtime_error("standard output is closed");
}

// ---- writing -----------------------------------------------------------------------------------------------------------------------------------

static void get(void *bytes, size_t size)
{
    if (std::fread(bytes, 1, size, stdin) != size) throw std::runtime_error("the voxels end early");
}

struct Head {
    char dtype[8];
    int size[3], half;
    size_t meta;
    double affine[3][4];
};

static Head get_head()
{
    Head h = {};
    bool whole = std::scanf("%7s %d %d %d %d %zu", h.dtype, &h.size[0], &h.size[1], &h.size[2], &h.half, &h.meta) == 6;
    for (int i = 0; i < 12; i++) whole = whole && std::scanf("%lf", &h.affine[i / 4][i % 4]) == 1;
    if (!whole || std::getchar() != '\n') throw std::runtime_error("fog comes from tessera, on standard input");
    return h;
}

static void get_meta(GridBase &grid, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t name = 0, value = 0;
        if (std::scanf("%zu %zu", &name, &value) != 2 || std::getchar() != '\n')
            throw std::runtime_error("fog comes from tessera, on standard input");
        std::string key(name, '\0'), text(value, '\0');
        get(&key[0], name);
        get(&text[0], value);
        if (!is_own(key)) grid.insertMeta(key, openvdb::StringMetadata(text));
    }
}

// Voxels that are 0 are not active; slabs of 128 slices, so that the nodes of one are filled once.
template <typename Grid> static GridBase::Ptr get_grid(const Head &h)
{
    auto grid = Grid::create(typename Grid::ValueType(0));
    get_meta(*grid, h.meta);
    for (int z = 0; z < h.size[2]; z += 128) {
        Dense<typename Grid::ValueType> dense(CoordBBox(Coord(0, 0, z), Coord(h.size[0] - 1, h.size[1] - 1, std::min(z + 128, h.size[2]) - 1)));
        get(dense.data(), static_cast<size_t>(dense.valueCount()) * sizeof(typename Grid::ValueType));
        openvdb::tools::copyFromDense(dense, *grid, typename Grid::ValueType(0));
    }
    return grid;
}

// OpenVDB's own writer of files does not look whether they could be written.
class Archive : public openvdb::io::Archive {
  public:
    void put(std::ostream &out, const openvdb::GridCPtrVec &grids, const openvdb::MetaMap &meta) const { write(out, grids, true, meta); }
};

void write_grids(const char *path, const char *name, openvdb::GridBase::Ptr grid, const char *old)
{
    openvdb::GridCPtrVec grids;
    openvdb::MetaMap about;
    if (old) {
        openvdb::io::File file(old);
        file.open(false);
        const auto others = file.getGrids(); // those that share a tree do so in the new file
        for (const auto &other : *others) {
            if (other->getName() == grid->getName()) throw std::runtime_error("has a grid named '" + grid->getName() + "' already");
            grids.push_back(other);
        }
        about = *file.getMetadata();
    }
    grids.push_back(grid);
    std::ofstream out;
    try {
        out.exceptions(std::ios::failbit | std::ios::badbit);
        out.open(path, std::ios::binary | std::ios::trunc);
        Archive().put(out, grids, about);
        out.close();
    } catch (const std::ios::failure &) {
        throw std::runtime_error(std::string(name) + ": cannot write: " + std::strerror(errno ? errno : EIO));
    }
}

void write_fog(const char *path, const char *name, const char *old)
{
    const Head h = get_head();
    const std::string dtype = h.dtype;
    GridBase::Ptr grid = dtype == "f32"   ? get_grid<openvdb::FloatGrid>(h)
                         : dtype == "f64" ? get_grid<openvdb::DoubleGrid>(h)
                         : dtype == "i32" ? get_grid<openvdb::Int32Grid>(h)
                                          : get_grid<openvdb::Int64Grid>(h);
    grid->setName(name);
    if (is_number(*grid)) grid->setGridClass(openvdb::GRID_FOG_VOLUME);
    grid->setSaveFloatAsHalf(h.half != 0);
    openvdb::Mat4d m = openvdb::Mat4d::identity();
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) m(c, r) = h.affine[r][c];
    grid->setTransform(openvdb::math::Transform::createLinearTransform(m));
    write_grids(path, path, grid, old);
}
