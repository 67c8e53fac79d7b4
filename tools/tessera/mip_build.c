/* tools/tessera/mip_build.c: volumes as grey values, pyramids of files and of volumes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mip.h"

int mip_failed(const struct mip *m, tsr_status status, const char *file) { return status == TSR_OK ? CLI_OK : cli_status(m->cli, status, file); }

/* ---- input ----------------------------------------------------------------------------------------------------------------------------------- */

/* Grey values of --range as 0 (NaN, too) to the largest of the wanted bits. Returns how many were NaN. */
static int64_t quantise(const struct mip *m, const float *reals, int64_t count, void *grey)
{
    int64_t nan = 0;
    const int32_t most = m->bits == 16 ? 65535 : 255;
    const double low = m->range[0], step = (m->range[1] - low) / most;
    for (int64_t i = 0; i < count; i++) {
        const double v = floor(((double)reals[i] - low) / step + 0.5);
        nan += isnan(reals[i]) != 0;
        const uint16_t q = (uint16_t)(!(v > 0) ? 0 : v > most ? most : v);
        if (most == 255) ((uint8_t *)grey)[i] = (uint8_t)q;
        else ((uint16_t *)grey)[i] = q;
    }
    return nan;
}

static void note_nan(const struct mip *m, const char *path, int64_t nan, int64_t count)
{
    if (nan) cli_note(m->cli, "warning: %s: %lld of %lld voxels are NaN, taken as %g", path, (long long)nan, (long long)count, m->range[0]);
}

/* What step and origin --range gives grey values: real values come back by that scaling. */
static tsr_dtype grey_of(const struct mip *m, double *slope, double *intercept)
{
    *slope = (m->range[1] - m->range[0]) / (m->bits == 16 ? 65535 : 255);
    *intercept = m->range[0];
    return m->bits == 16 ? TSR_U16 : TSR_U8;
}

static tsr_status quantise_volume(const struct mip *m, tsr_context *cpu, const char *path, tsr_volume **volume)
{
    double slope, intercept;
    const tsr_dtype dtype = grey_of(m, &slope, &intercept);
    tsr_volume *reals = NULL, *grey = NULL;
    tsr_status status = tsr_volume_convert(cpu, *volume, TSR_F32, &reals);
    if (status == TSR_OK) status = tsr_volume_create(NULL, dtype, tsr_volume_size(*volume), tsr_volume_geometry(*volume), &grey);
    if (status == TSR_OK) status = tsr_volume_set_scaling(grey, slope, intercept);
    if (status == TSR_OK) {
        note_nan(m, path, quantise(m, tsr_volume_data_const(reals), tsr_volume_count(grey), tsr_volume_data(grey)), tsr_volume_count(grey));
        tsr_volume_destroy(volume);
        *volume = grey;
        grey = NULL;
    }
    tsr_volume_destroy(&reals);
    tsr_volume_destroy(&grey);
    return status;
}

/* Of these voxels a pyramid can be built. */
static int check_values(const struct mip *m, const char *path, tsr_dtype dtype)
{
    if (!m->range_given && dtype != TSR_U8 && dtype != TSR_U16)
        return cli_usage(m->cli, "%s: the voxels are %s: expected u8 or u16, or --range LOWER:UPPER of the values to keep", path,
                         tsr_dtype_name(dtype));
    if (m->range_given && !(isfinite(m->range[0]) && isfinite(m->range[1]) && m->range[0] < m->range[1]))
        return cli_usage(m->cli, "--range: expected LOWER:UPPER, two finite numbers in rising order");
    return CLI_OK;
}

int mip_read_volume(struct mip *m, const char *path)
{
    int code = CLI_OK;
    m->volume = cli_read_volume(m->cli, path, &m->read, &code);
    if (!m->volume) return code;
    code = check_values(m, path, tsr_volume_dtype(m->volume));
    if (code) return code;
    tsr_status status = TSR_OK;
    if (m->range_given) {
        tsr_context *cpu;
        code = cli_cpu_context(m->cli, &cpu);
        if (code) return code;
        status = quantise_volume(m, cpu, path, &m->volume);
        tsr_context_destroy(&cpu);
    }
    if (status == TSR_OK && m->threshold_given) status = mip_filter_volume(m, &m->volume, NULL, NULL);
    if (status == TSR_OK) status = cli_move_volume(m->context, &m->volume);
    return mip_failed(m, status, path);
}

int mip_is_pyramid(const char *path) { return cli_ends_in(path, ".mip .mip.gz"); }

