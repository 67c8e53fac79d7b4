/* io/little_endian.h: numbers in little-endian byte order, at any address, on any host. */
#ifndef TSR_IO_LITTLE_ENDIAN_H
#define TSR_IO_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TSR_LE(bits, v) __builtin_bswap##bits(v)
#else
#define TSR_LE(bits, v) (v)
#endif

static inline uint16_t tsr_get_u16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return (uint16_t)TSR_LE(16, v);
}
static inline uint32_t tsr_get_u32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return TSR_LE(32, v);
}
static inline uint64_t tsr_get_u64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return TSR_LE(64, v);
}
static inline int32_t tsr_get_i32(const void *p) { return (int32_t)tsr_get_u32(p); }
static inline int64_t tsr_get_i64(const void *p) { return (int64_t)tsr_get_u64(p); }
static inline float tsr_get_f32(const void *p)
{
    uint32_t u = tsr_get_u32(p);
    float v;
    memcpy(&v, &u, 4);
    return v;
}
static inline double tsr_get_f64(const void *p)
{
    uint64_t u = tsr_get_u64(p);
    double v;
    memcpy(&v, &u, 8);
    return v;
}

static inline void tsr_put_u16(void *p, uint16_t v)
{
    v = (uint16_t)TSR_LE(16, v);
    memcpy(p, &v, 2);
}
static inline void tsr_put_u32(void *p, uint32_t v)
{
    v = TSR_LE(32, v);
    memcpy(p, &v, 4);
}
static inline void tsr_put_u64(void *p, uint64_t v)
{
    v = TSR_LE(64, v);
    memcpy(p, &v, 8);
}
static inline void tsr_put_i32(void *p, int32_t v) { tsr_put_u32(p, (uint32_t)v); }
static inline void tsr_put_f32(void *p, float v)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    tsr_put_u32(p, u);
}
static inline void tsr_put_f64(void *p, double v)
{
    uint64_t u;
    memcpy(&u, &v, 8);
    tsr_put_u64(p, u);
}

#endif
