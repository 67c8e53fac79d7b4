/* mip/mip_pieces.c: reading pyramid files piece by piece. */
#include "mip/mip_pieces.h"

#include "volume/volume.h"
#include "io/little_endian.h"

enum { BINS = (TSR_MIP_LEVELS + 1) * 65536, RUN_COST = 2 * (int)sizeof(tsr_detail_run) + 8 /* file's, device's, from, to */, LEAST_PIECE = 1024 };

static void release(void *memory, size_t bytes)
{
    if (memory) tsr_host_release(NULL, memory, bytes);
}

void tsr_mip_pieces_close(tsr_mip_pieces *p)
{
    const tsr_allocator *host = p->part ? &p->part->context->host_allocator : NULL;
    if (p->table) tsr_host_release(host, p->table, (size_t)p->bricks * sizeof *p->table);
    release(p->list, (size_t)p->runs * sizeof *p->list);
    release(p->piece, (size_t)p->room * sizeof *p->piece);
    release(p->host.run, p->run_bytes);
    release(p->host.place, p->place_bytes);
    release(p->host.residual, p->residual_bytes);
    release(p->histogram, (size_t)BINS * 8);
    tsr_mip_destroy(&p->part);
    tsr_input_close(&p->input);
    *p = (tsr_mip_pieces){ 0 };
}

static tsr_status read_runs(tsr_mip_pieces *p, int64_t from, int64_t count, tsr_detail_run *to)
{
    TSR_TRY(tsr_input_read(p->input, p->body.runs + from * TSR_MIP_RUN_BYTES, count * TSR_MIP_RUN_BYTES, 1, 0, to, "runs"));
    for (int64_t i = 0; i < count; i++) { /* as large there as here */
        uint8_t at[TSR_MIP_RUN_BYTES];
        memcpy(at, &to[i], sizeof at);
        to[i] = (tsr_detail_run){ tsr_get_u32(at), tsr_get_u16(at + 4), tsr_get_u16(at + 6) };
    }
    return TSR_OK;
}

/* ---- the pieces ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status add_piece(tsr_mip_pieces *p, tsr_mip_piece piece)
{
    if (p->count == p->room) {
        tsr_mip_piece *grown;
        const int64_t room = p->room ? 2 * p->room : 64;
        TSR_TRY(tsr_host_allocate(NULL, (size_t)room * sizeof *grown, (void **)&grown));
        if (p->count) memcpy(grown, p->piece, (size_t)p->count * sizeof *grown);
        release(p->piece, (size_t)p->room * sizeof *p->piece);
        p->piece = grown;
        p->room = room;
    }
    p->piece[p->count++] = piece;
    return TSR_OK;
}

static int64_t cost(const tsr_mip_pieces *p, int64_t coefficients, int64_t runs)
{
    return 2 * coefficients * (p->part->details.width + p->part->details.bytes) + runs * RUN_COST;
}

static tsr_status check_limit(const tsr_mip_pieces *p, int64_t limit, int64_t least, const char *what)
{
    if (limit < least)
        TSR_FAIL(TSR_ERROR_CAPACITY, "%s: memory_limit is %lld, expected at least %lld bytes, which %s takes", tsr_input_name(p->input),
                 (long long)limit, (long long)least, what);
    return TSR_OK;
}

static tsr_status cut_bricks(tsr_mip_pieces *p, int64_t limit)
{
    tsr_mip_piece own = { 0 };
    int64_t least = 0;
    for (int64_t i = 0; i < p->bricks; i++) least = tsr_max64(least, cost(p, p->table[i].count, p->table[i].runs));
    TSR_TRY(check_limit(p, limit, least, "the largest brick of 32^3"));
    for (int64_t i = 0; i < p->bricks; i++) {
        const tsr_detail_brick *b = &p->table[i];
        const int64_t coefficients = own.coefficient[1] - own.coefficient[0] + b->count, runs = own.run[1] - own.run[0] + b->runs;
        if (own.coefficient[1] > own.coefficient[0] && cost(p, coefficients, runs) > limit) {
            TSR_TRY(add_piece(p, own));
            own = (tsr_mip_piece){ { i, i }, { b->first, b->first }, { b->run, b->run } };
        }
        own.brick[1] = i + 1;
        own.coefficient[1] = b->first + b->count;
        own.run[1] = (int64_t)b->run + b->runs;
    }
    TSR_TRY(add_piece(p, own));
    return TSR_OK;
}

/* A run may be cut: its parts are runs of their pieces. */
static tsr_status cut_list(tsr_mip_pieces *p, int64_t limit)
{
    TSR_TRY(
        check_limit(p, limit, cost(p, tsr_min64(p->coefficients, LEAST_PIECE), p->runs), "the list of its runs with a piece of 1024 coefficients"));
    const int64_t each = tsr_max64(LEAST_PIECE, (limit - p->runs * RUN_COST) / cost(p, 1, 0));
    int64_t run = 0;
    for (int64_t first = 0; first < p->coefficients || !p->count; first += each) {
        const int64_t end = tsr_min64(first + each, p->coefficients);
        int64_t last = run;
        while (last < p->runs && p->list[last].first < end) last++;
        TSR_TRY(add_piece(p, (tsr_mip_piece){ { 0, 1 }, { first, end }, { run, last } }));
        run = last;
        if (last < p->runs ? p->list[last].first > end : end < p->coefficients) run = last - 1; /* the last run goes on */
    }
    return TSR_OK;
}

