// tessera-vdb: OpenVDB level sets from and to .tsr tile files in a pipe, for `tessera convert` and the other verbs. A program of its own, because
// OpenVDB is C++ and large; the library never sees it.
//
//   tessera-vdb [--memory-limit BYTES] read FILE.vdb [GRID]    writes the grid (default: the first float level set) as .tsr to standard output;
//                                                              refuses grids whose list needs more bytes (default: physical memory)
//   tessera-vdb [--force] [--add] write FILE.vdb [NAME]        reads a .tsr file from standard input; the target has its name when it is complete, and an
//                                                              old one is replaced only with --force; --add: beside the grids that it holds
//   tessera-vdb list FILE.vdb                                  what is in it, a line a grid
//   tessera-vdb [--memory-limit BYTES] fog FILE.vdb CHANNEL [GRID]   a grid that is no level set as dense voxels; see vdb-fog.h
//   tessera-vdb put NAME FILE.vdb [OLD.vdb]                    such voxels from standard input as a grid, beside those of OLD.vdb
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <openvdb/openvdb.h>
#include <openvdb/tools/SignedFloodFill.h>

#include "tessera/tessera.h"
#include "vdb-fog.h"

using openvdb::Coord;
using openvdb::FloatGrid;
using Leaf = FloatGrid::TreeType::LeafNodeType;

static void check(tsr_status status)
{
    if (status != TSR_OK) throw std::runtime_error(tsr_error_message());
}

struct Context {
    tsr_context *context = nullptr;
    Context()
    {
        tsr_context_options options = {};
        options.struct_size = sizeof options;
        options.device = "cpu";
        check(tsr_context_create(&options, &context));
    }
    ~Context() { tsr_context_destroy(&context); }
};
struct Tiles {
    tsr_tiles *tiles = nullptr;
    ~Tiles() { tsr_tiles_destroy(&tiles); }
};

struct Volume {
    tsr_volume *volume = nullptr;
    ~Volume() { tsr_volume_destroy(&volume); }
};

// ---- reading -----------------------------------------------------------------------------------------------------------------------------------

// Lengths that a file states are compared with what is there before OpenVDB takes memory for them: of names and of metadata, in front and of each grid.
// What lies in the trees is bounded by limit_process alone.
class Scan
{
public:
    explicit Scan(const char *path) : file(path, std::ios::binary), size(0)
    {
        if (!file) throw std::runtime_error(std::string(path) + ": cannot open");
        file.seekg(0, std::ios::end);
        size = static_cast<int64_t>(file.tellg());
        file.seekg(0);
    }
    int64_t bytes() const { return size; }
    void run()
    {
        const int64_t magic = number<int64_t>();
        if (magic != openvdb::OPENVDB_MAGIC) return; // OpenVDB says what it is not
        version = number<uint32_t>();
        if (version < 222) return; // of 2012 and before: other layouts, bounded by the limit of the process
        skip(8, "library version");
        const bool offsets = number<char>() != 0;
        skip(36, "identifier");
        metadata();
        const int32_t grids = number<int32_t>();
        for (int32_t k = 0; k < grids; k++) {
            for (int part = 0; part < 3; part++) text("name of a grid");
            const int64_t begin = number<int64_t>();
            number<int64_t>();
            const int64_t end = number<int64_t>();
            if (!offsets) return;
            to(begin);
            number<uint32_t>(); // compression
            metadata();
            to(end);
        }
    }

private:
    std::ifstream file;
    int64_t size;
    uint32_t version = 0;
    int64_t at() { return static_cast<int64_t>(file.tellg()); }
    void need(int64_t count, const char *what)
    {
        const int64_t place = at();
        if (count >= 0 && place >= 0 && count <= size - place) return;
        throw std::runtime_error("truncated or damaged: a " + std::string(what) + " of " + std::to_string(count) + " bytes at offset " +
                                 std::to_string(place) + ", the file has " + std::to_string(size));
    }
    void to(int64_t place)
    {
        if (place < 0 || place > size)
            throw std::runtime_error("truncated or damaged: a grid at offset " + std::to_string(place) + ", the file has " + std::to_string(size) + " bytes");
        file.seekg(place);
    }
    void skip(int64_t count, const char *what)
    {
        need(count, what);
        file.seekg(count, std::ios::cur);
    }
    template<typename T> T number()
    {
        T value;
        need(sizeof value, "number");
        file.read(reinterpret_cast<char *>(&value), sizeof value);
        return value;
    }
    void text(const char *what) { skip(number<uint32_t>(), what); }
    void metadata()
    {
        const int32_t count = number<int32_t>();
        for (int32_t k = 0; k < count; k++)
            for (int part = 0; part < 3; part++) text("piece of metadata"); // name, type, value
    }
};

