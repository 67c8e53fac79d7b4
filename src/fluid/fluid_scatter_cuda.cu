/* fluid/fluid_scatter_cuda.cu: particles that cover few pixels each. A tile's list is as long as its part of the picture is full, and one block goes along
 * it: at quarter resolution a few blocks have all of the work. Here GROUP threads take the pixels round a particle, and what they find meets in the
 * images: the least depth, and sums of whole numbers, which no order changes. Sums that end at 2^32 - 1 are taken in 64 bits and cut. */
#include "device/kernel.h"
#include "fluid/fluid_scatter.h"

enum { THREADS = 256, GROUP = 16 };

/* A particle of the block, and the pixels round it. */
typedef struct item {
    tsr_fluid_record p;
    int32_t box[4], thin[4]; /* empty: none */
} item;

/* Goes over the pixels of a box, GROUP at a time. */
typedef struct walk {
    int32_t x, y, wide, step_x, step_y;
} walk;
TSR_DEVICE_FN walk walk_begin(const int32_t box[4], int32_t lane)
{
    walk w;
    w.wide = tsr_maxi(box[2] - box[0], 1);
    w.y = box[1] + lane / w.wide;
    w.x = lane % w.wide;
    w.step_y = GROUP / w.wide;
    w.step_x = GROUP % w.wide;
    return w;
}
TSR_DEVICE_FN void walk_on(walk *w)
{
    w->x += w->step_x;
    w->y += w->step_y;
    if (w->x >= w->wide) {
        w->x -= w->wide;
        w->y++;
    }
}

TSR_DEVICE_FN void add_units(uint64_t *sum, uint32_t units)
{
    if (units) atomicAdd((unsigned long long *)(void *)sum, (unsigned long long)units);
}
TSR_DEVICE_FN uint32_t cut_units(uint64_t sum) { return sum > 0xffffffffu ? 0xffffffffu : (uint32_t)sum; }

TSR_DEVICE_FN void no_box(int32_t box[4]) { box[0] = box[1] = box[2] = box[3] = 0; }

TSR_KERNEL(scatter_kernel)(tsr_fluid_splat_job job)
{
    TSR_SHARED(item, items, THREADS);
    const tsr_fluid_view *v = &job.draw.view;
    const int32_t thread = (int32_t)threadIdx.x, i = (int32_t)(blockIdx.x * THREADS) + thread, lane = thread % GROUP, group = thread / GROUP * GROUP;
    item *own = &items[thread];
    int32_t tiles[4];
    no_box(own->box);
    no_box(own->thin);
    if (i < job.draw.count) {
        own->p = job.records[i];
        if (own->p.radius > 0.0f && tsr_fluid_tiles(&job.draw, &own->p, tiles)) {
            float weight;
            if (job.depth || job.thickness) tsr_fluid_pixels(&job.draw, &own->p, own->p.radius, job.draw.sprite, tiles, 1, own->box);
            if (job.thin)
                tsr_fluid_pixels(&job.draw, &own->p, tsr_fluid_thin_radius(&job.draw, &own->p, &weight), job.draw.sprite, tiles, 2, own->thin);
        }
    }
    __syncwarp();
    for (int32_t k = group; k < group + GROUP; k++) {
        const item *t = &items[k];
        for (walk w = walk_begin(t->box, lane); w.y < t->box[3]; walk_on(&w)) {
            const int32_t x = t->box[0] + w.x, y = w.y;
            const int64_t at = tsr_fluid_at(v, x, y);
            const tsr_fluid_ray ray = tsr_fluid_ray_of(&job.draw, x, y);
            float depth = TSR_FLUID_NOTHING;
            uint32_t sum = 0;
            tsr_fluid_splat_add(&job, &ray, &t->p, 0, job.scene ? job.scene[at] : TSR_FLUID_NOTHING, 0.0f, &depth, &sum);
            /* depths are above 0, so their bits have their order */
            if (job.depth && depth < job.depth[at]) atomicMin((int32_t *)(void *)&job.depth[at], (int32_t)tsr_float_bits(depth));
            if (job.thickness) add_units(&job.units[at], sum);
        }
        for (walk w = walk_begin(t->thin, lane); w.y < t->thin[3]; walk_on(&w)) {
            const int32_t x = t->thin[0] + w.x, y = w.y;
            const tsr_fluid_ray ray = tsr_fluid_thin_ray(&job.draw, x, y);
            add_units(&job.units[tsr_fluid_at(&job.thin_view, x, y)],
                      tsr_fluid_thin_units(&job, &ray, &t->p, 0, tsr_fluid_thin_scene(&job, x, y)));
        }
    }
}

