/* Fragments of particles that fly apart, as a rasteriser makes them: at = (place in the 3 x 3 pixels of a particle, particle). Inputs: where the particles were and the
 * normals along which they left (float32, 3 x particles). Each fragment gives its pixel (-1: outside the picture) and its depth above its colour, in 64 bits. */
#include "particles.h"

#include "tessera/map.h"

TSR_MAP_FN float along(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

TSR_MAP(particles, 2, 2, TSR_F32, TSR_F32, TSR_U32, TSR_U64)
{
    const float light[3] = { 0.36f, 0.8f, 0.48f };
    float p[3], normal[3];
    uint32_t chance = (uint32_t)at[1] * 2654435761u; /* every particle has a speed of its own */
    chance = (chance ^ chance >> 15) * 0x85ebca6bu;
    const float kick = data->speed * (0.25f + (float)(chance >> 8 & 1023u) / 1024.0f);
    for (int k = 0; k < 3; k++) {
        normal[k] = TSR_MAP_IN(1, float, 3 * at[1] + k);
        p[k] = TSR_MAP_IN(0, float, 3 * at[1] + k) + normal[k] * kick * data->time;
    }
    p[1] -= 0.5f * data->gravity * data->time * data->time;
    if (p[1] < data->floor) p[1] = data->floor + 0.3f * (data->floor - p[1]);
    const float u = 0.5f * (float)data->width + data->scale * along(data->right, p);
    const float v = 0.5f * (float)data->height - data->scale * along(data->up, p);
    const int64_t x = (int64_t)u + at[0] % 3 - 1, y = (int64_t)v + at[0] / 3 - 1;
    const int seen = u >= 0 && v >= 0 && x >= 0 && y >= 0 && x < data->width && y < data->height;
    const float facing = along(light, normal), depth = 8.0f + along(data->ahead, p);
    const uint32_t bright = (uint32_t)(110.0f + 100.0f * facing);
    TSR_MAP_OUT(0, uint32_t) = seen ? (uint32_t)(y * data->width + x) : 0xffffffffu;
    TSR_MAP_OUT(1, uint64_t) = (uint64_t)(depth * 16777216.0f) << 32 | (bright + 40u) << 16 | bright / 4u << 8 | bright / 3u;
}
