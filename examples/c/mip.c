/* Preview first, then better: a volume becomes a pyramid; each pass adds coefficients to the picture that is there. Usage: example_mip [volume [picture.png]] */
#include <stdio.h>

#include "tessera/tessera.h"

static int fail(void)
{
    fprintf(stderr, "%s\n", tsr_error_message());
    return 1;
}

/* A ball of 8 bits whose values fall from its middle, if no volume is given. */
static tsr_status ball(tsr_context *context, tsr_volume **volume)
{
    static uint8_t data[64 * 64 * 64];
    tsr_volume *host;
    for (int i = 0; i < 64 * 64 * 64; i++) {
        const int x = i % 64 - 32, y = i / 64 % 64 - 32, z = i / 4096 - 32, d = x * x + y * y + z * z;
        data[i] = (uint8_t)(d < 900 ? 255 - d / 4 : 0);
    }
    tsr_status status = tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ 64, 64, 64 }, NULL, data, NULL, NULL, &host);
    if (status == TSR_OK) status = tsr_volume_copy(host, context, volume);
    tsr_volume_destroy(&host);
    return status;
}

int main(int argc, char **argv)
{
    tsr_context *context;
    tsr_volume *file = NULL, *volume = NULL;
    tsr_mip *mip;
    tsr_mip_frame *frame;
    tsr_image image;
    if (tsr_context_create(NULL, &context) != TSR_OK) return fail();
    if (argc < 2 ? ball(context, &volume) != TSR_OK
                 : tsr_volume_read(argv[1], NULL, &file) != TSR_OK || tsr_volume_copy(file, context, &volume) != TSR_OK)
        return fail();
    if (tsr_mip_build(context, volume, NULL, &mip) != TSR_OK) return fail();
    tsr_volume_destroy(&volume); /* the pyramid has it all */
    tsr_volume_destroy(&file);
    const tsr_mip_info info = *tsr_mip_describe(mip);
    const tsr_mip_view view = tsr_mip_orbit(30, 20, 1);
    tsr_mip_render_options options = TSR_MIP_RENDER_OPTIONS;
    if (tsr_mip_frame_create(context, 512, 512, &frame) != TSR_OK) return fail();
    for (double part = 0.01; options.count < info.coefficients; part *= 3) {
        options.count = part < 1 ? (int64_t)(part * (double)info.coefficients) + 1 : info.coefficients;
        if (tsr_mip_render(mip, &view, &options, frame, NULL) != TSR_OK) return fail();
        printf("%lld of %lld coefficients\n", (long long)options.count, (long long)info.coefficients);
        options.refine = 1; /* from here on only what is new */
    }
    if (tsr_mip_frame_image(frame, info.dtype, 0, 0, &image) != TSR_OK) return fail();
    if (argc > 2 && tsr_image_write(&image, argv[2], NULL) != TSR_OK) return fail();
    tsr_image_destroy(&image);
    tsr_mip_frame_destroy(&frame);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
    return 0;
}
