#include "formats/points/laz.h"

#include "formats/points/laz_items.h"
#include "io/little_endian.h"

enum { VLR = 54, LAZ_RECORD_ID = 22204, MOST_EXTRA = 4096, POINTWISE = 1, CHUNKED = 2, LAYERED = 3 };

typedef struct laz_file {
    const char *name;
    tsr_input *input;
    const uint8_t *bytes;
    int64_t size, first, record, count;
    laz_layout layout;
    int compressor;
    uint32_t chunk; /* points of one; UINT32_MAX: the table says */
    int64_t chunks;
    struct laz_span {
        int64_t first, bytes, from, count;
    } * span;
} laz_file;

/* ---- header ---------------------------------------------------------------------------------------------------------------------------------------- */

/* The record of the header that says how the points are packed. */
static tsr_status find_record(const laz_file *f, const uint8_t **record, int64_t *length)
{
    int64_t at = tsr_get_u16(f->bytes + 94);
    for (uint32_t left = tsr_get_u32(f->bytes + 100); left && at + VLR <= f->size; left--) {
        const uint8_t *p = f->bytes + at;
        *record = p + VLR;
        *length = tsr_get_u16(p + 20);
        if (*length > f->size - at - VLR) break;
        if (tsr_get_u16(p + 18) == LAZ_RECORD_ID && !memcmp(p + 2, "laszip encoded", 15)) return TSR_OK;
        at += VLR + *length;
    }
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: LAZ without the record 'laszip encoded' that says how the points are packed", f->name);
}

static tsr_status take_item(laz_file *f, int type, int size, int version)
{
    static const struct {
        int type, size;
    } known[] = { { LAZ_POINT10, 20 }, { LAZ_GPS11, 8 }, { LAZ_RGB12, 6 }, { LAZ_POINT14, 30 }, { LAZ_RGB14, 6 }, { LAZ_RGBNIR14, 8 } };
    laz_layout *l = &f->layout;
    const int layered = type == LAZ_POINT14 || type == LAZ_RGB14 || type == LAZ_RGBNIR14 || type == LAZ_BYTE14;
    if (l->items == LAZ_ITEMS) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: LAZ points of more than %d items", f->name, LAZ_ITEMS);
    int fits = (type == LAZ_BYTE || type == LAZ_BYTE14) && size <= MOST_EXTRA;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) fits |= known[k].type == type && known[k].size == size;
    if (!fits)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: LAZ item of type %d with %d bytes, expected points of formats 0 to 3 or 6 to 8 (waves are not read)",
                 f->name, type, size);
    if (layered != (f->compressor == LAYERED) || (layered ? version < 3 || version > 4 : version != 2))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: LAZ item of type %d, version %d, packed in way %d, expected version 2 or, in layers (way 3), 3 or 4",
                 f->name, type, version, f->compressor);
    if ((l->items == 0) != (type == LAZ_POINT10 || type == LAZ_POINT14))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: LAZ items that do not begin with the point's", f->name);
    if (l->items > 0 && (l->item[l->items - 1].type == LAZ_BYTE || l->item[l->items - 1].type == LAZ_BYTE14))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a LAZ item of type %d behind the extra bytes, which are the last", f->name, type);
    l->item[l->items].type = type;
    l->item[l->items].size = size;
    l->item[l->items++].version = version;
    l->record += size;
    return TSR_OK;
}

static tsr_status take_layout(laz_file *f)
{
    const uint8_t *p = NULL;
    int64_t length = 0;
    TSR_TRY(find_record(f, &p, &length));
    if (length < 34 || length < 34 + 6 * (int64_t)tsr_get_u16(p + 32))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the LAZ record has %lld bytes, expected its items to fit", f->name, (long long)length);
    f->compressor = tsr_get_u16(p);
    f->chunk = tsr_get_u32(p + 12);
    if (f->compressor < POINTWISE || f->compressor > LAYERED || tsr_get_u16(p + 2) != 0)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: LAZ packed in way %d with coder %d, expected 1 to 3 with coder 0", f->name, f->compressor,
                 tsr_get_u16(p + 2));
    for (int k = 0; k < tsr_get_u16(p + 32); k++)
        TSR_TRY(take_item(f, tsr_get_u16(p + 34 + 6 * k), tsr_get_u16(p + 36 + 6 * k), tsr_get_u16(p + 38 + 6 * k)));
    if (f->layout.record != f->record)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the LAZ items have %d bytes together, the records of the header %lld", f->name, f->layout.record,
                 (long long)f->record);
    if (f->compressor != POINTWISE && !f->chunk) TSR_FAIL(TSR_ERROR_FORMAT, "%s: LAZ chunks of 0 points", f->name);
    return TSR_OK;
}

/* ---- chunks ---------------------------------------------------------------------------------------------------------------------------------------- */

