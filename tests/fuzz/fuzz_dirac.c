/* Dirac and VC-2 streams: whatever the bytes, frames come or a message does, within the memory limit; and a second run gives the same. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/dirac.h"

enum { FUZZ_MEMORY = 4 << 20, MOST_FRAMES = 16 };

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

static uint64_t run(const uint8_t *bytes, size_t size, size_t piece, tsr_status *result)
{
    tsr_dirac_decode_options options = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    tsr_status status = TSR_OK;
    uint64_t hash = 14695981039346656037u;
    int more = 0, frames = 0;
    options.memory_limit = FUZZ_MEMORY;
    fuzz_check(tsr_dirac_decoder_create(context, &options, &decoder) == TSR_OK, "decoder\n");
    for (size_t at = 0; status == TSR_OK; at += piece) {
        const size_t left = size - at;
        status = tsr_dirac_decoder_push(decoder, bytes + at, left < piece ? left : piece);
        if (status == TSR_OK && left <= piece) status = tsr_dirac_decoder_end(decoder);
        while (status == TSR_OK && frames < MOST_FRAMES) {
            status = tsr_dirac_decoder_next(decoder, &frame, NULL, &more);
            if (status != TSR_OK || !more) break;
            frames++;
            for (int64_t k = 0; k < frame.bytes; k++) hash = (hash ^ ((const uint8_t *)frame.plane[0])[k]) * 1099511628211u;
        }
        if (left <= piece || frames >= MOST_FRAMES) break;
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
    *result = status;
    return hash;
}

static tsr_status swallow(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return TSR_OK;
}

/* What goes through a stream without its samples. */
static void run_tools(const uint8_t *bytes, size_t size)
{
    tsr_dirac_inspector *inspector = NULL;
    int more = 1;
    fuzz_check(tsr_dirac_inspector_create(&inspector) == TSR_OK && tsr_dirac_inspector_push(inspector, bytes, size) == TSR_OK, "inspector\n");
    fuzz_check(tsr_dirac_inspector_end(inspector) == TSR_OK, "inspector\n");
    while (more) {
        tsr_dirac_unit_info info = TSR_DIRAC_UNIT_INFO;
        fuzz_check(tsr_dirac_inspector_next(inspector, &info, &more) == TSR_OK, "inspector\n");
    }
    tsr_dirac_inspector_destroy(&inspector);
    for (int kind = 0; kind < 3; kind++) {
        tsr_dirac_transcode_options options = TSR_DIRAC_TRANSCODE_OPTIONS;
        tsr_dirac_transcoder *transcoder = NULL;
        size_t written = 0;
        options.fragment = kind == 1 ? 3 : 0;
        options.whole = kind == 2;
        options.first = kind == 0;
        fuzz_check(tsr_dirac_transcoder_create(&options, swallow, &written, &transcoder) == TSR_OK, "transcoder\n");
        tsr_status status = tsr_dirac_transcoder_push(transcoder, bytes, size);
        if (status == TSR_OK) status = tsr_dirac_transcoder_end(transcoder, NULL);
        fuzz_check(status == TSR_OK || *tsr_error_message(), "a failure without a message\n");
        tsr_dirac_transcoder_destroy(&transcoder);
    }
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    tsr_status first, second;
    open_context();
    const uint64_t whole = run(bytes, size, size + 1, &first);
    fuzz_check(first == TSR_OK || *tsr_error_message(), "a failure without a message\n");
    fuzz_check(run(bytes, size, size + 1, &second) == whole && first == second, "two runs differ\n");
    fuzz_check(tsr_context_memory(context)->current_bytes == 0, "device memory is left\n");
    run_tools(bytes, size);
    return first == TSR_OK;
}

void fuzz_seeds(void)
{
    static const char *const files[] = { "inter", "inter_eighth", "inter_444", "intra_codes", "quantisers" };
    uint8_t *bytes = (uint8_t *)malloc(1 << 20);
    fuzz_check(bytes != NULL, "memory\n");
    open_context();
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.drc", FIXTURES, files[k]);
        FILE *file = fopen(path, "rb");
        fuzz_check(file != NULL, "fixture\n");
        fuzz_seed(bytes, fread(bytes, 1, 1 << 20, file));
        fclose(file);
    }
    for (int kind = 0; kind < 8; kind++) { /* slices: low delay, high quality, fragments, fields; the private coding */
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        tsr_dirac_encoder *encoder = NULL;
        tsr_video_frame frame = { 0 };
        const void *stream = NULL;
        size_t size = 0, all = 0;
        o.format = (tsr_video_format){ .width = 32, .height = 16, .chroma = TSR_CHROMA_422, .bits = kind & 1 ? 8 : 10 };
        o.coding = kind == 2 ? TSR_DIRAC_CODING_LOW_DELAY : TSR_DIRAC_CODING_HIGH_QUALITY;
        o.picture_bytes = kind == 4 || kind > 5 ? 0 : 200;
        o.lossless = kind == 4;
        o.depth = 1 + kind % 3;
        o.fragment = kind == 3 ? 3 : 0;
        o.fields = kind == 5;
        if (kind > 5) {
            o.coding = TSR_DIRAC_CODING_STATISTICS;
            o.quantiser = 4;
            o.group = kind == 6 ? 1 : 8;
            o.distance = 1;
        }
        fuzz_check(tsr_dirac_encoder_create(context, &o, &encoder) == TSR_OK && tsr_video_frame_create(&o.format, &frame) == TSR_OK, "encoder\n");
        for (int n = 0; n < 2; n++) {
            for (int64_t k = 0; k < frame.bytes; k++) ((uint8_t *)frame.plane[0])[k] = (uint8_t)(kind & 1 || !(k & 1) ? 7 * k + n : 1);
            fuzz_check(tsr_dirac_encoder_frame(encoder, &frame, &stream, &size) == TSR_OK, "frame\n");
            if (size) memcpy(bytes + all, stream, size);
            all += size;
        }
        fuzz_check(tsr_dirac_encoder_end(encoder, &stream, &size) == TSR_OK, "end\n");
        memcpy(bytes + all, stream, size);
        all += size;
        fuzz_seed(bytes, all);
        tsr_video_frame_destroy(&frame);
        tsr_dirac_encoder_destroy(&encoder);
    }
    free(bytes);
}
