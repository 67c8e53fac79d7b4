/* Two pictures side by side, and how far away what they show is. */
#include <math.h>
#include <stdio.h>

#include "tessera/tessera.h"

static int stop(void)
{
    fprintf(stderr, "%s\n", tsr_error_message());
    return 1;
}

int main(void)
{
    tsr_context *context = NULL;
    tsr_volume *picture[2] = { NULL, NULL }, *disparity = NULL, *host = NULL;
    const char *const names[2] = { "picture-left", "picture-right" };
    double focal, shift;
    if (tsr_context_create(NULL, &context) != TSR_OK) return stop();
    for (int k = 0; k < 2; k++) {
        tsr_picture_options options = TSR_PICTURE_OPTIONS;
        tsr_image image;
        options.width = 320;
        options.height = 240;
        if (tsr_picture_make(names[k], &options, &image) != TSR_OK) return stop();
        if (tsr_frames_upload(context, &image, 1, &picture[k]) != TSR_OK) return stop();
        tsr_image_destroy(&image);
    }
    tsr_stereo_match_options match = TSR_STEREO_MATCH_OPTIONS;
    match.channels = (int32_t)(tsr_volume_size(picture[0]).x / 320);
    match.fill = 1;
    if (tsr_stereo_match(context, picture[0], picture[1], &match, &disparity, NULL) != TSR_OK) return stop();
    if (tsr_volume_copy(disparity, NULL, &host) != TSR_OK) return stop();
    tsr_picture_stereo(320, &focal, &shift);
    const double middle = (double)((const float *)tsr_volume_data(host))[120 * 320 + 160];
    printf("the middle of the picture is %.3f away (disparity %.2f pixels)\n", shift / middle, middle);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&disparity);
    for (int k = 0; k < 2; k++) tsr_volume_destroy(&picture[k]);
    tsr_context_destroy(&context);
    return middle > 0 ? 0 : 1;
}
