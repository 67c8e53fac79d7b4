/* Depth films: whatever the bytes, frames come or a message does. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "video/depth/depth_film.h"

static void fuzz_check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

static int run(const uint8_t *bytes, size_t size, int partial)
{
    enum { MOST = 1 << 20 };
    tsr_input *input = NULL;
    tsr_depth_film_reader *reader = NULL;
    tsr_depth_film_info info = TSR_DEPTH_FILM_INFO;
    char remarks[1024];
    fuzz_check(tsr_input_memory(bytes, size, "fuzz", NULL, &input) == TSR_OK, "input\n");
    const tsr_status status = tsr_depth_film_reader_of(input, partial, &reader);
    fuzz_check((status == TSR_OK) == (reader != NULL), "an object with a failure\n");
    fuzz_check(status == TSR_OK || *tsr_error_message(), "a failure without a message\n");
    int good = status == TSR_OK;
    if (reader) {
        fuzz_check(tsr_depth_film_reader_info(reader, &info) == TSR_OK, "info\n");
        const int64_t samples = (int64_t)info.width * info.height;
        uint16_t *frame = samples <= MOST ? malloc((size_t)samples * sizeof *frame) : NULL;
        for (int64_t k = 0; frame && k < info.frames && k < 8; k++) good &= tsr_depth_film_reader_frame(reader, k, frame) == TSR_OK;
        free(frame);
    }
    tsr_depth_film_reader_destroy(&reader);
    tsr_remarks_take(remarks, sizeof remarks);
    return good;
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    (void)run(bytes, size, 1);
    return run(bytes, size, 0);
}

void fuzz_seeds(void)
{
    static uint8_t bytes[1 << 16];
    uint16_t frame[40 * 12];
    for (int kind = 0; kind < 3; kind++) {
        tsr_depth_film_options o = TSR_DEPTH_FILM_OPTIONS;
        tsr_depth_film_writer *w = NULL;
        char path[] = "/tmp/fuzz-tdf-XXXXXX";
        const int file = mkstemp(path);
        fuzz_check(file >= 0, "file\n");
        o.overwrite = 1;
        o.largest_error = 0.003 * kind;
        fuzz_check(tsr_depth_film_writer_create(path, 40, 12, &o, &w) == TSR_OK, "writer\n");
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 40 * 12; i++) frame[i] = (uint16_t)(i % 40 > 5 + k && i % 40 < 30 ? 1000 + 7 * (i % 40) + (i / 40 == 6) * (i * 77 % 900) : 0);
            fuzz_check(tsr_depth_film_writer_append(w, frame) == TSR_OK, "append\n");
        }
        fuzz_check(tsr_depth_film_writer_finish(&w) == TSR_OK, "finish\n");
        close(file);
        FILE *stream = fopen(path, "rb");
        fuzz_check(stream != NULL, "file\n");
        const size_t size = fread(bytes, 1, sizeof bytes, stream);
        fclose(stream);
        unlink(path);
        fuzz_seed(bytes, size);
    }
}