/* How many bytes (and points) each chunk has, itself coded. */
static void take_spans(laz_file *f, laz_coder *c, laz_integer *number)
{
    struct laz_span before = { 0 };
    int64_t at = f->first + 8, from = 0;
    for (int64_t k = 0; k < f->chunks; k++) {
        struct laz_span *s = &f->span[k];
        s->count = f->chunk;
        if (f->chunk == UINT32_MAX) s->count = (uint32_t)laz_whole(c, number, 32, 0, (int32_t)before.count, 0);
        s->bytes = (uint32_t)laz_whole(c, number, 32, 1, (int32_t)before.bytes, 0);
        before = *s;
        s->first = at;
        s->from = from;
        if (s->count > f->count - from) s->count = f->count - from;
        at += s->bytes;
        from += s->count;
    }
}

static tsr_status check_spans(const laz_file *f, int64_t table)
{
    const struct laz_span *last = &f->span[f->chunks - 1];
    if (last->from + last->count != f->count)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the LAZ chunks hold %lld points, the header says %lld", f->name, (long long)(last->from + last->count),
                 (long long)f->count);
    if (last->first + last->bytes > table)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the LAZ chunks end at byte %lld, expected their table, at %lld, behind them", f->name,
                 (long long)(last->first + last->bytes), (long long)table);
    return TSR_OK;
}

static tsr_status take_table(laz_file *f, laz_arena *arena)
{
    if (f->compressor == POINTWISE) { /* one piece without a table */
        f->chunks = 1;
        f->span = (struct laz_span *)calloc(1, sizeof *f->span);
        if (!f->span) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the table of chunks", f->name);
        *f->span = (struct laz_span){ .first = f->first, .bytes = f->size - f->first, .count = f->count };
        return TSR_OK;
    }
    int64_t table = f->size - f->first >= 8 ? tsr_get_i64(f->bytes + f->first) : -1;
    if (table < f->first + 8 && f->size >= f->first + 16) table = tsr_get_i64(f->bytes + f->size - 8); /* of a writer that could not go back */
    if (table < f->first + 8 || table > f->size - 8)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the table of LAZ chunks at byte %lld, the file has %lld", f->name, (long long)table,
                 (long long)f->size);
    f->chunks = tsr_get_u32(f->bytes + table + 4);
    if (!f->chunks || f->chunks > (table - f->first) / 16) /* the first point of a chunk stands unpacked */
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld LAZ chunks in %lld bytes", f->name, (long long)f->chunks, (long long)(table - f->first));
    f->span = (struct laz_span *)calloc((size_t)f->chunks, sizeof *f->span);
    laz_integer *number = (laz_integer *)calloc(1, sizeof *number);
    laz_coder c;
    laz_begin_reading(&c, arena, f->bytes + table + 8, f->bytes + f->size);
    if (f->span && number) take_spans(f, &c, number);
    const int memory = f->span && number;
    free(number);
    if (!memory) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the table of chunks", f->name);
    if (c.failed) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the table of LAZ chunks ends early", f->name);
    TSR_TRY(check_spans(f, table));
    return TSR_OK;
}

static tsr_status unpack_chunks(const laz_file *f, laz_arena *arena, laz_state *state, uint8_t *records)
{
    for (int64_t k = 0; k < f->chunks; k++) {
        const struct laz_span *s = &f->span[k];
        TSR_PROGRESS(tsr_input_settings(f->input)->progress, (double)s->from / (double)f->count, "unpacking the points");
        if (!s->count) continue;
        if (s->bytes < f->record ||
            !laz_unpack_chunk(&f->layout, arena, state, f->bytes + s->first, s->bytes, s->count, records + s->from * f->record))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: LAZ chunk %lld, %lld bytes from byte %lld on, is damaged or truncated", f->name, (long long)k,
                     (long long)s->bytes, (long long)s->first);
    }
    return TSR_OK;
}

