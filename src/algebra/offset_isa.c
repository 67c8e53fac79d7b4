/* algebra/offset_isa.c, compiled once per SIMD variant: the nearest crossings of eight voxels at once. */
#include "algebra/offset.h"

#include <string.h>

typedef float lanes __attribute__((vector_size(4 * TSR_OFFSET_LANES)));
typedef int32_t masks __attribute__((vector_size(4 * TSR_OFFSET_LANES)));

#define CHOSEN(m, a, b) ((lanes)(((masks)(a) & (m)) | ((masks)(b) & ~(m)))) /* not a function: vectors are passed one way or another by the variant */

void TSR_ISA_NAME(tsr_offset_nearest)(const tsr_offset_surface *s, const int32_t *cells, int32_t count, const float at[3][TSR_OFFSET_LANES],
                                      float square[TSR_OFFSET_LANES], int32_t nearest[TSR_OFFSET_LANES])
{
    lanes x, y, z, best;
    masks which;
    memcpy(&x, at[0], sizeof x);
    memcpy(&y, at[1], sizeof y);
    memcpy(&z, at[2], sizeof z);
    memcpy(&best, square, sizeof best);
    memcpy(&which, nearest, sizeof which);
    for (int32_t c = 0; c < count; c++) {
        const tsr_offset_node *n = &s->node[0][cells[c]];
        float bound[TSR_OFFSET_LANES];
        int32_t nearer = 0;
        for (int l = 0; l < TSR_OFFSET_LANES; l++) bound[l] = tsr_offset_least(n, at[0][l], at[1][l], at[2][l]);
        for (int l = 0; l < TSR_OFFSET_LANES; l++) nearer |= bound[l] < best[l];
        if (!nearer) continue;
        for (int32_t k = n->first; k < n->first + n->count; k++) {
            const lanes dx = x - s->at[0][k], dy = y - s->at[1][k], dz = z - s->at[2][k], d = dx * dx + dy * dy + dz * dz;
            const masks less = d < best;
            which = (less & k) | (~less & which);
            best = CHOSEN(less, d, best);
        }
    }
    memcpy(square, &best, sizeof best);
    memcpy(nearest, &which, sizeof which);
}
