/* mip/mip_file.c: pyramids for maximum intensity projection in files: see docs/formats/mip.md. */
#include "mip/mip_file.h"

#include <math.h>
#include <stdio.h>

#include "volume/volume.h"
#include "io/little_endian.h"
#include "mip/mip_pyramid.h"

tsr_mip_body tsr_mip_body_of(const tsr_details *d)
{
    tsr_mip_body b = { .bricks = TSR_MIP_HEADER };
    b.runs = b.bricks + d->bricks * TSR_MIP_BRICK_BYTES;
    b.places = b.runs + d->runs * TSR_MIP_RUN_BYTES;
    b.residuals = b.places + d->count * d->width;
    b.bytes = b.residuals + d->count * d->bytes;
    return b;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------- */

void tsr_mip_file_put_header(const tsr_mip *mip, uint8_t h[TSR_MIP_HEADER])
{
    const tsr_details *d = &mip->details;
    const tsr_mip_info *i = &mip->info;
    const int64_t numbers[6] = { i->size.x, i->size.y, i->size.z, d->bricks, d->runs, d->count };
    const int32_t small[8] = {
        d->levels, d->bytes, (int32_t)i->element, (int32_t)i->key, d->format, i->points, i->steps, (int32_t)mip->geometry.space
    };
    memset(h, 0, TSR_MIP_HEADER);
    memcpy(h, TSR_MIP_MAGIC, 8);
    for (int k = 0; k < 6; k++) tsr_put_u64(h + TSR_MIP_AT_SIZE + 8 * k, (uint64_t)numbers[k]);
    for (int k = 0; k < 8; k++) h[TSR_MIP_AT_LEVELS + k] = (uint8_t)small[k];
    for (int k = 0; k < i->points; k++)
        for (int c = 0; c < 3; c++) h[TSR_MIP_AT_POINTS + 3 * k + c] = (uint8_t)mip->point[k][c];
    for (int k = 0; k < 12; k++) tsr_put_f64(h + TSR_MIP_AT_AFFINE + 8 * k, mip->geometry.affine[k / 4][k % 4]);
    tsr_put_f64(h + TSR_MIP_AT_SCALING, mip->slope);
    tsr_put_f64(h + TSR_MIP_AT_SCALING + 8, mip->intercept);
    for (int k = 0; k < i->steps; k++) {
        tsr_put_u64(h + TSR_MIP_AT_STEPS + 24 * k, (uint64_t)i->step[k].count);
        tsr_put_f64(h + TSR_MIP_AT_STEPS + 24 * k + 8, i->step[k].relative);
        tsr_put_f64(h + TSR_MIP_AT_STEPS + 24 * k + 16, i->step[k].median);
    }
}

void tsr_mip_file_put_run(const tsr_detail_run *run, uint8_t at[TSR_MIP_RUN_BYTES])
{
    tsr_put_u32(at, run->first);
    tsr_put_u16(at + 4, run->value);
    tsr_put_u16(at + 6, run->level);
}

/* Arrays of 16- and 32-bit numbers as the file has them. */
static void to_file_order(const tsr_details *d, uint8_t *file)
{
    const tsr_mip_body b = tsr_mip_body_of(d);
    if (!tsr_host_big_endian()) return;
    tsr_swap_elements(file + b.places, d->width == 4 ? d->count : d->count * d->width / 2, d->width == 4 ? 4 : 2);
    if (d->bytes == 2) tsr_swap_elements(file + b.residuals, d->count, 2);
}

static tsr_status fill_body(const tsr_mip *mip, uint8_t *file)
{
    const tsr_details *d = &mip->details;
    const tsr_mip_body b = tsr_mip_body_of(d);
    for (int64_t i = 0; i < d->bricks; i++) {
        tsr_put_u32(file + b.bricks + i * TSR_MIP_BRICK_BYTES, mip->brick[i].count);
        tsr_put_u32(file + b.bricks + i * TSR_MIP_BRICK_BYTES + 4, mip->brick[i].runs);
    }
    if (!d->count) return TSR_OK;
    TSR_TRY(tsr_device_move(NULL, file + b.runs, mip->context, d->run, (size_t)d->runs * sizeof *d->run)); /* of 8 bytes there too */
    for (int64_t i = 0; i < d->runs; i++) {
        tsr_detail_run r;
        uint8_t *at = file + b.runs + i * TSR_MIP_RUN_BYTES;
        memcpy(&r, at, sizeof r);
        tsr_mip_file_put_run(&r, at);
    }
    TSR_TRY(tsr_device_move(NULL, file + b.places, mip->context, d->place, (size_t)(d->count * d->width)));
    TSR_TRY(tsr_device_move(NULL, file + b.residuals, mip->context, d->residual, (size_t)(d->count * d->bytes)));
    to_file_order(d, file);
    return TSR_OK;
}

tsr_status tsr_mip_write(const tsr_mip *mip, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(mip, path);
    tsr_write_options own;
    tsr_output *output = NULL;
    uint8_t *file;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    const int64_t bytes = tsr_mip_body_of(&mip->details).bytes;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)bytes, (void **)&file));
    tsr_mip_file_put_header(mip, file);
    tsr_status status = fill_body(mip, file);
    if (status == TSR_OK) {
        tsr_put_u64(file + TSR_MIP_AT_SUM, tsr_mip_file_sum(file, (size_t)bytes));
        status = tsr_output_open(path, &own, &output);
    }
    if (status == TSR_OK) status = tsr_output_finish(&output, tsr_output_write(output, file, (size_t)bytes));
    tsr_host_release(NULL, file, (size_t)bytes);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_status get_numbers(const char *name, const uint8_t *h, int64_t numbers[6])
{
    static const char *const names[6] = { "extent x", "extent y", "extent z", "bricks", "runs", "coefficients" };
    static const int64_t most[6] = { 1 << 24, 1 << 24, 1 << 24, (int64_t)1 << 40, UINT32_MAX, (int64_t)1 << 48 };
    for (int k = 0; k < 6; k++) {
        numbers[k] = tsr_get_i64(h + TSR_MIP_AT_SIZE + 8 * k);
        if (numbers[k] < (k < 4) || numbers[k] > most[k])
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s is %lld, expected %d to %lld", name, names[k], (long long)numbers[k], k < 4, (long long)most[k]);
    }
    return TSR_OK;
}