tsr_status tsr_laz_unpack(tsr_input *input, const uint8_t *bytes, int64_t size, int64_t first, int64_t record, int64_t count, tsr_block *records)
{
    laz_file f = { .name = tsr_input_name(input), .input = input, .bytes = bytes, .size = size, .first = first, .record = record, .count = count };
    laz_arena arena = { 0 };
    laz_state *state = NULL;
    tsr_status status;
    *records = (tsr_block){ 0 };
    TSR_TRY(take_layout(&f));
    arena.size = laz_arena_words(&f.layout);
    arena.room = (uint16_t *)malloc(arena.size * sizeof *arena.room);
    state = (laz_state *)malloc(sizeof *state);
    if (!arena.room || !state) status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory for the models of the packed points", f.name);
    else status = take_table(&f, &arena);
    if (status == TSR_OK) status = tsr_input_allocate(input, count * record, "points", records);
    if (status == TSR_OK) status = unpack_chunks(&f, &arena, state, (uint8_t *)records->data);
    if (status != TSR_OK) tsr_block_release(records);
    free(f.span);
    free(arena.room);
    free(state);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------------------------------- */

struct tsr_laz_packer {
    laz_layout layout;
    laz_arena arena;
    laz_state state;
    uint8_t *bytes; /* of all chunks */
    int64_t used, room;
    int64_t *size;
    int64_t chunks, sizes;
    laz_coder coder;
};

tsr_status tsr_laz_packer_create(int color, tsr_laz_packer **packer)
{
    tsr_laz_packer *p = *packer = (tsr_laz_packer *)calloc(1, sizeof *p);
    if (!p) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for packing points");
    p->layout.items = color ? 2 : 1;
    p->layout.item[0].type = LAZ_POINT10, p->layout.item[0].size = 20, p->layout.item[0].version = 2;
    p->layout.item[1].type = LAZ_RGB12, p->layout.item[1].size = 6, p->layout.item[1].version = 2;
    p->layout.record = color ? 26 : 20;
    p->arena.size = laz_arena_words(&p->layout);
    p->arena.room = (uint16_t *)malloc(p->arena.size * sizeof *p->arena.room);
    if (p->arena.room) return TSR_OK;
    tsr_laz_packer_destroy(packer);
    TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for packing points");
}

void tsr_laz_packer_destroy(tsr_laz_packer **packer)
{
    if (!*packer) return;
    free((*packer)->arena.room);
    free((*packer)->bytes);
    free((*packer)->size);
    free((*packer)->coder.to);
    free(*packer);
    *packer = NULL;
}

/* Room for `more` bytes and a chunk's size. */
static int grow(tsr_laz_packer *p, int64_t more)
{
    if (p->chunks == p->sizes) {
        const int64_t sizes = p->sizes ? 2 * p->sizes : 64;
        int64_t *size = (int64_t *)realloc(p->size, (size_t)sizes * sizeof *size);
        if (!size) return 0;
        p->size = size;
        p->sizes = sizes;
    }
    if (p->room - p->used < more) {
        const int64_t room = 2 * p->room + more;
        uint8_t *bytes = (uint8_t *)realloc(p->bytes, (size_t)room);
        if (!bytes) return 0;
        p->bytes = bytes;
        p->room = room;
    }
    return 1;
}

tsr_status tsr_laz_packer_add(tsr_laz_packer *p, const uint8_t *records, int64_t count)
{
    laz_begin_writing(&p->coder, &p->arena, p->coder.to, p->coder.room);
    laz_pack_chunk(&p->layout, &p->state, &p->coder, records, count);
    const int64_t size = p->layout.record + (int64_t)p->coder.used;
    if (p->coder.failed || !grow(p, size)) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for packing points");
    memcpy(p->bytes + p->used, records, (size_t)p->layout.record);
    memcpy(p->bytes + p->used + p->layout.record, p->coder.to, p->coder.used);
    p->used += size;
    p->size[p->chunks++] = size;
    return TSR_OK;
}

int tsr_laz_packer_record(const tsr_laz_packer *p, uint8_t r[TSR_LAZ_RECORD])
{
    const int length = 34 + 6 * p->layout.items;
    memset(r, 0, TSR_LAZ_RECORD);
    memcpy(r + 2, "laszip encoded", 14);
    tsr_put_u16(r + 18, LAZ_RECORD_ID);
    tsr_put_u16(r + 20, (uint16_t)length);
    memcpy(r + 22, "points packed by tessera", 24);
    uint8_t *v = r + VLR;
    tsr_put_u16(v, CHUNKED);
    v[4] = 2, v[5] = 2; /* version 2.2 */
    tsr_put_u32(v + 12, TSR_LAZ_CHUNK);
    memset(v + 16, 255, 16); /* no special records behind the points */
    tsr_put_u16(v + 32, (uint16_t)p->layout.items);
    for (int k = 0; k < p->layout.items; k++) {
        tsr_put_u16(v + 34 + 6 * k, (uint16_t)p->layout.item[k].type);
        tsr_put_u16(v + 36 + 6 * k, (uint16_t)p->layout.item[k].size);
        tsr_put_u16(v + 38 + 6 * k, (uint16_t)p->layout.item[k].version);
    }
    return VLR + length;
}

tsr_status tsr_laz_packer_write(tsr_laz_packer *p, tsr_output *out, int64_t first)
{
    uint8_t head[8];
    laz_integer *number = (laz_integer *)calloc(1, sizeof *number);
    if (!number) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the table of chunks");
    p->arena.used = 0;
    laz_begin_writing(&p->coder, &p->arena, p->coder.to, p->coder.room);
    for (int64_t k = 0; k < p->chunks; k++) laz_whole(&p->coder, number, 32, 1, k ? (int32_t)p->size[k - 1] : 0, (int32_t)p->size[k]);
    laz_end(&p->coder);
    free(number);
    if (p->coder.failed) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the table of chunks");
    tsr_put_u64(head, (uint64_t)(first + 8 + p->used));
    TSR_TRY(tsr_output_write(out, head, 8));
    TSR_TRY(tsr_output_write(out, p->bytes, (size_t)p->used));
    tsr_put_u32(head, 0);
    tsr_put_u32(head + 4, (uint32_t)p->chunks);
    TSR_TRY(tsr_output_write(out, head, 8));
    return tsr_output_write(out, p->coder.to, p->coder.used);
}
