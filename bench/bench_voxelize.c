/* bench_voxelize: triangle mesh to narrow-band level set and back, against OpenVDB's meshToLevelSet and volumeToMesh in the same run: same
 * mesh, same voxels, band of 3 voxels, same threads (bench/peers/openvdb_mesh.cpp). Beside each time the error: |field| against the exact
 * distance in float64 at every 97th voxel of the band, in voxels, ours and theirs. Meshes: a torus of voxel-size triangles, and those of
 * scripts/get-data.sh (data/meshes in the working folder, or TESSERA_MESHES). */
#include <dlfcn.h>

#include "bench.h"
#include "mesh/mesh.h"
#include "surface/nearest_triangle.h"
#include "tessera/voxelize.h"

typedef struct peer {
    void *library;
    void *(*create)(const float *, long long, const unsigned *, long long);
    void (*destroy)(void *);
    long long (*level_set)(void *, double, float, int);
    long long (*mesh)(void *, int);
    float (*value)(void *, int, int, int);
} peer;

struct job {
    bench *b;
    const peer *peer;
    void *handle;
    const tsr_mesh *mesh; /* on the device */
    tsr_voxelize_options options;
    tsr_tiles *tiles;
    long long active, quads;
    int64_t triangles;
};

static tsr_status to_tiles(void *user)
{
    struct job *j = (struct job *)user;
    tsr_tiles_destroy(&j->tiles);
    return tsr_tiles_from_mesh(j->b->context, j->mesh, &j->options, &j->tiles, NULL);
}
static tsr_status to_mesh(void *user)
{
    struct job *j = (struct job *)user;
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_surface_extract_tiles(j->b->context, j->tiles, NULL, &mesh, NULL);
    if (status == TSR_OK) j->triangles = tsr_mesh_triangle_count(mesh);
    tsr_mesh_destroy(&mesh);
    return status;
}
static tsr_status peer_level_set(void *user)
{
    struct job *j = (struct job *)user;
    j->active = j->peer->level_set(j->handle, j->options.spacing.x, 3.0f, j->b->threads);
    return j->active > 0 ? TSR_OK : TSR_ERROR_STATE;
}
static tsr_status peer_mesh(void *user)
{
    struct job *j = (struct job *)user;
    j->quads = j->peer->mesh(j->handle, j->b->threads);
    return j->quads > 0 ? TSR_OK : TSR_ERROR_STATE;
}

struct errors {
    double ours, theirs, our_mean, their_mean;
};

/* Largest and mean error over a sample of the band. */
static tsr_status compare(const struct job *j, const tsr_mesh *host, struct errors *e)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_triangle_tree *tree = NULL;
    uint32_t hint = 0;
    int64_t n = 0, seen = 0;
    double h = j->options.spacing.x, band = 3 * h;
    memset(e, 0, sizeof *e);
    tsr_status status = tsr_tiles_describe(j->tiles, &info);
    if (status != TSR_OK) return status;
    int32_t edge = info.edge, voxels = edge * edge * edge;
    int32_t(*at)[3] = (int32_t(*)[3])malloc((size_t)info.count * sizeof *at);
    float *values = (float *)malloc((size_t)info.count * (size_t)voxels * sizeof *values);
    status = at && values ? tsr_tiles_download(j->tiles, at, values) : TSR_ERROR_MEMORY;
    if (status == TSR_OK) status = tsr_triangle_tree_create(host, &tree);
    for (int64_t t = 0; t < info.count && status == TSR_OK; t++)
        for (int32_t i = 0; i < voxels; i++) {
            double v = fabs((double)values[t * voxels + i]);
            if (!(v < band * 0.999) || seen++ % 97) continue;
            const int x = at[t][0] * edge + i % edge, y = at[t][1] * edge + i / edge % edge, z = at[t][2] * edge + i / (edge * edge);
            double d = sqrt(tsr_triangle_tree_nearest(tree, (tsr_vec3){ x * h, y * h, z * h }, &hint)), own = fabs(v - d) / h;
            double other = j->handle ? fabs(fabs((double)j->peer->value(j->handle, x, y, z)) - d) / h : 0;
            e->ours = fmax(e->ours, own);
            e->theirs = fmax(e->theirs, other);
            e->our_mean += own;
            e->their_mean += other;
            n++;
        }
    e->our_mean /= (double)(n ? n : 1);
    e->their_mean /= (double)(n ? n : 1);
    tsr_triangle_tree_destroy(&tree);
    free(at);
    free(values);
    return status;
}

