/* light/wave_lanes.h: a step of as many patches as a register of the CPU has lanes, one in each: the arithmetic of wave.h in the same order, hence the same bits.
 * Lanes in which something happens (an end, a split, a caustic) are handed to wave.h. Included by light_isa.c, once per SIMD variant. */
#ifndef TSR_LIGHT_WAVE_LANES_H
#define TSR_LIGHT_WAVE_LANES_H

#include "light/lanes.h"

TSR_INLINE void lanes_middle(const lanes w[3][4], lanes to[3])
{
    for (int k = 0; k < 3; k++) to[k] = 0.25f * ((w[k][0] + w[k][1]) + (w[k][2] + w[k][3]));
}
TSR_INLINE void lanes_twice_area(const lanes x[3][4], lanes to[3])
{
    lanes a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = x[k][2] - x[k][0];
        b[k] = x[k][3] - x[k][1];
    }
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}
TSR_INLINE lanes lanes_area(const lanes x[3][4])
{
    lanes a[3];
    lanes_twice_area(x, a);
    return 0.5f * lanes_sqrt(lanes_dot(a, a));
}
TSR_INLINE lanes lanes_turn(const lanes x[3][4], const lanes v[3][4])
{
    lanes a[3], m[3];
    lanes_twice_area(x, a);
    lanes_middle(v, m);
    return lanes_dot(a, m);
}
/* As tsr_light_move, for corner c of each patch; s: the samples, of lanes in which the index varies. Returns these. */
/* As tsr_light_surface. */
TSR_INLINE marks lanes_cells(const tsr_light_medium *m, const lanes p[3])
{
    marks at[3], cells;
    for (int k = 0; k < 3; k++)
        at[k] = marks_min(whole(lanes_min(lanes_max(p[k], lanes_all(0.0f)), lanes_all((float)(m->size[k] - 1)))), m->size[k] - 2);
    const marks cell = (at[2] * m->size[1] + at[1]) * m->size[0] + at[0];
    for (int l = 0; l < LANES; l++) cells[l] = m->cells[cell[l]];
    return lanes_inside(m, p) & cells;
}

/* As tsr_light_refract where an exact surface is near: those lanes are taken from `bends`, moved, and returned; corner c, power that is kept and the patches' states. */
TSR_INLINE marks lanes_refract(const tsr_light_wave *w, const lanes_medium *m, int c, marks *bends, marks surfaces, lanes x[3], lanes v[3],
                               lanes *kept, uint32_t state[LANES])
{
    marks passing = { 0 };
    float p[3][LANES];
    tsr_light_medium own = *m->medium;
    for (int k = 0; k < 3; k++) lanes_store(p[k], x[k]);
    for (uint32_t rest = lanes_bits((marks)(surfaces != 0)); rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        float at[3] = { p[0][l], p[1][l], p[2][l] }, speed[3] = { v[0][l], v[1][l], v[2][l] }, reflected;
        own.bend = m->bend[l];
        if (tsr_light_refract(&own, surfaces[l], at, speed, w->dt, &reflected)) {
            (*kept)[l] = (*kept)[l] * tsr_light_kept(reflected);
            state[l] ^= 16u << c;
        }
        for (int k = 0; k < 3; k++) {
            x[k][l] = at[k];
            v[k][l] = speed[k];
        }
        passing[l] = -1;
        (*bends)[l] = 0;
    }
    return passing;
}