/* The pyramid of a file, or one built of a volume. One that is dealt out over devices is read into the host's memory: no device needs room for all of it. */
int mip_load(struct mip *m, const char *path)
{
    const int chosen = mip_is_pyramid(path) ? cli_no_choice(m->cli, path, &m->read, "a pyramid") : CLI_OK;
    if (chosen) return chosen;
    if (mip_is_pyramid(path) && m->devices > 1) {
        const int host = cli_cpu_context(m->cli, &m->host);
        return host ? host : mip_failed(m, tsr_mip_read(m->host, path, &m->read, &m->pyramid), path);
    }
    if (mip_is_pyramid(path)) return mip_failed(m, tsr_mip_read(m->context, path, &m->read, &m->pyramid), path);
    const int code = mip_read_volume(m, path);
    if (code) return code;
    m->build.progress = cli_progress(m->cli);
    const tsr_status status = tsr_mip_build(m->context, m->volume, &m->build, &m->pyramid);
    cli_progress_end(m->cli);
    return mip_failed(m, status, path);
}

const char *const mip_formats[] = { "bricks", "list4", "list6", "list8" };

/* ---- the actions ----------------------------------------------------------------------------------------------------------------------------- */

void mip_show(const struct mip *m, const tsr_mip_info *i, double seconds)
{
    static const char *const elements[] = { "cube2", "cube3", "cross6", "own" }, *const keys[] = { "image1", "residual", "image",
                                                                                                   "volume", "none",     "greedy" };
    const double voxels = (double)i->size.x * (double)i->size.y * (double)i->size.z;
    if (m->cli->globals.json) {
        json_open(NULL, '{');
        json_open("size", '[');
        json_int(NULL, i->size.x);
        json_int(NULL, i->size.y);
        json_int(NULL, i->size.z);
        json_close(']');
        json_text("dtype", tsr_dtype_name(i->dtype));
        json_int("levels", i->levels);
        json_text("element", elements[i->element]);
        json_text("key", keys[i->key]);
        json_text("format", mip_formats[i->format]);
        json_int("coefficients", i->coefficients);
        json_open("by_level", '[');
        for (int j = 0; j <= i->levels; j++) json_int(NULL, i->by_level[j]);
        json_close(']');
        json_int("runs", i->runs);
        if (i->device_bytes) json_int("bytes", i->device_bytes); /* none: it was built from file to file */
        json_open("measured", '[');
        for (int k = 0; k < i->steps; k++) {
            json_open(NULL, '{');
            json_int("coefficients", i->step[k].count);
            json_real("relative", i->step[k].relative);
            json_real("median", i->step[k].median);
            json_close('}');
        }
        json_close(']');
        if (seconds >= 0) json_real("seconds", seconds);
        json_close('}');
        return;
    }
    printf("%lld x %lld x %lld %s, %d levels, element %s, format %s, order %s\n", (long long)i->size.x, (long long)i->size.y, (long long)i->size.z,
           tsr_dtype_name(i->dtype), i->levels, elements[i->element], mip_formats[i->format], keys[i->key]);
    printf("%lld coefficients (%.1f %% of the voxels):", (long long)i->coefficients, 100 * (double)i->coefficients / voxels);
    for (int j = 0; j <= i->levels; j++) printf(" %lld", (long long)i->by_level[j]);
    printf("; %lld runs", (long long)i->runs);
    if (i->device_bytes) printf(", %.1f MiB", (double)i->device_bytes / 1048576);
    if (seconds >= 0) printf(", %.3f s", seconds);
    printf("\n");
    for (int k = 0; k < i->steps; k++)
        printf("  %6.2f %%  relative L1 %.5f  median %.1f\n", 100 * (double)i->step[k].count / (double)i->coefficients, i->step[k].relative,
               i->step[k].median);
}

/* The planes of a file as grey values of a range. */
struct grey_planes {
    const struct mip *m;
    tsr_planes *planes;
    tsr_planes_info info;
    tsr_context *cpu;
    tsr_volume *plane; /* of the file */
    int64_t nan;
};

static tsr_status grey_planes(void *user, int64_t begin, int64_t end, void *samples)
{
    struct grey_planes *g = (struct grey_planes *)user;
    const int64_t count = g->info.size.x * g->info.size.y;
    tsr_status status = TSR_OK;
    for (int64_t z = begin; z < end && status == TSR_OK; z++, samples = (char *)samples + count * (g->m->bits / 8)) {
        tsr_volume *reals = NULL;
        status = tsr_planes_read(g->planes, z, z + 1, tsr_volume_data(g->plane));
        if (status == TSR_OK) status = tsr_volume_convert(g->cpu, g->plane, TSR_F32, &reals);
        if (status == TSR_OK) g->nan += quantise(g->m, tsr_volume_data_const(reals), count, samples);
        tsr_volume_destroy(&reals);
    }
    return status;
}

