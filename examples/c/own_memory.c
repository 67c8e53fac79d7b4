/* Memory, threads and cancellation of a program of one's own: a volume around an array that the program owns, an allocator that counts, a context of
 * two threads, and a run that is cancelled half-way. */
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

enum { EDGE = 48 };

/* ---- an allocator: called from any thread, so that the counter is atomic --------------------------------------------------------------------- */

static void *counted_allocate(void *user, size_t bytes, size_t alignment)
{
    __atomic_add_fetch((long long *)user, (long long)bytes, __ATOMIC_RELAXED);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void counted_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

/* ---- progress: called from the thread that made the call; anything but 0 cancels --------------------------------------------------------------- */

static int half_way(void *user, double fraction, const char *stage)
{
    (void)user;
    (void)stage;
    return fraction > 0.5;
}

int main(void)
{
    static float ball[EDGE * EDGE * EDGE]; /* the program's own array, x fastest */
    long long asked = 0;
    tsr_context *context = NULL;
    tsr_volume *volume = NULL, *smooth = NULL;
    tsr_tiles *tiles = NULL;
    tsr_levelset *levelset = NULL;
    int code = 1;

    for (int z = 0; z < EDGE; z++)
        for (int y = 0; y < EDGE; y++)
            for (int x = 0; x < EDGE; x++) {
                const float dx = (float)x - 24, dy = (float)y - 24, dz = (float)z - 24;
                ball[(z * EDGE + y) * EDGE + x] = (dx * dx + dy * dy + dz * dz - 14 * 14) / 28; /* negative inside, slope about 1 at the surface */
            }

    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = "cpu"; /* a wrapped array lies in host memory, so the context must be a CPU */
    options.threads = 2;
    options.host_allocator = (tsr_allocator){ counted_allocate, counted_release, &asked };
    TRY(tsr_context_create(&options, &context));

    /* No copy: the volume KEEPS the array, which must outlive it. With a release function instead of NULL the volume would own it. */
    TRY(tsr_volume_wrap(context, TSR_F32, (tsr_size3){ EDGE, EDGE, EDGE }, NULL, ball, NULL, NULL, &volume));

    /* A volume becomes tiles, a solver moves them, and they become a volume again. */
    TRY(tsr_tiles_create(context, tsr_volume_geometry(volume), NULL, &tiles));
    TRY(tsr_tiles_load(tiles, volume));
    tsr_levelset_options flow = TSR_LEVELSET_OPTIONS;
    flow.terms[0].kind = TSR_LEVELSET_CURVATURE;
    flow.terms[0].value = 1;
    flow.term_count = 1;
    TRY(tsr_levelset_create(tiles, &flow, &levelset));

    const tsr_progress cancel = { half_way, NULL };
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    const tsr_status status = tsr_levelset_step(levelset, 400, &cancel, &report);
    if (status != TSR_ERROR_CANCELLED) TRY(status);
    printf("%s\n", status == TSR_ERROR_CANCELLED ? "cancelled; the surface is that of the last whole step" : "done");

    TRY(tsr_volume_create(context, TSR_F32, tsr_volume_size(volume), NULL, &smooth));
    TRY(tsr_tiles_store(tiles, smooth));
    printf("value in the middle %.2f (minus the half width of the band); some memory went through the program's allocator: %s\n",
           (double)((const float *)tsr_volume_data_const(smooth))[(24 * EDGE + 24) * EDGE + 24], asked > 0 ? "yes" : "no");
    code = 0;
done:
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&smooth);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}
