/* Files of multi-view textures: whatever the bytes, textures come or a message does, within the memory limit. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/multiview.h"
#include "video/multiview/mvv_read.h"

enum { FUZZ_MEMORY = 1 << 20 };

static tsr_context *context;

static void fuzz_check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

static void open_context(void)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = "cpu";
    options.threads = 1;
    if (!context) fuzz_check(tsr_context_create(&options, &context) == TSR_OK, "context\n");
}

static tsr_status rebuild(void *user, const void *model, size_t size, int32_t t, int32_t c, int32_t width, int32_t height, uint64_t *mask)
{
    (void)user, (void)model, (void)size, (void)t, (void)c, (void)width, (void)height;
    mask[0] = 1;
    return TSR_OK;
}

static tsr_status run(const uint8_t *bytes, size_t size, int partial)
{
    tsr_multiview_read_options options = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_multiview *m = NULL;
    tsr_input *input = NULL;
    char remarks[1024];
    options.partial = partial;
    options.memory_limit = FUZZ_MEMORY;
    options.rebuild = rebuild;
    fuzz_check(tsr_input_memory(bytes, size, "fuzz", NULL, &input) == TSR_OK, "input\n");
    const tsr_status status = tsr_multiview_read_input(context, input, &options, &m);
    fuzz_check(status == TSR_OK || *tsr_error_message(), "a failure without a message\n");
    fuzz_check((status == TSR_OK) == (m != NULL), "an object with a failure\n");
    tsr_multiview_destroy(&m);
    tsr_input_close(&input);
    tsr_remarks_take(remarks, sizeof remarks);
    fuzz_check(tsr_context_memory(context)->current_bytes == 0, "device memory is left\n");
    return status;
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    open_context();
    (void)run(bytes, size, 1);
    return run(bytes, size, 0) == TSR_OK;
}

void fuzz_seeds(void)
{
    static uint8_t bytes[1 << 16];
    open_context();
    for (int kind = 0; kind < 8; kind++) {
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        tsr_multiview *m = NULL;
        tsr_multiview_view v;
        char path[] = "/tmp/fuzz-mvv-XXXXXX";
        const int file = mkstemp(path);
        fuzz_check(file >= 0, "file\n");
        fuzz_check(tsr_multiview_create(context, 9 + kind, 6, 2, 3, kind != 3, &m) == TSR_OK && tsr_multiview_view_of(m, &v) == TSR_OK, "textures\n");
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < v.width * v.height * 6; k++) v.plane[p][k] = (uint8_t)(k * 7 % 90 + 20 * p);
        for (int k = 0; v.visible && k < v.height * 6; k++) {
            v.visible[k] = 0x5f;
            v.atlas[k % v.height] = 0x7f;
        }
        o.codec = (tsr_multiview_codec)(kind % 3);
        o.syntax = (tsr_multiview_syntax)(kind / 3 & 1);
        o.lossless = kind > 5;
        o.masks = kind == 4 ? TSR_MULTIVIEW_MASKS_REBUILT : TSR_MULTIVIEW_MASKS_SENT;
        o.bpp[0] = o.lossless ? 0 : 2;
        o.group = 2;
        o.overwrite = 1;
        fuzz_check(tsr_multiview_set_model_bytes(m, "model", 5) == TSR_OK && tsr_multiview_set_camera_name(m, 1, "side") == TSR_OK, "names\n");
        fuzz_check(tsr_multiview_write(m, path, &o, NULL) == TSR_OK, "write\n");
        tsr_multiview_destroy(&m);
        close(file);
        FILE *stream = fopen(path, "rb");
        fuzz_check(stream != NULL, "file\n");
        const size_t size = fread(bytes, 1, sizeof bytes, stream);
        fclose(stream);
        unlink(path);
        if (kind != 4) fuzz_seed(bytes, size); /* rebuilt masks are none that these were coded with */
    }
}
