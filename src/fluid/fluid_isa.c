#include "fluid/fluid_isa.h"

enum { SIDE = TSR_FLUID_TILE, CELLS = SIDE * SIDE };

void TSR_ISA_NAME(tsr_fluid_project_range)(const tsr_fluid_bin_job *job, int32_t begin, int32_t end, tsr_fluid_tally *tally)
{
    for (int32_t i = begin; i < end; i++) {
        int32_t box[4];
        tally->fates[tsr_fluid_bin_particle(job, i, box)]++;
        tally->entries += (uint64_t)((int64_t)(box[2] - box[0]) * (box[3] - box[1]));
        for (int32_t y = box[1]; y < box[3]; y++)
            for (int32_t x = box[0]; x < box[2]; x++) __atomic_fetch_add(&job->counts[y * job->draw.view.tiles[0] + x], 1, __ATOMIC_RELAXED);
    }
}

void TSR_ISA_NAME(tsr_fluid_shape_range)(const tsr_fluid_shape_job *job, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++) tsr_fluid_shape_particle(job, i);
}

/* The rays of a tile, by columns and rows: the squared length of a direction is the sum of a column's and a row's part. */
typedef struct tile_rays {
    float gx[SIDE], gy[SIDE], dx[SIDE], dy[SIDE];
    float a[SIDE][SIDE], inverse[SIDE][SIDE], length[SIDE][SIDE];
} tile_rays;

static void rays_of(const tsr_fluid_cast *d, int32_t x0, int32_t y0, tile_rays *r)
{
    for (int32_t y = 0; y < SIDE; y++)
        for (int32_t x = 0; x < SIDE; x++) {
            const tsr_fluid_ray one = tsr_fluid_ray_of(d, x0 + x, y0 + y);
            r->gx[x] = one.gx;
            r->dx[x] = one.dx;
            r->gy[y] = one.gy;
            r->dy[y] = one.dy;
            r->a[y][x] = one.a;
            r->inverse[y][x] = one.inverse;
            r->length[y][x] = one.length;
        }
}

static inline tsr_fluid_ray ray_at(const tile_rays *r, int32_t x, int32_t y)
{
    const tsr_fluid_ray one = { r->gx[x], r->gy[y], r->dx[x], r->dy[y], r->a[y][x], r->inverse[y][x], r->length[y][x] };
    return one;
}

enum { HALF = SIDE / 2 };

/* Rows of the tile (`grain` 2: of its coarse pixels) that a particle may change; as tsr_fluid_pixels has it, spheres close to the eye have all. */
static inline void rows_of(const tsr_fluid_cast *d, const tsr_fluid_record *p, float reach, int32_t sprite, int32_t y0, int32_t grain, int32_t *first,
                           int32_t *last)
{
    const float slack = 0.5f + 0.0625f, per = grain == 2 ? 0.5f : 1.0f;
    float span[2];
    *first = 0;
    *last = SIDE / grain - 1;
    if (!(sprite || d->view.slope[1] == 0.0f || p->z > 2.0f * reach)) return;
    tsr_fluid_span(&d->view, 1, p->y, p->z, reach, sprite, span);
    *first = tsr_maxi(tsr_ceil_int(tsr_clampf((span[0] - (float)y0) * per - slack, -1.0f, 32.0f)), 0);
    *last = tsr_mini(tsr_floor_int(tsr_clampf((span[1] - (float)y0) * per + (slack - 1.0f), -2.0f, 32.0f)), SIDE / grain - 1);
}

/* The rays of the coarse pixels of a tile, and their sums of thickness. */
typedef struct thin_tile {
    float gx[HALF], gy[HALF], dx[HALF], dy[HALF], a[HALF][HALF], inverse[HALF][HALF], length[HALF][HALF], scene[HALF][HALF];
    uint32_t sum[HALF][HALF];
} thin_tile;

static void thin_begin(const tsr_fluid_splat_job *job, int32_t x0, int32_t y0, thin_tile *t)
{
    for (int32_t y = 0; y < HALF; y++)
        for (int32_t x = 0; x < HALF; x++) {
            const tsr_fluid_ray r = tsr_fluid_thin_ray(&job->draw, x0 / 2 + x, y0 / 2 + y);
            t->gx[x] = r.gx;
            t->dx[x] = r.dx;
            t->gy[y] = r.gy;
            t->dy[y] = r.dy;
            t->a[y][x] = r.a;
            t->inverse[y][x] = r.inverse;
            t->length[y][x] = r.length;
            t->scene[y][x] = tsr_fluid_thin_scene(job, x0 / 2 + x, y0 / 2 + y);
            t->sum[y][x] = 0;
        }
}

