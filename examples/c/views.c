/* Two depth cameras look at a scene; a view from between them, merged so that what one of them looked through is cut away: views PICTURE.png
 * The scene is analytic, so that the result can be compared with what a third camera really sees. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

enum { CAMERAS = 2, WIDTH = 320, HEIGHT = 240 };

/* What a depth camera gives: a picture and distances, on the device. */
static tsr_status expose(tsr_context *context, const tsr_camera *camera, tsr_volume **depth, tsr_volume **color, tsr_projector *projector)
{
    tsr_image image;
    tsr_volume *host = NULL;
    tsr_status status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ WIDTH, HEIGHT, 1 }, NULL, &host);
    if (status != TSR_OK) return status;
    status = tsr_analytic_render("cavity", camera, WIDTH, HEIGHT, NULL, &image, (float *)tsr_volume_data(host));
    if (status == TSR_OK) {
        status = tsr_frames_upload(context, &image, 1, color);
        tsr_image_destroy(&image);
    }
    if (status == TSR_OK) status = tsr_volume_copy(host, context, depth);
    tsr_volume_destroy(&host);
    *projector = (tsr_projector){ .camera = *camera, .depth = *depth, .color = *color };
    return status;
}

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_rig *rig = NULL;
    tsr_volume *depth[CAMERAS] = { NULL, NULL }, *color[CAMERAS] = { NULL, NULL };
    tsr_novel *view[CAMERAS] = { NULL, NULL }, *merged = NULL;
    tsr_image picture = { 0 };
    float *found = (float *)malloc(sizeof(float) * WIDTH * HEIGHT), *truth = (float *)malloc(sizeof(float) * WIDTH * HEIGHT);
    int code = 1, shown = 0, there = 0;
    double sum = 0;
    if (argc != 2 || !found || !truth) {
        fprintf(stderr, "usage: %s PICTURE.png\n", argv[0]);
        return 2;
    }
    tsr_rig_layout_options layout = TSR_RIG_LAYOUT_OPTIONS;
    layout.count = CAMERAS;
    layout.degrees = 50;
    layout.fov = 55; /* each looks past the object on both sides */
    layout.width = WIDTH;
    layout.height_pixels = HEIGHT;
    TRY(tsr_context_create(NULL, &context));
    TRY(tsr_rig_make(TSR_RIG_ARC, &layout, &rig));

    tsr_camera between = { .fov = 40, .clip = { 0.5, 100 } };
    tsr_projector projector[CAMERAS];
    const tsr_projector *const projectors[CAMERAS] = { &projector[0], &projector[1] };
    TRY(tsr_camera_look_at(&between, (tsr_vec3){ 0, -4, 0.5 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    const tsr_project_options project = { .struct_size = sizeof project, .keep_far = 1 };
    for (int i = 0; i < CAMERAS; i++) {
        tsr_rig_camera c;
        TRY(tsr_rig_get(rig, i, &c));
        TRY(expose(context, &c.camera, &depth[i], &color[i], &projector[i]));
        TRY(tsr_novel_create(context, WIDTH, HEIGHT, &view[i]));
        TRY(tsr_novel_project(view[i], &between, &projector[i], &project));
    }
    const tsr_novel *const views[CAMERAS] = { view[0], view[1] };
    TRY(tsr_novel_create(context, WIDTH, HEIGHT, &merged));
    TRY(tsr_novel_merge(merged, &between, views, projectors, CAMERAS, TSR_MERGE_CSG, NULL, NULL));
    TRY(tsr_novel_image(merged, 3, &picture));
    TRY(tsr_image_write(&picture, argv[1], NULL));

    TRY(tsr_novel_download(merged, found, NULL));
    TRY(tsr_analytic_render("cavity", &between, WIDTH, HEIGHT, NULL, NULL, truth));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        if (!(truth[i] > 0)) continue;
        there++;
        if (!(found[i] > 0) || fabsf(found[i] - truth[i]) > 0.1f) continue; /* at the rim one sees past it */
        shown++;
        sum += fabs((double)found[i] - (double)truth[i]);
    }
    printf("%d of %d pixels of the object within 0.1, off by %.4f on average\n", shown, there, shown ? sum / shown : 0);
    code = shown < there * 9 / 10;
done:
    for (int i = 0; i < CAMERAS; i++) {
        tsr_novel_destroy(&view[i]);
        tsr_volume_destroy(&depth[i]);
        tsr_volume_destroy(&color[i]);
    }
    tsr_novel_destroy(&merged);
    tsr_rig_destroy(&rig);
    tsr_context_destroy(&context);
    tsr_image_destroy(&picture);
    free(found);
    free(truth);
    return code;
}
