/* tests/fuzz/fuzz_hand.h: headers of volume formats made by hand, with numbers in big-endian order. */
#include "fuzz/fuzz_format.h"

static inline void fuzz_put16(uint8_t *p, unsigned v) { p[0] = (uint8_t)(v >> 8), p[1] = (uint8_t)v; }
static inline void fuzz_put32(uint8_t *p, uint32_t v) { fuzz_put16(p, v >> 16), fuzz_put16(p + 2, v & 0xffff); }