static void thin_add(const tsr_fluid_splat_job *job, const tsr_fluid_record *p, int32_t y0, float hx, float hy, thin_tile *t)
{
    float weight;
    const float radius = tsr_fluid_thin_radius(&job->draw, p, &weight), radius2 = radius * radius, scale = weight * job->per_unit;
    int32_t first, last;
    rows_of(&job->draw, p, radius, job->draw.sprite, y0, 2, &first, &last);
    for (int32_t y = first; y <= last; y++) {
        const float oy = p->y - t->gy[y] * hy, dy = t->dy[y];
#pragma omp simd
        for (int32_t x = 0; x < HALF; x++) {
            const tsr_fluid_ray r = { t->gx[x], t->gy[y], t->dx[x], dy, t->a[y][x], t->inverse[y][x], t->length[y][x] };
            float enter, leave;
            const int hit = tsr_fluid_sphere(&r, p->x - r.gx * hx, oy, p->z, radius2, &enter, &leave);
            const float thick = tsr_maxf(tsr_minf(leave, t->scene[y][x]) - enter, 0.0f) * r.length;
            t->sum[y][x] = tsr_fluid_add(t->sum[y][x], tsr_fluid_units(hit ? thick : 0.0f, scale));
        }
    }
}

void TSR_ISA_NAME(tsr_fluid_splat_tile)(const tsr_fluid_splat_job *job, int32_t tile)
{
    const tsr_fluid_cast *d = &job->draw;
    const tsr_fluid_view *v = &d->view;
    const int32_t x0 = tile % v->tiles[0] * SIDE, y0 = tile / v->tiles[0] * SIDE;
    const uint64_t begin = job->starts[tile], end = job->starts[tile + 1];
    float depth[SIDE][SIDE], scene[SIDE][SIDE], before[SIDE][SIDE], farthest[SIDE];
    uint32_t sum[SIDE][SIDE];
    tile_rays rays;
    thin_tile thin;
    for (int32_t y = 0; y < SIDE; y++) {
        farthest[y] = TSR_FLUID_NOTHING;
        for (int32_t x = 0; x < SIDE; x++) {
            const int within = x0 + x < v->width && y0 + y < v->height;
            const int64_t at = tsr_fluid_at(v, x0 + x, y0 + y);
            depth[y][x] = TSR_FLUID_NOTHING;
            sum[y][x] = 0;
            scene[y][x] = job->scene && within ? job->scene[at] : TSR_FLUID_NOTHING;
            before[y][x] = job->before && within ? job->before[at] : 0.0f;
        }
    }
    if (begin < end) rays_of(d, x0, y0, &rays);
    if (job->thin) thin_begin(job, x0, y0, &thin);
    /* Depth alone: first the nearer half of the particles, which hides most of the other half. The order changes no bit. */
    const int32_t parted = job->depth && !job->thickness && !job->forms && end - begin > 24;
    float middle = 0.0f;
    for (uint64_t e = begin; parted && e < end; e++) middle += job->records[job->entries[e]].z;
    middle /= (float)(end - begin > 0 ? end - begin : 1);
    for (int32_t second = 0; second <= parted; second++)
        for (uint64_t e = begin; e < end; e++) {
            const uint32_t number = job->entries[e];
            const tsr_fluid_record p = job->records[number];
            const float *form = job->forms ? job->forms + 6 * (int64_t)number : NULL;
            const float hx = tsr_fluid_width(v, 0, p.z), hy = tsr_fluid_width(v, 1, p.z), radius2 = p.radius * p.radius,
                        weight = p.weight * job->per_unit;
            int32_t first, last;
            if (!(p.radius > 0.0f) || (parted && (p.z < middle) == second)) continue;
            if (form) {
                for (int32_t y = 0; y < SIDE; y++)
                    for (int32_t x = 0; x < SIDE; x++) {
                        const tsr_fluid_ray r = ray_at(&rays, x, y);
                        tsr_fluid_splat_add(job, &r, &p, number, scene[y][x], before[y][x], &depth[y][x], &sum[y][x]);
                    }
                if (job->thin)
                    for (int32_t y = 0; y < HALF; y++)
                        for (int32_t x = 0; x < HALF; x++) {
                            const tsr_fluid_ray r = { thin.gx[x],   thin.gy[y],         thin.dx[x],       thin.dy[y],
                                                      thin.a[y][x], thin.inverse[y][x], thin.length[y][x] };
                            thin.sum[y][x] = tsr_fluid_add(thin.sum[y][x], tsr_fluid_thin_units(job, &r, &p, number, thin.scene[y][x]));
                        }
                continue;
            }
            if (job->thin) thin_add(job, &p, y0, hx, hy, &thin);
            if (!job->depth && !job->thickness) continue;
            rows_of(d, &p, p.radius, d->sprite, y0, 1, &first, &last);
            const float nearest = p.z - 1.0001f * p.radius;
            if (!job->thickness) { /* depth alone: rows that it cannot change are left */
                for (int32_t y = first; y <= last; y++) {
                    if (!(nearest < farthest[y])) continue;
                    const float oy = p.y - rays.gy[y] * hy, dy = rays.dy[y];
                    float most = 0.0f;
#pragma omp simd reduction(max : most)
                    for (int32_t x = 0; x < SIDE; x++) {
                        const tsr_fluid_ray r = { rays.gx[x], rays.gy[y], rays.dx[x], dy, rays.a[y][x], rays.inverse[y][x], 1.0f };
                        float enter, leave;
                        int hit = tsr_fluid_sphere(&r, p.x - r.gx * hx, oy, p.z, radius2, &enter, &leave);
                        hit &= enter > before[y][x];
                        const float now = tsr_minf(depth[y][x], hit ? enter : TSR_FLUID_NOTHING);
                        depth[y][x] = now;
                        most = now > most ? now : most;
                    }
                    farthest[y] = most;
                }
                continue;
            }
            for (int32_t y = first; y <= last; y++) {
                const float oy = p.y - rays.gy[y] * hy, dy = rays.dy[y];
#pragma omp simd
                for (int32_t x = 0; x < SIDE; x++) {
                    const tsr_fluid_ray r = { rays.gx[x], rays.gy[y], rays.dx[x], dy, rays.a[y][x], rays.inverse[y][x], rays.length[y][x] };
                    float enter, leave;
                    int hit = tsr_fluid_sphere(&r, p.x - r.gx * hx, oy, p.z, radius2, &enter, &leave);
                    hit &= enter > before[y][x];
                    const float thick = tsr_maxf(tsr_minf(leave, scene[y][x]) - enter, 0.0f) * r.length;
                    depth[y][x] = tsr_minf(depth[y][x], hit ? enter : TSR_FLUID_NOTHING);
                    sum[y][x] = tsr_fluid_add(sum[y][x], tsr_fluid_units(hit ? thick : 0.0f, weight));
                }
            }
        }
    for (int32_t y = 0; y < SIDE && y0 + y < v->height; y++)
        for (int32_t x = 0; x < SIDE && x0 + x < v->width; x++) {
            const int64_t at = tsr_fluid_at(v, x0 + x, y0 + y);
            if (job->depth) job->depth[at] = depth[y][x];
            if (job->thickness) job->thickness[at] = (float)sum[y][x] * job->unit;
        }
    if (job->thin)
        for (int32_t y = 0; y < HALF && y0 / 2 + y < job->thin_view.height; y++)
            for (int32_t x = 0; x < HALF && x0 / 2 + x < job->thin_view.width; x++)
                job->thin[tsr_fluid_at(&job->thin_view, x0 / 2 + x, y0 / 2 + y)] = (float)thin.sum[y][x] * job->unit;
    if (!job->ends) return;
    /* Longer and longer until no particle begins within the run and ends beyond it. */
    int more = begin < end;
    while (more) {
        more = 0;
        for (uint64_t e = begin; e < end; e++) {
            const tsr_fluid_record p = job->records[job->entries[e]];
            const float *form = job->forms ? job->forms + 6 * (int64_t)job->entries[e] : NULL;
            if (!(p.radius > 0.0f)) continue;
            for (int32_t y = 0; y < SIDE; y++)
                for (int32_t x = 0; x < SIDE; x++) {
                    const tsr_fluid_ray r = ray_at(&rays, x, y);
                    more |= tsr_fluid_lengthen(job, &r, &p, form, before[y][x], &depth[y][x]);
                }
        }
    }
    for (int32_t y = 0; y < SIDE && y0 + y < v->height; y++)
        for (int32_t x = 0; x < SIDE && x0 + x < v->width; x++) {
            const int64_t at = tsr_fluid_at(v, x0 + x, y0 + y);
            job->ends[at] = depth[y][x];
            if (!job->thickness || begin == end) continue;
            const tsr_fluid_ray r = ray_at(&rays, x, y);
            job->thickness[at] = tsr_fluid_run(&r, job->depth[at], depth[y][x], scene[y][x]);
        }
}

