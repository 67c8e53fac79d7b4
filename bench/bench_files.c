/* bench_files: tile files against OpenVDB's, random look-ups, dilation of the active set; the same level set, in the same run.
 *
 * Scene: a wavy sphere shell of about 256^3 (quick: 96^3) voxels, half width 3 voxels. Files are written to and read from the folder of
 * TMPDIR; what comes from the page cache is measured, not the disk. The peer openvdb_files does the same with OpenVDB where it was built; it gets
 * the level set through tessera-vdb. Bars: issue 3 (twice OpenVDB for files both ways, at least equal for look-ups, 8 times for dilation). */
#include "bench.h"

#include <sys/stat.h>

#include "tiles/tiles.h"

enum { LOOKUPS = 4 << 20 };

struct scene {
    bench *b;
    tsr_tiles *tiles;
    tsr_tiles_info info;
    char folder[256];
    float (*positions)[3];
    int32_t (*coordinates)[3];
    float *values;
    tsr_topology *topology;
};

struct peer {
    int there;
    double save, load, look, sum, dilate;
    unsigned long long active, bytes, dilated;
};

static const char *path_of(const struct scene *s, const char *name)
{
    static char paths[4][320];
    static int turn;
    char *path = paths[turn++ & 3];
    snprintf(path, sizeof paths[0], "%s/%s", s->folder, name);
    return path;
}

static tsr_status make(struct scene *s)
{
    const int64_t n = s->b->quick ? 96 : 256;
    tsr_volume *field;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.band = 3;
    TSR_TRY(tsr_volume_create(s->b->context, TSR_F32, (tsr_size3){ n, n, n }, NULL, &field));
    float *v = (float *)tsr_volume_data(field);
    const double middle = 0.5 * (double)n, radius = 0.4 * (double)n;
    for (int64_t z = 0; z < n; z++)
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++) {
                const double cx = (double)x - middle, cy = (double)y - middle, cz = (double)z - middle;
                v[(z * n + y) * n + x] = (float)(sqrt(cx * cx + cy * cy + cz * cz) - radius + 3 * sin(0.11 * cx) * sin(0.13 * cy) * sin(0.09 * cz));
            }
    TSR_TRY(tsr_tiles_create(s->b->context, NULL, &options, &s->tiles));
    TSR_TRY(tsr_tiles_load(s->tiles, field));
    tsr_volume_destroy(&field);
    s->info.struct_size = sizeof s->info;
    TSR_TRY(tsr_tiles_describe(s->tiles, &s->info));
    uint64_t random = 88172645463325252ull;
    s->positions = malloc(LOOKUPS * sizeof *s->positions);
    s->coordinates = malloc(LOOKUPS * sizeof *s->coordinates);
    s->values = malloc(LOOKUPS * sizeof *s->values);
    for (int64_t i = 0; i < LOOKUPS; i++)
        for (int k = 0; k < 3; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            s->coordinates[i][k] = (int32_t)(random % (uint64_t)n);
            s->positions[i][k] = (float)s->coordinates[i][k];
        }
    TSR_TRY(tsr_topology_of_tiles(s->tiles, &s->topology));
    return TSR_OK;
}

/* ---- the peer ----------------------------------------------------------------------------------------------------------------------------------- */

static void run_peer(struct scene *s, struct peer *p)
{
    char command[1600], line[1024] = "";
    FILE *list = fopen(path_of(s, "coordinates.bin"), "wb");
    tsr_tiles_write_options options = TSR_TILES_WRITE_OPTIONS;
    options.overwrite = 1;
    if (!list || fwrite(s->coordinates, sizeof *s->coordinates, LOOKUPS, list) != LOOKUPS)
        fprintf(stderr, "bench files: cannot write the coordinates\n");
    if (list) fclose(list);
    if (access(BENCH_BIN "/openvdb_files", X_OK) || access(BENCH_BIN "/tessera-vdb", X_OK) ||
        tsr_tiles_write(s->tiles, path_of(s, "scene.tsr"), &options) != TSR_OK) {
        printf("    without OpenVDB: openvdb_files and tessera-vdb were not built\n");
        return;
    }
    snprintf(command, sizeof command, BENCH_BIN "/tessera-vdb write %s <%s && " BENCH_BIN "/openvdb_files %s %s %d %d %d %s %s",
             path_of(s, "scene.vdb"), path_of(s, "scene.tsr"), path_of(s, "scene.vdb"), path_of(s, "coordinates.bin"), (int)LOOKUPS, s->b->threads,
             s->b->quick ? 2 : 5, s->folder, s->b->clock == CLOCK_MONOTONIC ? "wall" : "processor");
    FILE *pipe = popen(command, "r");
    if (pipe && fgets(line, sizeof line, pipe)) {
        unsigned leaves;
        p->there = sscanf(line,
                          "{\"active\": %llu, \"leaves\": %u, \"save\": %lf, \"load\": %lf, \"bytes\": %llu, \"look\": %lf, \"sum\": %lf, "
                          "\"dilate\": %lf, \"dilated\": %llu}",
                          &p->active, &leaves, &p->save, &p->load, &p->bytes, &p->look, &p->sum, &p->dilate, &p->dilated) == 9;
    }
    if (pipe) pclose(pipe);
    if (!p->there) printf("    without OpenVDB: openvdb_files failed: %s\n", line);
}

