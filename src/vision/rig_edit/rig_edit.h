/* vision/rig_edit/rig_edit.h: what the files of this room share: an editor of cameras, what its edits change, its proxy. */
#ifndef TSR_VISION_RIG_EDIT_H
#define TSR_VISION_RIG_EDIT_H

#include "tessera/rig_edit.h"
#include "vision/align/align.h"

enum {
    EDIT_CAMERAS = TSR_RIG_EDITOR_CAMERAS,
    EDIT_PAIRS = TSR_RIG_EDITOR_PAIRS,
    EDIT_LINES = TSR_RIG_EDITOR_LINES,
    EDIT_SNAPSHOTS = 32,
    EDIT_NAME = 64,
    EDIT_WORDS = 16
};

typedef struct edit_pair {
    int32_t camera;
    tsr_vec3 point;
    double pixel[2];
} edit_pair;
/* A line of the picture that runs along an axis of the world: 0 x, 1 y, 2 z. */
typedef struct edit_line {
    int32_t camera, axis;
    double end[2][2];
} edit_line;

/* What a camera makes of light: value = (gain light exp(fall_0 r^2 + fall_1 r^4))^exp(power), r in half diagonals from the centre; all 0: nothing. */
typedef struct edit_tone {
    double gain[3], power, fall[2]; /* gain: its logarithm */
} edit_tone;

/* All that a step changes: copied whole, so that undo restores every bit. */
typedef struct edit_state {
    int32_t pairs, lines;
    tsr_pinhole camera[EDIT_CAMERAS];
    uint32_t locked[EDIT_CAMERAS];
    edit_tone tone[EDIT_CAMERAS];
    double sigma[EDIT_CAMERAS][TSR_RIG_PARAMETERS], condition[EDIT_CAMERAS];
    edit_pair pair[EDIT_PAIRS];
    edit_line line[EDIT_LINES];
} edit_state;

/* The picture of a camera, halved again and again for views from afar, and where its edges are. */
enum { EDIT_SIZES = 8 };
typedef struct edit_image {
    char name[EDIT_NAME], file[256];
    tsr_image at[EDIT_SIZES]; /* 3 channels; [0] as it came */
    int32_t sizes;
    tsr_align_level level[2]; /* of about 1280 pixels across; [1] has distances */
    double shrunk;            /* pixels of the picture a pixel of level 0 */
} edit_image;

/* Inverse depths of the proxy's surface, as a pinhole sees it. */
typedef struct edit_depths {
    tsr_pinhole camera;
    uint64_t proxy;
    tsr_align_depths view;
    float *least, *least_room; /* the farthest of each place's neighbours; NULL: not made */
} edit_depths;

struct tsr_rig_editor {
    tsr_context *context;
    tsr_rig_editor_options o;
    /* proxy */
    char proxy_name[256];
    uint64_t proxy; /* rises with each that is loaded */
    tsr_mesh *mesh;
    tsr_align_line *outline; /* given lines */
    int64_t outlines;
    tsr_align_model lines, surface; /* surface: triangles alone, of the mesh or of the ground below lines */
    uint32_t *ground;
    tsr_vec3 *corner; /* ends of lines and where they cross: what hands are drawn to */
    int64_t corners;
    tsr_box bounds;
    double diameter;
    /* cameras */
    int32_t cameras, active;
    int rig;
    edit_image *image;         /* [EDIT_CAMERAS] */
    int guessed[EDIT_CAMERAS]; /* stands where it does because there was no proxy yet */
    edit_state now, start;     /* start: since the last camera came */
    edit_state *step;          /* a ring of steps before and behind */
    int32_t undo, redo, first, room;
    struct {
        char name[EDIT_NAME];
        edit_state state;
    } * snapshot;
    int32_t snapshots;
    char *script;
    size_t script_bytes, script_room;
    edit_depths seen, shadow[EDIT_CAMERAS]; /* of the last pane; of each camera */
    struct tsr_shade_tone *tone;            /* [EDIT_CAMERAS], of what was drawn last */
};

/* ---- commands (rig_edit_commands.c) -------------------------------------------------------------------------------------------- */

/* A line in words: numbers are taken with edit_number, which says what is wrong. */
typedef struct edit_words {
    int count, continues; /* continues: it began with "+": no step of its own */
    char text[TSR_RIG_EDITOR_LINE_BYTES], *word[EDIT_WORDS];
} edit_words;
tsr_status edit_split(const char *line, edit_words *words);
tsr_status edit_number(const edit_words *words, int index, const char *what, double lower, double upper, double *value);
tsr_status edit_counts(const edit_words *words, int least, int most, const char *form);
/* Of what changes cameras, pairs or lines: *known is 0 for a word that is no such command. */
tsr_status edit_command(tsr_rig_editor *e, const edit_words *words, int *known);
int edit_parameter(const char *name); /* -1: none */
double edit_value(const tsr_pinhole *camera, int parameter);

/* ---- closed forms and least squares (rig_edit_fit.c) ----------------------------------------------------------------------------- */

tsr_status edit_solve(tsr_rig_editor *e, const edit_words *words);
tsr_status edit_vanish(tsr_rig_editor *e, const edit_words *words);
tsr_status edit_refine(tsr_rig_editor *e, const edit_words *words);
void edit_keep_sigma(tsr_rig_editor *e, int32_t index, const tsr_calibration_sigma *sigma, double condition);
/* All cameras from all pairs; sigma > 0: places that several cameras were paired with are free, with that standard deviation (rig_edit_bundle.c). */
tsr_status edit_bundle(tsr_rig_editor *e, uint32_t free_, int shared, double sigma);
/* From the colours that the other cameras see (rig_edit_agree.c). */
tsr_status edit_agree(tsr_rig_editor *e, int32_t index, uint32_t free_);

/* Gain, vignetting and response from the same (rig_edit_match.c). */
tsr_status edit_match(tsr_rig_editor *e, const edit_words *words);
/* What undoes the tone of a camera, for pictures; NULL: there is none. Good until the next call for that camera. */
struct tsr_shade_tone;
const struct tsr_shade_tone *edit_tone_of(const tsr_rig_editor *e, const edit_state *state, int32_t index);
/* Ratio of the largest to the smallest eigenvalue of a matrix of normal equations whose diagonal is made 1; which: the two largest members of the weakest vector (may be NULL). */
double edit_condition(int n, const double *normal, int which[2]); /* of the lower triangle */
/* Above 10^6 a remark names the two: 0 to 5 are turns and places, then `lens` intrinsics with their numbers in `free`. */
void edit_say_condition(const char *command, const char *camera, double condition, const int which[2], const int *free, int lens);

/* ---- proxy (rig_edit_proxy.c), measures (rig_edit_measure.c) ---------------------------------------------------------------------- */

tsr_status edit_proxy_load(tsr_rig_editor *e, const char *name);
tsr_status edit_proxy_depth(tsr_rig_editor *e, const tsr_rig *rig); /* of the depth images of a rig */
void edit_proxy_release(tsr_rig_editor *e);
tsr_status edit_path(const tsr_rig_editor *e, const char *name, char path[4096]);
/* Depths as `camera` sees the surface, made anew where camera or proxy are others. */
tsr_status edit_depths_of(const tsr_rig_editor *e, const tsr_pinhole *camera, double scale, edit_depths *depths);
void edit_depths_release(edit_depths *depths);
tsr_status edit_image_take(edit_image *to, tsr_image *image, double contrast); /* takes over the pixels */
void edit_image_release(edit_image *image);

#endif