TSR_KERNEL(thickness_kernel)(tsr_fluid_view view, const uint64_t *units, float unit, float *thickness)
{
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x >= view.width || y >= view.height) return;
    const int64_t at = tsr_fluid_at(&view, x, y);
    thickness[at] = (float)cut_units(units[at]) * unit;
}

TSR_KERNEL(scatter_noise_kernel)(tsr_fluid_noise_job job)
{
    TSR_SHARED(item, items, THREADS);
    const tsr_fluid_view *v = &job.draw.view;
    const int32_t thread = (int32_t)threadIdx.x, first = (int32_t)(blockIdx.x * THREADS), i = first + thread, lane = thread % GROUP,
                  group = thread / GROUP * GROUP;
    item *own = &items[thread];
    int32_t tiles[4];
    no_box(own->box);
    if (i < job.draw.count) {
        own->p = job.records[i];
        if (own->p.reach > 0.0f && tsr_fluid_tiles(&job.draw, &own->p, tiles)) tsr_fluid_pixels(&job.draw, &own->p, own->p.reach, 1, tiles, 1, own->box);
    }
    __syncwarp();
    for (int32_t k = group; k < group + GROUP; k++) {
        const item *t = &items[k];
        const tsr_fluid_sprite s = tsr_fluid_sprite_of(&job, (uint32_t)(first + k), &t->p);
        for (walk w = walk_begin(t->box, lane); w.y < t->box[3]; walk_on(&w)) {
            const int32_t x = t->box[0] + w.x, y = w.y;
            const int64_t at = tsr_fluid_at(v, x, y);
            const float gx = tsr_fluid_offset(v, 0, x), gy = tsr_fluid_offset(v, 1, y), depth = job.depth[at];
            if (depth < TSR_FLUID_NOTHING && tsr_fluid_noisy(&job, &s, &t->p, depth)) {
                int32_t noise = 0, cover = 0;
                tsr_fluid_noise_add(&s, &t->p, job.draw.noise_calm, gx, gy, depth, &noise, &cover);
                if (noise) atomicAdd((int32_t *)(void *)&job.noise[at], noise);
                if (cover) atomicAdd((int32_t *)(void *)&job.foam[at], cover);
            }
            if (job.spray && t->p.spray > 0.0f) {
                uint32_t spray = 0;
                tsr_fluid_spray_add(&s, &t->p, gx, gy, depth, job.scene ? job.scene[at] : TSR_FLUID_NOTHING, &spray);
                add_units(&job.units[at], spray);
            }
        }
    }
}

/* Whole numbers to what the picture uses, in place. */
TSR_KERNEL(noise_value_kernel)(tsr_fluid_noise_job job)
{
    const tsr_fluid_view *v = &job.draw.view;
    const int32_t x = (int32_t)(blockIdx.x * 32 + threadIdx.x % 32), y = (int32_t)(blockIdx.y * 8 + threadIdx.x / 32);
    if (x >= v->width || y >= v->height) return;
    const int64_t at = tsr_fluid_at(v, x, y);
    if (job.noise) {
        const int32_t noise = (int32_t)tsr_float_bits(job.noise[at]), cover = (int32_t)tsr_float_bits(job.foam[at]);
        job.noise[at] = tsr_fluid_noise_value(noise);
        job.foam[at] = tsr_fluid_foam_value(&job, noise, cover);
    }
    if (job.spray) job.spray[at] = tsr_fluid_spray_value(cut_units(job.units[at]));
}

static dim3 pixels_of(const tsr_fluid_view *v) { return dim3(((uint32_t)v->width + 31) / 32, ((uint32_t)v->height + 7) / 8); }

extern "C" tsr_status tsr_fluid_scatter_splat(tsr_queue *queue, const tsr_fluid_splat_job *job)
{
    TSR_LAUNCH(queue, scatter_kernel, tsr_blocks(job->draw.count, THREADS, INT32_MAX), THREADS, 0, *job);
    if (job->thin) TSR_LAUNCH(queue, thickness_kernel, pixels_of(&job->thin_view), dim3(THREADS), 0, job->thin_view, job->units, job->unit, job->thin);
    else if (job->thickness)
        TSR_LAUNCH(queue, thickness_kernel, pixels_of(&job->draw.view), dim3(THREADS), 0, job->draw.view, job->units, job->unit, job->thickness);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" tsr_status tsr_fluid_scatter_noise(tsr_queue *queue, const tsr_fluid_noise_job *job)
{
    TSR_LAUNCH(queue, scatter_noise_kernel, tsr_blocks(job->draw.count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_LAUNCH(queue, noise_value_kernel, pixels_of(&job->draw.view), dim3(THREADS), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