static bench_time once(double seconds) { return (bench_time){ seconds, seconds, seconds, seconds > 0 }; }

/* The smallest time stands for both sides: the peer reports only that. */
static bench_time smallest(bench_time t) { return (bench_time){ t.min, t.min, t.max, t.runs }; }

/* ---- files --------------------------------------------------------------------------------------------------------------------------------------- */

struct file_job {
    struct scene *s;
    const char *path;
    tsr_tiles_write_options write;
};

static tsr_status save(void *user)
{
    struct file_job *j = (struct file_job *)user;
    return tsr_tiles_write(j->s->tiles, j->path, &j->write);
}
static tsr_status load(void *user)
{
    struct file_job *j = (struct file_job *)user;
    tsr_tiles *tiles;
    tsr_status status = tsr_tiles_read(j->s->b->context, j->path, NULL, &tiles);
    if (status == TSR_OK) tsr_tiles_destroy(&tiles);
    return status;
}

static void measure_files(struct scene *s, const struct peer *p)
{
    static const struct {
        const char *name, *file;
        tsr_tiles_values values;
        int compression, raw, bar;
    } kinds[] = { { "tsr zstd", "a.tsr", TSR_TILES_F32, 0, 0, 1 },
                  { "tsr plain", "b.tsr", TSR_TILES_F32, -1, 0, 1 },
                  { "tsr raw", "c.tsr", TSR_TILES_F32, -1, 1, 0 },
                  { "tsr zstd 16 bit", "d.tsr", TSR_TILES_Q16, 0, 0, 0 },
                  { "nvdb", "e.nvdb", TSR_TILES_F32, 0, 0, 0 } };
    const double values = (double)s->info.count * s->info.edge * s->info.edge * s->info.edge * 4;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct file_job job = { s, path_of(s, kinds[i].file), TSR_TILES_WRITE_OPTIONS };
        char name[64], path[320];
        struct stat about = { 0 };
        snprintf(path, sizeof path, "%s", job.path);
        job.path = path;
        job.write.overwrite = 1;
        job.write.values = kinds[i].values;
        job.write.compression = kinds[i].compression;
        job.write.raw = kinds[i].raw;
        bench_time w = smallest(bench_measure(s->b, save, &job, NULL)), r = smallest(bench_measure(s->b, load, &job, NULL));
        stat(path, &about);
        const char *peer = p->there ? "OpenVDB io::File (blosc)" : NULL, *bar = p->there && kinds[i].bar ? "at least 2 x OpenVDB" : NULL;
        snprintf(name, sizeof name, "save %s", kinds[i].name);
        bench_report(s->b, &(bench_case){ .name = name,
                                          .n = s->info.active_voxels,
                                          .time = w,
                                          .bytes = values + (double)about.st_size,
                                          .peer = peer,
                                          .peer_time = once(p->save),
                                          .bar = bar,
                                          .holds = p->save >= 2 * w.median });
        snprintf(name, sizeof name, "load %s", kinds[i].name);
        bench_report(s->b, &(bench_case){ .name = name,
                                          .n = s->info.active_voxels,
                                          .time = r,
                                          .bytes = values + (double)about.st_size,
                                          .peer = peer,
                                          .peer_time = once(p->load),
                                          .bar = bar,
                                          .holds = p->load >= 2 * r.median });
        printf("    %.1f MB, %.2f bytes an active voxel", 1e-6 * (double)about.st_size, (double)about.st_size / (double)s->info.active_voxels);
        if (p->there) printf("; OpenVDB's file %.1f MB", 1e-6 * (double)p->bytes);
        printf("\n");
    }
}

/* ---- look-ups and dilation ------------------------------------------------------------------------------------------------------------------------ */

