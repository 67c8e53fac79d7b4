/* fluid/fluid_cuda.cu: one block per tile for what particles do to pixels: a thread holds its pixel in registers and the particles stream through
 * shared memory. Explicit smoothing makes several steps per launch on a tile with its surroundings. */
#include "device/kernel.h"
#include "fluid/fluid_compose.h"
#include "fluid/fluid_scatter.h"

enum { THREADS = 256, WARPS = THREADS / 32, SIDE = TSR_FLUID_TILE, BATCH = 128 };

TSR_KERNEL(project_kernel)(tsr_fluid_bin_job job)
{
    TSR_SHARED(uint32_t, sums, 3 * WARPS);
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x), thread = (int32_t)threadIdx.x;
    int32_t fate = TSR_FLUID_DRAWN, box[4] = { 0, 0, 0, 0 }, pixels[4];
    uint32_t around = 0;
    if (i < job.draw.count) {
        const tsr_fluid_record *p = &job.records[i];
        fate = (int32_t)tsr_fluid_bin_particle(&job, i, box);
        if (box[0] < box[2] && box[1] < box[3])
            around = (uint32_t)tsr_minl(tsr_fluid_pixels(&job.draw, p, p->reach, 0, box, 1, pixels), TSR_FLUID_BOX_MOST);
        if (job.counts)
            for (int32_t y = box[1]; y < box[3]; y++)
                for (int32_t x = box[0]; x < box[2]; x++) atomicAdd(&job.counts[y * job.draw.view.tiles[0] + x], 1u);
    }
    const uint32_t tiles = __reduce_add_sync(TSR_WARP_ALL, (uint32_t)((box[2] - box[0]) * (box[3] - box[1])));
    const uint32_t sum = __reduce_add_sync(TSR_WARP_ALL, around), most = __reduce_max_sync(TSR_WARP_ALL, around);
    if (thread % 32 == 0) {
        sums[thread / 32] = tiles;
        sums[WARPS + thread / 32] = sum;
        sums[2 * WARPS + thread / 32] = most;
    }
    for (int32_t k = 1; k < TSR_FLUID_FATES; k++) {
        const int32_t n = __syncthreads_count(i < job.draw.count && fate == k);
        if (thread == 0 && n) atomicAdd(&job.tally->fates[k], (uint32_t)n);
    }
    if (thread > 0) return;
    unsigned long long entries = 0, all = 0, largest = 0;
    for (int32_t k = 0; k < WARPS; k++) {
        entries += sums[k];
        all += sums[WARPS + k];
        if (sums[2 * WARPS + k] > largest) largest = sums[2 * WARPS + k];
    }
    if (entries == 0) return;
    atomicAdd((unsigned long long *)(void *)&job.tally->entries, entries);
    atomicAdd((unsigned long long *)(void *)&job.tally->pixels, all);
    atomicMax((unsigned long long *)(void *)&job.tally->largest, largest);
}

TSR_KERNEL(count_kernel)(tsr_fluid_bin_job job)
{
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    int32_t box[4];
    if (i >= job.draw.count || !tsr_fluid_tiles_again(&job, i, box)) return;
    for (int32_t y = box[1]; y < box[3]; y++)
        for (int32_t x = box[0]; x < box[2]; x++) atomicAdd(&job.counts[y * job.draw.view.tiles[0] + x], 1u);
}

TSR_KERNEL(fill_kernel)(tsr_fluid_bin_job job)
{
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    int32_t box[4];
    if (i >= job.draw.count || !tsr_fluid_tiles_again(&job, i, box)) return;
    for (int32_t y = box[1]; y < box[3]; y++)
        for (int32_t x = box[0]; x < box[2]; x++) {
            const int32_t tile = y * job.draw.view.tiles[0] + x;
            job.entries[job.starts[tile] + atomicAdd(&job.cursors[tile], 1u)] = (uint32_t)i;
        }
}

