/* mip/mip_isa.c: bricks by tables. A place of 15 bits is two look-ups and one addition of u and v side by side; the brick stops where nothing darker can
 * be seen: values descend, and every so often the least pixel of the brick's box is looked up. */
#include "mip/mip_isa.h"

enum { LOOK = 1024 /* coefficients between looks */, AHEAD = 8 /* runs whose first places are on their way */ };

static uint32_t least_of_row(const uint16_t *p, int32_t n)
{
    uint16_t least = 65535;
    for (int32_t i = 0; i < n; i++) least = p[i] < least ? p[i] : least;
    return least;
}

/* Least pixel within the picture that a brick can touch. */
static uint32_t least_of_box(const tsr_mip_job *job, const tsr_mip_box *b, const uint16_t *scratch, int64_t stride)
{
    const int64_t x0 = tsr_maxl(b->x, 0), y0 = tsr_maxl(b->y, 0), x1 = tsr_minl(b->x + b->width, job->width),
                  y1 = tsr_minl(b->y + b->height, job->height);
    uint32_t least = 65535;
    for (int64_t y = y0; y < y1 && least; y++) {
        const tsr_mip_span *s = job->spans ? &job->span[y - b->y] : NULL;
        const int64_t from = s ? tsr_maxl(x0, b->x + s->low) : x0, to = s ? tsr_minl(x1, b->x + s->high) : x1;
        const uint32_t row = least_of_row(scratch + y * stride + from, (int32_t)(to - from));
        least = row < least ? row : least;
    }
    return least;
}

struct pen {
    const int64_t *xy, *z;
    uint16_t *corner; /* of the box */
    int64_t stride;
    int32_t shift; /* of a pixel */
};

static inline uint16_t *pixel_at(struct pen p, int64_t base, uint32_t place)
{
    const uint64_t uv = (uint64_t)(base + p.xy[place & 1023u] + p.z[place >> 10]);
    return p.corner + (int64_t)(uv >> 32 >> p.shift) * p.stride + ((uint32_t)uv >> p.shift);
}
/* Always a store: whether a pixel grows is a coin's toss to the branch predictor. */
static inline void raise(uint16_t *p, uint16_t value)
{
    const uint16_t old = *p;
    *p = old < value ? value : old;
}

static inline void draw_points_by(struct pen p, int64_t base, const uint16_t *place, uint32_t count, int32_t level, uint16_t value)
{
    for (uint32_t i = 0; i < count; i++) raise(pixel_at(p, base, (uint32_t)place[i] << level), value);
}
static void draw_points(struct pen p, int64_t base, const uint16_t *place, uint32_t count, int32_t level, uint16_t value)
{
    const struct pen fixed = { p.xy, p.z, p.corner, p.stride, 16 }; /* shifts by a constant */
    if (p.shift == 16) draw_points_by(fixed, base, place, count, level, value);
    else draw_points_by(p, base, place, count, level, value);
}
static void draw_rectangles(struct pen p, int64_t base, const uint16_t *place, uint32_t count, int32_t level, const int32_t side[2], uint16_t value)
{
    const int64_t stride = p.stride;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *row = pixel_at(p, base, (uint32_t)place[i] << level);
        for (int32_t y = 0; y < side[1]; y++, row += stride)
            for (int32_t x = 0; x < side[0]; x++) raise(row + x, value);
    }
}
static void draw_voxels(struct pen p, int64_t base, const uint16_t *place, uint32_t count, int32_t level, uint16_t value)
{
    const uint32_t side = 1u << level;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t z = 0; z < side; z++)
            for (uint32_t y = 0; y < side; y++)
                for (uint32_t x = 0; x < side; x++)
                    raise(pixel_at(p, base, ((uint32_t)place[i] << level) + tsr_detail_local((int32_t)x, (int32_t)y, (int32_t)z)), value);
}

void TSR_ISA_NAME(tsr_mip_brick)(const tsr_mip_job *job, const tsr_mip_tables *t, tsr_detail_order order, uint16_t *scratch, int64_t stride)
{
    const tsr_details *d = &job->d;
    const tsr_detail_brick *b = &d->brick[order.brick];
    tsr_mip_box box;
    if (!tsr_mip_box_of(job, order.brick, &box)) return;
    uint32_t least = least_of_box(job, &box, scratch, stride);
    if (tsr_mip_shown(job, order.most) <= least) return;
    const struct pen pen = { t->xy, t->z, scratch + box.y * stride + box.x, stride, 16 + job->shift };
    uint32_t drawn = 0;
    for (uint32_t k = b->run; k < b->run + b->runs; k++) {
        const tsr_detail_run r = d->run[k];
        const int32_t level = r.level;
        if (k + AHEAD < b->run + b->runs && d->to[k + AHEAD] > d->from[k + AHEAD])
            __builtin_prefetch((const uint16_t *)d->place + b->first + d->run[k + AHEAD].first + d->from[k + AHEAD]);
        if (level < job->level_low) return; /* levels descend */
        if (level > job->level_high) continue;
        const uint32_t value = tsr_mip_shown(job, r.value), from = d->from[k], to = d->to[k];
        if (value <= least || from == to) continue;
        const uint16_t *place = (const uint16_t *)d->place + b->first + r.first + from;
        const int64_t base = (int64_t)box.u[level] + (int64_t)box.v[level] * ((int64_t)1 << 32) + t->low;
        const int32_t *side = job->cover[level].side;
        if (level && job->exact) draw_voxels(pen, base, place, to - from, level, (uint16_t)value);
        else if (job->shift || (side[0] == 1 && side[1] == 1)) draw_points(pen, base, place, to - from, level, (uint16_t)value);
        else draw_rectangles(pen, base, place, to - from, level, side, (uint16_t)value);
        drawn += to - from;
        if (drawn < LOOK) continue;
        drawn = 0;
        least = least_of_box(job, &box, scratch, stride);
    }
}

void TSR_ISA_NAME(tsr_mip_merge)(uint32_t *image, const uint16_t *scratch, int64_t n)
{
    for (int64_t i = 0; i < n; i++) image[i] = image[i] > scratch[i] ? image[i] : scratch[i];
}
