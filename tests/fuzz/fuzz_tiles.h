/* tests/fuzz/fuzz_tiles.h: seeds for the targets of tile files: a ball cut by its domain, both edges. */
#include "fuzz/fuzz_format.h"

#include <stdio.h>

/* `give` gets the file; NULL = fuzz_seed. */
static void fuzz_tile_seed_to(const char *format, int32_t edge, tsr_tiles_index index, const tsr_tiles_write_options *like,
                              void (*give)(const uint8_t *bytes, size_t size))
{
    tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu", .threads = 1 };
    tsr_tiles_options options = { .struct_size = sizeof options, .edge = edge, .index = index };
    tsr_tiles_write_options write = *like;
    const tsr_size3 size = { 14, 11, 9 };
    tsr_context *context = NULL;
    tsr_volume *field = NULL;
    tsr_tiles *tiles = NULL;
    char path[64];
    options.domain = size;
    write.format = format;
    write.overwrite = 1;
    snprintf(path, sizeof path, "fuzz-seed-%ld.%s", (long)getpid(), format);
    fuzz_check(tsr_context_create(&on_cpu, &context) == TSR_OK && tsr_volume_create(context, TSR_F32, size, NULL, &field) == TSR_OK, "volume\n");
    float *v = (float *)tsr_volume_data(field);
    for (int i = 0; i < 14 * 11 * 9; i++)
        v[i] = (float)((i % 14 - 7) * (i % 14 - 7) + (i / 14 % 11 - 5) * (i / 14 % 11 - 5) + (i / 154 - 2) * (i / 154 - 2)) / 5 - 3;
    fuzz_check(tsr_tiles_create(context, NULL, &options, &tiles) == TSR_OK && tsr_tiles_load(tiles, field) == TSR_OK, "tiles\n");
    fuzz_check(tsr_tiles_write(tiles, path, &write) == TSR_OK, "write\n");
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t length = 0;
    fuzz_check(tsr_input_open(path, NULL, &input) == TSR_OK && tsr_input_all(input, &bytes, &length) == TSR_OK, "cannot read back a seed\n");
    if (give) give(bytes, length);
    else fuzz_seed(bytes, length);
    tsr_input_close(&input);
    unlink(path);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&field);
    tsr_context_destroy(&context);
}

static inline void fuzz_tile_seed(const char *format, int32_t edge, tsr_tiles_index index, const tsr_tiles_write_options *like)
{
    fuzz_tile_seed_to(format, edge, index, like, NULL);
}