TSR_INLINE marks lanes_move(const tsr_light_wave *w, lanes_medium *m, int c, lanes x[3], lanes v[3], lanes s[4], lanes *kept, uint32_t state[LANES])
{
    marks bends = (marks)((lanes_holds(m->medium, x) & TSR_LIGHT_BENDS) != 0), passing = { 0 };
    if (m->medium->cells && lanes_bits(bends)) {
        const marks cells = bends & lanes_cells(m->medium, x), straight = (marks)(cells == TSR_LIGHT_STRAIGHT);
        bends &= ~straight;
        passing = lanes_refract(w, m, c, &bends, cells & ~straight, x, v, kept, state);
    }
    const uint32_t some = lanes_bits(bends);
    lanes px[3], pv[3];
    m->which = some;
    if (some) {
        for (int k = 0; k < 3; k++) {
            px[k] = x[k];
            pv[k] = v[k];
        }
        if (w->integrator == TSR_RAY_LEAP) {
            lanes_ray_leap(m, s, px, pv, lanes_all(w->dt));
        } else {
            lanes_sample(m, px, s);
            if (w->project) lanes_ray_project(s, pv);
            lanes_ray_step(w->integrator, TSR_RAY_TIME, m, s, px, pv, lanes_all(w->dt));
        }
    }
    const lanes scale = lanes_pick(passing, lanes_all(0.0f), w->dt / lanes_dot(v, v));
    for (int k = 0; k < 3; k++) {
        x[k] = x[k] + scale * v[k];
        if (some) {
            x[k] = lanes_pick(bends, px[k], x[k]);
            v[k] = lanes_pick(bends, pv[k], v[k]);
        }
    }
    return bends;
}

/* As tsr_light_cross_surface: at: samples of the corners where `bends`, nothing elsewhere; speed: squares of the corners' speeds; v: the patches' speeds; row: their
 * words steep and start. */
TSR_INLINE void lanes_surface(const tsr_light_wave *w, const lanes at[4][4], const marks bends[4], const lanes speed[4], const lanes v[3],
                              lanes power[3], lanes row[4], int64_t lost[3])
{
    lanes s[4], own[4];
    marks bent = (marks)(row[0] != 0.0f);
    for (int c = 0; c < 4; c++) {
        bent |= bends[c];
        own[c] = lanes_pick(bends[c], at[0][c], lanes_sqrt(speed[c]));
    }
    if (!lanes_bits(bent)) return;
    s[0] = 0.25f * ((own[0] + own[1]) + (own[2] + own[3]));
    for (int k = 1; k < 4; k++) {
        for (int c = 0; c < 4; c++) own[c] = (lanes)(bends[c] & (marks)at[k][c]);
        s[k] = 0.25f * ((own[0] + own[1]) + (own[2] + own[3]));
    }
    const lanes g2 = s[1] * s[1] + s[2] * s[2] + s[3] * s[3], inverse = s[0] * tsr_wide_rsqrt(lanes_dot(v, v));
    const lanes now[3] = { v[0] * inverse, v[1] * inverse, v[2] * inverse }, along = (now[0] * s[1] + now[1] * s[2] + now[2] * s[3]) / s[0];
    const marks active = (marks)(row[0] != 0.0f), counts = bent & (marks)(lanes_abs(along) > TSR_LIGHT_SLOPE), up = (marks)(along > 0.0f);
    const marks ends = active & (~counts | (up ^ (marks)(row[0] > 0.0f)));
    for (uint32_t rest = lanes_bits(ends); rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const float sample[4] = { s[0][l], s[1][l], s[2][l], s[3][l] }, ahead[3] = { v[0][l], v[1][l], v[2][l] };
        tsr_light_patch p;
        p.steep = row[0][l];
        for (int k = 0; k < 3; k++) {
            p.power[k] = power[k][l];
            p.start[k] = row[1 + k][l];
        }
        tsr_light_cross_surface(w, &p, sample, ahead, lost);
        row[0][l] = p.steep;
        for (int k = 0; k < 3; k++) {
            power[k][l] = p.power[k];
            row[1 + k][l] = p.start[k];
        }
    }
    const marks goes_on = counts & ~ends, starts = goes_on & ~active;
    if (!lanes_bits(goes_on)) return;
    const lanes steepest = lanes_max(lanes_abs(row[0]), g2);
    row[0] = lanes_pick(goes_on, lanes_pick(up, steepest, -steepest), row[0]);
    for (int k = 0; k < 3; k++) row[1 + k] = lanes_pick(starts, now[k], row[1 + k]);
}

