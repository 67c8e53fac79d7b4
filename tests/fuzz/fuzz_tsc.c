/* Compressed volumes. The checksums of header, directory and pieces are made right before a file is read: what they would catch is not what is
 * looked for. */
#define FUZZ_FORMAT "tsc"
#define FUZZ_REPAIR repair

#include <math.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/little_endian.h"
#include "io/xxh64.h"
#include "compress/codec.h"

enum {
    AT_HEADER = 12,
    AT_TYPE = 16,
    AT_KIND = 20,
    AT_CODER = 28,
    AT_SIZE = 32,
    AT_LEVELS = 156,
    AT_EDGE = 200,
    AT_LAYERS = 212,
    AT_ORDER = 216,
    AT_EXCEPTIONS = 220,
    AT_META = 228,
    AT_DIRECTORY = 232,
    AT_SUM = 248,
    MOST_PIECES = 4096
};

/* Fills `t` as far as the order of the pieces needs it; 0 if the header does not say. */
static int layout(const uint8_t *h, tsr_tsc *t)
{
    t->image = tsr_get_u32(h + AT_KIND) == 1;
    t->coder = (int32_t)tsr_get_u32(h + AT_CODER);
    t->levels = (int32_t)tsr_get_u32(h + AT_LEVELS);
    t->layers = (int32_t)tsr_get_u32(h + AT_LAYERS);
    t->order = (int32_t)tsr_get_u32(h + AT_ORDER);
    t->exceptions = (int32_t)tsr_get_u32(h + AT_EXCEPTIONS);
    if (t->levels < 0 || t->levels > TSR_TSC_LEVELS || t->layers < 1 || t->layers > TSR_TSC_LAYERS || (t->exceptions & ~1)) return 0;
    for (int k = 0; k < 3; k++) {
        t->edge[k] = (int32_t)tsr_get_u32(h + AT_EDGE + 4 * k);
        t->size[k] = tsr_get_i64(h + AT_SIZE + 8 * k);
        if (t->size[k] < 1 || t->size[k] > 1 << 20) return 0;
    }
    return tsr_tsc_complete(t, "fuzz") == TSR_OK && t->pieces <= MOST_PIECES;
}

/* A list of exceptions says how many they are; voxels of another type make it another number. */
static void repair_list(uint8_t *list, size_t size, uint32_t type)
{
    if (size < 4 || type >= TSR_DTYPE_COUNT) return;
    const size_t entry = 4 + tsr_dtype_size((tsr_dtype)type);
    if ((size - 4) % entry == 0 && tsr_get_u32(list) < size) tsr_put_u32(list, (uint32_t)((size - 4) / entry));
}

static void repair_pieces(uint8_t *bytes, size_t size, size_t directory, size_t directory_bytes)
{
    static uint8_t *sum[MOST_PIECES]; /* where the sum of a piece stands */
    static uint32_t length[MOST_PIECES];
    tsr_tsc t = { 0 };
    const uint8_t *at = bytes + directory, *end = at + directory_bytes;
    size_t offset = directory + directory_bytes;
    if (!layout(bytes, &t)) return;
    for (int64_t k = 0; k < t.pieces; k++) {
        int shift = 0;
        length[k] = 0;
        while (at < end && *at & 128 && shift < 28) {
            length[k] |= (uint32_t)(*at++ & 127) << shift;
            shift += 7;
        }
        if (at >= end) return;
        length[k] |= (uint32_t)(*at++ & 127) << shift;
        sum[k] = bytes + (at + 1 - bytes);
        if (!length[k]) continue;
        if (end - at < 5) return;
        at += 5;
    }
    for (int64_t n = 0; n < t.pieces; n++) {
        const int64_t k = tsr_tsc_ordered(&t, n);
        if (length[k] > size - offset) return;
        if (k / t.layers % t.streams >= t.resolutions) repair_list(bytes + offset, length[k], tsr_get_u32(bytes + AT_TYPE));
        if (length[k]) tsr_put_u32(sum[k], (uint32_t)tsr_xxh64(bytes + offset, length[k], (uint64_t)k));
        offset += length[k];
    }
}