/* Runs of a piece, first coefficients from the piece's first (lists) or the brick's. */
static tsr_status piece_runs(tsr_mip_pieces *p, const tsr_mip_piece *own)
{
    if (!p->list) return read_runs(p, own->run[0], own->run[1] - own->run[0], p->host.run);
    for (int64_t k = own->run[0]; k < own->run[1]; k++) {
        p->host.run[k - own->run[0]] = p->list[k];
        p->host.run[k - own->run[0]].first = (uint32_t)tsr_max64(0, (int64_t)p->list[k].first - own->coefficient[0]);
    }
    return TSR_OK;
}

static tsr_status check_piece(tsr_mip_pieces *p, const tsr_mip_piece *own)
{
    const char *name = tsr_input_name(p->input);
    for (int64_t i = own->brick[0]; i < own->brick[1]; i++) TSR_TRY(tsr_mip_file_check(name, p->part, &p->host, i, p->histogram));
    return TSR_OK;
}

/* Into host memory: the part's table and the piece's arrays. */
static tsr_status read_piece(tsr_mip_pieces *p, const tsr_mip_piece *own)
{
    const int64_t first = own->coefficient[0], count = own->coefficient[1] - first, width = p->host.width, bytes = p->host.bytes;
    const int swap = tsr_host_big_endian();
    tsr_mip *part = p->part;
    memset(part->brick, 0, (size_t)p->bricks * sizeof *part->brick);
    for (int64_t i = own->brick[0]; i < own->brick[1]; i++) {
        const tsr_detail_brick b = p->table[i];
        part->brick[i] = p->list ? (tsr_detail_brick){ 0, (uint32_t)count, 0, (uint32_t)(own->run[1] - own->run[0]) }
                                 : (tsr_detail_brick){ b.first - first, b.count, (uint32_t)(b.run - own->run[0]), b.runs };
    }
    if (!count) return TSR_OK;
    TSR_TRY(piece_runs(p, own));
    TSR_TRY(tsr_input_read(p->input, p->body.places + first * width, count * width, width == 4 ? 4 : 2, swap, p->host.place, "places"));
    TSR_TRY(tsr_input_read(p->input, p->body.residuals + first * bytes, count * bytes, (size_t)bytes, swap, p->host.residual, "residuals"));
    TSR_TRY(check_piece(p, own));
    return TSR_OK;
}