static double ratio(bench_time own, bench_time other) { return own.runs && other.runs ? other.min / own.min : 0; }

static int one(bench *b, const peer *p, const char *name, const tsr_mesh *host, const tsr_mesh *mesh, double extent, int64_t n)
{
    struct job j = { .b = b, .peer = p, .mesh = mesh, .options = TSR_VOXELIZE_OPTIONS };
    struct errors e;
    char text[200];
    tsr_tiles_info info = TSR_TILES_INFO;
    double h = extent / (double)n;
    j.options.spacing = (tsr_vec3){ h, h, h };
    if (p->library)
        j.handle =
            p->create(tsr_mesh_vertices_const(host), tsr_mesh_vertex_count(host), tsr_mesh_triangles_const(host), tsr_mesh_triangle_count(host));
    bench_time own = bench_measure(b, to_tiles, &j, NULL), other = { 0 }, back = { 0 }, their_back = { 0 };
    if (j.handle) other = bench_measure(b, peer_level_set, &j, NULL);
    int failed = !own.runs || tsr_tiles_describe(j.tiles, &info) != TSR_OK || compare(&j, host, &e) != TSR_OK;
    if (!failed) {
        snprintf(text, sizeof text, "%s (%.0f k triangles) at %lld voxels: %.2f M active, %.2f Mtri/s, error max %.2g mean %.2g (theirs %.2g, %.2g)",
                 name, (double)tsr_mesh_triangle_count(host) * 1e-3, (long long)n, (double)info.active_voxels * 1e-6,
                 (double)tsr_mesh_triangle_count(host) / own.min * 1e-6, e.ours, e.our_mean, e.theirs, e.their_mean);
        bench_report(b, &(bench_case){ .name = text,
                                       .n = tsr_mesh_triangle_count(host),
                                       .time = own,
                                       .peer = j.handle ? "OpenVDB meshToLevelSet" : NULL,
                                       .peer_time = other,
                                       .bar = j.handle                                                 ? "10 times OpenVDB"
                                              : tsr_context_device(b->context).kind == TSR_DEVICE_CUDA ? "8 M triangles: at most 40 ms"
                                                                                                       : NULL,
                                       .holds = j.handle ? ratio(own, other) >= 10
                                                         : own.median <= 40e-3 * fmax(1, (double)tsr_mesh_triangle_count(host) / 8e6) });
        back = bench_measure(b, to_mesh, &j, NULL);
        if (j.handle) their_back = bench_measure(b, peer_mesh, &j, NULL);
        snprintf(text, sizeof text, "%s at %lld voxels, to mesh: %.2f M triangles (theirs %.2f M quads)", name, (long long)n,
                 (double)j.triangles * 1e-6, (double)j.quads * 1e-6);
        bench_report(b, &(bench_case){ .name = text,
                                       .n = j.triangles,
                                       .time = back,
                                       .peer = j.handle ? "OpenVDB volumeToMesh" : NULL,
                                       .peer_time = their_back,
                                       .bar = j.handle ? "5 times OpenVDB" : NULL,
                                       .holds = ratio(back, their_back) >= 5 });
    }
    tsr_tiles_destroy(&j.tiles);
    if (j.handle) p->destroy(j.handle);
    return failed || !back.runs;
}