void TSR_ISA_NAME(tsr_fluid_enlarge_row)(const tsr_fluid_view *thin, const float *from, const tsr_fluid_view *view, float *to, int32_t y)
{
    for (int32_t x = 0; x < view->width; x++) to[tsr_fluid_at(view, x, y)] = tsr_fluid_enlarged(thin, from, x, y);
}

void TSR_ISA_NAME(tsr_fluid_noise_tile)(const tsr_fluid_noise_job *job, int32_t tile)
{
    const tsr_fluid_cast *d = &job->draw;
    const tsr_fluid_view *v = &d->view;
    const int32_t x0 = tile % v->tiles[0] * SIDE, y0 = tile / v->tiles[0] * SIDE;
    const uint64_t begin = job->starts[tile], end = job->starts[tile + 1];
    float depth[SIDE][SIDE], scene[SIDE][SIDE], farthest[SIDE], gx[SIDE], deepest = -1.0f;
    int32_t noise[SIDE][SIDE], cover[SIDE][SIDE];
    uint32_t spray[SIDE][SIDE];
    for (int32_t y = 0; y < SIDE; y++) {
        farthest[y] = -1.0f;
        for (int32_t x = 0; x < SIDE; x++) {
            const int within = x0 + x < v->width && y0 + y < v->height;
            const int64_t at = tsr_fluid_at(v, x0 + x, y0 + y);
            depth[y][x] = within ? job->depth[at] : TSR_FLUID_NOTHING;
            scene[y][x] = job->scene && within ? job->scene[at] : TSR_FLUID_NOTHING;
            noise[y][x] = 0;
            cover[y][x] = 0;
            spray[y][x] = 0;
            if (depth[y][x] < TSR_FLUID_NOTHING) farthest[y] = tsr_maxf(farthest[y], depth[y][x]);
            gx[x] = tsr_fluid_offset(v, 0, x0 + x);
        }
        deepest = tsr_maxf(deepest, farthest[y]);
    }
    for (uint64_t e = begin; e < end; e++) {
        const uint32_t number = job->entries[e];
        const tsr_fluid_record p = job->records[number];
        const tsr_fluid_sprite s = tsr_fluid_sprite_of(job, number, &p);
        const int noisy = deepest >= 0.0f && tsr_fluid_noisy(job, &s, &p, deepest), wet = job->spray && p.spray > 0.0f;
        const float calm = d->noise_calm;
        int32_t first, last;
        if (!noisy && !wet) continue;
        rows_of(d, &p, p.reach, 1, y0, 1, &first, &last);
        for (int32_t y = first; y <= last; y++) {
            const float gy = tsr_fluid_offset(v, 1, y0 + y);
            if (noisy && farthest[y] >= 0.0f && tsr_fluid_noisy(job, &s, &p, farthest[y])) {
#pragma omp simd
                for (int32_t x = 0; x < SIDE; x++) tsr_fluid_noise_add(&s, &p, calm, gx[x], gy, depth[y][x], &noise[y][x], &cover[y][x]);
            }
            if (!wet) continue;
            for (int32_t x = 0; x < SIDE; x++) tsr_fluid_spray_add(&s, &p, gx[x], gy, depth[y][x], scene[y][x], &spray[y][x]);
        }
    }
    for (int32_t y = 0; y < SIDE && y0 + y < v->height; y++)
        for (int32_t x = 0; x < SIDE && x0 + x < v->width; x++) {
            const int64_t at = tsr_fluid_at(v, x0 + x, y0 + y);
            if (job->noise) {
                job->noise[at] = tsr_fluid_noise_value(noise[y][x]);
                job->foam[at] = tsr_fluid_foam_value(job, noise[y][x], cover[y][x]);
            }
            if (job->spray) job->spray[at] = tsr_fluid_spray_value(spray[y][x]);
        }
}

