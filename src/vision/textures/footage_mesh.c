/* vision/textures/footage_mesh.c: the meshes of generated footage, with their charts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/textures/footage.h"
#include "volume/deterministic.h"

typedef struct mesh {
    int64_t vertices, places, triangles; /* of one part */
    int32_t round, tall;                 /* segments; of a box: of a face's sides */
    double (*own)[3];                    /* [vertices] on a unit sphere, or a box's of half axes 1, part 0's */
    float *place;                        /* [parts][places][2] */
    uint32_t *triangle, *corner;         /* [parts][triangles][3] */
} mesh;

/* Axes of a face of a box: what u, v and the outside are; counter-clockwise seen from outside. */
static void face_axes(int32_t face, double u[3], double v[3], double out[3])
{
    static const double table[6][3][3] = { { { 1, 0, 0 }, { 0, 0, 1 }, { 0, -1, 0 } }, { { -1, 0, 0 }, { 0, 0, 1 }, { 0, 1, 0 } },
                                           { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 } },  { { 0, -1, 0 }, { 0, 0, 1 }, { -1, 0, 0 } },
                                           { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },  { { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } } };
    memcpy(u, table[face][0], sizeof table[face][0]);
    memcpy(v, table[face][1], sizeof table[face][1]);
    memcpy(out, table[face][2], sizeof table[face][2]);
}

/* A grid of places over a part's chart: column i of `round`, row k of `tall`, from the bottom up. */
static void put_place(const tsr_footage *f, const mesh *m, int32_t part, int64_t number, double along, double up)
{
    const double *chart = f->chart[part];
    float *to = m->place + 2 * ((int64_t)part * m->places + number);
    to[0] = (float)(chart[0] + along * (chart[2] - chart[0]));
    to[1] = (float)(chart[1] + up * (chart[3] - chart[1]));
}

/* The vertex of a column and row of an ellipsoid: one at each pole. */
static uint32_t ball_vertex(const mesh *m, int32_t column, int32_t row)
{
    if (row == 0) return 0;
    if (row == m->tall) return (uint32_t)m->vertices - 1;
    return (uint32_t)(1 + (row - 1) * m->round + column % m->round);
}
/* Rows of places; at a pole a place in the middle of each column's segment. */
static void make_ball(const tsr_footage *f, mesh *m)
{
    for (int32_t row = 0; row <= m->tall; row++)
        for (int32_t column = 0; column <= m->round; column++) {
            double s, c, st, ct;
            const int pole = row == 0 || row == m->tall;
            tsr_det_sincos_turns((double)column / m->round - 0.5, &s, &c);
            tsr_det_sincos_turns(0.5 * (double)row / m->tall, &st, &ct);
            double *own = m->own[ball_vertex(m, column, row)];
            own[0] = pole ? 0 : st * c;
            own[1] = pole ? 0 : st * s;
            own[2] = row == 0 ? -1 : row == m->tall ? 1 : -ct;
            for (int32_t part = 0; part < f->parts; part++)
                put_place(f, m, part, (int64_t)row * (m->round + 1) + column, (column + (pole ? 0.5 : 0.0)) / m->round, (double)row / m->tall);
        }
    for (int32_t part = 0; part < f->parts; part++) {
        uint32_t *t = m->triangle + 3 * part * m->triangles, *p = m->corner + 3 * part * m->triangles;
        for (int32_t row = 0; row < m->tall; row++)
            for (int32_t column = 0; column < m->round; column++)
                for (int half = 0; half < 2; half++) {
                    if ((half == 0 && row == 0) || (half == 1 && row == m->tall - 1)) continue; /* it has no area */
                    const int32_t at[2][3][2] = { { { 0, 0 }, { 1, 0 }, { 1, 1 } }, { { 0, 0 }, { 1, 1 }, { 0, 1 } } };
                    for (int k = 0; k < 3; k++) {
                        int32_t dx = at[half][k][0], dy = at[half][k][1];
                        if (half == 1 && row == 0 && k == 0) dx = 0;
                        *t++ = (uint32_t)(part * m->vertices) + ball_vertex(m, column + dx, row + dy);
                        if (row + dy == 0 || row + dy == m->tall) dx = 0; /* the pole's place of this column */
                        *p++ = (uint32_t)(part * m->places + (int64_t)(row + dy) * (m->round + 1) + column + dx);
                    }
                }
    }
}

/* Six faces, each a part with a grid of its own. */
static void make_box(const tsr_footage *f, mesh *m)
{
    for (int32_t part = 0; part < f->parts; part++) {
        double u[3], v[3], out[3];
        uint32_t *t = m->triangle + 3 * part * m->triangles, *p = m->corner + 3 * part * m->triangles;
        face_axes(part, u, v, out);
        for (int32_t row = 0; row <= m->tall; row++)
            for (int32_t column = 0; column <= m->round; column++) {
                const int64_t number = (int64_t)row * (m->round + 1) + column;
                for (int k = 0; k < 3; k++)
                    m->own[part * m->vertices + number][k] = out[k] + u[k] * (2.0 * column / m->round - 1) + v[k] * (2.0 * row / m->tall - 1);
                put_place(f, m, part, number, (double)column / m->round, (double)row / m->tall);
                if (row == m->tall || column == m->round) continue;
                const int64_t step[6] = { 0, 1, m->round + 2, 0, m->round + 2, m->round + 1 };
                for (int k = 0; k < 6; k++) *t++ = *p++ = (uint32_t)(part * m->vertices + number + step[k]);
            }
    }
}

