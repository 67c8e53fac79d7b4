// openvdb_files: what bench_files measures, done by OpenVDB, in a process of its own.
//
//   openvdb_files FILE.vdb COORDINATES COUNT THREADS REPEAT FOLDER wall|processor
//
// FILE.vdb holds a float level set, COORDINATES COUNT times three int32. Prints one line of JSON: active voxels, leaves, seconds of saving to and
// loading from FOLDER (all values, no delayed loading) with the default compression, bytes of the file, seconds of COUNT look-ups with a
// ValueAccessor and the sum of the values, seconds of dilateActiveValues by one voxel with 6 neighbours (topology alone), voxels after it.
// Each time is the smallest of REPEAT: of the clock on the wall, or of the process on its processors.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <openvdb/openvdb.h>
#include <openvdb/tools/Morphology.h>
#include <tbb/global_control.h>

static clockid_t clock_kind = CLOCK_MONOTONIC;
static double now()
{
    timespec t;
    clock_gettime(clock_kind, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
static double seconds(double since) { return now() - since; }

static openvdb::FloatGrid::Ptr load(const std::string &path)
{
    openvdb::io::File file(path);
    file.open(false);
    return openvdb::gridPtrCast<openvdb::FloatGrid>(file.readGrid(file.beginName().gridName()));
}

static int run(char **argv)
{
    openvdb::initialize();
    if (std::string(argv[7]) == "processor") clock_kind = CLOCK_PROCESS_CPUTIME_ID;
    const size_t count = std::strtoul(argv[3], nullptr, 10);
    const int repeat = std::atoi(argv[5]);
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, std::strtoul(argv[4], nullptr, 10));
    const std::string target = std::string(argv[6]) + "/openvdb_files.vdb";
    openvdb::FloatGrid::Ptr grid = load(argv[1]);
    std::vector<openvdb::Coord> at(count);
    std::ifstream list(argv[2], std::ios::binary);
    if (!list.read(reinterpret_cast<char *>(at.data()), static_cast<std::streamsize>(count * sizeof at[0])))
        throw std::runtime_error("cannot read the coordinates");
    double save = 1e30, open = 1e30, look = 1e30, dilate = 1e30, sum = 0;
    uint64_t after = 0;
    for (int i = 0; i < repeat; i++) {
        auto t = now();
        {
            openvdb::io::File file(target);
            file.write(openvdb::GridCPtrVec{ grid });
        }
        save = std::min(save, seconds(t));
        t = now();
        const auto back = load(target);
        open = std::min(open, seconds(t));
        if (back->activeVoxelCount() != grid->activeVoxelCount()) throw std::runtime_error("another grid came back");
        t = now();
        auto accessor = grid->getConstAccessor();
        sum = 0;
        for (const auto &c : at) sum += static_cast<double>(accessor.getValue(c));
        look = std::min(look, seconds(t));
        openvdb::MaskTree mask(grid->tree(), false, true, openvdb::TopologyCopy());
        t = now();
        openvdb::tools::dilateActiveValues(mask, 1, openvdb::tools::NN_FACE);
        dilate = std::min(dilate, seconds(t));
        after = mask.activeVoxelCount();
    }
    std::printf("{\"active\": %llu, \"leaves\": %u, \"save\": %.9g, \"load\": %.9g, \"bytes\": %llu, \"look\": %.9g, \"sum\": %.17g, \"dilate\": "
                "%.9g, \"dilated\": %llu}\n",
                static_cast<unsigned long long>(grid->activeVoxelCount()), grid->tree().leafCount(), save, open,
                static_cast<unsigned long long>(std::filesystem::file_size(target)), look, sum, dilate, static_cast<unsigned long long>(after));
    std::filesystem::remove(target);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 8 || (std::string(argv[7]) != "wall" && std::string(argv[7]) != "processor")) {
        std::fprintf(stderr, "usage: %s FILE.vdb COORDINATES COUNT THREADS REPEAT FOLDER wall|processor\n", argv[0]);
        return 2;
    }
    try {
        return run(argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "openvdb_files: %s\n", error.what());
        return 1;
    }
}
