// openvdb_levelset: what bench_flow measures, done by OpenVDB with the same band and the same scheme, in a process of its own.
//
//   openvdb_levelset enright N PERIOD THREADS CLOCK       the periodic deformation of a sphere in N^3, there and back: HJ-WENO5, TVD-RK3
//   openvdb_levelset dilate RADIUS DISTANCE THREADS CLOCK a sphere moved outwards by so many voxels: LevelSetFilter::offset, first order
//   openvdb_levelset curvature RADIUS SWEEPS THREADS CLOCK steps of mean curvature flow of a sphere: first order, Euler
//   openvdb_levelset renormalise RADIUS SWEEPS THREADS CLOCK LevelSetTracker::normalize of a sphere: HJ-WENO5, Euler
//
// The band is 3 voxels; CLOCK is wall or processor. Prints one line of JSON: seconds of the motion (not of making the sphere; renormalise: the shortest
// of five; curvature: twenty times the shortest of twenty; dilate: the shortest of three), steps, active voxels at the start and the end, volume at the end as a share of that at the start. OpenVDB normalises the field after every
// step by SWEEPS sweeps (dilate, enright: its own three); its steps are as long as it takes them itself.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <time.h>

#include <openvdb/openvdb.h>
#include <openvdb/tools/LevelSetAdvect.h>
#include <openvdb/tools/LevelSetFilter.h>
#include <openvdb/tools/LevelSetMeasure.h>
#include <openvdb/tools/LevelSetSphere.h>
#include <tbb/global_control.h>

using openvdb::FloatGrid;