/* As tsr_light_fade; returns the lanes that are stopped. */
TSR_INLINE marks lanes_fade(const tsr_light_wave *w, const lanes before[3], const lanes after[3], lanes power[3], int64_t lost[3])
{
    const tsr_light_medium *m = &w->medium;
    const marks holds = (marks)((lanes_holds(m, after) & (TSR_LIGHT_DIMS | TSR_LIGHT_STOPS)) != 0);
    lanes mid[3], s[4], d2 = lanes_all(0.0f);
    if (!lanes_bits(holds)) return (marks){ 0 };
    for (int k = 0; k < 3; k++) {
        mid[k] = 0.5f * (before[k] + after[k]);
        d2 += (after[k] - before[k]) * (after[k] - before[k]);
    }
    const marks inside = holds & lanes_inside(m, mid);
    lanes_four(m, m->dim, lanes_bits(inside), mid, s);
    const lanes length = lanes_sqrt(d2);
    for (int k = 0; k < 3; k++) {
        const marks dims = inside & (marks)(s[k] > 0.0f) & (marks)(power[k] > 0.0f);
        const lanes old = power[k];
        if (!lanes_bits(dims)) continue;
        power[k] = lanes_pick(dims, old * lanes_exp(-s[k] * length), old);
        float from[LANES], to[LANES];
        lanes_store(from, old);
        lanes_store(to, power[k]);
        for (int l = 0; l < LANES; l++) lost[k] += tsr_light_units(from[l], w->unit) - tsr_light_units(to[l], w->unit);
    }
    lanes_four(m, m->dim, lanes_bits(holds), before, s);
    return holds & (marks)(s[3] > 0.5f) & lanes_inside(m, before);
}

/* Lanes to which nothing happens but that they move on: the questions of tsr_light_judge. */
TSR_INLINE marks lanes_plain(const tsr_light_wave *w, const lanes old_x[3][4], lanes turn, const lanes x[3][4], const lanes v[3][4],
                             const lanes power[3])
{
    const tsr_light_medium *m = &w->medium;
    marks leaves = { 0 }, turned = { 0 };
    lanes mean[3], all = lanes_all(0.0f), size = lanes_all(0.0f);
    leaves = ~leaves;
    for (int c = 0; c < 4; c++) {
        const int d = (c + 1) & 3;
        marks away = { 0 };
        lanes dot = lanes_all(0.0f);
        for (int k = 0; k < 3; k++) {
            away |= ((marks)(x[k][c] < -0.5f) & (marks)(v[k][c] <= 0.0f)) | ((marks)(x[k][c] > m->upper[k]) & (marks)(v[k][c] >= 0.0f));
            dot += (old_x[k][d] - old_x[k][c]) * (x[k][d] - x[k][c]);
        }
        leaves &= away;
        turned += (marks)(dot < 0.0f);
        all = lanes_max(all, v[0][c] * v[0][c] + v[1][c] * v[1][c] + v[2][c] * v[2][c]);
    }
    const lanes now = lanes_turn(x, v);
    const marks crossed = ((marks)(turn > 0.0f) & (marks)(now < 0.0f)) | ((marks)(turn < 0.0f) & (marks)(now > 0.0f)) | (marks)(turned <= -2);
    lanes_middle(v, mean);
    for (int k = 0; k < 3; k++) {
        const lanes low = lanes_min(lanes_min(x[k][0], x[k][1]), lanes_min(x[k][2], x[k][3]));
        size = lanes_max(size, lanes_max(lanes_max(x[k][0], x[k][1]), lanes_max(x[k][2], x[k][3])) - low);
    }
    return ~(leaves | crossed | (marks)(lanes_dot(mean, mean) < 0.7f * all) | (marks)(lanes_luminance(power) < w->least)) &
           (marks)(size <= w->extent);
}