static uint8_t *repair(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = (uint8_t *)malloc(size + 1);
    if (!copy) abort();
    if (size) memcpy(copy, bytes, size);
    if (size < 256) return copy;
    const uint64_t header = tsr_get_u32(copy + AT_HEADER), meta = tsr_get_u32(copy + AT_META),
                   directory = tsr_get_u64(copy + AT_DIRECTORY) & 0xffffffff;
    if (header < 256 || header > size || meta + directory > size - header) return copy;
    repair_pieces(copy, size, (size_t)(header + meta), (size_t)directory);
    tsr_put_u64(copy + AT_SUM, tsr_xxh64(copy + TSR_TSC_HEADER, header - TSR_TSC_HEADER + meta + directory, tsr_xxh64(copy, AT_SUM, 0)));
    return copy;
}

#include "fuzz/fuzz_format.h"

#include <stdio.h>

/* The file with each type in its header: few random changes find that byte. */
static void read_as_all_types(const char *path)
{
    uint8_t bytes[4096];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    fuzz_check(size > AT_TYPE && size < sizeof bytes, "a seed's size\n");
    fclose(file);
    for (int type = 0; type < TSR_DTYPE_COUNT; type++) {
        uint8_t *exact = (uint8_t *)malloc(size); /* of its own, so that a sanitizer sees an overrun by one */
        if (!exact) abort();
        memcpy(exact, bytes, size);
        exact[AT_TYPE] = (uint8_t)type;
        fuzz_accepts(exact, size);
        free(exact);
    }
}

static int64_t not_numbers = 1; /* from voxel 9 of the next seed of f32 */

static void seed(tsr_dtype dtype, tsr_size3 size, const tsr_compress_options *options)
{
    char path[64];
    tsr_volume *v;
    fuzz_check(tsr_volume_create(NULL, dtype, size, NULL, &v) == TSR_OK, "volume\n");
    for (int64_t i = 0; i < size.x * size.y * size.z; i++) {
        const int64_t value = i % size.x * 3 + i / size.x % 7 * (i & 3);
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(v))[i] = (uint8_t)value;
        else ((float *)tsr_volume_data(v))[i] = i >= 9 && i < 9 + not_numbers ? (float)NAN : (float)value;
    }
    fuzz_check(tsr_volume_set_meta(v, "nifti.descrip", "seed") == TSR_OK, "meta\n");
    snprintf(path, sizeof path, "fuzz-seed-%ld.tsc", (long)getpid());
    fuzz_check(tsr_volume_compress(v, path, options, NULL) == TSR_OK, "compress\n");
    tsr_volume_destroy(&v);
    read_as_all_types(path);
    fuzz_seed_file(path);
}

void fuzz_seeds(void)
{
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        tsr_compress_options o = { .struct_size = sizeof o, .coder = (tsr_compress_coder)coder, .brick = { 8, 8, 8 }, .threads = 1, .overwrite = 1 };
        o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 2;
        o.layers = coder == TSR_COMPRESS_PLANES ? 2 : 0;
        seed(TSR_U8, (tsr_size3){ 11, 9, 3 }, &o);
        o.max_error = 0.5;
        seed(TSR_F32, (tsr_size3){ 9, 4, 2 }, &o);
    }
    /* Steps that are whole numbers, as integers want them, and 15 exceptions in a brick: the list has a whole number of entries for other types, too. */
    tsr_compress_options whole = { .struct_size = sizeof whole, .coder = TSR_COMPRESS_FAST, .levels = 1, .threads = 1, .overwrite = 1 };
    whole.max_error = 1e17;
    not_numbers = 15;
    seed(TSR_F32, (tsr_size3){ 8, 4, 2 }, &whole);
    whole.coder = TSR_COMPRESS_RANS;
    seed(TSR_F32, (tsr_size3){ 8, 4, 2 }, &whole);
    not_numbers = 1;
    const tsr_compress_options lossy = { .struct_size = sizeof lossy, .psnr = 40, .layers = 2, .threads = 1, .overwrite = 1 };
    seed(TSR_U8, (tsr_size3){ 12, 10, 4 }, &lossy);
}
