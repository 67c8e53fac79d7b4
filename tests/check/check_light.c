/* Wavefronts and pictures of every scene that comes with the library: the same bits on every backend, SIMD variant and number of threads. */
#include "check.h"
#include "tessera/light.h"

enum { MODES = 3 };

static void describe(int index, char *text, size_t bytes)
{
    static const char *const names[MODES] = { "behind caustics, 2 layers", "gathered", "dispersion, light ends at caustics, a small list" };
    const tsr_light_scene_info *info = tsr_light_scene_at(index / MODES);
    snprintf(text, bytes, "%s, %s", info ? info->name : "?", names[index % MODES]);
}

static void run(check *c, int index)
{
    const int mode = index % MODES;
    tsr_light_scene *scene = NULL;
    tsr_light_matter *matter = NULL;
    tsr_light_field *field = NULL;
    tsr_volume *volume = NULL, *floor = NULL, *picture = NULL;
    tsr_light_report report = { .struct_size = sizeof report };
    int32_t lights = 0;
    const tsr_light_scene_info *info = tsr_light_scene_at(index / MODES);
    if (!info) return;
    check_status(c, tsr_light_scene_parse(info->text, info->name, NULL, &scene));
    if (!c->failed) check_status(c, tsr_light_scene_matter(c->context, scene, 12, NULL, &matter));
    if (c->failed) goto end;
    tsr_light_options simulate = *tsr_light_scene_options(scene);
    tsr_light_view_options view = *tsr_light_scene_view(scene);
    const tsr_light_source *sources = tsr_light_scene_sources(scene, &lights);
    simulate.ground.texels = 32;
    simulate.go_on = mode != 2;
    simulate.record = mode == 1 ? TSR_LIGHT_GATHER : TSR_LIGHT_STRONGEST;
    simulate.layers = mode == 1 ? 1 : 2;
    simulate.dispersion = mode == 2 ? 0.03 : 0;
    simulate.grid = 12;
    simulate.faint = 0.05;
    simulate.capacity = mode == 2 ? 700 : 20000;
    view.width = 21;
    view.height = 13;
    view.samples = 2;
    view.dispersion = mode == 2 ? 0.03 : 0;
    view.reflections = 2 + mode;
    view.no_skipping = mode == 1;
    view.sources = sources;
    view.source_count = lights;
    check_call(c, 0, (tsr_light_field_destroy(&field), tsr_light_simulate(c->context, matter, sources, lights, &simulate, &field, &report)));
    if (c->failed) goto end;
    const int64_t counts[5] = { report.steps, report.peak, report.moved, report.splits, report.crowded };
    check_keep(c, "counts", counts, sizeof counts);
    check_status(c, tsr_light_field_to_volume(c->context, matter, field, &volume));
    if (!c->failed) check_keep(c, "field", tsr_volume_data(volume), (size_t)tsr_volume_count(volume) * 4);
    if (simulate.ground.present) {
        check_status(c, tsr_light_field_ground(c->context, field, &floor));
        if (!c->failed) check_keep(c, "floor", tsr_volume_data(floor), (size_t)tsr_volume_count(floor) * 4);
    }
    check_status(c, tsr_light_view(c->context, matter, field, tsr_light_scene_camera(scene), &view, &picture));
    if (!c->failed) check_keep_device(c, "picture", tsr_volume_data(picture), (size_t)tsr_volume_count(picture) * 4);
end:
    tsr_volume_destroy(&picture);
    tsr_volume_destroy(&floor);
    tsr_volume_destroy(&volume);
    tsr_light_field_destroy(&field);
    tsr_light_matter_destroy(&matter);
    tsr_light_scene_destroy(&scene);
}

int main(int argc, char **argv)
{
    int scenes = 0;
    while (tsr_light_scene_at(scenes)) scenes++;
    const check_entry entries[] = { { "light", scenes * MODES, describe, run, NULL } };
    return check_main(argc, argv, entries, 1);
}
