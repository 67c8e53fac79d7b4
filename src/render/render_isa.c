/* Pixels of a tile of the picture, compiled per SIMD variant. */
#include "device/isa.h"
#include "render/batch_ray.h"
#include "render/packet.h"
#include "render/render_cpu.h"
#define TSR_MAXIMUM tsr_batch_maximum
#define TSR_ACCUMULATE tsr_batch_accumulate
#include "render/write.h"
#include "render/packet_volume.h"

void TSR_ISA_NAME(tsr_draw_tile)(const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                                 float *rgba, float *depth);
void TSR_ISA_NAME(tsr_draw_tile)(const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                                 float *rgba, float *depth)
{
    const int bundle = tsr_bundle_fits(frame), walks = tsr_packet_fits(frame), packets = bundle || walks;
    float u = frame->orthographic ? frame->t_near : 0.0f;
    if (walks) (void)tsr_packet_safe(frame, x0, y0, x1, y1, &u);
    for (int32_t y = y0; y < y1; y += packets ? TSR_PACKET_SIDE : 1) {
        for (int32_t x = x0; x < x1; x += packets ? TSR_PACKET_SIDE : 1) {
            const int32_t columns = tsr_mini(TSR_PACKET_SIDE, x1 - x), rows = tsr_mini(TSR_PACKET_SIDE, y1 - y);
            if (bundle) tsr_bundle_pixels(frame, transfer, x, y, columns, rows, u, rgba, depth);
            else if (packets) tsr_packet_pixels(frame, transfer, x, y, columns, rows, u, rgba, depth);
            else tsr_single_pixel(frame, transfer, x, y, NULL, rgba, depth);
        }
    }
}

/* Ranges and slopes of the bricks (0 .., y, z); returns how many NaN voxels no row after them has. */
int64_t TSR_ISA_NAME(tsr_brick_row)(const tsr_brick_source *s, int32_t by, int32_t bz, float *range, float *slope);
int64_t TSR_ISA_NAME(tsr_brick_row)(const tsr_brick_source *s, int32_t by, int32_t bz, float *range, float *slope)
{
    const int32_t sx = s->size[0], sy = s->size[1], sz = s->size[2];
    const int64_t dy = sx, dz = (int64_t)sx * sy, first = ((int64_t)bz * s->bricks[1] + by) * s->bricks[0];
    int64_t nan = 0;
    float low[TSR_STRIP_COLUMNS], high[TSR_STRIP_COLUMNS], steep[TSR_STRIP_COLUMNS];
    for (int32_t b0 = 0; b0 < s->bricks[0]; b0 += TSR_STRIP_BRICKS) {
        const int32_t x0 = 8 * b0, columns = tsr_mini(TSR_STRIP_COLUMNS, sx - x0),
                      owned = b0 + TSR_STRIP_BRICKS < s->bricks[0] ? columns - 1 : columns;
        for (int32_t i = 0; i < columns; i++) {
            const tsr_range r = tsr_range_empty();
            low[i] = r.low;
            high[i] = r.high;
            steep[i] = r.slope;
        }
        for (int32_t z = 8 * bz; z < sz && z < 8 * bz + 9; z++) {
            for (int32_t y = 8 * by; y < sy && y < 8 * by + 9; y++) {
                const float *v = s->values + (z * dz + y * dy + x0);
                int32_t bad = 0;
                for (int32_t i = 0; i < columns; i++) {
                    const tsr_range r = tsr_range_voxel(s, (tsr_range){ low[i], high[i], 0.0f }, v[i], 0.0f);
                    low[i] = r.low;
                    high[i] = r.high;
                    bad += v[i] != v[i] && i < owned;
                }
                if ((z < 8 * bz + 8 || z == sz - 1) && (y < 8 * by + 8 || y == sy - 1)) nan += bad;
                if (z == 0 || z == sz - 1 || y == 0 || y == sy - 1) continue;
                for (int32_t i = x0 == 0; i < tsr_mini(columns, sx - 1 - x0); i++)
                    steep[i] = tsr_range_join((tsr_range){ 0.0f, 0.0f, steep[i] }, 0.0f, 0.0f, tsr_voxel_steepness(s, v + i, dy, dz)).slope;
            }
        }
        for (int32_t b = b0; b < s->bricks[0] && b < b0 + TSR_STRIP_BRICKS; b++) {
            tsr_range r = tsr_range_empty();
            for (int32_t i = 8 * (b - b0); i < columns && i < 8 * (b - b0) + 9; i++) r = tsr_range_join(r, low[i], high[i], steep[i]);
            const int32_t at[3] = { b, by, bz };
            r = tsr_range_finish(s, at, r);
            range[2 * (first + b)] = r.low;
            range[2 * (first + b) + 1] = r.high;
            slope[first + b] = r.slope;
        }
    }
    return nan;
}