static FloatGrid::Ptr find_grid(const char *path, const char *name)
{
    openvdb::io::File file(path);
    file.open(false); // values now, not when they are touched
    std::string seen;
    for (auto it = file.beginName(); it != file.endName(); ++it) {
        if (name && it.gridName() != name) continue;
        auto grid = file.readGridMetadata(it.gridName());
        seen += (seen.empty() ? "" : ", ") + it.gridName() + " (" + grid->valueType() + ", " +
                openvdb::GridBase::gridClassToString(grid->getGridClass()) + ")";
        const auto kind = grid->getGridClass();
        if (!grid->isType<FloatGrid>() || (kind != openvdb::GRID_LEVEL_SET && kind != openvdb::GRID_UNKNOWN)) continue;
        return openvdb::gridPtrCast<FloatGrid>(file.readGrid(it.gridName()));
    }
    throw std::runtime_error(std::string(path) + ": " +
                             (seen.empty() ? std::string(name ? "no grid named '" + std::string(name) + "'" : "no grid") : "grid " + seen) +
                             ", expected a float level set");
}

static tsr_geometry geometry_of(const FloatGrid &grid, const char *path)
{
    if (!grid.transform().isLinear()) throw std::runtime_error(std::string(path) + ": the grid has a frustum transform, expected an affine one");
    const openvdb::Mat4d m = grid.transform().baseMap()->getAffineMap()->getMat4(); // row vectors: world = (x, y, z, 1) M
    tsr_geometry g = {};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) g.affine[r][c] = m(c, r);
    g.space = TSR_SPACE_NONE;
    return g;
}

// Bytes that the list of a grid may take, and what a leaf takes in it: as for .nvdb files, its values twice, neighbours and signs.
static double memory_limit;
static void require_leaves(double leaves)
{
    const double bytes = leaves * 6000;
    if (bytes > memory_limit) {
        char text[160];
        std::snprintf(text, sizeof text, "%.0f leaves need %.0f bytes, the memory limit is %.0f", leaves, bytes, memory_limit);
        throw std::runtime_error(text);
    }
}

// Constants that are active: outside the band they are as good as inactive, inside it they become leaves. A few bytes of a file say such a constant of
// up to 4096^3 voxels, so they are counted first.
static void resolve_active_tiles(FloatGrid &grid)
{
    const float band = grid.background();
    double leaves = static_cast<double>(grid.tree().leafCount());
    require_leaves(leaves);
    auto it = grid.tree().beginValueOn();
    it.setMaxDepth(FloatGrid::TreeType::ValueOnIter::LEAF_DEPTH - 1); // tiles, no voxels
    for (; it; ++it) {
        const float v = it.getValue();
        if (v >= band || v <= -band) {
            it.setValue(v < 0 ? -band : band);
            it.setActiveState(false);
            continue;
        }
        openvdb::CoordBBox box;
        it.getBoundingBox(box);
        if (box.dim().x() > 8) {
            char text[200];
            std::snprintf(text, sizeof text, "an active tile of %d^3 voxels at (%d, %d, %d) has the value %g inside the band, expected leaves of 8^3",
                          box.dim().x(), box.min().x(), box.min().y(), box.min().z(), static_cast<double>(v));
            throw std::runtime_error(text);
        }
        leaves++;
    }
    require_leaves(leaves);
    grid.tree().voxelizeActiveTiles();
}