/* A torus about z whose triangles have sides of about `side`. */
static tsr_status torus(double R, double r, double side, tsr_mesh **mesh)
{
    const double turn = 6.283185307179586;
    int64_t rings = (int64_t)(turn * R / side), sides = (int64_t)(turn * r / side);
    tsr_status status = tsr_mesh_create(NULL, rings * sides, 2 * rings * sides, 0, mesh);
    if (status != TSR_OK) return status;
    float *v = tsr_mesh_vertices(*mesh);
    uint32_t *t = tsr_mesh_triangles(*mesh);
    for (int64_t i = 0; i < rings; i++)
        for (int64_t k = 0; k < sides; k++) {
            double u = turn * (double)i / (double)rings, w = turn * (double)k / (double)sides;
            *v++ = (float)((R + r * cos(w)) * cos(u));
            *v++ = (float)((R + r * cos(w)) * sin(u));
            *v++ = (float)(r * sin(w));
            uint32_t a = (uint32_t)(i * sides + k), c = (uint32_t)((i + 1) % rings * sides + (k + 1) % sides);
            const uint32_t two[6] = { a, (uint32_t)((i + 1) % rings * sides + k), c, a, c, (uint32_t)(i * sides + (k + 1) % sides) };
            memcpy(t, two, sizeof two);
            t += 6;
        }
    return TSR_OK;
}

static int all_sizes(bench *b, const peer *p, const char *name, tsr_mesh *host, int64_t least, int64_t most)
{
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_mesh *mesh = NULL;
    int failed = tsr_mesh_measure(host, &m) != TSR_OK || tsr_mesh_copy(host, b->context, &mesh) != TSR_OK;
    double extent = failed ? 0 : fmax(m.upper.x - m.lower.x, fmax(m.upper.y - m.lower.y, m.upper.z - m.lower.z));
    for (int64_t n = least; n <= (b->quick ? least : most) && !failed; n *= 2) failed = one(b, p, name, host, mesh, extent, n);
    tsr_mesh_destroy(&mesh);
    return failed;
}

static void open_peer(peer *p)
{
    memset(p, 0, sizeof *p);
    p->library = dlopen(BENCH_MODULES "/libbench_openvdb.so", RTLD_NOW);
    if (!p->library) return;
    *(void **)&p->create = dlsym(p->library, "peer_openvdb_create");
    *(void **)&p->destroy = dlsym(p->library, "peer_openvdb_destroy");
    *(void **)&p->level_set = dlsym(p->library, "peer_openvdb_level_set");
    *(void **)&p->mesh = dlsym(p->library, "peer_openvdb_mesh");
    *(void **)&p->value = dlsym(p->library, "peer_openvdb_value");
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "bunny00", "armadillo", "ChineseDragon-10kv", "refined_elephant" };
    const char *folder = getenv("TESSERA_MESHES");
    bench b;
    peer p;
    tsr_mesh *mesh = NULL;
    if (!bench_begin(&b, argc, argv, "voxelize")) return 2;
    open_peer(&p);
    int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    int failed = torus(1, 0.4, 2.8 / 256 * (gpu ? 0.18 : 1), &mesh) != TSR_OK || all_sizes(&b, &p, "torus", mesh, gpu ? 1024 : 256, gpu ? 2048 : 512);
    tsr_mesh_destroy(&mesh);
    for (size_t k = 0; k < sizeof names / sizeof *names && !failed; k++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s.off", folder ? folder : "data/meshes/meshes", names[k]);
        if (access(path, R_OK)) {
            fprintf(stderr, "bench voxelize: no %s (scripts/get-data.sh meshes): left out\n", path);
            continue;
        }
        failed = tsr_mesh_read(path, NULL, &mesh) != TSR_OK || all_sizes(&b, &p, names[k], mesh, 256, 1024);
        tsr_mesh_destroy(&mesh);
    }
    if (failed) fprintf(stderr, "bench voxelize: %s\n", tsr_error_message());
    return bench_end_with(&b, failed);
}
