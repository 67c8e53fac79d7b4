/* Scenes of light: what is accepted can be filled into a few voxels. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/light.h"

static void check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    static tsr_context *context;
    tsr_light_scene *scene = NULL;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    /* files are other targets' business */
    const int names = strstr(text, "mesh") || strstr(text, "volume") || strstr(text, "mask") || strstr(text, "panorama");
    const tsr_status status = names ? TSR_ERROR_FORMAT : tsr_light_scene_parse(text, "fuzz", NULL, &scene);
    free(text);
    if (status != TSR_OK) {
        check(names || *tsr_error_message() != 0, "a failure without a message\n");
        check(!scene, "a scene after a failure\n");
        return 0;
    }
    if (!context) {
        tsr_context_options options = TSR_CONTEXT_OPTIONS;
        options.device = "cpu";
        options.threads = 1;
        check(tsr_context_create(&options, &context) == TSR_OK, "no context\n");
    }
    tsr_light_matter *matter = NULL;
    tsr_light_matter_info info = TSR_LIGHT_MATTER_INFO;
    check(tsr_light_scene_matter(context, scene, 8, NULL, &matter) == TSR_OK, "a scene without matter was accepted\n");
    check(tsr_light_matter_describe(matter, &info) == TSR_OK && info.least_index > 0 && info.most_index < 20, "an index out of range\n");
    tsr_light_matter_destroy(&matter);
    tsr_light_scene_destroy(&scene);
    return 1;
}

void fuzz_seeds(void)
{
    const tsr_light_scene_info *info = NULL;
    static const char other[] = "tessera-light 1\nbox 0 0 0 1 1 1\ncamera 3 3 3 0 0 0 40 0 0 1\nmaterial a scatter 1 1 1 g 0.5 noise 0.2 2 7\n"
                                "material b opaque 1 0 0 emit 1 1 1\nshape box a 0 0 0 1 1 1 0.1\nshape cylinder b 0.5 0.5 0 1 0.2\nshape torus a 0 0 0 1 0.2\n"
                                "shape text b 0 0.5 0 0.2 0.03 AB 1\nshape prism a 0 1 0 0 1 0 0.5 1\nlight spot 0 0 3 0 0 -1 30 0.5 1 1 1\n";
    for (int32_t i = 0; (info = tsr_light_scene_at(i)); i++) fuzz_seed(info->text, strlen(info->text));
    fuzz_seed(other, sizeof other - 1);
}
