/* tessera/rig_edit.h: cameras fitted by hand to something whose shape is known, a command at a time: what the workbench's mode `calibrate` does, and what a
 * recorded session does again without a page.
 *
 * Images are projected out of their cameras onto a proxy, a mesh or lines (a pitch; of lines the ground below them is the surface), and seen from anywhere. Commands,
 * one a line, are listed in docs/formats/rig-session.md; every one but undo, redo and the choice of a camera is a step that undo takes back, bit for bit.
 * Axes and pixels are those of tessera/calibrate.h. One thread at a time. Class: exact but for `solve` and `refine`, which are tolerant.
 * Source: docs/theory/calibration.md 10. */
#ifndef TESSERA_RIG_EDIT_H
#define TESSERA_RIG_EDIT_H

#include "tessera/align.h"
#include "tessera/rig.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_rig_editor tsr_rig_editor;

enum { TSR_RIG_EDITOR_CAMERAS = 32, TSR_RIG_EDITOR_PAIRS = 512, TSR_RIG_EDITOR_LINES = 64, TSR_RIG_EDITOR_STEPS = 500, TSR_RIG_EDITOR_LINE_BYTES = 1024 };

typedef struct tsr_rig_editor_options {
    size_t struct_size;
    /* Where the file of a name lies: 0, or -1 with a message for names that may not be opened. NULL: names are paths. */
    int (*path)(void *user, const char *name, char *path, size_t room, char *error, size_t error_room);
    void *user;
    int64_t memory_limit; /* bytes of a file's contents; 0 = physical memory */
    tsr_progress progress;
} tsr_rig_editor_options;
#define TSR_RIG_EDITOR_OPTIONS TSR_SIZED(tsr_rig_editor_options)

/* KEEPS the context. RETURNS NEW, without proxy and cameras. */
TSR_API tsr_status tsr_rig_editor_create(tsr_context *context, const tsr_rig_editor_options *options, tsr_rig_editor **editor) TSR_CHECKED;
TSR_API void tsr_rig_editor_destroy(tsr_rig_editor **editor);

/* One line. Empty lines and those that begin with # do nothing. After an error everything is as it was; the message names the word at fault. */
TSR_API tsr_status tsr_rig_editor_run(tsr_rig_editor *editor, const char *line) TSR_CHECKED;
/* What was run, as a script that gives the same cameras again. RETURNS VIEW, until the next call. */
TSR_API const char *tsr_rig_editor_script(const tsr_rig_editor *editor);

typedef struct tsr_rig_editor_info {
    size_t struct_size;
    int32_t cameras, active, pairs, lines, undo, redo, snapshots; /* pairs, lines: of all cameras */
    int rig;                                                      /* edits move all cameras */
    tsr_box bounds;                                               /* of the proxy; all 0 without one */
    double diameter;                                              /* of it, scene units */
    const char *proxy;                                            /* its name, "" = none; VIEW */
} tsr_rig_editor_info;
#define TSR_RIG_EDITOR_INFO TSR_SIZED(tsr_rig_editor_info)
TSR_API tsr_status tsr_rig_editor_get_info(const tsr_rig_editor *editor, tsr_rig_editor_info *info) TSR_CHECKED;

/* NULL behind the last. RETURNS VIEW, until the next command. */
TSR_API const char *tsr_rig_editor_camera_name(const tsr_rig_editor *editor, int32_t index);
TSR_API const char *tsr_rig_editor_snapshot_name(const tsr_rig_editor *editor, int32_t index);

/* The parameters of a camera, with tsr_rig_editor_parameter_name's names. */
enum { TSR_RIG_YAW = 0, TSR_RIG_PITCH, TSR_RIG_ROLL, TSR_RIG_X, TSR_RIG_Y, TSR_RIG_Z, TSR_RIG_FOV, TSR_RIG_ASPECT, TSR_RIG_CX, TSR_RIG_CY, TSR_RIG_K1, TSR_RIG_K2, TSR_RIG_P1, TSR_RIG_P2, TSR_RIG_PARAMETERS };
/* yaw, pitch, roll: degrees; x y z: of the eye; fov: vertical, degrees; aspect: fy / fx; cx, cy: pixels. RETURNS VIEW. */
TSR_API const char *tsr_rig_editor_parameter_name(int32_t parameter);