void TSR_ISA_NAME(tsr_fluid_flow_row)(const tsr_fluid_flow_job *job, const float *from, float *to, int32_t y, int32_t begin, int32_t end)
{
    const int64_t row = tsr_fluid_at(&job->view, 0, y), stride = job->view.stride;
    const float *TSR_RESTRICT z = from + row;
    float *TSR_RESTRICT out = to + row;
    const tsr_fluid_flow_job own = *job;
    if (own.exact) {
        for (int32_t x = begin; x < end; x++) out[x] = tsr_fluid_flow_value(&own, z + x, stride, x, y);
        return;
    }
#pragma omp simd
    for (int32_t x = begin; x < end; x++) {
        const tsr_fluid_slopes d = tsr_fluid_slopes_at(&own.step, z + x, stride);
        out[x] = z[x] + tsr_fluid_flow(&own.step, &d);
    }
}

void TSR_ISA_NAME(tsr_fluid_assemble_row)(const tsr_fluid_flow_job *job, int32_t both, int32_t y)
{
    const tsr_fluid_flow_job own = *job;
    const int64_t row = tsr_fluid_at(&own.view, 0, y), s = own.view.stride;
    const tsr_fluid_step step = own.step;
    const float *TSR_RESTRICT z = own.depth + row;
    float *TSR_RESTRICT out_x = own.levels[0].cx + row, *TSR_RESTRICT out_y = own.levels[0].cy + row, *TSR_RESTRICT out_r = own.levels[0].r + row;
#pragma omp simd
    for (int32_t x = 0; x < own.view.width; x++) tsr_fluid_assemble(&step, z + x, s, both, &out_x[x], &out_y[x], &out_r[x]);
}

