/* levelset/source/tile.h: the passes over the voxels of a list, for one edge. Included once for each by stl.c with SOURCE_EDGE and SOURCE_NAME(f).
 * docs/theory/tiles.md 2, docs/theory/levelset.md 2, 4. */

/* A tile with three voxels of its neighbours around it. */
enum { SOURCE_NAME(SIDE) = SOURCE_EDGE + 6, SOURCE_NAME(CENTRE) = 3 * (1 + SOURCE_NAME(SIDE) * (1 + SOURCE_NAME(SIDE))) };
#define B SOURCE_EDGE
#define H SOURCE_NAME(SIDE)
#define V (SOURCE_EDGE * SOURCE_EDGE * SOURCE_EDGE)

/* Fills the cube around entry o: `reach` voxels along the axes, one along diagonals; where nothing is stored, the constant of the border flag. */
static void SOURCE_NAME(gather)(const source_stl *s, const float *phi, int32_t o, const source_stencil *near, uint32_t match, int reach, float *cube)
{
    const uint32_t border = s->border[0][s->index[0][o]];
    for (int i = 0; i < SOURCE_DIRECTIONS; i++) {
        const int d[3] = { source_along(i, 0), source_along(i, 1), source_along(i, 2) }, axes = abs(d[0]) + abs(d[1]) + abs(d[2]);
        const float *tile = match >> i & 1u ? phi + (int64_t)s->index[0][near->p[i]] * V : NULL, flat = border >> i & 1u ? s->band : -s->band;
        int from[3], to[3];
        for (int k = 0; k < 3; k++) {
            const int width = axes > 1 ? 1 : reach;
            from[k] = d[k] < 0 ? -width : d[k] > 0 ? B : 0;
            to[k] = d[k] < 0 ? 0 : d[k] > 0 ? B + width : B;
        }
        for (int z = from[2]; z < to[2]; z++)
            for (int y = from[1]; y < to[1]; y++)
                for (int x = from[0]; x < to[0]; x++)
                    cube[SOURCE_NAME(CENTRE) + x + H * (y + H * z)] = tile ? tile[x - B * d[0] + B * (y - B * d[1] + B * (z - B * d[2]))] : flat;
    }
}

/* dt times the right-hand side of equation (A), F given. */
static inline float SOURCE_NAME(change)(const source_motion *m, const float *p, float speed)
{
    const source_pair x = m->weno ? source_fifth_order(p, 1) : source_first_order(p, 1),
                      y = m->weno ? source_fifth_order(p, H) : source_first_order(p, H),
                      z = m->weno ? source_fifth_order(p, H * H) : source_first_order(p, H * H);
    float rate = 0, slope;
    if (speed > 0) rate -= speed * source_outwards(x, y, z, m->weno);
    if (speed < 0) rate -= speed * source_inwards(x, y, z, m->weno);
    if (m->curvature != 0) rate += (m->half ? 0.5f : 1) * m->curvature * source_bent(p, H, H * H, &slope);
    if (m->reshape != 0) {
        const float sign = m->sgn ? (float)((p[0] > 0) - (p[0] < 0)) : p[0] / sqrtf(p[0] * p[0] + 1);
        rate += m->reshape * sign * (1 - (p[0] > 0 ? source_outwards(x, y, z, m->weno) : source_inwards(x, y, z, m->weno)));
    }
    return m->step * rate;
}

/* One pass over all tiles: from `from`, with `start` for the combinations, into `to`. The last pass of a step writes blocks in the order of the list, which
 * squeezes out those that management dropped, and sets the activity words. Without a motion values stay. */
static void SOURCE_NAME(pass)(source_stl *s, const source_motion *m, float speed, int stage, int last, const float *from, const float *start,
                              float *to)
{
    static const float old[3] = { 0, 0.75f, 1.0f / 3 };
    source_stencil near = source_stencil_at(s->key[0], s->count, 0);
    uint32_t areas[V];
    float cube[H * H * H];
    for (int v = 0; v < V; v++) areas[v] = source_areas(s, v % B, v / B % B, v / (B * B));
    for (int32_t o = 0; o < s->count; o++) {
        const uint32_t match = source_stencil_visit(&near, o), block = s->index[0][o];
        const int64_t target = (int64_t)(last ? (uint32_t)o : block) * V;
        uint32_t set = 0;
        SOURCE_NAME(gather)(s, from, o, &near, match, m && (m->weno || m->update) ? 3 : 1, cube);
        for (int v = 0; v < V; v++) {
            const int x = v % B, y = v / B % B, z = v / (B * B);
            const float *p = cube + SOURCE_NAME(CENTRE) + x + H * (y + H * z);
            float value = p[0];
            if (m && m->update) {
                const int32_t at[3] = { source_coordinate(s->key[0][o], 0) * B + x, source_coordinate(s->key[0][o], 1) * B + y,
                                        source_coordinate(s->key[0][o], 2) * B + z };
                value = m->update(m->user, p, H, H * H, at, start[(int64_t)block * V + v], stage);
            } else if (m) {
                const float moved = p[0] + SOURCE_NAME(change)(m, p, speed);
                value = stage == 0 ? moved : old[stage] * start[(int64_t)block * V + v] + (1 - old[stage]) * moved;
                value = source_min(source_max(value, -s->band), s->band);
            }
            to[target + v] = value;
            const int inside = p[0] < 0, crossing = (p[-1] < 0) != inside || (p[1] < 0) != inside || (p[-H] < 0) != inside || (p[H] < 0) != inside ||
                                                    (p[-H * H] < 0) != inside || (p[H * H] < 0) != inside;
            if ((value > -s->band && value < s->band) || crossing) set |= areas[v];
        }
        if (!last) continue;
        s->act[1][o] = set ? set : to[target] > 0 ? SOURCE_OUTSIDE : 0;
        s->border[1][o] = s->border[0][block];
        s->age[1][o] = s->age[0][block];
    }
}

/* Adds what the stored tiles say of mean curvature, area and volume: the sums of K delta |grad phi|, delta |grad phi|, and of what is inside. */
static void SOURCE_NAME(sums)(const source_stl *s, double sum[3])
{
    source_stencil near = source_stencil_at(s->key[0], s->count, 0);
    const double e = s->band < 1.5f ? (double)s->band : 1.5;
    float cube[H * H * H];
    for (int32_t o = 0; o < s->count; o++) {
        SOURCE_NAME(gather)(s, s->phi[0], o, &near, source_stencil_visit(&near, o), 1, cube);
        for (int v = 0; v < V; v++) {
            const float *p = cube + SOURCE_NAME(CENTRE) + v % B + H * (v / B % B + H * (v / (B * B)));
            const double delta = source_delta((double)p[0], e);
            float slope;
            sum[2] += source_inside((double)p[0], e);
            if (delta == 0) continue;
            sum[0] += delta * (double)source_bent(p, H, H * H, &slope);
            sum[1] += delta * (double)slope;
        }
    }
}

#undef B
#undef H
#undef V