static tsr_status get_small(const char *name, const uint8_t *h, int32_t small[8])
{
    static const char *const names[8] = { "levels", "bytes of a value", "element", "key", "format", "points", "measured steps", "space" };
    static const int32_t least[8] = { 0, 1, 0, 0, 0, 1, 0, 0 }, most[8] = {
        TSR_MIP_LEVELS, 2, TSR_MIP_OWN, TSR_MIP_KEY_GREEDY, TSR_MIP_LIST8, TSR_MIP_POINTS, TSR_MIP_STEPS, TSR_SPACE_LPS
    };
    for (int k = 0; k < 8; k++) {
        small[k] = h[TSR_MIP_AT_LEVELS + k];
        if (small[k] < least[k] || small[k] > most[k])
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s is %d, expected %d to %d", name, names[k], small[k], least[k], most[k]);
    }
    if (small[6] && small[6] != TSR_MIP_STEPS)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: measured steps is %d, expected 0 or %d", name, small[6], TSR_MIP_STEPS);
    return TSR_OK;
}

/* Element, levels and extents by the rules of building, the reason in the message. */
static tsr_status check_plan(const char *name, tsr_mip *mip)
{
    tsr_adjunction a = { 0 };
    int8_t points[TSR_MIP_POINTS][3];
    char why[256];
    for (int k = 0; k < TSR_MIP_POINTS; k++) memcpy(points[k], mip->point[k], 3);
    tsr_status status = tsr_mip_element_points(mip->info.element, (const int8_t(*)[3])points, mip->info.points, &a);
    if (status == TSR_OK && (a.points != mip->info.points || memcmp(a.point, mip->point, (size_t)a.points * 4)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the points are not those of element %d", name, (int)mip->info.element);
    if (status == TSR_OK) status = tsr_mip_check_levels(mip->info.size, mip->info.levels);
    if (status == TSR_OK) status = tsr_mip_plan(mip);
    if (status == TSR_OK) return TSR_OK;
    snprintf(why, sizeof why, "%s", tsr_error_message());
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s", name, why);
}

tsr_status tsr_mip_file_header(const char *name, const uint8_t *h, size_t size, tsr_mip *mip)
{
    int64_t numbers[6];
    int32_t small[8];
    if (size >= 8 && !memcmp(h, TSR_MIP_MAGIC, 7) && h[7] != '1')
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a pyramid of version '%c', expected '1': a newer tessera wrote it", name,
                 h[7] > 32 && h[7] < 127 ? h[7] : '?');
    if (size < TSR_MIP_HEADER || memcmp(h, TSR_MIP_MAGIC, 8))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no pyramid for maximum intensity projection: %zu bytes, expected the magic '%s' and a header of %d bytes",
                 name, size, TSR_MIP_MAGIC, TSR_MIP_HEADER);
    TSR_TRY(get_numbers(name, h, numbers));
    TSR_TRY(get_small(name, h, small));
    mip->info = (tsr_mip_info){ .size = { numbers[0], numbers[1], numbers[2] },
                                .levels = small[0],
                                .dtype = small[1] == 1 ? TSR_U8 : TSR_U16,
                                .element = (tsr_mip_element)small[2],
                                .key = (tsr_mip_key)small[3],
                                .format = (tsr_mip_format)small[4],
                                .points = small[5],
                                .steps = small[6] };
    mip->geometry.space = (tsr_space)small[7];
    for (int k = 0; k < small[5]; k++)
        for (int c = 0; c < 3; c++) mip->point[k][c] = (int8_t)h[TSR_MIP_AT_POINTS + 3 * k + c];
    TSR_TRY(check_plan(name, mip));
    for (int k = 0; k < 12; k++) mip->geometry.affine[k / 4][k % 4] = tsr_get_f64(h + TSR_MIP_AT_AFFINE + 8 * k);
    if (tsr_geometry_check(&mip->geometry) != TSR_OK) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the matrix is not finite or not invertible", name);
    mip->slope = tsr_get_f64(h + TSR_MIP_AT_SCALING);
    mip->intercept = tsr_get_f64(h + TSR_MIP_AT_SCALING + 8);
    if (!isfinite(mip->slope) || !isfinite(mip->intercept) || mip->slope == 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: slope %g and intercept %g, expected finite numbers and a slope other than 0", name, mip->slope,
                 mip->intercept);
    tsr_details *d = &mip->details;
    const int64_t cells = (int64_t)d->cells[0] * d->cells[1] * d->cells[2], bricks = d->format == TSR_MIP_BRICKS ? cells : 1;
    if (numbers[3] != bricks) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bricks, expected %lld", name, (long long)numbers[3], (long long)bricks);
    d->bricks = bricks;
    d->runs = numbers[4];
    d->count = numbers[5];
    const tsr_mip_body b = tsr_mip_body_of(d);
    if ((uint64_t)b.bytes != size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %zu bytes, expected %lld for %lld bricks, %lld runs and %lld coefficients", name, size, (long long)b.bytes,
                 (long long)d->bricks, (long long)d->runs, (long long)d->count);
    for (int k = 0; k < small[6]; k++) {
        tsr_mip_step *s = &mip->info.step[k];
        s->count = tsr_get_i64(h + TSR_MIP_AT_STEPS + 24 * k);
        s->relative = tsr_get_f64(h + TSR_MIP_AT_STEPS + 24 * k + 8);
        s->median = tsr_get_f64(h + TSR_MIP_AT_STEPS + 24 * k + 16);
        if (s->count < (k ? s[-1].count : 0) || s->count > d->count || !(s->relative >= 0) || !(s->median >= 0))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: measured step %d: %lld coefficients, error %g, median %g", name, k, (long long)s->count, s->relative,
                     s->median);
    }
    return TSR_OK;
}