enum { LANES = 16, ALL = TSR_FLUID_SOLVE_ALL };

/* LANES systems side by side: r becomes the solution. */
static void solve_lanes(int32_t count, float c[ALL][LANES], float r[ALL][LANES])
{
    float e[LANES] = { 0 }, d[LANES] = { 0 };
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < LANES; k++) {
            tsr_fluid_eliminate(c[i][k], r[i][k], &e[k], &d[k]);
            c[i][k] = e[k];
            r[i][k] = d[k];
        }
    for (int32_t i = count - 2; i >= 0; i--)
        for (int32_t k = 0; k < LANES; k++) r[i][k] = r[i][k] + c[i][k] * r[i + 1][k];
}

void TSR_ISA_NAME(tsr_fluid_solve_rows)(const tsr_fluid_flow_job *job, int32_t x, int32_t y)
{
    const tsr_fluid_view *v = &job->view;
    const int32_t first = tsr_maxi(x - TSR_FLUID_SOLVE_HALO, 0), last = tsr_mini(x + TSR_FLUID_SOLVE_CORE + TSR_FLUID_SOLVE_HALO, v->width);
    const int32_t lanes = tsr_mini(LANES, v->height - y), end = tsr_mini(x + TSR_FLUID_SOLVE_CORE, v->width);
    float c[ALL][LANES], r[ALL][LANES];
    for (int32_t k = 0; k < LANES; k++) {
        const int64_t at = tsr_fluid_at(v, first, y + tsr_mini(k, lanes - 1));
        for (int32_t i = 0; i < last - first; i++) {
            c[i][k] = job->levels[0].cx[at + i];
            r[i][k] = job->levels[0].r[at + i];
        }
    }
    solve_lanes(last - first, c, r);
    for (int32_t k = 0; k < lanes; k++) {
        const int64_t at = tsr_fluid_at(v, 0, y + k);
        for (int32_t i = x; i < end; i++) job->other[at + i] = job->depth[at + i] + r[i - first][k];
    }
}

