/* video/dirac/dirac_core.c: lengths are read first, then sub-bands of one orientation are decoded from the coarsest on, the orientations and
 * components side by side: a coefficient's contexts look at the level before of the same orientation alone. */
#include "video/dirac/dirac_core_isa.h"

#include "core/parallel.h"
#include "video/dirac/quantiser.h"

static void decode_chains(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_dirac_core_chains)((tsr_core_bands *)user, begin, end);
}

void tsr_dirac_core_find(const tsr_dirac_transform *transform, tsr_bits *bits, tsr_dirac_coded_band band[3][TSR_DIRAC_LEVELS + 1][4],
                         tsr_dirac_core_damage *damage)
{
    for (int component = 0; component < 3; component++)
        for (int level = 0; level <= transform->depth; level++)
            for (int orientation = level > 0; orientation < tsr_dirac_bands(transform, level); orientation++) {
                tsr_bits_align(bits);
                const int64_t length = bits->at < bits->end ? (int64_t)tsr_bits_uint(bits) : 0;
                if (!length) {
                    damage->cut += tsr_bits_over(bits) || bits->at > bits->end;
                    continue;
                }
                const uint32_t index = tsr_bits_uint(bits);
                tsr_bits_align(bits);
                const int64_t left = bits->end / 8 - bits->at / 8;
                if (left > 0 && index > TSR_QUANTISER_MOST) damage->quantiser++;
                else if (left > 0)
                    band[component][level][orientation] =
                        (tsr_dirac_coded_band){ bits->data + bits->at / 8, length < left ? length : left, (int32_t)index };
                damage->cut += length > left;
                bits->at += 8 * length;
            }
    tsr_bits_align(bits);
}

tsr_status tsr_dirac_core_decode(const tsr_dirac_core *core, tsr_bits *bits, int *fits, tsr_dirac_core_damage *damage)
{
    tsr_core_bands job = { .core = core };
    tsr_dirac_core_find(core->transform, bits, job.band, &job.damage);
    tsr_parallel(core->threads, 12, 1, decode_chains, &job);
    *damage = job.damage;
    *fits = !job.over;
    if (job.failed) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for the marks of a sub-band");
    return TSR_OK;
}