// Where the inside ends without a band (grids that were clipped, cut or made of open meshes), constants of both signs touch. A tile list holds one sign for
// absent tiles that touch, so both become leaves: the field is that of the file at every voxel.
static void store_seams(FloatGrid &grid)
{
    auto accessor = grid.getConstAccessor();
    std::set<Coord> seams;
    const double leaves = static_cast<double>(grid.tree().leafCount());
    const auto outside = [&](const Coord &at) { return !accessor.probeConstLeaf(at) && !(accessor.getValue(at) < 0); };
    auto it = grid.tree().cbeginValueAll();
    it.setMaxDepth(FloatGrid::TreeType::ValueAllCIter::LEAF_DEPTH - 1); // tiles, no voxels
    for (; it; ++it) {
        if (!(it.getValue() < 0)) continue;
        openvdb::CoordBBox box;
        it.getBoundingBox(box);
        const Coord low = box.min(), high = box.max().offsetBy(1);
        for (int x = low.x() - 8; x <= high.x(); x += 8)
            for (int y = low.y() - 8; y <= high.y(); y += 8) {
                const bool within = x >= low.x() && x < high.x() && y >= low.y() && y < high.y();
                for (int z = low.z() - 8; z <= high.z(); z += within ? high.z() - low.z() + 8 : 8) {
                    const Coord at(x, y, z);
                    if (!outside(at)) continue;
                    if (box.dim().x() >= 4096) {
                        char text[160];
                        std::snprintf(text, sizeof text, "an inside of 4096^3 voxels at (%d, %d, %d) ends without a band", low.x(), low.y(), low.z());
                        throw std::runtime_error(text);
                    }
                    seams.insert(at);
                    for (int d = 0; d < 27; d++) {
                        const Coord own = at.offsetBy(8 * (d % 3 - 1), 8 * (d / 3 % 3 - 1), 8 * (d / 9 - 1));
                        if (box.isInside(own)) seams.insert(own);
                    }
                }
            }
        require_leaves(leaves + static_cast<double>(seams.size())); // a tile of 128^3 adds some thousand
    }
    for (const Coord &at : seams) grid.tree().touchLeaf(at);
}

struct Content {
    std::vector<int32_t> coordinates; // 3 a tile
    std::vector<float> values;
    std::vector<uint32_t> inside;
};

static Content content_of(FloatGrid &grid)
{
    Content c;
    const float band = grid.background();
    resolve_active_tiles(grid);
    store_seams(grid);
    std::vector<const Leaf *> leaves;
    for (auto it = grid.tree().cbeginLeaf(); it; ++it) leaves.push_back(it.getLeaf());
    std::sort(leaves.begin(), leaves.end(), [](const Leaf *a, const Leaf *b) {
        const Coord &p = a->origin(), &q = b->origin();
        return p.z() != q.z() ? p.z() < q.z() : p.y() != q.y() ? p.y() < q.y() : p.x() < q.x();
    });
    auto accessor = grid.getConstAccessor();
    c.values.resize(leaves.size() * 512);
    for (size_t i = 0; i < leaves.size(); i++) {
        const Leaf &leaf = *leaves[i];
        for (int k = 0; k < 3; k++) c.coordinates.push_back(leaf.origin()[k] >> 3);
        for (int k = 0; k < 512; k++) {
            const openvdb::Index n = Leaf::coordToOffset(Coord(k & 7, k >> 3 & 7, k >> 6));
            const float v = leaf.getValue(n);
            c.values[i * 512 + static_cast<size_t>(k)] = leaf.isValueOn(n) ? v : v < 0 ? -band : band;
        }
        uint32_t word = 0;
        for (int d = 0; d < 27; d++) {
            const Coord at = leaf.origin().offsetBy(8 * (d % 3 - 1), 8 * (d / 3 % 3 - 1), 8 * (d / 9 - 1));
            if (!accessor.probeConstLeaf(at) && accessor.getValue(at) < 0) word |= 1u << d;
        }
        c.inside.push_back(word);
    }
    return c;
}