void TSR_ISA_NAME(tsr_fluid_solve_columns)(const tsr_fluid_flow_job *job, int32_t x, int32_t y)
{
    const tsr_fluid_view *v = &job->view;
    const int32_t first = tsr_maxi(y - TSR_FLUID_SOLVE_HALO, 0), last = tsr_mini(y + TSR_FLUID_SOLVE_CORE + TSR_FLUID_SOLVE_HALO, v->height);
    const int32_t lanes = tsr_mini(LANES, v->width - x), end = tsr_mini(y + TSR_FLUID_SOLVE_CORE, v->height);
    float c[ALL][LANES], r[ALL][LANES];
    for (int32_t i = first; i < last; i++) {
        const int64_t at = tsr_fluid_at(v, x, i);
        const float *w = job->other + at;
        for (int32_t k = 0; k < LANES; k++) { /* columns beyond the picture are padding, of no links */
            c[i - first][k] = job->levels[0].cy[at + k];
            r[i - first][k] = tsr_fluid_second(c[i - first][k], w[k - v->stride], w[k], w[k + v->stride]);
        }
    }
    solve_lanes(last - first, c, r);
    for (int32_t i = y; i < end; i++) {
        const int64_t at = tsr_fluid_at(v, x, i);
        for (int32_t k = 0; k < lanes; k++) job->depth[at + k] = job->other[at + k] + r[i - first][k];
    }
}

void TSR_ISA_NAME(tsr_fluid_relax_row)(const tsr_fluid_level *level, const float *from, float *to, float weight, int32_t y)
{
    const tsr_fluid_level own = *level;
    const int64_t row = tsr_fluid_level_at(&own, 0, y);
    float *TSR_RESTRICT out = to + row;
#pragma omp simd
    for (int32_t x = 0; x < own.width; x++) out[x] = tsr_fluid_relax(&own, from, row + x, weight);
}

void TSR_ISA_NAME(tsr_fluid_filter_row)(const tsr_fluid_filter_job *job, const float *from, float *to, int32_t pass, int32_t y)
{
    for (int32_t x = 0; x < job->view.width; x++) to[tsr_fluid_at(&job->view, x, y)] = tsr_fluid_filter_at(job, from, pass, x, y);
}

void TSR_ISA_NAME(tsr_fluid_grid_fill_row)(const tsr_fluid_grid_job *job, int32_t y)
{
    const tsr_fluid_view *v = &job->view;
    const int64_t row = tsr_fluid_grid_at(job, 0, y, 0);
    memset(job->pixels + row, 0, (size_t)job->wide * TSR_FLUID_GRID_DEEP * sizeof *job->pixels);
    for (int32_t py = y * job->cell; py < tsr_mini((y + 1) * job->cell, v->height); py++)
        for (int32_t px = 0; px < v->width; px++) {
            int32_t z;
            const float place = tsr_fluid_grid_place(job, job->depth[tsr_fluid_at(v, px, py)], &z);
            if (z < 0) continue;
            tsr_fluid_pixels_in *cell = &job->pixels[tsr_fluid_grid_at(job, px / job->cell, y, z)];
            cell->count++;
            cell->place += tsr_fluid_grid_units(place, z);
        }
}

void TSR_ISA_NAME(tsr_fluid_grid_blur_row)(const tsr_fluid_grid_job *job, int32_t axis, int32_t y)
{
    static const tsr_fluid_weighted none[TSR_FLUID_GRID_DEEP];
    for (int32_t x = 0; x < job->wide; x++) {
        const int64_t at = tsr_fluid_grid_at(job, x, y, 0);
        if (axis == 2) {
            for (int32_t z = 0; z < TSR_FLUID_GRID_DEEP; z++) {
                tsr_fluid_weighted v[5];
                for (int32_t k = 0; k < 5; k++) v[k] = tsr_fluid_grid_cell(job->pixels + at, z + k - 2);
                job->blurred[0][at + z] = tsr_fluid_grid_blurred(v);
            }
            continue;
        }
        const float *v[5];
        for (int32_t k = 0; k < 5; k++) {
            const int32_t i = axis ? x : x + k - 2, j = axis ? y + k - 2 : y;
            const int within = i >= 0 && i < job->wide && j >= 0 && j < job->high;
            v[k] = &(within ? job->blurred[axis] + tsr_fluid_grid_at(job, i, j, 0) : none)->weight;
        }
        float *TSR_RESTRICT out = &job->blurred[1 - axis][at].weight;
#pragma omp simd
        for (int32_t k = 0; k < 2 * TSR_FLUID_GRID_DEEP; k++) out[k] = tsr_fluid_grid_five(v[0][k], v[1][k], v[2][k], v[3][k], v[4][k]);
    }
}

