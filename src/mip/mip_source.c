/* mip/mip_source.c: the file of a pyramid of bricks from a volume that comes plane by plane: box after box, each built by itself with as many voxels around as its coefficients
 * depend on, and what its own bricks hold kept in spools until their place in the file is known (docs/theory/mip.md 2). */
#include "io/spool.h"
#include "mip/mip_file.h"
#include "mip/mip_pyramid.h"
#include "volume/volume.h"

enum { FIXED = 40 << 20 /* bytes: counts of residuals and their order */, BLOCK = 1 << 22 };

struct box {
    int64_t z[2], y[2]; /* own voxels; with those around: */
    int64_t from_z, end_z, from_y, end_y;
};

struct job {
    tsr_context *context;
    const tsr_planes_source *source;
    tsr_mip_options options;
    tsr_mip *whole; /* of which there are the numbers alone */
    int64_t n[3], bytes, align, halo;
    int64_t planes, rows;   /* own ones of a box */
    uint8_t *slab;          /* the planes of a row of boxes, those around included */
    int64_t slab_from, slab_end;
    size_t slab_bytes;
    tsr_spool *spool[4];    /* bricks, runs, places, residuals: the order of the file */
    tsr_progress progress;
};

/* Voxels of level 0 around a box that its coefficients depend on: of the highest level those that an expansion reaches, of each below those that the erosion reaches from there. */
static int64_t halo_of(const tsr_adjunction *a, int32_t levels)
{
    int64_t reach = 0, halo;
    if (a->cube2 || !levels) return 0; /* an octree: nodes depend on what lies in them */
    for (int32_t k = 0; k < a->points; k++)
        for (int c = 0; c < 3; c++) reach = tsr_max64(reach, a->point[k][c] < 0 ? -a->point[k][c] : a->point[k][c]);
    halo = (reach + 1) / 2 + 1;
    for (int32_t j = levels; j > 0; j--) halo = 2 * halo + reach;
    return halo;
}

/* Extents of boxes: whole rows, as many planes as the limit has room for or, of as few as can be, some rows. */
static tsr_status plan(struct job *j, int64_t limit)
{
    const int64_t x = j->n[0], y = j->n[1], z = j->n[2], voxel = 3 * j->bytes + 44; /* the volume, its levels and coefficients, the sort */
    const int64_t around = 2 * j->halo, least = tsr_min64(z, j->align + around), slab = x * y * j->bytes;
    const int64_t room = limit - FIXED;
    j->rows = y;
    j->planes = z;
    if (z * slab + x * y * z * voxel <= room) return TSR_OK;
    int64_t planes = room / (slab + x * y * voxel) - around;
    planes -= planes % j->align;
    if (planes >= j->align) {
        j->planes = planes;
        return TSR_OK;
    }
    j->planes = j->align;
    int64_t rows = (room - least * slab) / (x * least * voxel) - around;
    rows -= rows % j->align;
    if (rows >= j->align && j->align == TSR_CELL_SIDE) { /* one layer of bricks: those of some rows follow one another */
        j->rows = rows;
        return TSR_OK;
    }
    const int64_t need = FIXED + least * slab + x * least * voxel * (j->align == TSR_CELL_SIDE ? tsr_min64(y, j->align + around) : y);
    if (j->align == TSR_CELL_SIDE && need <= limit) {
        j->rows = j->align;
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_MEMORY, "mip: the pyramid of %lld x %lld x %lld voxels with %d levels is built in boxes of at least %lld planes, which need %lld bytes, the memory limit is %lld",
             (long long)x, (long long)y, (long long)z, j->whole->info.levels, (long long)least, (long long)need, (long long)limit);
}

/* The planes of `box`; those that the row of boxes before had already are moved. */
static tsr_status take_planes(struct job *j, const struct box *box)
{
    const int64_t plane = j->n[0] * j->n[1] * j->bytes, kept = tsr_max64(0, j->slab_end - box->from_z);
    if (j->slab_from == box->from_z && j->slab_end == box->end_z) return TSR_OK;
    if (kept > 0) memmove(j->slab, j->slab + (box->from_z - j->slab_from) * plane, (size_t)(kept * plane));
    const int64_t begin = kept > 0 ? j->slab_end : box->from_z;
    if (begin < box->end_z) TSR_TRY(j->source->planes(j->source->user, begin, box->end_z, j->slab + (begin - box->from_z) * plane));
    j->slab_from = box->from_z;
    j->slab_end = box->end_z;
    return TSR_OK;
}

