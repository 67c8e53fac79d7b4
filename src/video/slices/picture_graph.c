/* video/slices/picture_graph.c: when work is recorded, and when not. */
#include "video/slices/picture_graph.h"

void tsr_picture_graph_free(tsr_picture_graph *g)
{
    if (g->graph) g->context->backend->dirac->record->forget(&g->graph);
    *g = (tsr_picture_graph){ .refused = g->refused };
}

/* `refused` where the device does not record it: no work is lost by that, it is done without. */
static void record(tsr_picture_graph *g, tsr_status (*work)(void *user), void *user)
{
    const tsr_dirac_record_ops *ops = g->context->backend->dirac->record;
    tsr_queue *queue = g->context->queue;
    if (ops->begin(queue) != TSR_OK) {
        g->refused = 1;
        return;
    }
    const tsr_status done = work(user), ended = ops->end(queue, &g->graph);
    if (done == TSR_OK && ended == TSR_OK) return;
    ops->forget(&g->graph);
    g->refused = 1;
}

tsr_status tsr_picture_graph_run(tsr_picture_graph *g, tsr_context *context, const int64_t *key, int32_t count, tsr_status (*work)(void *user),
                                 void *user)
{
    const tsr_dirac_record_ops *ops = context->backend->dirac->record;
    if (!ops || g->refused || count > TSR_PICTURE_KEY) return work(user);
    if (g->context != context || memcmp(g->key, key, (size_t)count * sizeof *key) != 0) {
        tsr_picture_graph_free(g);
        g->context = context;
        memcpy(g->key, key, (size_t)count * sizeof *key);
    }
    if (!g->graph && g->calls++) record(g, work, user);
    return g->graph ? ops->replay(context->queue, g->graph) : work(user);
}
