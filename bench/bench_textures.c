/* Speed of textures from pictures: one step of the generated dancer, 8 cameras. Bounds: the atlas cache is read once per camera, planes are written, and of the
 * depth maps every texel is cleared, lowered and read (8 bytes). */
#include "bench.h"

static struct {
    bench b;
    tsr_footage *footage;
    tsr_texturer *texturer;
    tsr_multiview *textures;
    tsr_multiview_view v;
    tsr_image pictures[8], *given;
    tsr_camera camera;
} s;

static tsr_status step_call(void *user)
{
    (void)user;
    return tsr_texturer_step(s.texturer, 0, s.given, TSR_TEXTURE_BILINEAR, s.v.plane, s.v.visible);
}
static tsr_status ewa_call(void *user)
{
    (void)user;
    return tsr_texturer_step(s.texturer, 0, s.given, TSR_TEXTURE_EWA, s.v.plane, s.v.visible);
}
static tsr_status draw_call(void *user)
{
    tsr_image image;
    (void)user;
    const tsr_status status = tsr_texturer_draw(s.texturer, 0, s.v.plane, s.v.visible, &s.camera, 640, 480, NULL, &image, NULL);
    if (status == TSR_OK) tsr_image_destroy(&image);
    return status;
}

static void sizes(int32_t atlas, double bar_ms)
{
    char name[80], text[60];
    const tsr_footage_options o = { .struct_size = sizeof o, .steps = 1, .atlas = atlas };
    MUST(tsr_footage_create(&o, &s.footage));
    for (int32_t c = 0; c < 8; c++) MUST(tsr_footage_picture(s.footage, 0, c, &s.pictures[c]));
    MUST(tsr_texturer_create(s.b.context, tsr_footage_model(s.footage), &s.texturer));
    MUST(tsr_multiview_create(s.b.context, atlas, atlas, 8, 1, 1, &s.textures));
    MUST(tsr_multiview_view_of(s.textures, &s.v));
    s.camera = tsr_multiview_model_parts(tsr_footage_model(s.footage)).camera[0];
    const double texels = 8.0 * atlas * atlas, maps = 8.0 * 640 * 480 * 8 * 3;
    s.given = s.pictures;
    snprintf(name, sizeof name, "textures of 8 x %d^2", (int)atlas);
    bench_case c = { .name = name, .n = (int64_t)texels, .bytes = texels * (8 + 3) + maps, .time = bench_measure(&s.b, step_call, NULL, NULL) };
    if (bar_ms > 0) {
        snprintf(text, sizeof text, "at most %g ms", bar_ms);
        c.bar = text;
        c.holds = c.time.median <= bar_ms / 1000;
    }
    bench_report(&s.b, &c);
    bench_report(&s.b,
                 &(bench_case){ .name = "  with ewa", .n = (int64_t)texels, .bytes = c.bytes, .time = bench_measure(&s.b, ewa_call, NULL, NULL) });
    bench_report(
        &s.b,
        &(bench_case){ .name = "  view 640 x 480", .n = 640 * 480, .bytes = 640 * 480 * 20.0, .time = bench_measure(&s.b, draw_call, NULL, NULL) });
    s.given = NULL;
    bench_report(&s.b,
                 &(bench_case){
                     .name = "  masks alone", .n = (int64_t)texels, .bytes = texels * 8 + maps, .time = bench_measure(&s.b, step_call, NULL, NULL) });
    tsr_multiview_destroy(&s.textures);
    tsr_texturer_destroy(&s.texturer);
    for (int32_t k = 0; k < 8; k++) tsr_image_destroy(&s.pictures[k]);
    tsr_footage_destroy(&s.footage);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "textures")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    if (s.b.quick) {
        sizes(128, 0);
    } else {
        sizes(512, gpu ? 0.3 : 60);
        if (gpu) sizes(2048, 0);
    }
    return bench_end(&s.b);
}