/* Those of the patches i to i + LANES - 1 that won their voxels leave their light: tsr_light_win. */
TSR_INLINE void lanes_win(const tsr_light_wave *w, int64_t i, const lanes x[3][4], const lanes v[3][4], const lanes power[3])
{
    uint32_t winners = 0;
    lanes direction[3];
    float own[3][LANES], ways[3][LANES];
    for (int l = 0; l < LANES; l++) winners |= (uint32_t)tsr_light_wins(w, i + l) << l;
    if (!winners) return;
    lanes_middle(v, direction);
    const lanes inverse = 1.0f / lanes_max(lanes_area(x), lanes_all(w->least_area));
    const lanes long_ = tsr_wide_rsqrt(lanes_max(lanes_dot(direction, direction), lanes_all(1e-20f)));
    for (int k = 0; k < 3; k++) {
        lanes_store(own[k], power[k] * inverse);
        lanes_store(ways[k], direction[k] * long_);
    }
    for (; winners; winners &= winners - 1) {
        const int l = __builtin_ctz(winners);
        const float light[3] = { own[0][l], own[1][l], own[2][l] }, way[3] = { ways[0][l], ways[1][l], ways[2][l] };
        tsr_light_join(w, light, way, tsr_light_pack(way), w->at[i + l]);
    }
}

/* LANES patches of the list of `step` from i on: tsr_light_visit of a step. The list lies word by word. Returns how many they become. */
TSR_INLINE int64_t lanes_visit(const tsr_light_wave *w, int64_t step, int64_t i, tsr_light_account *sums)
{
    const tsr_light_list *list = &w->list[step & 1];
    float *from = list->data + i;
    lanes old[3][4], x[3][4], v[3][4], power[3], before[3], after[3], at[4][4], speed[4], way[3], row[4];
    marks state, stopped = { 0 }, bends[4];
    lanes_medium m = { &w->medium, lanes_all(w->bends[0]), 0 };
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 4; c++) {
            x[k][c] = old[k][c] = lanes_load(from + (4 * k + c) * list->across);
            v[k][c] = lanes_load(from + (12 + 4 * k + c) * list->across);
        }
        power[k] = lanes_load(from + (24 + k) * list->across);
    }
    memcpy(&state, from + 27 * list->across, sizeof state);
    uint32_t states[LANES];
    lanes kept = lanes_all(1.0f);
    memcpy(states, &state, sizeof states);
    if (!w->sums) lanes_win(w, i, x, v, power);
    state = state & 3;
    for (int l = 0; l < LANES; l++)
        if (state[l]) m.bend[l] = w->bends[state[l]];
    const lanes turn = lanes_turn(x, v);
    lanes_middle((const lanes(*)[4])v, way);
    for (int c = 0; c < 4; c++) {
        lanes px[3] = { x[0][c], x[1][c], x[2][c] }, pv[3] = { v[0][c], v[1][c], v[2][c] }, s[4];
        for (int k = 0; k < 4; k++) s[k] = lanes_all(0.0f);
        speed[c] = lanes_dot(pv, pv);
        bends[c] = lanes_move(w, &m, c, px, pv, s, &kept, states);
        for (int k = 0; k < 4; k++) at[k][c] = s[k];
        for (int k = 0; k < 3; k++) {
            x[k][c] = px[k];
            v[k][c] = pv[k];
        }
    }
    for (int l = 0; l < LANES && w->medium.cells; l++) {
        float speeds[3][4];
        if ((states[l] & TSR_LIGHT_PARTED) != TSR_LIGHT_PARTED) continue;
        for (int k = 0; k < 12; k++) speeds[k / 4][k % 4] = v[k / 4][k % 4][l];
        states[l] = tsr_light_all_met(states[l], (const float(*)[4])speeds);
    }
    if (w->mirrors) {
        for (uint32_t rest = lanes_bits((marks)(kept < 1.0f)); rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            float own[3] = { power[0][l], power[1][l], power[2][l] };
            tsr_light_keep(w, own, kept[l], sums->mirrored);
            for (int k = 0; k < 3; k++) power[k][l] = own[k];
        }
        for (int k = 0; k < 4; k++) row[k] = lanes_load(from + (TSR_LIGHT_PLAIN_WORDS + k) * list->across);
        lanes_surface(w, (const lanes(*)[4])at, bends, speed, way, power, row, sums->mirrored);
    }
    if (w->medium.dim) {
        lanes_middle((const lanes(*)[4])old, before);
        lanes_middle((const lanes(*)[4])x, after);
        stopped = lanes_fade(w, before, after, power, sums->dimmed);
    }
    const marks plain = lanes_plain(w, (const lanes(*)[4])old, turn, (const lanes(*)[4])x, (const lanes(*)[4])v, power) & ~stopped;
    uint32_t others = lanes_bits(~plain), ends = lanes_bits(stopped);
    int64_t become = LANES - __builtin_popcount(others);
    tsr_light_patch before_step[LANES];
    for (uint32_t rest = others; rest; rest &= rest - 1) tsr_light_get(list, i + __builtin_ctz(rest), &before_step[__builtin_ctz(rest)]);
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 4; c++) {
            lanes_store(from + (4 * k + c) * list->across, x[k][c]);
            lanes_store(from + (12 + 4 * k + c) * list->across, v[k][c]);
        }
        lanes_store(from + (24 + k) * list->across, power[k]);
    }
    if (w->medium.cells) memcpy(from + 27 * list->across, states, sizeof states);
    for (int k = 0; k < 4 && w->mirrors; k++) lanes_store(from + (TSR_LIGHT_PLAIN_WORDS + k) * list->across, row[k]);
    memset(w->fate + i, TSR_LIGHT_KEEP, LANES);
    for (; others; others &= others - 1) {
        const int l = __builtin_ctz(others);
        tsr_light_patch p;
        tsr_light_get(list, i + l, &p);
        const int fate = ends >> l & 1 ? TSR_LIGHT_STOPPED : tsr_light_judge(w, &before_step[l], &p, sums->mirrored, NULL);
        if (fate >= TSR_LIGHT_KEEP) tsr_light_put(list, i + l, &p);
        become += tsr_light_meets(w, &p, i + l, fate, sums);
    }
    return become;
}

