/* tools/tessera/render.h: what `tessera render` draws, shared by pictures and films. */
#ifndef TESSERA_CLI_RENDER_H
#define TESSERA_CLI_RENDER_H

#include "tiles.h"

enum render_given {
    GIVEN_MODE,
    GIVEN_AZIMUTH,
    GIVEN_ELEVATION,
    GIVEN_TARGET,
    GIVEN_FOV,
    GIVEN_PROJECTION,
    GIVEN_NORMAL,
    GIVEN_CENTRE,
    GIVEN_SLICE_HEIGHT,
    GIVEN_POSITION,
    GIVEN_PALETTE,
    GIVEN_LINE_WIDTH,
    GIVEN_LINE_COLOR,
    GIVEN_NEAREST,
    GIVEN_TRANSFER,
    GIVEN_SURFACE_TRANSFER,
    GIVEN_LOOKUP,
    GIVEN_LOOKUP_SIZE,
    GIVEN_OPACITY_SCALE,
    GIVEN_UNSHADED,
    GIVEN_REGION,
    GIVEN_SURFACE_COLOR,
    GIVEN_SURFACE_OPACITY,
    GIVEN_SURFACE_LAYERS,
    GIVEN_FLAT,
    GIVEN_AMBIENT_OCCLUSION,
    GIVEN_SPECULAR,
    GIVEN_CLIP_OFFSET,
    GIVEN_CLIP_FACE,
    GIVEN_CLIP_SURFACE_ONLY,
    GIVEN_CLIP_VOLUME_ONLY,
    GIVEN_STEP,
    GIVEN_RATE,
    GIVEN_JITTER,
    GIVEN_BACKGROUND,
    GIVEN_BACKGROUND_BOTTOM,
    GIVEN_INSIDE_BELOW,
    GIVEN_UP,
    GIVEN_CLIP_NORMAL,
    GIVEN_CULL,
    GIVEN_COUNT
}; /* options whose value does not say whether they were given */

struct render {
    const char *remarked; /* the file whose values that are no numbers have been mentioned */
    cli_call *cli;
    tsr_read_options read;
    tsr_render_options options;
    tsr_slice_options slice;
    const char *output, *surface, *view, *transfer_name, *surface_transfer_name;
    int32_t width, height, passes;
    double isovalue, azimuth, elevation, fov, window[2];
    tsr_vec3 eye, target, up;
    int isovalue_given, inside_below, eye_given, up_given, slice_given, gallery, window_given, projection;
    int given[GIVEN_COUNT];
    tsr_context *context;
    tsr_scene *scene;
    tsr_volume *volume, *surface_volume;
    tsr_tiles *tiles;
    int stack;            /* the volume, or a list's field, from a few slices at a time */
    int by_records, cull; /* the tile list's surface by compact records */
    tsr_records *records;
    tsr_picture *picture;
    tsr_transfer transfer, surface_transfer;
    /* films */
    int film, turntable, sweep, frames_given;
    int32_t frames;
    double rate;
    tsr_box bounds;                  /* of what the camera is fitted to */
    double fit_distance, fit_height; /* of a turntable: the camera's largest over all frames, so that nothing grows or shrinks while it turns */
    double drawn, share;             /* parts of the whole work: done before the picture at hand, and that picture's own */
    tsr_progress progress;
    char pictures[6][4096]; /* of the gallery */
};

/* What goes together, before any work; sets r->film and the names of a gallery's pictures. Returns an exit code. */
int render_check(struct render *r);
/* What was given counts, black and 0, too: for the API they are the defaults. */
void render_take_given(struct render *r);
/* Refuses options of a surface where there is none, which is known once the input is. */
int render_check_surface(const struct render *r);
/* Makes the scene of one input (a volume, mesh or tile list, and --surface); frees what was made before. */
int render_scene(struct render *r, const char *path);
void render_free(struct render *r); /* scene and what it holds */
/* Transfer functions by name or file; the scene is needed for its window. */
int render_transfers(struct render *r);
/* Fits the camera to r->bounds; `azimuth` in degrees. */
tsr_status render_camera(struct render *r, const tsr_scene_info *info, double azimuth, tsr_camera *camera);
/* Draws r->picture: all passes of a view, or a slice; TSR_ERROR_CANCELLED after an interrupt. */
tsr_status render_picture(struct render *r, const tsr_camera *camera);
tsr_status render_image(struct render *r, tsr_image *image);
/* All frames of --turntable, --sweep or a series of inputs to r->output. */
int render_film(struct render *r);

#endif