TSR_KERNEL(splat_kernel)(tsr_fluid_splat_job job)
{
    TSR_SHARED(tsr_fluid_record, batch, BATCH);
    TSR_SHARED(uint32_t, numbers, BATCH);
    const tsr_fluid_view *v = &job.draw.view;
    const int32_t tile = (int32_t)blockIdx.x, thread = (int32_t)threadIdx.x;
    const int32_t x = tile % v->tiles[0] * SIDE + thread % SIDE, y = tile / v->tiles[0] * SIDE + thread / SIDE;
    const int within = x < v->width && y < v->height;
    const int64_t at = tsr_fluid_at(v, x, y);
    const uint64_t begin = job.starts[tile], end = job.starts[tile + 1];
    const tsr_fluid_ray ray = tsr_fluid_ray_of(&job.draw, x, y);
    const float scene = job.scene && within ? job.scene[at] : TSR_FLUID_NOTHING, before = job.before && within ? job.before[at] : 0.0f;
    /* a coarse pixel of thickness belongs to four threads, each of which takes every fourth particle */
    const int32_t thin_x = tile % v->tiles[0] * (SIDE / 2) + thread / 4 % (SIDE / 2),
                  thin_y = tile / v->tiles[0] * (SIDE / 2) + thread / 4 / (SIDE / 2);
    const tsr_fluid_ray thin_ray = tsr_fluid_thin_ray(&job.draw, thin_x, thin_y);
    const float thin_scene = job.thin ? tsr_fluid_thin_scene(&job, thin_x, thin_y) : TSR_FLUID_NOTHING;
    float depth = TSR_FLUID_NOTHING;
    uint32_t sum = 0, thin = 0;
    for (uint64_t first = begin; first < end; first += BATCH) {
        const int32_t n = (int32_t)tsr_minl((int64_t)(end - first), BATCH);
        __syncthreads();
        if (thread < n) {
            numbers[thread] = job.entries[first + thread];
            batch[thread] = job.records[numbers[thread]];
        }
        __syncthreads();
        for (int32_t k = 0; k < n; k++) tsr_fluid_splat_add(&job, &ray, &batch[k], numbers[k], scene, before, &depth, &sum);
        if (job.thin)
            for (int32_t k = thread % 4; k < n; k += 4)
                if (batch[k].radius > 0.0f) thin = tsr_fluid_add(thin, tsr_fluid_thin_units(&job, &thin_ray, &batch[k], numbers[k], thin_scene));
    }
    if (job.thin) {
        thin = tsr_fluid_add(thin, __shfl_xor_sync(TSR_WARP_ALL, thin, 1));
        thin = tsr_fluid_add(thin, __shfl_xor_sync(TSR_WARP_ALL, thin, 2));
        if (thread % 4 == 0 && thin_x < job.thin_view.width && thin_y < job.thin_view.height)
            job.thin[tsr_fluid_at(&job.thin_view, thin_x, thin_y)] = (float)thin * job.unit;
    }
    if (within) {
        if (job.depth) job.depth[at] = depth;
        if (job.thickness) job.thickness[at] = (float)sum * job.unit;
    }
    if (!job.ends) return;
    const float front = depth;
    int more = begin < end;
    while (__syncthreads_or(more)) {
        more = 0;
        for (uint64_t first = begin; first < end; first += BATCH) {
            const int32_t n = (int32_t)tsr_minl((int64_t)(end - first), BATCH);
            __syncthreads();
            if (thread < n) {
                numbers[thread] = job.entries[first + thread];
                batch[thread] = job.records[numbers[thread]];
            }
            __syncthreads();
            for (int32_t k = 0; k < n; k++)
                if (batch[k].radius > 0.0f)
                    more |= tsr_fluid_lengthen(&job, &ray, &batch[k], job.forms ? job.forms + 6 * (int64_t)numbers[k] : NULL, before, &depth);
        }
    }
    if (!within) return;
    job.ends[at] = depth;
    if (job.thickness) job.thickness[at] = tsr_fluid_run(&ray, front, depth, scene);
}

TSR_KERNEL(enlarge_kernel)(tsr_fluid_view thin, const float *from, tsr_fluid_view view, float *to)
{
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x < view.width && y < view.height) to[tsr_fluid_at(&view, x, y)] = tsr_fluid_enlarged(&thin, from, x, y);
}