static void read(const char *path, const char *name)
{
    const FloatGrid::Ptr grid = find_grid(path, name);
    if (!(grid->background() > 0 && std::isfinite(grid->background())))
        throw std::runtime_error(std::string(path) + ": background of grid '" + grid->getName() + "' is " + std::to_string(grid->background()) +
                                 ", expected the half width of a level set");
    const tsr_geometry geometry = geometry_of(*grid, path);
    const Content content = content_of(*grid);
    Context context;
    Tiles list;
    tsr_tiles_options options = {};
    options.struct_size = sizeof options;
    options.edge = 8;
    options.band = static_cast<double>(grid->background());
    tsr_tiles_contents contents = {};
    contents.struct_size = sizeof contents;
    contents.count = static_cast<int64_t>(content.inside.size());
    contents.coordinates = reinterpret_cast<const int32_t(*)[3]>(content.coordinates.data());
    contents.values = content.values.data();
    contents.inside = content.inside.data();
    check(tsr_tiles_assemble(context.context, &geometry, &options, &contents, &list.tiles));
    const std::string grid_name = grid->getName(), creator = grid->getCreator();
    std::vector<tsr_tiles_meta> meta;
    if (!grid_name.empty()) meta.push_back({ "vdb.name", grid_name.c_str() });
    if (!creator.empty()) meta.push_back({ "vdb.creator", creator.c_str() });
    tsr_tiles_write_options write = {};
    write.struct_size = sizeof write;
    write.format = "tsr";
    write.compression = -1;
    write.meta = meta.data();
    write.meta_count = static_cast<int32_t>(meta.size());
    check(tsr_tiles_write(list.tiles, "-", &write));
}

// ---- writing -----------------------------------------------------------------------------------------------------------------------------------

// The file goes when this program is ended while it writes, where the system gave it a name at all.
static void ended(int number)
{
    tsr_output_unlink_all();
    std::signal(number, SIG_DFL);
    raise(number);
}
static void remove_when_ended()
{
    for (const int number : { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM, SIGXCPU, SIGABRT }) {
        struct sigaction action = {}, before = {};
        action.sa_handler = ended;
        if (!sigaction(number, nullptr, &before) && before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr); // nohup stays in force
    }
    std::signal(SIGXFSZ, SIG_IGN); // a file over the limit is an error of write
}

struct File {
    tsr_output *file = nullptr;
    ~File() { tsr_file_discard(&file); }
};

// Blocks of 4096^3 voxels of a domain in which no leaf lies are one constant, of which the flood from leaf to leaf knows nothing.
static void fill_blocks(FloatGrid &grid, tsr_context *context, const tsr_tiles *tiles, const Coord &last)
{
    const float band = grid.background();
    Volume one;
    check(tsr_volume_create(context, TSR_F32, tsr_size3{ 1, 1, 1 }, nullptr, &one.volume));
    for (int z = 0; z <= last.z() >> 12; z++)
        for (int y = 0; y <= last.y() >> 12; y++)
            for (int x = 0; x <= last.x() >> 12; x++) {
                const Coord at(x << 12, y << 12, z << 12);
                const int64_t first[3] = { at.x(), at.y(), at.z() };
                if (grid.tree().probeConstNode<FloatGrid::TreeType::RootNodeType::ChildNodeType>(at)) continue;
                check(tsr_tiles_store_box(tiles, first, one.volume));
                if (*static_cast<const float *>(tsr_volume_data_const(one.volume)) < 0) grid.tree().addTile(3, at, -band, false);
            }
}

// A leaf of a list of edge 4 begins with the constants of the tiles that are not stored; beyond a domain on the side of the nearest voxel of it.
static void begin_leaf(Leaf &leaf, tsr_context *context, const tsr_tiles *tiles, float band)
{
    const tsr_size3 domain = tsr_tiles_domain(tiles);
    const int64_t first[3] = { leaf.origin().x(), leaf.origin().y(), leaf.origin().z() }, n[3] = { domain.x, domain.y, domain.z };
    int64_t size[3];
    for (int k = 0; k < 3; k++) size[k] = n[k] ? std::min<int64_t>(8, n[k] - first[k]) : 8;
    Volume box;
    check(tsr_volume_create(context, TSR_F32, tsr_size3{ size[0], size[1], size[2] }, nullptr, &box.volume));
    check(tsr_tiles_store_box(tiles, first, box.volume));
    const float *v = static_cast<const float *>(tsr_volume_data_const(box.volume));
    for (int i = 0; i < 512; i++) {
        const int64_t at[3] = { i & 7, i >> 3 & 7, i >> 6 };
        int64_t in[3];
        for (int k = 0; k < 3; k++) in[k] = std::min(at[k], size[k] - 1);
        const float value = v[(in[2] * size[1] + in[1]) * size[0] + in[0]];
        leaf.setValueOff(Leaf::coordToOffset(Coord(static_cast<int>(at[0]), static_cast<int>(at[1]), static_cast<int>(at[2]))),
                         value < 0 ? -band : band);
    }
}