tsr_status tsr_mip_file_bricks(const char *name, const uint8_t *bytes, tsr_mip *mip)
{
    tsr_details *d = &mip->details;
    int64_t first = 0, run = 0;
    TSR_TRY(tsr_host_allocate(&mip->context->host_allocator, (size_t)d->bricks * sizeof *mip->brick, (void **)&mip->brick));
    for (int64_t i = 0; i < d->bricks; i++) {
        const uint32_t count = tsr_get_u32(bytes + i * TSR_MIP_BRICK_BYTES), runs = tsr_get_u32(bytes + i * TSR_MIP_BRICK_BYTES + 4);
        if (runs > count || !runs != !count)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: brick %lld has %u coefficients in %u runs", name, (long long)i, count, runs);
        mip->brick[i] = (tsr_detail_brick){ .first = first, .count = count, .run = (uint32_t)run, .runs = runs };
        first += count;
        run += runs;
    }
    if (first != d->count || run != d->runs)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the bricks have %lld coefficients and %lld runs, the header says %lld and %lld", name, (long long)first,
                 (long long)run, (long long)d->count, (long long)d->runs);
    return TSR_OK;
}

/* Runs of a brick: levels, then values descend, first coefficients ascend; coefficients: residuals descend, places lie in their level. */
tsr_status tsr_mip_file_check(const char *name, const tsr_mip *mip, const tsr_details *d, int64_t brick, uint64_t *histogram)
{
    const tsr_detail_brick *b = &mip->brick[brick];
    for (uint32_t k = b->run; k < b->run + b->runs; k++) {
        const tsr_detail_run r = d->run[k], *before = k > b->run ? &d->run[k - 1] : NULL;
        const int ordered =
            before ? r.first > before->first && (r.level < before->level || (r.level == before->level && r.value < before->value)) : r.first == 0;
        if (!ordered || r.first >= b->count || r.level > d->levels || r.value < 1 || r.value >> (8 * d->bytes))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: run %u of brick %lld: first %u, level %d, value %d is out of order or range", name, k - b->run,
                     (long long)brick, r.first, r.level, r.value);
        const uint32_t count = tsr_detail_run_count(d, b, k);
        uint32_t most = mip->info.key == TSR_MIP_KEY_GREEDY ? (1u << (8 * d->bytes)) - 1u : r.value; /* classes, or residuals */
        for (uint32_t i = 0; i < count; i++) {
            const int64_t c = b->first + r.first + i;
            const uint32_t e = tsr_detail_residual(d, c);
            int32_t at[3];
            tsr_detail_get(d, c, r.level, brick, at);
            const int told = d->width != 8 || ((const uint16_t *)d->place)[4 * c + 3] == r.value;
            if (e < 1 || e > most || !told || !tsr_adjunction_within(d->size[r.level], at[0], at[1], at[2]))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: coefficient %lld at (%d, %d, %d) of level %d, residual %u, is out of order or range", name,
                         (long long)c, at[0], at[1], at[2], r.level, e);
            most = e;
            histogram[(int64_t)r.level * 65536 + e]++;
        }
    }
    return TSR_OK;
}