namespace {
clockid_t used = CLOCK_MONOTONIC;
double now()
{
    timespec t;
    clock_gettime(used, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// The deformation with a period of its own, as LevelSetAdvection asks for a field.
struct Deformation {
    using ValueType = float;
    using VectorType = openvdb::Vec3f;
    float period;
    openvdb::math::Transform transform() const { return openvdb::math::Transform(); }
    VectorType operator()(const openvdb::Vec3d &x, float time) const
    {
        const float pi = 3.14159265f, swing = std::cos(pi * time / period);
        const float sx = std::sin(pi * float(x[0])), sy = std::sin(pi * float(x[1])), sz = std::sin(pi * float(x[2]));
        const float s2x = std::sin(2 * pi * float(x[0])), s2y = std::sin(2 * pi * float(x[1])), s2z = std::sin(2 * pi * float(x[2]));
        return VectorType(2 * swing * sx * sx * s2y * s2z, -swing * s2x * sy * sy * s2z, -swing * s2x * s2y * sz * sz);
    }
    VectorType operator()(const openvdb::Coord &at, float time) const { return (*this)(at.asVec3d(), time); }
};

void print(double time, double steps, openvdb::Index64 before, FloatGrid &grid, double volume)
{
    std::printf("{\"seconds\": %.9g, \"steps\": %.0f, \"before\": %llu, \"after\": %llu, \"volume\": %.9g}\n", time, steps,
                static_cast<unsigned long long>(before), static_cast<unsigned long long>(grid.activeVoxelCount()),
                openvdb::tools::levelSetVolume(grid) / volume);
}

void enright(int n, double period)
{
    const auto grid = openvdb::tools::createLevelSetSphere<FloatGrid>(0.15f, openvdb::Vec3f(0.35f), 1.0f / float(n), 3.0f);
    const double volume = openvdb::tools::levelSetVolume(*grid);
    const auto before = grid->activeVoxelCount();
    const Deformation field{ float(period) };
    openvdb::tools::LevelSetAdvection<FloatGrid, Deformation> motion(*grid, field);
    motion.setSpatialScheme(openvdb::math::HJWENO5_BIAS);
    motion.setTemporalScheme(openvdb::math::TVD_RK3);
    motion.setTrackerSpatialScheme(openvdb::math::HJWENO5_BIAS);
    motion.setTrackerTemporalScheme(openvdb::math::TVD_RK1);
    const double t = now();
    const double steps = double(motion.advect(0.0f, float(period)));
    print(now() - t, steps, before, *grid, volume);
}

void curvature(double radius, int sweeps)
{
    const int steps = 20;
    const auto grid = openvdb::tools::createLevelSetSphere<FloatGrid>(float(radius), openvdb::Vec3f(0.0f), 1.0f, 3.0f);
    const double volume = openvdb::tools::levelSetVolume(*grid);
    const auto before = grid->activeVoxelCount();
    openvdb::tools::LevelSetFilter<FloatGrid> filter(*grid);
    filter.setSpatialScheme(openvdb::math::FIRST_BIAS);
    filter.setTemporalScheme(openvdb::math::TVD_RK1);
    filter.setNormCount(sweeps);
    double best = 1e30;
    for (int i = 0; i < steps; i++) {
        const double t = now();
        filter.meanCurvature();
        best = std::min(best, now() - t);
    }
    print(best * steps, steps, before, *grid, volume);
}

void renormalise(double radius, int sweeps)
{
    const auto grid = openvdb::tools::createLevelSetSphere<FloatGrid>(float(radius), openvdb::Vec3f(0.0f), 1.0f, 3.0f);
    const double volume = openvdb::tools::levelSetVolume(*grid);
    const auto before = grid->activeVoxelCount();
    openvdb::tools::LevelSetTracker<FloatGrid> tracker(*grid);
    tracker.setSpatialScheme(openvdb::math::HJWENO5_BIAS);
    tracker.setTemporalScheme(openvdb::math::TVD_RK1);
    tracker.setNormCount(sweeps);
    double best = 1e30;
    for (int i = 0; i < 5; i++) {
        const double t = now();
        tracker.normalize();
        best = std::min(best, now() - t);
    }
    print(best, 1, before, *grid, volume);
}

void dilate(double radius, double distance)
{
    double best = 1e30, volume = 0;
    FloatGrid::Ptr grid;
    openvdb::Index64 before = 0;
    for (int i = 0; i < 3; i++) {
        grid = openvdb::tools::createLevelSetSphere<FloatGrid>(float(radius), openvdb::Vec3f(0.0f), 1.0f, 3.0f);
        volume = openvdb::tools::levelSetVolume(*grid);
        before = grid->activeVoxelCount();
        openvdb::tools::LevelSetFilter<FloatGrid> filter(*grid);
        filter.setSpatialScheme(openvdb::math::FIRST_BIAS);
        filter.setTemporalScheme(openvdb::math::TVD_RK1);
        const double t = now();
        filter.offset(float(-distance));
        best = std::min(best, now() - t);
    }
    print(best, 1, before, *grid, volume);
}
} // namespace

int main(int argc, char **argv)
{
    const std::string name = argc == 6 ? argv[1] : "", clock = argc == 6 ? argv[5] : "";
    if ((name != "enright" && name != "curvature" && name != "dilate" && name != "renormalise") || (clock != "wall" && clock != "processor")) {
        std::fprintf(stderr,
                     "usage: %s enright N PERIOD | curvature RADIUS SWEEPS | renormalise RADIUS SWEEPS | dilate RADIUS DISTANCE, then "
                     "THREADS wall|processor\n",
                     argv[0]);
        return 2;
    }
    try {
        tbb::global_control threads(tbb::global_control::max_allowed_parallelism, std::strtoul(argv[4], nullptr, 10));
        openvdb::initialize();
        if (clock == "processor") used = CLOCK_PROCESS_CPUTIME_ID;
        if (name == "enright") enright(std::atoi(argv[2]), std::atof(argv[3]));
        else if (name == "dilate") dilate(std::atof(argv[2]), std::atof(argv[3]));
        else if (name == "renormalise") renormalise(std::atof(argv[2]), std::atoi(argv[3]));
        else curvature(std::atof(argv[2]), std::atoi(argv[3]));
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "openvdb_levelset: %s\n", error.what());
        return 1;
    }
}