static void fill(FloatGrid &grid, tsr_context *context, const tsr_tiles *tiles, const tsr_tiles_info &info)
{
    const tsr_size3 domain = tsr_tiles_domain(tiles);
    const int edge = info.edge, voxels = edge * edge * edge;
    const float band = static_cast<float>(info.band);
    const Coord last(static_cast<int>(domain.x - 1), static_cast<int>(domain.y - 1), static_cast<int>(domain.z - 1)); // of a domain
    std::vector<int32_t> coordinates(static_cast<size_t>(info.count) * 3);
    std::vector<float> values(static_cast<size_t>(info.count) * static_cast<size_t>(voxels));
    check(tsr_tiles_download(tiles, reinterpret_cast<int32_t(*)[3]>(coordinates.data()), values.data()));
    auto accessor = grid.getAccessor();
    for (size_t i = 0; i < static_cast<size_t>(info.count); i++) {
        const Coord first(coordinates[3 * i] * edge, coordinates[3 * i + 1] * edge, coordinates[3 * i + 2] * edge);
        Leaf *leaf = accessor.probeLeaf(first);
        if (!leaf) {
            leaf = accessor.touchLeaf(first);
            if (edge == 4) begin_leaf(*leaf, context, tiles, band);
        }
        for (int k = 0; k < voxels; k++) {
            const Coord at = first.offsetBy(k % edge, k / edge % edge, k / (edge * edge));
            const Coord in = domain.x ? Coord::minComponent(at, last) : at; // beyond the domain: the side of the nearest voxel of it
            const int n = ((in.z() - first.z()) * edge + in.y() - first.y()) * edge + in.x() - first.x();
            const float v = values[i * static_cast<size_t>(voxels) + static_cast<size_t>(n)];
            if (v > -band && v < band && in == at) leaf->setValueOn(at, v);
            else leaf->setValueOff(at, v < 0 ? -band : band);
        }
    }
    openvdb::tools::signedFloodFill(grid.tree(), true, 1, 1); // the inside between the leaves; what is in them is known
    if (!domain.x) return;
    fill_blocks(grid, context, tiles, last);
    grid.tree().clip(openvdb::CoordBBox(Coord(0, 0, 0), last)); // the flood ran on over the border: beyond a domain lies the outside
}

// Is the space around all tiles of an unbounded list inside? The background of a .vdb file is outside.
static bool inside_out(tsr_context *context, const tsr_tiles *tiles)
{
    int64_t lower[3], upper[3];
    Volume one;
    check(tsr_tiles_bounds(tiles, lower, upper));
    for (int k = 0; k < 3; k++) lower[k]--;
    check(tsr_volume_create(context, TSR_F32, tsr_size3{ 1, 1, 1 }, nullptr, &one.volume));
    check(tsr_tiles_store_box(tiles, lower, one.volume));
    return *static_cast<const float *>(tsr_volume_data_const(one.volume)) < 0;
}

static void write(const char *path, const char *name, bool force, bool add)
{
    Context context;
    Tiles list;
    tsr_tiles_read_options options = {};
    options.struct_size = sizeof options;
    options.format = "tsr";
    check(tsr_tiles_read(context.context, "-", &options, &list.tiles));
    tsr_tiles_info info = TSR_TILES_INFO;
    check(tsr_tiles_describe(list.tiles, &info));
    const tsr_size3 n = tsr_tiles_domain(list.tiles);
    if (n.x == 1 || n.y == 1 || n.z == 1)
        throw std::runtime_error(std::string(path) + ": a level set in two dimensions (" + std::to_string(n.x) + " x " + std::to_string(n.y) + " x " +
                                 std::to_string(n.z) + " voxels): .vdb files hold surfaces in three; write a .tsr file, or a volume");
    if (!n.x && inside_out(context.context, list.tiles))
        throw std::runtime_error(std::string(path) + ": the space around the surface is inside, which a .vdb file cannot say");
    const tsr_geometry *g = tsr_tiles_geometry(list.tiles);
    auto grid = FloatGrid::create(static_cast<float>(info.band));
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    grid->setName(name ? name : "tessera");
    openvdb::Mat4d m = openvdb::Mat4d::identity();
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) m(c, r) = g->affine[r][c];
    grid->setTransform(openvdb::math::Transform::createLinearTransform(m));
    fill(*grid, context.context, list.tiles, info);
    File target;
    tsr_write_options manner = {};
    manner.struct_size = sizeof manner;
    manner.overwrite = force || add;
    remove_when_ended();
    check(tsr_file_begin(path, &manner, &target.file));
    write_grids(tsr_file_place(target.file), path, grid, add ? path : nullptr);
    check(tsr_file_finish(&target.file));
}

