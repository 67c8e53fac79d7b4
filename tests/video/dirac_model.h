/* A model of Dirac and VC-2 streams that makes up a stream by chance, every parameter of the syntax with it, and the pictures that a decoder must give:
 * slow, sample by sample as the specification has it. Shares nothing with the library. */
#ifndef TSR_TESTS_DIRAC_MODEL_H
#define TSR_TESTS_DIRAC_MODEL_H

#include "dirac_model_bits.h"

enum { MODEL_REFERENCES = 3, MODEL_PICTURES = 8, MODEL_LEVELS = 12 };

typedef struct model_plane {
    int w, h;
    int64_t *v;
} model_plane;

typedef struct model_picture {
    uint32_t number;
    model_plane plane[3]; /* around 0 */
} model_picture;

typedef enum model_kind { MODEL_HIGH_QUALITY, MODEL_LOW_DELAY, MODEL_CORE } model_kind;

typedef struct model {
    uint64_t seed;
    model_kind kind;
    int major, width, height, chroma, fields, depth[2]; /* chroma: 0 4:4:4, 1 4:2:2, 2 4:2:0; depth: luma, chroma */
    model_bits out;
    size_t previous;                                                    /* bytes of the last unit */
    model_picture picture[MODEL_PICTURES], reference[MODEL_REFERENCES]; /* references: views of pictures */
    int pictures, references;
} model;

static inline int64_t *model_at(const model_plane *p, int x, int y) { return &p->v[(size_t)y * (size_t)p->w + (size_t)x]; }
static inline model_plane model_plane_of(int w, int h)
{
    return (model_plane){ w, h, (int64_t *)calloc((size_t)w * (size_t)h + 1, sizeof(int64_t)) };
}
static inline int64_t model_floor(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/* A stream from the seed; frees with model_free. */
void model_make(model *m, uint64_t seed);
void model_free(model *m);

/* ---- between the parts of the model -------------------------------------------------------------------------------------------------------- */

typedef struct model_transform {
    int wavelet, wavelet_ho, depth, depth_ho;
    int matrix[MODEL_LEVELS + 1][4];
} model_transform;

/* Sub-bands of one component, [level][0 LL, 1 HL, 2 LH, 3 HH]. */
typedef struct model_bands {
    model_plane band[MODEL_LEVELS + 1][4];
} model_bands;

void model_component_size(const model *m, int c, int *w, int *h);
void model_bands_make(const model_transform *t, int w, int h, model_bands *b);
void model_bands_free(model_bands *b);
int64_t model_dequantise(int64_t q, int index, int inter);
void model_predict_ll(model_plane *ll);
/* The bands are used up; w x h of the samples. */
model_plane model_synthesis(const model_transform *t, model_bands *b, int w, int h);
/* Chooses wavelets and depths. */
model_transform model_choose_transform(model *m, int asymmetric);

/* A picture's slices: transform parameters at the end of `head`, then slices; byte positions of each slice in `slices` go to starts (one more). */
typedef struct model_slices {
    int nx, ny;
    model_bits head, body;
    size_t *starts;
} model_slices;
void model_make_slices(model *m, model_picture *p, model_slices *s);
void model_slices_free(model_slices *s);
/* A picture in core syntax behind its header: prediction, transform. */
void model_make_core(model *m, model_picture *p, int references, const model_picture *const from[2], int variable, model_bits *body);
/* The prediction of an inter picture, written and made up. */
void model_make_motion(model *m, int references, const model_picture *const from[2], model_bits *body, model_plane predicted[3]);

#endif
