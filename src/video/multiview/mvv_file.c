/* video/multiview/mvv_file.c: the header of .mvv files. */
#include "video/multiview/mvv_file.h"

enum { VERSION = 1 };

const tsr_chunk_kind tsr_mvv_kind = { { 0x89, 'M', 'V', 'V', 0x0d, 0x0a, 0x1a, 0x0a },
                                      { 'M', 'V', 'V', 'E', 'N', 'D', '1', 0x0a },
                                      "multi-view textures (.mvv)" };

tsr_status tsr_mvv_write_head(tsr_chunk_writer *w, const tsr_mvv_head *h, const tsr_multiview *names)
{
    uint8_t bytes[TSR_MVV_HEAD_BYTES + 256 * TSR_MULTIVIEW_MOST_CAMERAS];
    size_t size = TSR_MVV_HEAD_BYTES;
    const uint32_t field[18] = { VERSION,
                                 (uint32_t)h->width,
                                 (uint32_t)h->height,
                                 (uint32_t)h->cameras,
                                 (uint32_t)h->steps,
                                 (uint32_t)h->rate[0],
                                 (uint32_t)h->rate[1],
                                 1,
                                 (uint32_t)h->codec,
                                 (uint32_t)h->masks,
                                 (uint32_t)h->atlas,
                                 (uint32_t)h->group,
                                 (uint32_t)h->lossless,
                                 (uint32_t)h->fill,
                                 (uint32_t)h->syntax,
                                 (uint32_t)h->fraction,
                                 (uint32_t)h->filter,
                                 (uint32_t)h->levels | (uint32_t)h->open_loop << 8 };
    for (int k = 0; k < 18; k++) tsr_put_u32(bytes + 4 * k, field[k]);
    for (int p = 0; p < 3; p++) tsr_put_f64(bytes + 72 + 8 * p, h->bpp[p]);
    for (int32_t c = 0; c < h->cameras; c++) {
        const char *name = tsr_multiview_camera_name(names, c);
        const size_t length = strlen(name);
        bytes[size++] = (uint8_t)length;
        memcpy(bytes + size, name, length);
        size += length;
    }
    TSR_TRY(tsr_chunk_file_write(w, TSR_CHUNK_HEAD, 0, bytes, size));
    return TSR_OK;
}

static int within(int64_t v, int64_t lower, int64_t upper) { return v >= lower && v <= upper; }

static tsr_status read_head(tsr_mvv_reader *r)
{
    const tsr_chunk *e = tsr_chunk_file_find(&r->chunks, TSR_CHUNK_HEAD, 0);
    tsr_mvv_head *h = &r->head;
    uint32_t f[18];
    if (!e || !tsr_chunk_file_good(&r->chunks, e) || e->size < TSR_MVV_HEAD_BYTES)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: its header is missing or damaged: nothing can be read", r->chunks.name);
    const uint8_t *bytes = r->chunks.bytes + e->offset;
    for (int k = 0; k < 18; k++) f[k] = tsr_get_u32(bytes + 4 * k);
    if (f[0] != VERSION) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: version %u of the format, this build reads version %d", r->chunks.name, f[0], VERSION);
    const int whole = within(f[1], 1, TSR_MULTIVIEW_MOST_SIDE) && within(f[2], 1, TSR_MULTIVIEW_MOST_SIDE) &&
                      within(f[3], 1, TSR_MULTIVIEW_MOST_CAMERAS) && within(f[4], 1, TSR_MULTIVIEW_MOST_STEPS) && within(f[5], 1, INT32_MAX) &&
                      within(f[6], 1, INT32_MAX) && f[7] == 1 && f[8] < TSR_MULTIVIEW_CODECS && f[9] < TSR_MULTIVIEW_MASK_MODES && f[10] < 2 &&
                      within(f[11], 1, TSR_MULTIVIEW_MOST_STEPS) && f[12] < 2 && f[13] < TSR_MULTIVIEW_FILLS && f[14] < TSR_MULTIVIEW_SYNTAXES &&
                      f[15] <= 8 && f[16] < TSR_MULTIVIEW_FILTERS && (f[17] & 255) <= 12 && f[17] >> 8 < 2;
    if (!whole || (f[9] == TSR_MULTIVIEW_MASKS_NONE && f[10]) || (f[8] == TSR_MULTIVIEW_SPIHT4D && (f[11] & (f[11] - 1))))
        TSR_FAIL(TSR_ERROR_FORMAT,
                 "%s: its header contradicts itself or the format: %u x %u texels, %u cameras, %u steps, %u / %u steps a second, colours %u, codec "
                 "%u, masks "
                 "%u, groups of %u steps",
                 r->chunks.name, f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[11]);
    *h = (tsr_mvv_head){ .width = (int32_t)f[1],
                         .height = (int32_t)f[2],
                         .cameras = (int32_t)f[3],
                         .steps = (int32_t)f[4],
                         .rate = { (int32_t)f[5], (int32_t)f[6] },
                         .codec = (int32_t)f[8],
                         .masks = (int32_t)f[9],
                         .atlas = (int32_t)f[10],
                         .group = (int32_t)f[11],
                         .lossless = (int32_t)f[12],
                         .fill = (int32_t)f[13],
                         .syntax = (int32_t)f[14],
                         .fraction = (int32_t)f[15],
                         .filter = (int32_t)f[16],
                         .levels = (int32_t)(f[17] & 255),
                         .open_loop = (int32_t)(f[17] >> 8) };
    for (int p = 0; p < 3; p++) h->bpp[p] = tsr_get_f64(bytes + 72 + 8 * p);
    r->names = bytes + TSR_MVV_HEAD_BYTES;
    r->names_size = e->size - TSR_MVV_HEAD_BYTES;
    int64_t at = 0;
    for (int32_t c = 0; c < h->cameras; c++) {
        if (at >= r->names_size || memchr(r->names + at + 1, 0, (size_t)tsr_min64(r->names[at], r->names_size - at - 1)))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: its header lacks the name of camera %d", r->chunks.name, c);
        at += 1 + r->names[at];
    }
    if (at != r->names_size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the names of cameras take %lld bytes, expected %lld", r->chunks.name, (long long)at,
                 (long long)r->names_size);
    return TSR_OK;
}

tsr_status tsr_mvv_reader_open(tsr_mvv_reader *r, tsr_input *input, int partial)
{
    memset(r, 0, sizeof *r);
    TSR_TRY(tsr_chunk_file_open_reader(&r->chunks, &tsr_mvv_kind, input, partial));
    const tsr_status status = read_head(r);
    if (status != TSR_OK) tsr_chunk_file_close_reader(&r->chunks);
    return status;
}