/* LANES patches from i on, of which the first `count` stay as they are and go to place `to` of the next list: tsr_light_grow. All words up to LANES are written. */
TSR_INLINE void lanes_keep(const tsr_light_wave *w, int64_t step, int64_t i, int64_t to, int count)
{
    const tsr_light_list *list = &w->list[step & 1], *next = &w->list[(step + 1) & 1];
    const float *from = list->data + i;
    lanes x[3][4], power[3], c[3];
    for (int k = 0; k < list->words; k++) lanes_store(next->data + to + k * next->across, lanes_load(from + k * list->across));
    for (int k = 0; k < 3; k++) {
        for (int q = 0; q < 4; q++) x[k][q] = lanes_load(from + (4 * k + q) * list->across);
        power[k] = lanes_load(from + (24 + k) * list->across);
    }
    lanes_middle((const lanes(*)[4])x, c);
    const marks inside = lanes_inside(&w->medium, c);
    marks at[3];
    for (int k = 0; k < 3; k++) at[k] = marks_min(inside & whole(c[k] + 0.5f), w->medium.size[k] - 1);
    const words shine = (words)(lanes_luminance(power) / lanes_max(lanes_area((const lanes(*)[4])x), lanes_all(w->least_area)));
    const words voxel = (words)((at[2] * w->medium.size[1] + at[1]) * w->medium.size[0] + at[0]);
    uint32_t bits[LANES], voxels[LANES];
    memcpy(bits, &shine, sizeof shine);
    memcpy(voxels, &voxel, sizeof voxel);
    const uint32_t known = lanes_bits(inside);
    for (int l = 0; l < count; l++)
        tsr_light_tell(w, to + l, known >> l & 1 ? tsr_light_key_of(tsr_bits_float(bits[l]), step, to + l) : 0, voxels[l]);
}

#endif