TSR_KERNEL(noise_kernel)(tsr_fluid_noise_job job)
{
    TSR_SHARED(tsr_fluid_record, batch, BATCH);
    TSR_SHARED(uint32_t, numbers, BATCH);
    const tsr_fluid_view *v = &job.draw.view;
    const int32_t tile = (int32_t)blockIdx.x, thread = (int32_t)threadIdx.x;
    const int32_t x = tile % v->tiles[0] * SIDE + thread % SIDE, y = tile / v->tiles[0] * SIDE + thread / SIDE;
    const int within = x < v->width && y < v->height;
    const int64_t at = tsr_fluid_at(v, x, y);
    const uint64_t begin = job.starts[tile], end = job.starts[tile + 1];
    const float gx = tsr_fluid_offset(v, 0, x), gy = tsr_fluid_offset(v, 1, y);
    const float depth = within ? job.depth[at] : TSR_FLUID_NOTHING, scene = job.scene && within ? job.scene[at] : TSR_FLUID_NOTHING;
    int32_t noise = 0, cover = 0;
    uint32_t spray = 0;
    for (uint64_t first = begin; first < end; first += BATCH) {
        const int32_t n = (int32_t)tsr_minl((int64_t)(end - first), BATCH);
        __syncthreads();
        if (thread < n) {
            numbers[thread] = job.entries[first + thread];
            batch[thread] = job.records[numbers[thread]];
        }
        __syncthreads();
        for (int32_t k = 0; k < n; k++) {
            const tsr_fluid_record *p = &batch[k];
            const tsr_fluid_sprite s = tsr_fluid_sprite_of(&job, numbers[k], p);
            if (depth < TSR_FLUID_NOTHING && tsr_fluid_noisy(&job, &s, p, depth))
                tsr_fluid_noise_add(&s, p, job.draw.noise_calm, gx, gy, depth, &noise, &cover);
            if (job.spray && p->spray > 0.0f) tsr_fluid_spray_add(&s, p, gx, gy, depth, scene, &spray);
        }
    }
    if (!within) return;
    if (job.noise) {
        job.noise[at] = tsr_fluid_noise_value(noise);
        job.foam[at] = tsr_fluid_foam_value(&job, noise, cover);
    }
    if (job.spray) job.spray[at] = tsr_fluid_spray_value(spray);
}

/* ---- explicit flow: STEPS steps at a time on a tile, whose halo shrinks by one pixel with each -------------------------------------------- */

enum { STEPS = 5, FLOW_WIDE = 64, FLOW_HIGH = 32, WIDE = FLOW_WIDE + 2 * STEPS + 2, HIGH = FLOW_HIGH + 2 * STEPS + 2 };

TSR_KERNEL(flow_kernel)(tsr_fluid_flow_job job, const float *from, float *to, int32_t steps)
{
    TSR_SHARED_DYNAMIC(float, shared);
    float *a = shared, *b = shared + WIDE * HIGH;
    const tsr_fluid_view *v = &job.view;
    const int32_t thread = (int32_t)threadIdx.x, columns = (v->width + FLOW_WIDE - 1) / FLOW_WIDE;
    const int32_t x0 = (int32_t)(blockIdx.x % (uint32_t)columns) * FLOW_WIDE - STEPS - 1,
                  y0 = (int32_t)(blockIdx.x / (uint32_t)columns) * FLOW_HIGH - STEPS - 1;
    for (int32_t k = thread; k < WIDE * HIGH; k += THREADS) {
        const int32_t x = x0 + k % WIDE, y = y0 + k / WIDE;
        const float z = x >= 0 && y >= 0 && x < v->width && y < v->height ? from[tsr_fluid_at(v, x, y)] : TSR_FLUID_NOTHING;
        a[k] = z;
        b[k] = z;
    }
    __syncthreads();
    for (int32_t n = 1; n <= steps; n++) {
        const int32_t wide = WIDE - 2 * n, high = HIGH - 2 * n;
        for (int32_t k = thread; k < wide * high; k += THREADS) {
            const int32_t i = n + k % wide, j = n + k / wide;
            b[j * WIDE + i] = tsr_fluid_flow_value(&job, a + j * WIDE + i, WIDE, x0 + i, y0 + j);
        }
        __syncthreads();
        float *swap = a;
        a = b;
        b = swap;
    }
    for (int32_t k = thread; k < FLOW_WIDE * FLOW_HIGH; k += THREADS) {
        const int32_t i = k % FLOW_WIDE + STEPS + 1, j = k / FLOW_WIDE + STEPS + 1, x = x0 + i, y = y0 + j;
        if (x < v->width && y < v->height) to[tsr_fluid_at(v, x, y)] = a[j * WIDE + i];
    }
}

/* ---- implicit flow -------------------------------------------------------------------------------------------------------------------------- */

enum { LANES = 32, ALL = TSR_FLUID_SOLVE_ALL, PITCH = LANES + 1 };

TSR_KERNEL(assemble_kernel)(tsr_fluid_flow_job job, int32_t both)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (int64_t)job.view.width * job.view.height) return;
    const int64_t at = tsr_fluid_at(&job.view, (int32_t)(i % job.view.width), (int32_t)(i / job.view.width));
    const tsr_fluid_level *l = &job.levels[0];
    tsr_fluid_assemble(&job.step, job.depth + at, job.view.stride, both, &l->cx[at], &l->cy[at], &l->r[at]);
}