typedef struct tsr_rig_editor_camera {
    size_t struct_size;
    tsr_pinhole pinhole;
    const char *name;                     /* VIEW, until the next command */
    double value[TSR_RIG_PARAMETERS];     /* yaw, pitch, roll as a heading about z, a rise and a turn about the axis, of what it looks like; edits are of the camera's axes */
    double sigma[TSR_RIG_PARAMETERS];     /* of the last solve or refine; yaw, pitch, roll about and x, y, z along the camera's axes (right, down, forward); 0 = not known */
    uint32_t locked;                      /* bits 1 << parameter */
    int32_t pairs;
    double pair_rms;   /* pixels; 0 without pairs */
    double edge;       /* mean distance of the proxy's lines from edges of like direction, pixels, cut off at a twentieth of the width; below 0: not known */
    double difference; /* mean absolute difference of colours, grey values, to the other cameras where both see the proxy; below 0: not known */
    double condition;  /* of the last solve or refine; 0 = none */
    /* Of `match`: a value of the picture, 255 = 1, is (gain light exp(vignetting_0 r^2 + vignetting_1 r^4))^response, r from the centre in half diagonals, light as the cameras that were not
     * matched have it; 1, 1 1 1 and 0 0 before. Panes and `difference` show the light. */
    double response, gain[3], vignetting[2];
} tsr_rig_editor_camera;
#define TSR_RIG_EDITOR_CAMERA TSR_SIZED(tsr_rig_editor_camera)
/* TSR_ERROR_ARGUMENT beyond the last. */
TSR_API tsr_status tsr_rig_editor_get_camera(tsr_rig_editor *editor, int32_t index, tsr_rig_editor_camera *camera) TSR_CHECKED;
/* All cameras with their names and images. RETURNS NEW. */
TSR_API tsr_status tsr_rig_editor_get_rig(const tsr_rig_editor *editor, tsr_rig **rig) TSR_CHECKED;

/* ---- pictures ------------------------------------------------------------------------------------------------------------------ */

/* How the picture of the active camera, A, and those of the others, B, share a pixel. */
typedef enum tsr_rig_blend { TSR_RIG_BLEND_ALPHA = 0, TSR_RIG_BLEND_CHECKER, TSR_RIG_BLEND_STRIPES, TSR_RIG_BLEND_DIFFERENCE, TSR_RIG_BLEND_EDGES, TSR_RIG_BLEND_ONION } tsr_rig_blend;

typedef struct tsr_rig_pane {
    size_t struct_size;
    int from_camera;      /* != 0: what the active camera saw, with its lens; else the proxy from `view` */
    int before;           /* != 0: with the cameras of the last snapshot, or as they were at the start */
    tsr_camera view;      /* a pinhole without a lens */
    double zoom, pan[2];  /* from_camera: 1 and 0 0: the image fills the pane; pan in pixels of the image, to the right and down */
    tsr_rig_blend blend;
    double mix;           /* 0 to 1: ALPHA share of B; ONION where B begins; EDGES strength */
    int no_lines, no_shadow;
    double loupe[2];      /* share of the pane at which a loupe of eight times stands; 0 0: none */
} tsr_rig_pane;
#define TSR_RIG_PANE TSR_SIZED(tsr_rig_pane)

/* Three channels. RETURNS NEW in *image. TSR_ERROR_STATE without cameras (from_camera) or proxy. */
TSR_API tsr_status tsr_rig_editor_draw(tsr_rig_editor *editor, const tsr_rig_pane *pane, int32_t width, int32_t height, tsr_image *image) TSR_CHECKED;
/* What lies under a place of a pane of that size: the pixel of the active camera's image (from_camera, else 0 0), and the nearest point of the proxy; *found (NULL: not
 * wanted) is 0 where there is none. With `snap` > 0 the nearest corner or crossing of the proxy's lines within so many pixels of the pane instead. */
TSR_API tsr_status tsr_rig_editor_pick(tsr_rig_editor *editor, const tsr_rig_pane *pane, int32_t width, int32_t height, const double at[2], double snap, double pixel[2],
                                       tsr_vec3 *point, int *found) TSR_CHECKED;

/* ---- canvases ------------------------------------------------------------------------------------------------------------------ */

/* A projector is a camera the other way round. Of the canvas, the proxy, pictures were taken while the projector lit it as brightly as it can, and not at all. */
typedef struct tsr_rig_compensate_options {
    size_t struct_size;
    const char *projector; /* name of the camera that is it; its picture is what it should look like on a white canvas */
    const char *lit;       /* ... that saw the canvas lit */
    const char *dark;      /* ... that saw it without its light, from wherever; NULL: all of the light is the projector's */
    const char *wanted;    /* ... whose picture is how the canvas should look; NULL: the projector's */
    double gamma;          /* light of the projector = value^gamma; 0 = 2.2 */
    double response;       /* light in pictures = value^response; 0 = 2.2 */
    double dim;            /* of the light that is wanted; 0 = 1 */
} tsr_rig_compensate_options;
#define TSR_RIG_COMPENSATE_OPTIONS TSR_SIZED(tsr_rig_compensate_options)

typedef struct tsr_rig_compensated {
    size_t struct_size;
    double canvas;         /* share of the projector's pixels that light what the pictures show */
    double short_of_light; /* share of these that want more light than there is */
    double enough;         /* the largest dim for which 99 of 100 have enough */
} tsr_rig_compensated;
#define TSR_RIG_COMPENSATED TSR_SIZED(tsr_rig_compensated)

/* What the projector must show, three channels of its size, black beside the canvas. RETURNS NEW in *image. Class: tolerant. docs/theory/calibration.md 10. */
TSR_API tsr_status tsr_rig_editor_compensate(tsr_rig_editor *editor, const tsr_rig_compensate_options *options, tsr_image *image, tsr_rig_compensated *compensated) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
