/* The largest region of a colour in an image, with its box and centroid: features IMAGE.png '#rrggbb' */
#include <stdio.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_features *features = NULL;
    tsr_volume *frame = NULL;
    tsr_image image = { 0 };
    tsr_feature found;
    char filter[64];
    int code = 1;
    if (argc != 3) {
        fprintf(stderr, "usage: %s IMAGE.png '#rrggbb'\n", argv[0]);
        return 2;
    }
    TRY(tsr_context_create(NULL, &context));
    TRY(tsr_image_read(argv[1], NULL, &image));
    TRY(tsr_frames_upload(context, &image, 1, &frame));

    tsr_features_options options = TSR_FEATURES_OPTIONS;
    options.width = image.width;
    options.height = image.height;
    options.channels = image.channels;
    options.count = 1;
    snprintf(filter, sizeof filter, "distance=%s:60", argv[2]);
    TRY(tsr_feature_filter_parse(filter, &options.filter[0]));
    TRY(tsr_features_create(context, &options, &features));

    /* For a video, upload and detect again: nothing is allocated here. */
    TRY(tsr_features_detect(features, frame, NULL));
    TRY(tsr_features_results(features, &found));
    if (found.count)
        printf("box %d,%d to %d,%d, %lld pixels, centroid %.1f,%.1f\n", found.lower[0], found.lower[1], found.upper[0], found.upper[1],
               (long long)found.count, found.centroid[0], found.centroid[1]);
    else printf("nothing of that colour\n");
    code = 0;
done:
    tsr_features_destroy(&features);
    tsr_volume_destroy(&frame);
    tsr_image_destroy(&image);
    tsr_context_destroy(&context);
    return code;
}