static tsr_status get_body(const char *name, const uint8_t *bytes, tsr_mip *mip)
{
    tsr_details host = mip->details, *d = &mip->details;
    const tsr_mip_body b = tsr_mip_body_of(d);
    const size_t bins = (size_t)(TSR_MIP_LEVELS + 1) * 65536 * 8,
                 room = (size_t)d->runs * sizeof *d->run + (size_t)(d->count * (d->width + d->bytes)) + 16;
    uint64_t *histogram;
    uint8_t *copy; /* aligned, in the host's byte order */
    TSR_TRY(tsr_host_allocate(NULL, bins, (void **)&histogram));
    tsr_status status = tsr_host_allocate(NULL, room, (void **)&copy);
    if (status != TSR_OK) {
        tsr_host_release(NULL, histogram, bins);
        TSR_TRY(status);
    }
    memset(histogram, 0, bins);
    host.run = (tsr_detail_run *)(void *)copy;
    host.place = host.run + d->runs;
    host.residual = (uint8_t *)host.place + (d->count * d->width + 1) / 2 * 2;
    for (int64_t i = 0; i < d->runs; i++) {
        const uint8_t *at = bytes + b.runs + i * TSR_MIP_RUN_BYTES;
        host.run[i] = (tsr_detail_run){ tsr_get_u32(at), tsr_get_u16(at + 4), tsr_get_u16(at + 6) };
    }
    if (d->count) {
        memcpy(host.place, bytes + b.places, (size_t)(d->count * d->width));
        memcpy(host.residual, bytes + b.residuals, (size_t)(d->count * d->bytes));
    }
    if (tsr_host_big_endian()) {
        tsr_swap_elements(host.place, d->width == 4 ? d->count : d->count * d->width / 2, d->width == 4 ? 4 : 2);
        if (d->bytes == 2) tsr_swap_elements(host.residual, d->count, 2);
    }
    for (int64_t i = 0; i < d->bricks && status == TSR_OK; i++) status = tsr_mip_file_check(name, mip, &host, i, histogram);
    if (status == TSR_OK) status = tsr_mip_allocate(mip);
    if (status == TSR_OK && d->count) {
        status = tsr_device_move(mip->context, d->run, NULL, host.run, (size_t)d->runs * sizeof *d->run);
        if (status == TSR_OK) status = tsr_device_move(mip->context, d->place, NULL, host.place, (size_t)(d->count * d->width));
        if (status == TSR_OK) status = tsr_device_move(mip->context, d->residual, NULL, host.residual, (size_t)(d->count * d->bytes));
    }
    if (status == TSR_OK) status = tsr_mip_complete(mip, histogram);
    tsr_host_release(NULL, copy, room);
    tsr_host_release(NULL, histogram, bins);
    return status;
}