static tsr_status build_box(struct job *j, const struct box *box, tsr_mip **part)
{
    const tsr_size3 size = { j->n[0], box->end_y - box->from_y, box->end_z - box->from_z };
    const int64_t row = j->n[0] * j->bytes;
    tsr_volume *host = NULL, *volume = NULL;
    tsr_status status;
    TSR_TRY(tsr_volume_create(NULL, j->source->dtype, size, NULL, &host));
    for (int64_t z = 0; z < size.z; z++)
        memcpy((uint8_t *)host->data + z * size.y * row, j->slab + (z * j->n[1] + box->from_y) * row, (size_t)(size.y * row));
    status = tsr_volume_copy(host, j->context, &volume);
    tsr_volume_destroy(&host);
    if (status == TSR_OK) status = tsr_mip_build_plain(j->context, volume, &j->options, part);
    tsr_volume_destroy(&volume);
    return status;
}

static tsr_status keep(struct job *j, int which, const void *bytes, int64_t size)
{
    if (size) TSR_TRY(tsr_spool_write(j->spool[which], bytes, (size_t)size, NULL));
    return TSR_OK;
}

/* What a row of the part's bricks holds: they lie one behind another there, too. `host`: runs, places and residuals, which are in the byte order of files afterwards. */
static tsr_status keep_row(struct job *j, const tsr_mip *part, int64_t first, const tsr_details *host)
{
    const tsr_details *d = &part->details;
    const tsr_detail_brick *b = &part->brick[first];
    uint8_t at[TSR_MIP_BRICK_BYTES];
    int64_t count = 0, runs = 0;
    for (int64_t i = 0; i < d->cells[0]; i++) {
        tsr_put_u32(at, b[i].count);
        tsr_put_u32(at + 4, b[i].runs);
        TSR_TRY(keep(j, 0, at, sizeof at));
        for (uint32_t k = b[i].run; k < b[i].run + b[i].runs; k++) {
            const tsr_detail_run run = host->run[k];
            j->whole->info.by_level[run.level] += tsr_detail_run_count(host, &b[i], k);
            tsr_mip_file_put_run(&run, (uint8_t *)&host->run[k]);
        }
        count += b[i].count;
        runs += b[i].runs;
    }
    if (tsr_host_big_endian() && count) {
        tsr_swap_elements((uint16_t *)host->place + b->first, count, 2);
        if (d->bytes == 2) tsr_swap_elements((uint16_t *)host->residual + b->first, count, 2);
    }
    TSR_TRY(keep(j, 1, host->run + b->run, runs * TSR_MIP_RUN_BYTES));
    TSR_TRY(keep(j, 2, (const uint8_t *)host->place + b->first * d->width, count * d->width));
    TSR_TRY(keep(j, 3, (const uint8_t *)host->residual + b->first * d->bytes, count * d->bytes));
    j->whole->details.count += count;
    j->whole->details.runs += runs;
    return TSR_OK;
}