/* A window of LANES rows (`down` 0) or columns, all threads load and store, one warp solves. blockIdx.x: window, y: bundle. */
TSR_KERNEL(solve_kernel)(tsr_fluid_flow_job job, int32_t down)
{
    TSR_SHARED_DYNAMIC(float, shared);
    float *c = shared, *r = shared + ALL * PITCH;
    const tsr_fluid_view *v = &job.view;
    const int32_t thread = (int32_t)threadIdx.x, along = down ? v->height : v->width, across = down ? v->width : v->height;
    const int32_t start = (int32_t)blockIdx.x * TSR_FLUID_SOLVE_CORE, bundle = (int32_t)blockIdx.y * LANES;
    const int32_t first = tsr_maxi(start - TSR_FLUID_SOLVE_HALO, 0), last = tsr_mini(start + TSR_FLUID_SOLVE_CORE + TSR_FLUID_SOLVE_HALO, along);
    const int32_t count = last - first, end = tsr_mini(start + TSR_FLUID_SOLVE_CORE, along), lanes = tsr_mini(LANES, across - bundle);
    for (int32_t k = thread; k < count * LANES; k += THREADS) {
        const int32_t i = down ? k / LANES : k % count, lane = down ? k % LANES : k / count;
        float one = 0.0f, two = 0.0f;
        if (lane < lanes) {
            const int64_t at = down ? tsr_fluid_at(v, bundle + lane, first + i) : tsr_fluid_at(v, first + i, bundle + lane);
            if (down) {
                const float *w = job.other + at;
                one = job.levels[0].cy[at];
                two = tsr_fluid_second(one, w[-v->stride], w[0], w[v->stride]);
            } else {
                one = job.levels[0].cx[at];
                two = job.levels[0].r[at];
            }
        }
        c[i * PITCH + lane] = one;
        r[i * PITCH + lane] = two;
    }
    __syncthreads();
    if (thread < LANES) {
        float e = 0.0f, d = 0.0f;
        for (int32_t i = 0; i < count; i++) {
            tsr_fluid_eliminate(c[i * PITCH + thread], r[i * PITCH + thread], &e, &d);
            c[i * PITCH + thread] = e;
            r[i * PITCH + thread] = d;
        }
        float u = d;
        for (int32_t i = count - 2; i >= 0; i--) {
            u = r[i * PITCH + thread] + c[i * PITCH + thread] * u;
            r[i * PITCH + thread] = u;
        }
    }
    __syncthreads();
    for (int32_t k = thread; k < (end - start) * LANES; k += THREADS) {
        const int32_t i = start + (down ? k / LANES : k % (end - start)), lane = down ? k % LANES : k / (end - start);
        if (lane >= lanes) continue;
        const int64_t at = down ? tsr_fluid_at(v, bundle + lane, i) : tsr_fluid_at(v, i, bundle + lane);
        const float step = r[(i - first) * PITCH + lane];
        if (down) job.depth[at] = job.other[at] + step;
        else job.other[at] = job.depth[at] + step;
    }
}

TSR_KERNEL(relax_kernel)(tsr_fluid_level level, const float *from, float *to, float weight)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (int64_t)level.width * level.height) return;
    const int64_t at = tsr_fluid_level_at(&level, (int32_t)(i % level.width), (int32_t)(i / level.width));
    to[at] = tsr_fluid_relax(&level, from, at, weight);
}
TSR_KERNEL(restrict_kernel)(tsr_fluid_level fine, tsr_fluid_level coarse)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (int64_t)coarse.width * coarse.height) tsr_fluid_restrict(&fine, &coarse, (int32_t)(i % coarse.width), (int32_t)(i / coarse.width));
}
TSR_KERNEL(prolong_kernel)(tsr_fluid_level fine, tsr_fluid_level coarse)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (int64_t)fine.width * fine.height) return;
    const int32_t x = (int32_t)(i % fine.width), y = (int32_t)(i / fine.width);
    const int64_t at = tsr_fluid_level_at(&fine, x, y);
    if (fine.cx[at] + fine.cy[at] > 0.0f) fine.u[at] += tsr_fluid_prolong(&coarse, x, y);
}
TSR_KERNEL(correct_kernel)(tsr_fluid_flow_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (int64_t)job.view.width * job.view.height) return;
    const int64_t at = tsr_fluid_at(&job.view, (int32_t)(i % job.view.width), (int32_t)(i / job.view.width));
    job.depth[at] += job.levels[0].u[at];
}