void TSR_ISA_NAME(tsr_fluid_grid_slice_row)(const tsr_fluid_grid_job *job, int32_t y)
{
    for (int32_t x = 0; x < job->view.width; x++) job->depth[tsr_fluid_at(&job->view, x, y)] = tsr_fluid_grid_slice(job, job->blurred[0], x, y);
}

void TSR_ISA_NAME(tsr_fluid_blur_row)(const tsr_fluid_blur_job *job, const float *from, float *to, int32_t across, int32_t y)
{
    const int64_t row = tsr_fluid_at(&job->view, 0, y), step = across ? 1 : job->view.stride;
    const float *TSR_RESTRICT depth = job->depth + row, *TSR_RESTRICT in = from + row;
    float *TSR_RESTRICT out = to + row;
    const int32_t width = job->view.width;
#pragma omp simd
    for (int32_t x = 0; x < width; x++) {
        const float own = in[x], there = depth[x];
        const float a = depth[x - step] < TSR_FLUID_NOTHING ? in[x - step] : own, b = depth[x + step] < TSR_FLUID_NOTHING ? in[x + step] : own;
        const float mean = 0.25f * (a + b) + 0.5f * own;
        out[x] = there < TSR_FLUID_NOTHING ? mean : own;
    }
}

void TSR_ISA_NAME(tsr_fluid_normal_row)(const tsr_fluid_normal_job *job, int32_t y)
{
    const tsr_fluid_normal_job own = *job;
    const int64_t row = tsr_fluid_at(&own.view, 0, y);
    const float *TSR_RESTRICT z = own.depth + row;
    float *TSR_RESTRICT to = own.normals + 4 * row;
    if (own.noise) {
        const float *TSR_RESTRICT n = own.noise + row;
#pragma omp simd
        for (int32_t x = 0; x < own.view.width; x++) tsr_fluid_normal_of(&own, z + x, n + x, 1, x, y, to + 4 * x);
        return;
    }
#pragma omp simd
    for (int32_t x = 0; x < own.view.width; x++) tsr_fluid_normal_of(&own, z + x, NULL, 0, x, y, to + 4 * x);
}

void TSR_ISA_NAME(tsr_fluid_backdrop_row)(const tsr_fluid_backdrop_job *job, int32_t y)
{
    for (int32_t x = 0; x < job->view.width; x++) tsr_fluid_backdrop_at(job, x, y);
}

void TSR_ISA_NAME(tsr_fluid_scene_row)(const tsr_fluid_backdrop_job *job, int32_t y)
{
    for (int32_t x = 0; x < job->low.width; x++) tsr_fluid_scene_depth(job, x, y);
}

/* tsr_fluid_byte of many numbers, its parts one after another. */
enum { PIECE = 64 };
static void encode_piece(const float *TSR_RESTRICT from, int32_t count, float exposure, uint8_t *TSR_RESTRICT to)
{
    float value[4 * PIECE], power[4 * PIECE];
#pragma omp simd
    for (int32_t k = 0; k < count; k++) {
        value[k] = tsr_saturatef(tsr_fluid_tone(from[k] * exposure));
        power[k] = tsr_exp2_clamp(TSR_SRGB_POWER * tsr_log2(value[k]));
    }
#pragma omp simd
    for (int32_t k = 0; k < count; k++) power[k] = tsr_exp2_within(power[k]);
#pragma omp simd
    for (int32_t k = 0; k < count; k++) to[k] = tsr_fluid_eight_bits(tsr_srgb_of(value[k], power[k]));
}

void TSR_ISA_NAME(tsr_fluid_encode_range)(const float *color, uint8_t *image, int64_t begin, int64_t end, int32_t channels, float exposure)
{
    uint8_t bytes[4 * PIECE];
    for (int64_t i = begin; i < end; i += PIECE) {
        const int32_t count = (int32_t)tsr_min64(PIECE, end - i);
        encode_piece(color + 4 * i, 4 * count, exposure, bytes);
        for (int32_t k = 0; k < count; k++)
            for (int32_t c = 0; c < channels; c++) image[(i + k) * channels + c] = c == 3 ? 255 : bytes[4 * k + c];
    }
}