static tsr_status keep_box(struct job *j, const struct box *box, const tsr_mip *part)
{
    const tsr_details *d = &part->details;
    const int64_t first[2] = { (box->y[0] - box->from_y) / TSR_CELL_SIDE, (box->z[0] - box->from_z) / TSR_CELL_SIDE };
    const int64_t end[2] = { tsr_ceil_div(box->y[1] - box->from_y, TSR_CELL_SIDE), tsr_ceil_div(box->z[1] - box->from_z, TSR_CELL_SIDE) };
    const int64_t runs = (d->runs + 1) * (int64_t)sizeof *d->run, places = (d->count + 1) / 2 * 2 * d->width, room = runs + places + d->count * d->bytes + 8;
    uint8_t *memory;
    tsr_details host = *d;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)room, (void **)&memory));
    host.run = (tsr_detail_run *)(void *)memory;
    host.place = memory + runs;
    host.residual = memory + runs + places;
    tsr_status status = TSR_OK;
    if (d->count) {
        status = tsr_device_move(NULL, host.run, j->context, d->run, (size_t)d->runs * sizeof *d->run);
        if (status == TSR_OK) status = tsr_device_move(NULL, host.place, j->context, d->place, (size_t)(d->count * d->width));
        if (status == TSR_OK) status = tsr_device_move(NULL, host.residual, j->context, d->residual, (size_t)(d->count * d->bytes));
    }
    for (int64_t z = first[1]; z < end[1] && status == TSR_OK; z++)
        for (int64_t y = first[0]; y < end[0] && status == TSR_OK; y++) status = keep_row(j, part, (z * d->cells[1] + y) * d->cells[0], &host);
    tsr_host_release(NULL, memory, (size_t)room);
    return status;
}

/* The end of the box that begins at `begin`; less than `least` is not left behind it. */
static int64_t box_end(int64_t begin, int64_t step, int64_t least, int64_t n) { return begin + step + least > n ? n : begin + step; }

static tsr_status build_boxes(struct job *j)
{
    const int64_t layer = j->rows < j->n[1]; /* boxes are one layer of bricks high */
    for (int64_t z = 0, z_end; z < j->n[2]; z = z_end) {
        z_end = box_end(z, j->planes, layer ? 0 : j->align, j->n[2]);
        for (int64_t y = 0, y_end; y < j->n[1]; y = y_end) {
            tsr_mip *part = NULL;
            y_end = box_end(y, j->rows, j->align, j->n[1]);
            const struct box box = { { z, z_end }, { y, y_end }, tsr_max64(0, z - j->halo), tsr_min64(j->n[2], z_end + j->halo),
                                     tsr_max64(0, y - j->halo), tsr_min64(j->n[1], y_end + j->halo) };
            TSR_PROGRESS(&j->progress, ((double)z + (double)(z_end - z) * (double)y / (double)j->n[1]) / (double)j->n[2], "coefficients");
            TSR_TRY(take_planes(j, &box));
            tsr_status status = build_box(j, &box, &part);
            if (status == TSR_OK) status = keep_box(j, &box, part);
            tsr_mip_destroy(&part);
            TSR_TRY(status);
        }
    }
    if (j->whole->details.runs > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_CAPACITY, "mip: %lld runs, expected at most 2^32 - 1", (long long)j->whole->details.runs);
    return TSR_OK;
}

/* All spools in order, into the checksum or the file. */
static tsr_status pass(struct job *j, uint8_t *block, tsr_xxh64_sum *sum, tsr_output *output)
{
    const tsr_details *d = &j->whole->details;
    const tsr_mip_body b = tsr_mip_body_of(d);
    const int64_t sizes[4] = { b.runs - b.bricks, b.places - b.runs, b.residuals - b.places, b.bytes - b.residuals };
    for (int k = 0; k < 4; k++)
        for (int64_t at = 0; at < sizes[k]; at += BLOCK) {
            const size_t n = (size_t)tsr_min64(BLOCK, sizes[k] - at);
            TSR_TRY(tsr_spool_get(j->spool[k], at, block, n));
            if (sum) tsr_xxh64_add(sum, block, n);
            else TSR_TRY(tsr_output_write(output, block, n));
        }
    return TSR_OK;
}

static tsr_status write_file(struct job *j, const char *path, const tsr_write_options *options)
{
    uint8_t header[TSR_MIP_HEADER], *block = NULL;
    tsr_output *output = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, BLOCK, (void **)&block));
    tsr_mip_file_put_header(j->whole, header);
    tsr_xxh64_sum sum = tsr_xxh64_begin(tsr_xxh64(header, TSR_MIP_AT_SUM, 0));
    TSR_TRY_GOTO(pass(j, block, &sum, NULL), done);
    tsr_put_u64(header + TSR_MIP_AT_SUM, tsr_xxh64_end(&sum));
    TSR_TRY_GOTO(tsr_output_open(path, options, &output), done);
    status = tsr_output_write(output, header, sizeof header);
    if (status == TSR_OK) status = pass(j, block, NULL, output);
    status = tsr_output_finish(&output, status);
