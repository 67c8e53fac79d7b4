/* Session scripts of a segmentation: refused with a line that names its number, or done; the surface is whole either way. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/segment.h"

enum { SIDE = 8, REPORTS = 20 };

static void check(int good, const char *what)
{
    if (good) return;
    fputs(what, stderr);
    abort();
}

/* A script may ask for any number of steps. */
static int stops(void *user, double fraction, const char *stage)
{
    (void)fraction;
    (void)stage;
    return ++*(int *)user > REPORTS;
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    static tsr_context *context;
    static tsr_volume *image;
    tsr_segmentation *s = NULL;
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    if (!context) {
        tsr_context_options options = TSR_CONTEXT_OPTIONS;
        options.device = "cpu";
        options.threads = 1;
        check(tsr_context_create(&options, &context) == TSR_OK, "context\n");
        check(tsr_volume_create(context, TSR_U8, (tsr_size3){ SIDE, SIDE, SIDE }, NULL, &image) == TSR_OK, "image\n");
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) ((uint8_t *)tsr_volume_data(image))[i] = (uint8_t)(i * 37);
    }
    char *text = (char *)malloc(size + 1);
    check(text != NULL, "memory\n");
    if (size) memcpy(text, bytes, size);
    text[size] = 0;
    int reports = 0;
    const tsr_progress progress = { stops, &reports };
    o.epsilon = 60;
    o.target = 100;
    o.memory_limit = 1 << 24;
    o.snapshots = 4;
    check(tsr_segmentation_create(context, image, &o, &s) == TSR_OK, "segmentation\n");
    const tsr_status status = tsr_segmentation_script(s, text, "fuzz", &progress, NULL);
    free(text);
    check(status == TSR_OK || (*tsr_error_message() && !strchr(tsr_error_message(), '\n')), "a refusal without its line\n");
    check(status == TSR_OK || status == TSR_ERROR_CANCELLED || strstr(tsr_error_message(), "fuzz:") != NULL, "a refusal that names no line\n");
    tsr_tiles_info info = TSR_TILES_INFO;
    check(tsr_tiles_describe(tsr_segmentation_tiles(s), &info) == TSR_OK && info.inside_voxels >= 0 && info.inside_voxels <= SIDE * SIDE * SIDE,
          "the surface after a script\n");
    check(tsr_segmentation_script(s, "set time_step 0\nset alpha 0.5\nset snapshots 4\nerase 4 4 4 20\nsphere 4 4 4 2\nstep 1\n", "after", NULL,
                                  NULL) == TSR_OK,
          tsr_error_message());
    tsr_segmentation_destroy(&s);
    return status == TSR_OK;
}

void fuzz_seeds(void)
{
    static const char *const seeds[] = {
        "# tessera session 1\nset target 90\nset epsilon 40\nset alpha 0.7\nprobe 4 4 4 2\nprobe-undo\nsphere 4 4 4 2.5\nstep 3\nsnapshot\n",
        "paint 2 2 2 1.5 5 5 5\nerase 4 4 4 1\nstep 2\nsnapshot\nundo\nstop\n",
        "sphere 3 3 3 2 # a comment\nset max_steps 4\nset smoothing 1.5\nrun\nprobe 1 1 1\nprobe-reset\n",
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) fuzz_seed(seeds[i], strlen(seeds[i]));
}