static tsr_status place_cameras(const tsr_footage *f, tsr_camera *camera, int32_t *picture)
{
    tsr_status status = TSR_OK;
    tsr_rig *rig = NULL;
    const double d = f->o.distance;
    const tsr_rig_layout_options o = { .struct_size = sizeof o,
                                       .count = f->o.cameras,
                                       .target = { 0, 0, 0.92 },
                                       .distance = d,
                                       .height = 0.12 * d,
                                       .fov = f->o.fov,
                                       .width = f->o.width,
                                       .height_pixels = f->o.height };
    TSR_TRY(tsr_rig_make(TSR_RIG_RING, &o, &rig));
    for (int32_t i = 0; i < f->o.cameras; i++) {
        tsr_rig_camera c;
        TSR_TRY_GOTO(tsr_rig_get(rig, i, &c), end);
        camera[i] = c.camera;
        if (f->o.k1 != 0) camera[i].lens = (tsr_lens){ .model = TSR_LENS_POLY, .k1 = f->o.k1 };
        picture[2 * i] = f->o.width;
        picture[2 * i + 1] = f->o.height;
    }
end:
    tsr_rig_destroy(&rig);
    return status;
}

/* Steps of 2^-12: what is written as text, and packed, stays small. */
static float rounded(double v) { return (float)(floor(v * 4096 + 0.5) / 4096 + 0.0); }

static void place_vertices(const tsr_footage *f, const mesh *m, float *position)
{
    for (int32_t t = 0; t < f->o.steps; t++) {
        double off[3] = { 0, 0, 0 }, unused;
        for (int k = 0; k < 3 && f->o.jitter > 0; k++) {
            tsr_det_normal_pair(f->o.seed + 77, 3 * (uint64_t)t + (uint64_t)k, &off[k], &unused);
            off[k] *= f->o.jitter;
        }
        for (int32_t part = 0; part < f->parts; part++)
            for (int64_t i = 0; i < m->vertices; i++) {
                double own[3], world[3];
                for (int k = 0; k < 3; k++) own[k] = m->own[f->box ? part * m->vertices + i : i][k] * f->axes[part][k];
                tsr_footage_out(&f->pose[(int64_t)t * f->parts + (f->box ? 0 : part)], own, 1, world);
                for (int k = 0; k < 3; k++) position[3 * (((int64_t)t * f->parts + part) * m->vertices + i) + k] = rounded(world[k] + off[k]);
            }
    }
}

tsr_status tsr_footage_make_model(tsr_footage *f)
{
    tsr_status status = TSR_OK;
    mesh m = { .round = f->box ? f->o.detail / 4 : f->o.detail, .tall = f->box ? f->o.detail / 4 : f->o.detail / 2 };
    const int64_t grid = (int64_t)(m.round + 1) * (m.tall + 1);
    m.vertices = f->box ? grid : (int64_t)m.round * (m.tall - 1) + 2;
    m.places = grid;
    m.triangles = 2ll * m.round * (f->box ? m.tall : m.tall - 1);
    f->part_triangles = m.triangles;
    const size_t parts = (size_t)f->parts, triangles = parts * (size_t)m.triangles, vertices = parts * (size_t)m.vertices;
    m.own = (double(*)[3])malloc(vertices * sizeof *m.own);
    m.place = (float *)malloc(parts * (size_t)m.places * 2 * sizeof(float));
    m.triangle = (uint32_t *)malloc(triangles * 3 * sizeof(uint32_t));
    m.corner = (uint32_t *)malloc(triangles * 3 * sizeof(uint32_t));
    float *position = (float *)malloc(vertices * (size_t)f->o.steps * 3 * sizeof(float));
    tsr_camera *camera = (tsr_camera *)malloc((size_t)f->o.cameras * sizeof *camera);
    int32_t *picture = (int32_t *)malloc((size_t)f->o.cameras * 2 * sizeof *picture);
    if (!m.own || !m.place || !m.triangle || !m.corner || !position || !camera || !picture)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "footage: out of host memory for %zu vertices in %d steps", vertices, f->o.steps);
    if (f->box) make_box(f, &m);
    else make_ball(f, &m);
    place_vertices(f, &m, position);
    TSR_TRY_GOTO(place_cameras(f, camera, picture), end);
    const tsr_multiview_parts p = { .struct_size = sizeof p,
                                    .width = f->o.atlas,
                                    .height = f->o.atlas,
                                    .cameras = f->o.cameras,
                                    .steps = f->o.steps,
                                    .vertices = (int64_t)vertices,
                                    .places = (int64_t)parts * m.places,
                                    .triangles = (int64_t)triangles,
                                    .triangle = m.triangle,
                                    .corner = m.corner,
                                    .place = m.place,
                                    .position = position,
                                    .camera = camera,
                                    .camera_steps = 1,
                                    .picture = picture,
                                    .rules = f->o.rules };
    TSR_TRY_GOTO(tsr_multiview_model_create(&p, &f->model), end);
end:
    free(m.own);
    free(m.place);
    free(m.triangle);
    free(m.corner);
    free(position);
    free(camera);
    free(picture);
    return status;
}