tsr_status tsr_mip_file_compare_sums(const char *name, uint64_t sum, uint64_t stored)
{
    if (sum == stored) return TSR_OK;
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: checksum %016llx, expected %016llx: the file is damaged", name, (unsigned long long)sum,
             (unsigned long long)stored);
}

tsr_status tsr_mip_file_read(tsr_context *context, tsr_input *input, tsr_mip **mip)
{
    const char *name = tsr_input_name(input);
    const uint8_t *bytes;
    size_t size;
    tsr_status status;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **mip, (void **)mip));
    **mip = (tsr_mip){ .context = context, .selected = -1, .chunk_to = -1, .order_to = -1 };
    TSR_TRY_GOTO(tsr_mip_file_header(name, bytes, size, *mip), fail);
    TSR_TRY_GOTO(tsr_mip_file_compare_sums(name, tsr_mip_file_sum(bytes, size), tsr_get_u64(bytes + TSR_MIP_AT_SUM)), fail);
    TSR_TRY_GOTO(tsr_mip_file_bricks(name, bytes + TSR_MIP_HEADER, *mip), fail);
    TSR_TRY_GOTO(get_body(name, bytes, *mip), fail);
    return TSR_OK;
fail:
    tsr_mip_destroy(mip);
    return status;
}

tsr_status tsr_mip_read(tsr_context *context, const char *path, const tsr_read_options *options, tsr_mip **mip)
{
    TSR_RETURNS(mip);
    TSR_NEEDS(context, path);
    tsr_read_options own;
    tsr_input *input = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    const tsr_input_options settings = { .memory_limit = own.memory_limit, .progress = &own.progress };
    TSR_TRY(tsr_input_open(path, &settings, &input));
    const tsr_status status = tsr_mip_file_read(context, input, mip);
    tsr_input_close(&input);
    TSR_TRY(status);
    return TSR_OK;
}
