/* vision/textures/footage.h: generated footage inside: shapes on bones, their poses and skins. */
#ifndef TSR_VISION_TEXTURES_FOOTAGE_H
#define TSR_VISION_TEXTURES_FOOTAGE_H

#include "core/core.h"
#include "core/vec3.h"
#include "tessera/multiview_footage.h"

enum { TSR_FOOTAGE_PARTS_MOST = 16 };

/* A part in a step: world = at + turn own, `own` within an ellipsoid of these half axes, or a box. */
typedef struct tsr_footage_pose {
    double turn[3][3], at[3];
} tsr_footage_pose;

struct tsr_footage {
    tsr_footage_options o;
    int32_t parts;
    int box;
    double axes[TSR_FOOTAGE_PARTS_MOST][3];
    double chart[TSR_FOOTAGE_PARTS_MOST][4]; /* u0, v0, u1, v1; of a box the faces' */
    tsr_footage_pose *pose;                  /* [steps][parts] */
    tsr_multiview_model *model;
    int64_t part_triangles; /* of each part, of a box each face */
};

/* Poses of a step; axes come with them. */
void tsr_footage_pose_step(const tsr_footage *f, int32_t step, tsr_footage_pose *pose);
void tsr_footage_shapes(tsr_footage *f);
/* The mesh with its charts, and the model. */
tsr_status tsr_footage_make_model(tsr_footage *f) TSR_CHECKED;
/* The skin of a part at a place of its own frame; linear RGB of 0 to 1 is not meant: values as pictures have them. */
void tsr_footage_skin(const tsr_footage *f, int32_t part, const double own[3], double rgb[3]);
/* Where a ray meets the parts of `some` (their numbers, `count`): part or -1, distance, outward normal (may be NULL), the place in the part's frame (may be NULL). */
int32_t tsr_footage_cast(const tsr_footage *f, const tsr_footage_pose *pose, const int32_t *some, int32_t count, const double origin[3],
                         const double direction[3], double *d, double normal[3], double own[3]);
/* A colour in the light: Lambert, and the highlight where `to_eye` is not NULL. */
void tsr_footage_shade(const tsr_footage *f, const double normal[3], const double *to_eye, double rgb[3]);

static inline double tsr_footage_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
/* World to a part's frame: of points and of directions. */
static inline void tsr_footage_into(const tsr_footage_pose *p, const double world[3], int point, double own[3])
{
    double from[3];
    for (int k = 0; k < 3; k++) from[k] = world[k] - (point ? p->at[k] : 0);
    for (int k = 0; k < 3; k++) own[k] = p->turn[0][k] * from[0] + p->turn[1][k] * from[1] + p->turn[2][k] * from[2];
}
static inline void tsr_footage_out(const tsr_footage_pose *p, const double own[3], int point, double world[3])
{
    for (int k = 0; k < 3; k++) world[k] = (point ? p->at[k] : 0) + tsr_footage_dot(p->turn[k], own);
}

#endif
