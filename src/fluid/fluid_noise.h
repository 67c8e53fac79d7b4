/* fluid/fluid_noise.h: one octave of gradient noise per particle, which stays with it: a slice of a lattice of its own, chosen by its number.
 *
 * After Perlin, "Improving noise", 2002: the fade 6 t^5 - 15 t^4 + 10 t^3 and gradients of one length, here eight directions of the plane. */
#ifndef TSR_FLUID_NOISE_H
#define TSR_FLUID_NOISE_H

#include "fluid/fluid_view.h"

TSR_HD uint32_t tsr_fluid_hash(uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ (v >> 16);
}

/* Gradient of a lattice point times the way from it. */
TSR_HD float tsr_fluid_gradient(uint32_t seed, int32_t i, int32_t j, float x, float y)
{
    const uint32_t h = ((seed + (uint32_t)i * 0x9e3779b1u) ^ ((uint32_t)j * 0x85ebca6bu)) * 0x7feb352du;
    const uint32_t k = h >> 29; /* eight directions: along the axes 1, else 1 / sqrt 2 each; without a branch, so that loops become vector code */
    const float slanted = (float)(int32_t)(k & 1u), second = (float)(int32_t)(k >> 1 & 1u), both = 0.70710678f * slanted;
    const float a = (1.0f - slanted) * (1.0f - second) + both, b = (1.0f - slanted) * second + both;
    const float ax = tsr_bits_float(tsr_float_bits(x) ^ (k & 4u) << 29), by = tsr_bits_float(tsr_float_bits(y) ^ ((k & 1u ? k >> 1 : k >> 2) & 1u) << 31);
    return a * ax + b * by;
}

TSR_HD float tsr_fluid_fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

/* About [-0.8, 0.8], mean 0. */
TSR_HD float tsr_fluid_perlin(uint32_t seed, float x, float y)
{
    const int32_t i = tsr_floor_int(x), j = tsr_floor_int(y);
    const float fx = x - (float)i, fy = y - (float)j, u = tsr_fluid_fade(fx), v = tsr_fluid_fade(fy);
    const float a = tsr_fluid_gradient(seed, i, j, fx, fy), b = tsr_fluid_gradient(seed, i + 1, j, fx - 1.0f, fy);
    const float c = tsr_fluid_gradient(seed, i, j + 1, fx, fy - 1.0f), d = tsr_fluid_gradient(seed, i + 1, j + 1, fx - 1.0f, fy - 1.0f);
    const float top = a + u * (b - a), bottom = c + u * (d - c);
    return top + v * (bottom - top);
}

/* One to four cells per radius of the sprite. */
TSR_HD float tsr_fluid_frequency(uint32_t hash) { return (float)(1u + (hash >> 30)); }

/* The noise of a particle at (u, v) of its sprite, which lies `deep` of its units behind (or before) the surface; r2 = u^2 + v^2 <= 1 and deep2 = deep^2 <= 12.
 * *bell: what its amplitude is there. `hash` is that of its number. */
TSR_HD float tsr_fluid_noise(uint32_t hash, float frequency, float u, float v, float r2, float deep2, float *bell)
{
    const float fall = tsr_exp2_within(-1.4426950409f * (r2 + deep2));
    *bell = fall * (1.0f - r2 * r2); /* so that no disc shows an edge */
    return tsr_fluid_perlin(hash, u * frequency + 64.5f, v * frequency + 64.5f) * *bell;
}

/* Sums are taken in whole units of 2^-16. */
#define TSR_FLUID_NOISE_UNIT 65536.0f
TSR_HD int32_t tsr_fluid_noise_units(float v)
{
    return tsr_floor_int(v * TSR_FLUID_NOISE_UNIT + 0.5f);
}

#endif
