/* Pyramids for maximum intensity projection. The checksum is made right before a file is read: what it would catch is not what is looked for. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/little_endian.h"
#include "mip/mip_file.h"
#include "tessera/tessera.h"

static void check(int good, const char *what)
{
    if (good) return;
    fputs(what, stderr);
    abort();
}

static tsr_context *context_on_cpu(void)
{
    static tsr_context *context; /* one for all inputs */
    const tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu", .threads = 1 };
    if (!context) check(tsr_context_create(&on_cpu, &context) == TSR_OK, "context\n");
    return context;
}

/* What was accepted can be drawn and reconstructed, unless that needs much memory. */
static void use(tsr_mip *mip)
{
    const tsr_mip_info info = *tsr_mip_describe(mip);
    const tsr_mip_view view = tsr_mip_orbit(20, 30, 1);
    tsr_mip_render_options o = TSR_MIP_RENDER_OPTIONS;
    tsr_mip_frame *frame;
    check(tsr_mip_frame_create(context_on_cpu(), 16, 16, &frame) == TSR_OK, "frame\n");
    for (int mode = 0; mode < 3; mode++) {
        o.mode = (tsr_mip_mode)mode;
        o.count = info.coefficients / (mode + 1);
        const tsr_status status = tsr_mip_render(mip, &view, &o, frame, NULL);
        check(status == TSR_OK || status == TSR_ERROR_CAPACITY, "what was read cannot be drawn\n");
    }
    tsr_mip_frame_destroy(&frame);
    if (info.size.x * info.size.y * info.size.z < 1 << 20) {
        tsr_volume *volume;
        check(tsr_mip_reconstruct(mip, &volume) == TSR_OK, "what was read cannot be reconstructed\n");
        tsr_volume_destroy(&volume);
    }
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    tsr_input_options settings = { .memory_limit = 64 << 20 };
    tsr_input *input = NULL;
    tsr_mip *mip = NULL;
    uint8_t *copy = (uint8_t *)malloc(size + 1);
    check(copy != NULL, "memory\n");
    if (size) memcpy(copy, bytes, size);
    if (size >= TSR_MIP_HEADER) tsr_put_u64(copy + TSR_MIP_AT_SUM, tsr_mip_file_sum(copy, size));
    const int accepted =
        tsr_input_memory(copy, size, "fuzz", &settings, &input) == TSR_OK && tsr_mip_file_read(context_on_cpu(), input, &mip) == TSR_OK;
    if (accepted) use(mip);
    else check(!mip, "a failed read left something\n");
    tsr_mip_destroy(&mip);
    tsr_input_close(&input);
    free(copy);
    return accepted;
}

static void seed(tsr_size3 n, tsr_dtype dtype, const tsr_mip_options *options)
{
    tsr_volume *volume;
    tsr_mip *mip;
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t length = 0;
    char path[64];
    snprintf(path, sizeof path, "fuzz-seed-%ld.mip", (long)getpid());
    check(tsr_volume_create(context_on_cpu(), dtype, n, NULL, &volume) == TSR_OK, "volume\n");
    uint8_t *v = (uint8_t *)tsr_volume_data(volume);
    for (int64_t i = 0; i < n.x * n.y * n.z * (int64_t)tsr_dtype_size(dtype); i++) v[i] = (uint8_t)(i % 7 < 3 ? 0 : i * i / 3);
    check(tsr_mip_build(context_on_cpu(), volume, options, &mip) == TSR_OK, "pyramid\n");
    check(tsr_mip_write(mip, path, NULL) == TSR_OK, "write\n");
    check(tsr_input_open(path, NULL, &input) == TSR_OK && tsr_input_all(input, &bytes, &length) == TSR_OK, "read\n");
    fuzz_seed(bytes, length);
    tsr_input_close(&input);
    unlink(path);
    tsr_mip_destroy(&mip);
    tsr_volume_destroy(&volume);
}

void fuzz_seeds(void)
{
    static const int8_t corner[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    tsr_mip_options o = TSR_MIP_OPTIONS;
    o.measure = 1;
    seed((tsr_size3){ 9, 7, 5 }, TSR_U8, &o);
    o.measure = 0;
    o.levels = 1;
    o.format = TSR_MIP_LIST4;
    seed((tsr_size3){ 6, 5, 4 }, TSR_U16, &o);
    o.element = TSR_MIP_OWN;
    o.points = corner;
    o.point_count = 4;
    o.format = TSR_MIP_LIST8;
    seed((tsr_size3){ 5, 6, 3 }, TSR_U8, &o);
    o.format = TSR_MIP_LIST6;
    seed((tsr_size3){ 34, 3, 2 }, TSR_U8, &o);
}