/* ---- images --------------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(filter_kernel)(tsr_fluid_filter_job job, const float *from, float *to, int32_t pass)
{
    const tsr_fluid_view *v = &job.view;
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x < v->width && y < v->height) to[tsr_fluid_at(v, x, y)] = tsr_fluid_filter_at(&job, from, pass, x, y);
}
/* Bilateral grid: pixels to cells, one axis of the blur, cells to pixels. */
TSR_KERNEL(grid_fill_kernel)(tsr_fluid_grid_job job)
{
    const tsr_fluid_view *v = &job.view;
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    int32_t z;
    if (x >= v->width || y >= v->height) return;
    const float place = tsr_fluid_grid_place(&job, job.depth[tsr_fluid_at(v, x, y)], &z);
    if (z < 0) return;
    tsr_fluid_pixels_in *cell = &job.pixels[tsr_fluid_grid_at(&job, x / job.cell, y / job.cell, z)];
    atomicAdd(&cell->count, 1u);
    atomicAdd(&cell->place, tsr_fluid_grid_units(place, z));
}
TSR_KERNEL(grid_blur_kernel)(tsr_fluid_grid_job job, int32_t axis)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (int64_t)job.wide * job.high * TSR_FLUID_GRID_DEEP) return;
    const int32_t z = (int32_t)(i % TSR_FLUID_GRID_DEEP), x = (int32_t)(i / TSR_FLUID_GRID_DEEP % job.wide),
                  y = (int32_t)(i / TSR_FLUID_GRID_DEEP / job.wide);
    const tsr_fluid_weighted none = { 0.0f, 0.0f };
    tsr_fluid_weighted v[5];
    for (int32_t k = 0; k < 5; k++) {
        const int32_t a = axis == 0 ? x + k - 2 : x, b = axis == 1 ? y + k - 2 : y;
        if (axis == 2) v[k] = tsr_fluid_grid_cell(job.pixels + (i - z), z + k - 2);
        else v[k] = a >= 0 && a < job.wide && b >= 0 && b < job.high ? job.blurred[axis][tsr_fluid_grid_at(&job, a, b, z)] : none;
    }
    job.blurred[axis == 0 ? 1 : 0][i] = tsr_fluid_grid_blurred(v);
}
TSR_KERNEL(grid_slice_kernel)(tsr_fluid_grid_job job)
{
    const tsr_fluid_view *v = &job.view;
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x < v->width && y < v->height) job.depth[tsr_fluid_at(v, x, y)] = tsr_fluid_grid_slice(&job, job.blurred[0], x, y);
}
/* Up to BLUR passes at once on a tile, whose halo shrinks by one pixel with each. What lies beyond the picture stays as it is. */
enum { BLUR = 4, BLUR_WIDE = FLOW_WIDE + 2 * BLUR, BLUR_HIGH = FLOW_HIGH + 2 * BLUR };
TSR_KERNEL(blur_kernel)(tsr_fluid_blur_job job, const float *from, float *to, int32_t passes)
{
    TSR_SHARED(float, depth, BLUR_WIDE *BLUR_HIGH);
    TSR_SHARED(float, a, BLUR_WIDE *BLUR_HIGH);
    TSR_SHARED(float, b, BLUR_WIDE *BLUR_HIGH);
    const tsr_fluid_view *v = &job.view;
    const int32_t thread = (int32_t)threadIdx.x, x0 = (int32_t)blockIdx.x * FLOW_WIDE - BLUR, y0 = (int32_t)blockIdx.y * FLOW_HIGH - BLUR;
    for (int32_t k = thread; k < BLUR_WIDE * BLUR_HIGH; k += THREADS) {
        const int64_t at =
            tsr_fluid_at(v, tsr_mini(tsr_maxi(x0 + k % BLUR_WIDE, -1), v->width), tsr_mini(tsr_maxi(y0 + k / BLUR_WIDE, -1), v->height));
        depth[k] = job.depth[at];
        a[k] = from[at];
        b[k] = a[k];
    }
    __syncthreads();
    for (int32_t n = 1; n <= passes; n++)
        for (int32_t down = 0; down < 2; down++) {
            const float *in = down ? b : a;
            float *out = down ? a : b;
            for (int32_t k = thread; k < BLUR_WIDE * BLUR_HIGH; k += THREADS) {
                const int32_t i = k % BLUR_WIDE, j = k / BLUR_WIDE, x = x0 + i, y = y0 + j, edge = n - 1 + down;
                if (i < n || i >= BLUR_WIDE - n || j < edge || j >= BLUR_HIGH - edge || x < 0 || y < 0 || x >= v->width || y >= v->height) continue;
                out[k] = tsr_fluid_blur_at(depth + k, in + k, down ? BLUR_WIDE : 1);
            }
            __syncthreads();
        }
    for (int32_t k = thread; k < FLOW_WIDE * FLOW_HIGH; k += THREADS) {
        const int32_t i = k % FLOW_WIDE + BLUR, j = k / FLOW_WIDE + BLUR, x = x0 + i, y = y0 + j;
        if (x < v->width && y < v->height) to[tsr_fluid_at(v, x, y)] = a[j * BLUR_WIDE + i];
    }
}
TSR_KERNEL(normal_kernel)(tsr_fluid_normal_job job)
{
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x < job.view.width && y < job.view.height) tsr_fluid_normal_at(&job, x, y);
}
TSR_KERNEL(backdrop_kernel)(tsr_fluid_backdrop_job job)
{
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x < job.view.width && y < job.view.height) tsr_fluid_backdrop_at(&job, x, y);
}
TSR_KERNEL(scene_kernel)(tsr_fluid_backdrop_job job)
{
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x < job.low.width && y < job.low.height) tsr_fluid_scene_depth(&job, x, y);
}
TSR_KERNEL(compose_kernel)(tsr_fluid_compose_job job)
{
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x < job.view.width && y < job.view.height) tsr_fluid_compose_at(&job, x, y);
}
TSR_KERNEL(key_kernel)(tsr_fluid_shape_job job)
{
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (i < job.count) tsr_fluid_key_particle(&job, i);
}
TSR_KERNEL(range_kernel)(tsr_fluid_shape_job job)
{
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (i < job.count) tsr_fluid_range_particle(&job, i);
}
TSR_KERNEL(shape_kernel)(tsr_fluid_shape_job job)
{
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (i < job.count) tsr_fluid_shape_particle(&job, i);
}
TSR_KERNEL(heat_kernel)(tsr_fluid_heat_job job)
{
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (i < job.count) tsr_fluid_heat_particle(&job, i);
}
TSR_KERNEL(nothing_kernel)(float *image, int64_t count)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS) image[i] = TSR_FLUID_NOTHING;
}
TSR_KERNEL(encode_kernel)(const float *color, uint8_t *image, int64_t pixels, int32_t channels, float exposure)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels) return;
    for (int32_t c = 0; c < channels; c++) image[i * channels + c] = c == 3 ? 255 : tsr_fluid_byte(color[4 * i + c], exposure);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------------------ */

