/* io/byte_order.h: numbers of headers in native order, or in the other one where `swap`, at any address. io/little_endian.h is for files of one order. */
#ifndef TSR_IO_BYTE_ORDER_H
#define TSR_IO_BYTE_ORDER_H

#include <stdint.h>
#include <string.h>

static inline uint16_t tsr_read_u16(const void *p, int swap)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return swap ? (uint16_t)__builtin_bswap16(v) : v;
}
static inline uint32_t tsr_read_u32(const void *p, int swap)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return swap ? __builtin_bswap32(v) : v;
}
static inline int16_t tsr_read_i16(const void *p, int swap) { return (int16_t)tsr_read_u16(p, swap); }
static inline int32_t tsr_read_i32(const void *p, int swap) { return (int32_t)tsr_read_u32(p, swap); }
static inline float tsr_read_f32(const void *p, int swap)
{
    const uint32_t u = tsr_read_u32(p, swap);
    float v;
    memcpy(&v, &u, 4);
    return v;
}
static inline double tsr_read_f64(const void *p, int swap)
{
    uint64_t u;
    double v;
    memcpy(&u, p, 8);
    if (swap) u = __builtin_bswap64(u);
    memcpy(&v, &u, 8);
    return v;
}

static inline void tsr_store_u16(void *p, uint16_t v, int swap)
{
    if (swap) v = (uint16_t)__builtin_bswap16(v);
    memcpy(p, &v, 2);
}
static inline void tsr_store_u32(void *p, uint32_t v, int swap)
{
    if (swap) v = __builtin_bswap32(v);
    memcpy(p, &v, 4);
}
static inline void tsr_store_i32(void *p, int32_t v, int swap) { tsr_store_u32(p, (uint32_t)v, swap); }
static inline void tsr_store_f32(void *p, float v, int swap)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    tsr_store_u32(p, u, swap);
}

#endif
