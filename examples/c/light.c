/* A ball of glass under a lamp: matter from a scene, a wavefront through it, a picture. light OUTPUT.png */
#include <stdio.h>

#include <tessera/tessera.h>

static const char text[] = "tessera-light 1\n"
                           "box -1.1 -1.1 -0.02 1.1 1.1 2.18\n"
                           "material glass index 1.5\n"
                           "shape sphere glass 0 0 1.05 1\n"
                           "light directional 0.5 0.4 -1 3 3 3\n"
                           "floor -0.03 color 0.6 0.6 0.6 ambient 0.2 0.2 0.2 fade 14\n"
                           "sky 0.2 0.2 0.2 0.8 0.8 0.9 0.4 0.5 0.7\n"
                           "camera 2.6 -5.6 2.9 0 0 0.8 32\n"
                           "simulate go-on faint 0.01\n"
                           "tone exposure 1\n";

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_light_scene *scene = NULL;
    tsr_light_matter *matter = NULL;
    tsr_light_field *field = NULL;
    tsr_light_report report = TSR_LIGHT_REPORT;
    tsr_volume *picture = NULL;
    tsr_image image = { 0 };
    int32_t count;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    if (argc != 2) return 2;
    write.overwrite = 1;
    tsr_status status = tsr_context_create(NULL, &context);
    if (status == TSR_OK) status = tsr_light_scene_parse(text, "ball", NULL, &scene);
    if (status == TSR_OK) status = tsr_light_scene_matter(context, scene, 32, NULL, &matter);
    const tsr_light_source *lights = tsr_light_scene_sources(scene, &count);
    if (status == TSR_OK) status = tsr_light_simulate(context, matter, lights, count, tsr_light_scene_options(scene), &field, &report);
    tsr_light_view_options view = TSR_LIGHT_VIEW_OPTIONS;
    if (status == TSR_OK) view = *tsr_light_scene_view(scene);
    view.width = 160;
    view.height = 120;
    if (status == TSR_OK) status = tsr_light_view(context, matter, field, tsr_light_scene_camera(scene), &view, &picture);
    if (status == TSR_OK) status = tsr_light_tone(context, picture, tsr_light_scene_tone(scene), &image);
    if (status == TSR_OK) status = tsr_image_write(&image, argv[1], &write);
    if (status == TSR_OK) printf("%lld steps, at most %lld patches, power in balance to %.1e\n", (long long)report.steps, (long long)report.peak, report.balance);
    else fprintf(stderr, "%s\n", tsr_error_message());
    tsr_image_destroy(&image);
    tsr_volume_destroy(&picture);
    tsr_light_field_destroy(&field);
    tsr_light_matter_destroy(&matter);
    tsr_light_scene_destroy(&scene);
    tsr_context_destroy(&context);
    return status != TSR_OK;
}