static dim3 pixels_of(const tsr_fluid_view *v) { return dim3(((uint32_t)v->width + 31) / 32, ((uint32_t)v->height + 7) / 8); }
static uint32_t tiles_of(const tsr_fluid_view *v) { return (uint32_t)v->tiles[0] * (uint32_t)v->tiles[1]; }
static uint32_t blocks_of(const tsr_fluid_view *v) { return tsr_blocks((int64_t)v->width * v->height, THREADS, INT32_MAX); }

static tsr_status cuda_project(tsr_queue *queue, const tsr_fluid_bin_job *job)
{
    TSR_LAUNCH(queue, project_kernel, tsr_blocks(job->draw.count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_count(tsr_queue *queue, const tsr_fluid_bin_job *job)
{
    TSR_LAUNCH(queue, count_kernel, tsr_blocks(job->draw.count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_fill(tsr_queue *queue, const tsr_fluid_bin_job *job)
{
    TSR_LAUNCH(queue, fill_kernel, tsr_blocks(job->draw.count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_splat(tsr_queue *queue, const tsr_fluid_splat_job *job)
{
    if (!job->starts) return tsr_fluid_scatter_splat(queue, job);
    TSR_LAUNCH(queue, splat_kernel, tiles_of(&job->draw.view), SIDE * SIDE, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_enlarge(tsr_queue *queue, const tsr_fluid_view *thin, const float *from, const tsr_fluid_view *view, float *to)
{
    TSR_LAUNCH(queue, enlarge_kernel, pixels_of(view), dim3(THREADS), 0, *thin, from, *view, to);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_noise(tsr_queue *queue, const tsr_fluid_noise_job *job)
{
    if (!job->starts) return tsr_fluid_scatter_noise(queue, job);
    TSR_LAUNCH(queue, noise_kernel, tiles_of(&job->draw.view), SIDE * SIDE, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* The result lies where it began again: a copy where the number of launches is odd. */
static tsr_status back_to_depth(tsr_queue *queue, const tsr_fluid_view *v, const float *from, float *depth);
TSR_KERNEL(copy_kernel)(const float *from, float *to, int64_t count)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS) to[i] = from[i];
}
static tsr_status back_to_depth(tsr_queue *queue, const tsr_fluid_view *v, const float *from, float *depth)
{
    const int64_t count = (int64_t)v->stride * (v->height + 2);
    if (from != depth) TSR_LAUNCH(queue, copy_kernel, tsr_blocks(count, THREADS, 4096), THREADS, 0, from, depth, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_flow(tsr_queue *queue, const tsr_fluid_flow_job *job)
{
    const uint32_t blocks = tsr_blocks(job->view.width, FLOW_WIDE, INT32_MAX) * tsr_blocks(job->view.height, FLOW_HIGH, INT32_MAX);
    const size_t bytes = (size_t)2 * WIDE * HIGH * sizeof(float);
    float *from = job->depth, *to = job->other;
    for (int32_t n = 0; n < job->iterations; n += STEPS) {
        TSR_LAUNCH(queue, flow_kernel, blocks, THREADS, bytes, *job, (const float *)from, to, tsr_mini(STEPS, job->iterations - n));
        float *swap = from;
        from = to;
        to = swap;
    }
    TSR_TRY(back_to_depth(queue, &job->view, from, job->depth));
    return TSR_OK;
}

static tsr_status cuda_implicit(tsr_queue *queue, const tsr_fluid_flow_job *job)
{
    const tsr_fluid_view *v = &job->view;
    const uint32_t wide = tsr_blocks(v->width, TSR_FLUID_SOLVE_CORE, INT32_MAX), high = tsr_blocks(v->height, TSR_FLUID_SOLVE_CORE, INT32_MAX);
    const size_t bytes = (size_t)2 * ALL * PITCH * sizeof(float);
    for (int32_t n = 0; n < job->iterations; n++) {
        TSR_LAUNCH(queue, assemble_kernel, blocks_of(v), THREADS, 0, *job, 0);
        TSR_LAUNCH(queue, solve_kernel, dim3(wide, tsr_blocks(v->height, LANES, INT32_MAX)), dim3(THREADS), bytes, *job, 0);
        TSR_LAUNCH(queue, solve_kernel, dim3(high, tsr_blocks(v->width, LANES, INT32_MAX)), dim3(THREADS), bytes, *job, 1);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static void relax(tsr_queue *queue, const tsr_fluid_level *l, int32_t sweeps)
{
    const uint32_t blocks = tsr_blocks((int64_t)l->width * l->height, THREADS, INT32_MAX);
    for (int32_t k = 0; k < sweeps; k++)
        TSR_LAUNCH(queue, relax_kernel, blocks, THREADS, 0, *l, (const float *)(k % 2 ? l->t : l->u), k % 2 ? l->u : l->t, tsr_fluid_weight(k));
}

static tsr_status cuda_multigrid(tsr_queue *queue, const tsr_fluid_flow_job *job)
{
    const tsr_fluid_level *l = job->levels;
    for (int32_t n = 0; n < job->iterations; n++) {
        TSR_LAUNCH(queue, assemble_kernel, blocks_of(&job->view), THREADS, 0, *job, 1);
        TSR_TRY(tsr_queue_fill(queue, l[0].u, 0, (size_t)l[0].stride * (size_t)(l[0].height + 2) * sizeof(float)));
        for (int32_t k = 0; k < TSR_FLUID_LEVELS; k++) {
            relax(queue, &l[k], k + 1 < TSR_FLUID_LEVELS ? TSR_FLUID_SWEEPS : TSR_FLUID_LAST_SWEEPS);
            if (k + 1 == TSR_FLUID_LEVELS) break;
            TSR_LAUNCH(queue, restrict_kernel, tsr_blocks((int64_t)l[k + 1].width * l[k + 1].height, THREADS, INT32_MAX), THREADS, 0, l[k], l[k + 1]);
        }
        for (int32_t k = TSR_FLUID_LEVELS - 2; k >= 0; k--) {
            TSR_LAUNCH(queue, prolong_kernel, tsr_blocks((int64_t)l[k].width * l[k].height, THREADS, INT32_MAX), THREADS, 0, l[k], l[k + 1]);
            relax(queue, &l[k], TSR_FLUID_SWEEPS);
        }
        TSR_LAUNCH(queue, correct_kernel, blocks_of(&job->view), THREADS, 0, *job);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_filter(tsr_queue *queue, const tsr_fluid_filter_job *job)
{
    int32_t passes[4];
    const int32_t count = tsr_fluid_passes(job->filter.kind, passes);
    float *from = job->depth, *to = job->other;
    for (int32_t n = 0; n < job->iterations * count; n++) {
        TSR_LAUNCH(queue, filter_kernel, pixels_of(&job->view), dim3(THREADS), 0, *job, (const float *)from, to, passes[n % count]);
        float *swap = from;
        from = to;
        to = swap;
    }
    TSR_TRY(back_to_depth(queue, &job->view, from, job->depth));
    return TSR_OK;
}

static tsr_status cuda_grid(tsr_queue *queue, const tsr_fluid_grid_job *job)
{
    const int64_t cells = (int64_t)job->wide * job->high * TSR_FLUID_GRID_DEEP;
    for (int32_t n = 0; n < job->iterations; n++) {
        TSR_TRY(tsr_queue_fill(queue, job->pixels, 0, (size_t)cells * sizeof *job->pixels));
        TSR_LAUNCH(queue, grid_fill_kernel, pixels_of(&job->view), dim3(THREADS), 0, *job);
        for (int32_t k = 0; k < 3; k++) TSR_LAUNCH(queue, grid_blur_kernel, tsr_blocks(cells, THREADS, INT32_MAX), THREADS, 0, *job, (k + 2) % 3);
        TSR_LAUNCH(queue, grid_slice_kernel, pixels_of(&job->view), dim3(THREADS), 0, *job);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_blur(tsr_queue *queue, const tsr_fluid_blur_job *job)
{
    const dim3 blocks(tsr_blocks(job->view.width, FLOW_WIDE, INT32_MAX), tsr_blocks(job->view.height, FLOW_HIGH, INT32_MAX));
    float *from = job->image, *to = job->other;
    for (int32_t n = 0; n < job->passes; n += BLUR) {
        TSR_LAUNCH(queue, blur_kernel, blocks, dim3(THREADS), 0, *job, (const float *)from, to, tsr_mini(BLUR, job->passes - n));
        float *swap = from;
        from = to;
        to = swap;
    }
    TSR_TRY(back_to_depth(queue, &job->view, from, job->image));
    return TSR_OK;
}
static tsr_status cuda_normals(tsr_queue *queue, const tsr_fluid_normal_job *job)
{
    TSR_LAUNCH(queue, normal_kernel, pixels_of(&job->view), dim3(THREADS), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_backdrop(tsr_queue *queue, const tsr_fluid_backdrop_job *job)
{
    TSR_LAUNCH(queue, backdrop_kernel, pixels_of(&job->view), dim3(THREADS), 0, *job);
    if (job->scene) TSR_LAUNCH(queue, scene_kernel, pixels_of(&job->low), dim3(THREADS), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_compose(tsr_queue *queue, const tsr_fluid_compose_job *job)
{
    TSR_LAUNCH(queue, compose_kernel, pixels_of(&job->view), dim3(THREADS), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_keys(tsr_queue *queue, const tsr_fluid_shape_job *job)
{
    TSR_LAUNCH(queue, key_kernel, tsr_blocks(job->count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_shapes(tsr_queue *queue, const tsr_fluid_shape_job *job)
{
    const uint32_t blocks = tsr_blocks(job->count, THREADS, INT32_MAX);
    TSR_LAUNCH(queue, range_kernel, blocks, THREADS, 0, *job);
    TSR_LAUNCH(queue, shape_kernel, blocks, THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_heat(tsr_queue *queue, const tsr_fluid_heat_job *job)
{
    TSR_LAUNCH(queue, heat_kernel, tsr_blocks(job->count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_nothing(tsr_queue *queue, float *image, int64_t count)
{
    TSR_LAUNCH(queue, nothing_kernel, tsr_blocks(count, THREADS, 4096), THREADS, 0, image, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_encode(tsr_queue *queue, const float *color, uint8_t *image, int64_t pixels, int32_t channels, float exposure)
{
    TSR_LAUNCH(queue, encode_kernel, tsr_blocks(pixels, THREADS, INT32_MAX), THREADS, 0, color, image, pixels, channels, exposure);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_fluid_ops tsr_fluid_cuda = { 1,          cuda_project, cuda_count,    cuda_fill,      cuda_splat,  cuda_enlarge,
                                                  cuda_noise, cuda_flow,    cuda_implicit, cuda_multigrid, cuda_filter, cuda_grid,
                                                  cuda_blur,  cuda_normals, cuda_backdrop, cuda_compose,   cuda_keys,   cuda_shapes,
                                                  cuda_heat,  cuda_nothing, cuda_encode };
