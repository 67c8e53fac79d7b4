/* tests/compress/forge.h: .tsc files whose fields say what no writer says; their checksums are right. */
#ifndef TEST_WAVELET_FORGE_H
#define TEST_WAVELET_FORGE_H

#include "support.h"

#include "io/little_endian.h"
#include "compress/codec.h"

typedef struct forgery {
    int32_t layers; /* not 0: so many, the first is the stream */
    uint32_t more;  /* bytes 0 behind every stream */
    uint8_t says;   /* not 0: first byte of the finest stream of every brick */
    int none;       /* the first byte of the coarsest stream of every brick is 0 */
    uint8_t width;  /* not 0: planes of the first block of the coarsest stream of every brick, which is packed, of 16 bits at most */
    int exceptions; /* lists of them: every voxel of a full brick, the last first */
} forgery;

/* The file again with the changes. It has one layer and no exceptions. */
static void forge(const char *path, const forgery *f)
{
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };
    const tsr_input_options settings = { 0 };
    tsr_input *input = NULL;
    tsr_tsc t;
    const uint8_t *content;
    size_t size;
    int64_t file_bytes;
    require_ok(tsr_input_open(path, &settings, &input));
    require_ok(tsr_tsc_read(input, &t));
    require_ok(tsr_input_all(input, &content, &size));
    tsr_tsc_piece *before = t.piece;
    assert_int_equal(t.layers * 2 + t.exceptions, 2);
    t.layers = f->layers ? f->layers : 1;
    t.exceptions = f->exceptions;
    require_ok(tsr_tsc_complete(&t, path));
    const uint32_t entry = 4 + (uint32_t)tsr_dtype_size(t.dtype), voxels = (uint32_t)(t.edge[0] * t.edge[1] * t.edge[2]);
    uint8_t *list = (uint8_t *)calloc(1, 4 + (size_t)voxels * entry);
    uint8_t **bytes = (uint8_t **)calloc((size_t)t.pieces, sizeof *bytes);
    t.piece = (tsr_tsc_piece *)calloc((size_t)t.pieces, sizeof *t.piece);
    assert_true(list && bytes && t.piece);
    tsr_put_u32(list, voxels);
    for (uint32_t k = 0; k < voxels; k++) {
        tsr_put_u32(list + 4 + k * entry, voxels - 1 - k);
        memset(list + 8 + k * entry, 0x41, entry - 4);
    }
    for (int64_t k = 0; k < t.brick_count * t.streams; k++) {
        const int64_t brick = k / t.streams, s = k % t.streams;
        const uint8_t *from = s < t.resolutions ? content + before[brick * t.resolutions + s].offset : list;
        const uint32_t length = s < t.resolutions ? before[brick * t.resolutions + s].bytes : 4 + voxels * entry;
        const uint32_t more = s < t.resolutions && length ? f->more : 0;
        tsr_tsc_piece *p = &t.piece[k * t.layers];
        bytes[k * t.layers] = (uint8_t *)calloc(1, length + more + 1);
        assert_non_null(bytes[k * t.layers]);
        memcpy(bytes[k * t.layers], from, length);
        if (f->says && s == t.resolutions - 1 && length) bytes[k * t.layers][0] = f->says;
        if (f->none && s == 0 && length) bytes[k * t.layers][0] = 0;
        if (f->width && s == 0 && length) {
            assert_true(from[0] == 2 && length > 2); /* coefficients of 2 bytes, not raw samples */
            bytes[k * t.layers][2] = f->width;
        }
        p->bytes = length + more;
        p->passes = length > 0;
    }
    require_ok(tsr_tsc_write(&t, NULL, (const uint8_t *const *)bytes, NULL, path, &write, &file_bytes));
    for (int64_t k = 0; k < t.pieces; k++) free(bytes[k]);
    free(bytes);
    free(list);
    free(before);
    tsr_tsc_clear(&t);
    tsr_input_close(&input);
}

#endif