/* Of a smaller volume, too, much more than its bytes is needed at once: box after box where the options allow that. */
static int open_smaller(struct mip *m, const char *path, struct grey_planes *g)
{
    if (!m->read.memory_limit || m->threshold_given || m->keep_given || m->build.hide || m->build.measure || m->build.format != TSR_MIP_BRICKS ||
        m->build.key == TSR_MIP_KEY_GREEDY || !strcmp(path, "-") || mip_is_pyramid(path) || tsr_planes_open(path, &m->read, &g->planes) != TSR_OK)
        return 0;
    if (tsr_planes_describe(g->planes, &g->info) == TSR_OK) return 1;
    tsr_planes_close(&g->planes);
    return 0;
}

/* With --memory-limit: box after box from file to file. *streamed: it was; a volume of no more than the limit is built as a whole where the smallest boxes need more. */
static int build_slabs(struct mip *m, const char *path, int *streamed)
{
    struct grey_planes g = { .m = m, .info = TSR_PLANES_INFO };
    tsr_planes_source source = TSR_PLANES_SOURCE;
    tsr_mip_info info = { 0 };
    const tsr_write_options write = cli_write_options(m->cli);
    const double start = cli_seconds();
    int code = mip_is_pyramid(path) ? CLI_OK : cli_open_planes(m->cli, path, &m->read, &g.info, &g.planes);
    const int smaller = !code && !g.planes && open_smaller(m, path, &g);
    if (code || !g.planes) return code;
    *streamed = 1;
    code = check_values(m, path, g.info.dtype);
    if (!code && (m->threshold_given || m->keep_given))
        code = cli_usage(m->cli, "--%s: looks at the whole volume, and %s is larger than --memory-limit", m->threshold_given ? "threshold" : "keep",
                         path);
    if (!code) code = cli_cpu_context(m->cli, &g.cpu);
    if (!code) {
        tsr_status status = tsr_planes_as_source(g.planes, &source);
        if (status == TSR_OK && m->range_given) {
            source.planes = grey_planes;
            source.user = &g;
            source.dtype = grey_of(m, &source.slope, &source.intercept);
            status = tsr_volume_create(NULL, g.info.dtype, (tsr_size3){ g.info.size.x, g.info.size.y, 1 }, NULL, &g.plane);
            if (status == TSR_OK) status = tsr_volume_set_scaling(g.plane, g.info.slope, g.info.intercept);
        }
        m->build.progress = cli_progress(m->cli);
        if (status == TSR_OK) status = tsr_mip_build_file(m->context, &source, &m->build, m->read.memory_limit, m->output, &write, &info);
        cli_progress_end(m->cli);
        if (smaller && status == TSR_ERROR_MEMORY) {
            status = TSR_OK;
            *streamed = 0;
        }
        code = mip_failed(m, status, status == TSR_ERROR_IO && strstr(tsr_error_message(), m->output) ? m->output : path);
        if (!code && *streamed) note_nan(m, path, g.nan, g.info.size.x * g.info.size.y * g.info.size.z);
        if (!code && *streamed && strcmp(m->output, "-")) mip_show(m, &info, cli_seconds() - start);
    }
    tsr_volume_destroy(&g.plane);
    tsr_planes_close(&g.planes);
    tsr_context_destroy(&g.cpu);
    return code;
}

int mip_build(struct mip *m)
{
    const double start = cli_seconds();
    int streamed = 0, code = build_slabs(m, m->cli->input[1], &streamed);
    if (code || streamed) return code;
    code = mip_load(m, m->cli->input[1]);
    if (!code && m->keep_given) {
        tsr_mip *kept = NULL;
        int64_t count = (int64_t)(m->keep * (double)tsr_mip_describe(m->pyramid)->coefficients + 0.5);
        if (count < 1) count = 1; /* a share of more than nothing */
        code = mip_failed(m, tsr_mip_keep(m->pyramid, count, &kept), m->cli->input[1]);
        tsr_mip_destroy(&m->pyramid);
        m->pyramid = kept;
    }
    const double seconds = cli_seconds() - start;
    if (code) return code;
    const tsr_write_options write = cli_write_options(m->cli);
    code = mip_failed(m, tsr_mip_write(m->pyramid, m->output, &write), m->output);
    const tsr_mip_info info = *tsr_mip_describe(m->pyramid);
    if (!code && strcmp(m->output, "-")) mip_show(m, &info, seconds);
    return code;
}
