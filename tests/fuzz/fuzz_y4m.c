/* Films in Y4M: every header and frame must be read or refused, and what is read must become an image. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/films/video.h"

enum { FUZZ_MEMORY = 4 << 20, MOST_FRAMES = 64 };

static void fuzz_check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    tsr_video_source *source = (tsr_video_source *)calloc(1, sizeof *source);
    tsr_video_info info;
    tsr_video_frame frame = { 0 };
    tsr_image image = { 0 };
    int more = 1;
    fuzz_check(source != NULL, "memory\n");
    source->name = "fuzz";
    source->fd = -1;
    source->memory = bytes;
    source->size = (int64_t)size;
    tsr_status status = tsr_y4m_read_header(source, &info);
    for (int n = 0; status == TSR_OK && more && n < MOST_FRAMES; n++) {
        status = tsr_y4m_read_frame(source, &info.format, FUZZ_MEMORY, &frame, &more);
        if (status == TSR_OK && more) {
            fuzz_check(tsr_video_frame_to_image(&frame, &image) == TSR_OK, "a frame that was read is no image\n");
            fuzz_check(image.channels == info.channels && image.width == info.format.width, "the image is not what the header says\n");
        }
    }
    fuzz_check(status == TSR_OK || *tsr_error_message(), "a failure without a message\n");
    fuzz_check(source->position <= (int64_t)size, "read past the end\n");
    tsr_image_destroy(&image);
    tsr_video_frame_destroy(&frame);
    free(source);
    return status == TSR_OK;
}

void fuzz_seeds(void)
{
    static const int32_t depths[] = { 8, 10, 16 };
    for (int chroma = TSR_CHROMA_420; chroma <= TSR_CHROMA_MONO; chroma++)
        for (int d = 0; d < 3; d++) {
            const tsr_video_format format = {
                .width = 5, .height = 3, .chroma = (tsr_chroma)chroma, .bits = depths[d], .matrix = TSR_MATRIX_BT709, .range = TSR_RANGE_FULL
            };
            const int32_t rate[2] = { 30000, 1001 }, aspect[2] = { 1, 1 };
            char line[256];
            uint8_t film[2048];
            tsr_video_frame frame;
            if (chroma == TSR_CHROMA_411 && depths[d] > 8) continue;
            fuzz_check(tsr_y4m_header(&format, rate, aspect, 'p', line) == TSR_OK && tsr_video_frame_create(&format, &frame) == TSR_OK, "seed\n");
            size_t size = strlen(line);
            memcpy(film, line, size);
            for (int n = 0; n < 2; n++) {
                memcpy(film + size, "FRAME\n", 6);
                memset(film + size + 6, n, (size_t)frame.bytes);
                size += 6 + (size_t)frame.bytes;
            }
            fuzz_seed(film, size);
            tsr_video_frame_destroy(&frame);
        }
}