struct look_job {
    struct scene *s;
    tsr_tiles_sample_options options;
};
static tsr_status look(void *user)
{
    struct look_job *j = (struct look_job *)user;
    return tsr_tiles_sample(j->s->tiles, (const float(*)[3])j->s->positions, j->s->values, LOOKUPS, &j->options);
}
static tsr_status dilate(void *user)
{
    struct scene *s = (struct scene *)user;
    tsr_topology *dilated;
    tsr_status status = tsr_topology_dilate(s->b->context, s->topology, 1, 6, &dilated);
    if (status == TSR_OK) tsr_topology_destroy(&dilated);
    return status;
}

static void measure_rest(struct scene *s, const struct peer *p)
{
    struct look_job job = { s, TSR_TILES_SAMPLE_OPTIONS };
    double sum = 0;
    job.options.nearest = 1;
    bench_time t = smallest(bench_measure(s->b, look, &job, NULL));
    for (int64_t i = 0; i < LOOKUPS; i++) sum += (double)s->values[i];
    bench_report(s->b, &(bench_case){ .name = "random look-up, index built",
                                      .n = LOOKUPS,
                                      .time = t,
                                      .bytes = 20.0 * LOOKUPS,
                                      .peer = p->there ? "OpenVDB ValueAccessor (1 thread)" : NULL,
                                      .peer_time = once(p->look),
                                      .bar = p->there ? "at least OpenVDB" : NULL,
                                      .holds = p->look >= t.median && fabs(sum - p->sum) <= 1e-6 * fabs(sum) });
    printf("    %.1f M/s; sums of the values %.9g and %.9g\n", 1e-6 * LOOKUPS / t.median, sum, p->sum);
    job.options.nearest = 0;
    for (int64_t i = 0; i < LOOKUPS; i++)
        for (int k = 0; k < 3; k++) s->positions[i][k] += 0.37f;
    t = smallest(bench_measure(s->b, look, &job, NULL));
    bench_report(s->b, &(bench_case){ .name = "random trilinear sample", .n = LOOKUPS, .time = t, .bytes = 48.0 * LOOKUPS });
    tsr_topology_info before = TSR_TOPOLOGY_INFO, after = TSR_TOPOLOGY_INFO;
    tsr_topology *dilated = NULL;
    tsr_topology_describe(s->topology, &before);
    t = smallest(bench_measure(s->b, dilate, s, NULL));
    if (tsr_topology_dilate(s->b->context, s->topology, 1, 6, &dilated) == TSR_OK) tsr_topology_describe(dilated, &after);
    tsr_topology_destroy(&dilated);
    bench_report(s->b, &(bench_case){ .name = "dilate the active set by 1",
                                      .n = before.tiles,
                                      .time = t,
                                      .bytes = (double)(before.bytes + after.bytes),
                                      .peer = p->there ? "OpenVDB dilateActiveValues" : NULL,
                                      .peer_time = once(p->dilate),
                                      .bar = p->there ? "at least 8 x OpenVDB" : NULL,
                                      .holds = p->dilate >= 8 * t.median && (unsigned long long)after.voxels == p->dilated });
    printf("    %.1f M tiles/s; %lld tiles, %lld to %lld voxels (OpenVDB %llu to %llu)\n", 1e-6 * (double)before.tiles / t.median,
           (long long)before.tiles, (long long)before.voxels, (long long)after.voxels, p->active, p->dilated);
}

int main(int argc, char **argv)
{
    bench b;
    struct scene s = { .b = &b };
    struct peer peer = { 0 };
    if (!bench_begin(&b, argc, argv, "files")) return 2;
    if (tsr_context_device(b.context).kind != TSR_DEVICE_CPU) {
        fprintf(stderr, "bench files: --device cpu is what is measured\n");
        return 2;
    }
    const char *temporary = getenv("TMPDIR");
    snprintf(s.folder, sizeof s.folder, "%s/tessera-files-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    tsr_status status = mkdtemp(s.folder) ? make(&s) : TSR_ERROR_IO;
    if (status == TSR_OK) {
        printf("    %lld tiles of %d^3, %.2f M active voxels, %.1f MB in memory\n", (long long)s.info.count, s.info.edge,
               1e-6 * (double)s.info.active_voxels, 1e-6 * (double)s.info.device_bytes);
        run_peer(&s, &peer);
        measure_files(&s, &peer);
        measure_rest(&s, &peer);
    } else {
        fprintf(stderr, "bench files: %s\n", tsr_error_trace());
    }
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", s.folder);
    if (system(command)) fprintf(stderr, "bench files: cannot remove %s\n", s.folder);
    tsr_topology_destroy(&s.topology);
    tsr_tiles_destroy(&s.tiles);
    free(s.positions);
    free(s.coordinates);
    free(s.values);
    return bench_end_with(&b, status != TSR_OK);
}