tsr_status tsr_mip_pieces_load(tsr_mip_pieces *p, int64_t k)
{
    const tsr_mip_piece *own = &p->piece[k];
    tsr_mip *part = p->part;
    const tsr_details *d = &part->details;
    tsr_context *context = part->context;
    const int64_t count = own->coefficient[1] - own->coefficient[0];
    TSR_TRY(read_piece(p, own));
    TSR_TRY(tsr_device_move(context, d->brick, NULL, part->brick, (size_t)p->bricks * sizeof *part->brick));
    if (!d->runs) return TSR_OK;
    TSR_TRY(tsr_device_move(context, d->run, NULL, p->host.run, (size_t)(own->run[1] - own->run[0]) * sizeof *d->run));
    TSR_TRY(tsr_device_move(context, d->place, NULL, p->host.place, (size_t)(count * d->width)));
    TSR_TRY(tsr_device_move(context, d->residual, NULL, p->host.residual, (size_t)(count * d->bytes)));
    TSR_TRY(context->backend->fill(context->queue, d->from, 0, (size_t)d->runs * 4));
    TSR_TRY(context->backend->fill(context->queue, d->to, 0, (size_t)d->runs * 4));
    part->order_to = part->chunk_to = part->selected = -1;
    part->selected_from = 0;
    return TSR_OK;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------------------- */

/* Once through the file: its pieces come out of order, and what their coefficients are checked for leaves most damage unseen. */
static tsr_status check_sum(const tsr_mip_pieces *p, const uint8_t *header, int64_t size, const tsr_progress *progress)
{
    enum { STEP = 1 << 16 };
    tsr_xxh64_sum sum = tsr_xxh64_begin(tsr_xxh64(header, TSR_MIP_AT_SUM, 0));
    tsr_status status = TSR_OK;
    uint8_t *bytes;
    TSR_TRY(tsr_host_allocate(NULL, STEP, (void **)&bytes));
    for (int64_t at = TSR_MIP_HEADER; at < size; at += STEP) {
        const int64_t count = tsr_min64(STEP, size - at);
        if (at % (1 << 24) < STEP && tsr_progress_report(progress, 0.3 * (double)at / (double)size, "checksum"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during checksum");
        TSR_TRY_GOTO(tsr_input_read(p->input, at, count, 1, 0, bytes, "contents"), done);
        tsr_xxh64_add(&sum, bytes, (size_t)count);
    }
    TSR_TRY_GOTO(tsr_mip_file_compare_sums(tsr_input_name(p->input), tsr_xxh64_end(&sum), tsr_get_u64(header + TSR_MIP_AT_SUM)), done);
done:
    tsr_host_release(NULL, bytes, STEP);
    return status;
}

static tsr_status open_file(tsr_mip_pieces *p, const tsr_progress *progress)
{
    uint8_t header[TSR_MIP_HEADER], *bytes;
    const char *name = tsr_input_name(p->input);
    const int64_t size = tsr_input_size(p->input);
    tsr_mip *part = p->part;
    tsr_details *d = &part->details;
    if (size < 0) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: drawing by pieces needs a plain file, not a packed one or a pipe: unpack it", name);
    memset(header, 0, sizeof header);
    TSR_TRY(tsr_input_read(p->input, 0, tsr_min64(size, TSR_MIP_HEADER), 1, 0, header, "header"));
    TSR_TRY(tsr_mip_file_header(name, header, (size_t)size, part));
    TSR_TRY(check_sum(p, header, size, progress));
    p->body = tsr_mip_body_of(d);
    p->bricks = d->bricks;
    p->runs = d->runs;
    p->coefficients = d->count;
    const size_t table = (size_t)(p->bricks * TSR_MIP_BRICK_BYTES);
    TSR_TRY(tsr_host_allocate(NULL, table, (void **)&bytes));
    tsr_status status = tsr_input_read(p->input, p->body.bricks, (int64_t)table, 1, 0, bytes, "bricks");
    if (status == TSR_OK) status = tsr_mip_file_bricks(name, bytes, part);
    tsr_host_release(NULL, bytes, table);
    TSR_TRY(status);
    p->table = part->brick;
    part->brick = NULL;
    TSR_TRY(tsr_host_allocate(&part->context->host_allocator, (size_t)p->bricks * sizeof *part->brick, (void **)&part->brick));
    if (d->format == TSR_MIP_BRICKS || !p->runs) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)p->runs * sizeof *p->list, (void **)&p->list));
    TSR_TRY(read_runs(p, 0, p->runs, p->list));
    if (p->list[0].first) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the first run begins at coefficient %u, expected 0", name, p->list[0].first);
    for (int64_t k = 1; k < p->runs; k++)
        if (p->list[k].first <= p->list[k - 1].first)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: run %lld begins at coefficient %u, the one before at %u", name, (long long)k, p->list[k].first,
                     p->list[k - 1].first);
    return TSR_OK;
}