// The same for what OpenVDB itself takes while it reads: packed nodes are far smaller than what they become. The tree, its copy and the list are
// at work at once, and every thread has its stack. A leaf of a file has 128 bytes at least, and takes some 10 000 of memory until it is in the list.
static void limit_process(int64_t file_bytes)
{
    const double bytes = std::min(4 * memory_limit, 1000 * static_cast<double>(file_bytes)) + 16e6 * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)) + 5e8;
    struct rlimit most = {};
    if (getrlimit(RLIMIT_DATA, &most) || bytes >= 9e18 || (most.rlim_cur != RLIM_INFINITY && bytes >= static_cast<double>(most.rlim_cur))) return;
    most.rlim_cur = static_cast<rlim_t>(bytes);
    setrlimit(RLIMIT_DATA, &most);
}

static int usage()
{
    std::fprintf(stderr, "usage: tessera-vdb [--memory-limit BYTES] read FILE.vdb [GRID] | [--force] [--add] write FILE.vdb [NAME] | list FILE.vdb | "
                         "[--memory-limit BYTES] fog FILE.vdb CHANNEL [GRID] | put NAME FILE.vdb [OLD.vdb]\n");
    return 2;
}

static void check_file(const char *path)
{
    Scan scan(path);
    limit_process(scan.bytes());
    scan.run();
}

// `count` words after the options; false: they are none of the usage.
static bool obey(char **word, int count, bool force, bool add, const char **file)
{
    const std::string verb = count ? word[0] : "";
    const int least = verb == "fog" || verb == "put" ? 3 : 2, most = verb == "list" ? 2 : verb == "fog" || verb == "put" ? 4 : 3;
    if (count < least || count > most) return false;
    const char *last = count == most ? word[most - 1] : nullptr;
    *file = verb == "put" ? word[2] : word[1];
    if (verb == "read" || verb == "list" || verb == "fog") check_file(word[1]);
    if (verb == "put" && last) check_file(last);
    if (verb == "write" && add) check_file(word[1]);
    if (verb == "read") read(word[1], last);
    else if (verb == "write") write(word[1], last, force, add);
    else if (verb == "list") list_grids(word[1]);
    else if (verb == "fog") read_fog(word[1], last, std::atoi(word[2]));
    else if (verb == "put") write_fog(word[2], word[1], last);
    else return false;
    return true;
}

int main(int argc, char **argv)
{
    double limit = 0;
    bool force = false, add = false;
    if (argc > 2 && !std::strcmp(argv[1], "--memory-limit")) {
        limit = std::strtod(argv[2], nullptr);
        argc -= 2;
        argv += 2;
    }
    if (argc > 1 && !std::strcmp(argv[1], "--force")) {
        force = true;
        argc--;
        argv++;
    }
    if (argc > 1 && !std::strcmp(argv[1], "--add")) {
        add = true;
        argc--;
        argv++;
    }
    if (!(limit >= 0)) return usage();
    memory_limit = limit > 0 ? limit : static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    std::string what;
    const char *file = "";
    try {
        openvdb::initialize();
        return obey(argv + 1, argc - 1, force, add, &file) ? 0 : usage();
    } catch (const std::bad_alloc &) {
        char text[100];
        std::snprintf(text, sizeof text, "no memory within the limit of %.0f bytes", memory_limit);
        what = text;
    } catch (const std::exception &error) {
        what = error.what();
    }
    if (what.find(file) == std::string::npos) what = std::string(file) + ": " + what;
    std::fprintf(stderr, "tessera-vdb: %s\n", what.c_str());
    return 1;
}
