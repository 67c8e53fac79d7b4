/* Headers beside voxels that are always there: the two files of the format, in the folder for temporary files. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/format.h"

static char header[64], voxels[64];

static void remove_files(void)
{
    unlink(header);
    unlink(voxels);
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    static uint8_t numbers[4096];
    const tsr_format *format = tsr_format_find("analyze");
    const tsr_read_options options = { .struct_size = sizeof options, .frame_given = 1, .channel_given = 1, .frame = (int64_t)(size & 1) };
    const tsr_input_options settings = { .memory_limit = 64 << 20 };
    tsr_input *input = NULL;
    tsr_volume *volume = NULL;
    if (!*header) {
        snprintf(header, sizeof header, "/tmp/fuzz-analyze-%ld.hdr", (long)getpid());
        snprintf(voxels, sizeof voxels, "/tmp/fuzz-analyze-%ld.img", (long)getpid());
        for (size_t k = 0; k < sizeof numbers; k++) numbers[k] = (uint8_t)(k * 7);
        write_file(voxels, numbers, sizeof numbers);
        atexit(remove_files);
    }
    write_file(header, bytes, size);
    tsr_status status = tsr_input_open(header, &settings, &input);
    if (status == TSR_OK) status = format->read_volume(input, &options, &volume);
    if ((status == TSR_OK) != (volume != NULL)) abort();
    if (status == TSR_OK && tsr_geometry_check(tsr_volume_geometry(volume)) != TSR_OK) abort();
    uint8_t sum = 0; /* every voxel is touched */
    for (size_t i = 0; volume && i < (size_t)tsr_volume_count(volume) * tsr_dtype_size(tsr_volume_dtype(volume)); i++)
        sum = (uint8_t)(sum + ((const uint8_t *)tsr_volume_data_const(volume))[i]);
    static volatile uint8_t sink;
    sink = sum;
    (void)sink;
    tsr_volume_destroy(&volume);
    tsr_input_close(&input);
    return status == TSR_OK;
}

void fuzz_seeds(void)
{
    static const int types[][2] = { { 2, 8 }, { 4, 16 }, { 8, 32 }, { 16, 32 }, { 64, 64 }, { 128, 24 }, { 32, 64 }, { 132, 16 } };
    for (int i = 0; i < 8; i++) {
        uint8_t f[348] = { 92, 1 };
        const float one[4] = { 1, 2, 0.5f, 3 };
        f[40] = (uint8_t)(3 + i % 2), f[42] = 3, f[44] = 4, f[46] = 5, f[48] = 2, f[70] = (uint8_t)types[i][0], f[72] = (uint8_t)types[i][1];
        memcpy(f + 76, one, sizeof one);
        memcpy(f + 112, &one[i % 3], 4);
        f[253] = 2, f[255] = 1, f[257] = (uint8_t)i;
        fuzz_seed(f, sizeof f);
    }
}