/* Room for the largest piece. */
static tsr_status make_room(tsr_mip_pieces *p)
{
    tsr_details *d = &p->part->details;
    d->count = d->runs = 0;
    for (int64_t k = 0; k < p->count; k++) {
        d->count = tsr_max64(d->count, p->piece[k].coefficient[1] - p->piece[k].coefficient[0]);
        d->runs = tsr_max64(d->runs, p->piece[k].run[1] - p->piece[k].run[0]);
    }
    p->host = *d;
    p->host.brick = NULL;
    p->run_bytes = (size_t)d->runs * sizeof *d->run + 1;
    p->place_bytes = (size_t)(d->count * d->width) + 1;
    p->residual_bytes = (size_t)(d->count * d->bytes) + 1;
    TSR_TRY(tsr_host_allocate(NULL, p->run_bytes, (void **)&p->host.run));
    TSR_TRY(tsr_host_allocate(NULL, p->place_bytes, (void **)&p->host.place));
    TSR_TRY(tsr_host_allocate(NULL, p->residual_bytes, (void **)&p->host.residual));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)BINS * 8, (void **)&p->histogram));
    memset(p->histogram, 0, (size_t)BINS * 8);
    TSR_TRY(tsr_mip_allocate(p->part));
    return TSR_OK;
}

static tsr_status count_all(tsr_mip_pieces *p, const tsr_progress *progress)
{
    tsr_mip_info *info = &p->part->info;
    for (int64_t k = 0; k < p->count; k++) {
        TSR_PROGRESS(progress, 0.3 + 0.7 * (double)k / (double)p->count, "coefficients");
        TSR_TRY(read_piece(p, &p->piece[k]));
    }
    info->spacing = tsr_geometry_spacing(&p->part->geometry);
    info->geometry = p->part->geometry;
    info->coefficients = p->coefficients;
    info->runs = p->runs;
    info->bricks = p->bricks;
    for (int32_t j = 0; j <= info->levels; j++)
        for (int64_t e = 0; e < 65536; e++) info->by_level[j] += (int64_t)p->histogram[j * 65536 + e];
    TSR_TRY(tsr_mip_make_ranks(p->part, p->histogram));
    return TSR_OK;
}

tsr_status tsr_mip_pieces_open(tsr_context *context, const char *path, int64_t limit, const tsr_progress *progress, tsr_mip_pieces *p)
{
    const tsr_input_options settings = { .memory_limit = limit, .map_beyond_limit = 1 }; /* mapped, not read, if it is larger than a piece */
    tsr_status status;
    *p = (tsr_mip_pieces){ 0 };
    TSR_TRY(tsr_input_open(path, &settings, &p->input));
    TSR_TRY_GOTO(tsr_host_allocate(&context->host_allocator, sizeof *p->part, (void **)&p->part), fail);
    *p->part = (tsr_mip){ .context = context, .selected = -1, .chunk_to = -1, .order_to = -1 };
    TSR_TRY_GOTO(open_file(p, progress), fail);
    TSR_TRY_GOTO(p->list ? cut_list(p, limit) : cut_bricks(p, limit), fail);
    TSR_TRY_GOTO(make_room(p), fail);
    TSR_TRY_GOTO(count_all(p, progress), fail);
    return TSR_OK;
fail:
    tsr_mip_pieces_close(p);
    return status;
}