done:
    tsr_host_release(NULL, block, BLOCK);
    return status;
}

static tsr_status check(const tsr_planes_source *s, const tsr_mip_options *o, int64_t memory_limit)
{
    if (!s->planes) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: source.planes is NULL");
    if (s->size.x < 1 || s->size.y < 1 || s->size.z < 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: source.size is %lld x %lld x %lld, expected at least 1 along each axis", (long long)s->size.x, (long long)s->size.y, (long long)s->size.z);
    if (memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: memory_limit is %lld, expected 0 or more bytes", (long long)memory_limit);
    if (o->format != TSR_MIP_BRICKS) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mip: a list is sorted as a whole: by slabs a pyramid is built in the format bricks alone");
    if (o->key == TSR_MIP_KEY_GREEDY) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mip: the order greedy is found over the whole volume, expected another key to build by slabs");
    if (o->hide) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mip: what can be seen is found by a flood of the whole volume: not by slabs");
    if (o->measure) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mip: errors are measured in pictures of the whole pyramid: not by slabs");
    return TSR_OK;
}

tsr_status tsr_mip_build_file(tsr_context *context, const tsr_planes_source *source, const tsr_mip_options *options, int64_t memory_limit, const char *path,
                              const tsr_write_options *write, tsr_mip_info *info)
{
    TSR_NEEDS(context, source, path);
    struct job j = { .context = context };
    tsr_planes_source own;
    tsr_write_options to;
    tsr_adjunction a = { 0 };
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, source));
    TSR_TRY(TSR_OPTIONS_TAKE(&j.options, options));
    TSR_TRY(TSR_OPTIONS_TAKE(&to, write));
    TSR_TRY(check(&own, &j.options, memory_limit));
    j.source = &own;
    j.progress = j.options.progress;
    j.options.progress = (tsr_progress){ 0 };
    const tsr_volume shape = { .dtype = own.dtype, .size = own.size, .geometry = own.geometry ? *own.geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE),
                               .slope = own.slope != 0 ? own.slope : 1, .intercept = own.intercept };
    TSR_TRY_GOTO(tsr_mip_create(context, &shape, &j.options, &j.whole, &a), done);
    j.n[0] = own.size.x;
    j.n[1] = own.size.y;
    j.n[2] = own.size.z;
    j.bytes = j.whole->details.bytes;
    j.align = tsr_max64(TSR_CELL_SIDE, INT64_C(1) << j.whole->info.levels);
    j.halo = tsr_ceil_div(halo_of(&a, j.whole->info.levels), j.align) * j.align;
    j.whole->details.bricks = tsr_adjunction_cells(j.whole->details.cells);
    TSR_TRY_GOTO(plan(&j, memory_limit ? memory_limit : 1 << 28), done);
    j.slab_bytes = (size_t)(tsr_min64(j.n[2], j.planes + j.align + 2 * j.halo) * j.n[0] * j.n[1] * j.bytes);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, j.slab_bytes, (void **)&j.slab), done);
    for (int k = 0; k < 4; k++) TSR_TRY_GOTO(tsr_spool_open(path, &j.spool[k]), done);
    TSR_TRY_GOTO(build_boxes(&j), done);
    TSR_TRY_GOTO(write_file(&j, path, &to), done);
    if (info) {
        *info = j.whole->info;
        info->spacing = tsr_geometry_spacing(&shape.geometry);
        info->geometry = shape.geometry;
        info->coefficients = j.whole->details.count;
        info->runs = j.whole->details.runs;
        info->bricks = j.whole->details.bricks;
        info->device_bytes = 0;
    }
done:
    for (int k = 0; k < 4; k++) tsr_spool_close(&j.spool[k]);
    if (j.slab) tsr_host_release(NULL, j.slab, j.slab_bytes);
    tsr_mip_destroy(&j.whole);
    return status;
}
