/* viewer/shows/mvv_work.c: the thread that reads and codes the textures of the mode mvv. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "mvv_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mvv_work {
    viewer_session *session;
    tsr_context *context;
    mvv_task task;
    mvv_result result;
    tsr_status status;
    double from, to; /* of the whole, the part that is being done */
    pthread_t thread;
    int threaded;
    pthread_mutex_t lock; /* of what is below */
    pthread_cond_t ended;
    double share;
    int done, stop;
};

static int report(void *user, double fraction, const char *phase)
{
    mvv_work *w = (mvv_work *)user;
    pthread_mutex_lock(&w->lock);
    w->share = w->from + (w->to - w->from) * fmax(0, fmin(1, fraction));
    const int stop = w->stop;
    pthread_mutex_unlock(&w->lock);
    return stop || viewer_session_quits(w->session, fraction, phase);
}

static void part(mvv_work *w, double from, double to)
{
    w->from = from;
    w->to = to;
}

/* Some steps of a file; masks are made again from the model. */
static tsr_status read_steps(mvv_work *w, const char *path, int64_t first, int32_t steps, double bits)
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_mask_maker *maker = NULL;
    tsr_status status = tsr_mask_maker_create(w->context, &maker);
    read.first_step = (int32_t)first;
    read.steps = steps;
    read.bpp = bits;
    read.memory_limit = w->task.memory_limit;
    read.rebuild = tsr_mask_maker_rebuild;
    read.user = maker;
    read.progress = (tsr_progress){ report, w };
    if (status == TSR_OK) status = tsr_multiview_read(w->context, path, &read, &w->result.made);
    tsr_mask_maker_destroy(&maker);
    return status;
}

/* Steps coded and decoded again, through a file that is gone at once. */
static tsr_status code_steps(mvv_work *w)
{
    char path[] = "/tmp/tessera-mvv-XXXXXX";
    const mvv_task *t = &w->task;
    tsr_multiview_write_options write = TSR_MULTIVIEW_WRITE_OPTIONS;
    tsr_multiview_report coded = TSR_MULTIVIEW_REPORT;
    tsr_multiview_view v;
    const int file = mkstemp(path);
    if (file < 0) return TSR_ERROR_IO;
    close(file);
    tsr_status status = tsr_multiview_view_of(t->plain, &v);
    write.codec = t->how.codec == 1 ? TSR_MULTIVIEW_SPIHT4D : TSR_MULTIVIEW_DIFF2D;
    write.masks = v.visible ? TSR_MULTIVIEW_MASKS_SENT : TSR_MULTIVIEW_MASKS_NONE;
    write.bpp[0] = t->how.bits;
    write.overwrite = 1;
    write.progress = (tsr_progress){ report, w };
    part(w, 0, 0.8);
    if (status == TSR_OK) status = tsr_multiview_write(t->plain, path, &write, &coded);
    part(w, 0.8, 1);
    if (status == TSR_OK) status = read_steps(w, path, 0, 0, 0);
    unlink(path);
    w->result.ratio = coded.ratio;
    return status;
}

static tsr_status make(mvv_work *w)
{
    const mvv_task *t = &w->task;
    tsr_multiview_difference difference = TSR_MULTIVIEW_DIFFERENCE;
    part(w, 0, 1);
    w->result.how = t->how;
    w->result.ratio = t->ratio;
    tsr_status status = t->how.codec ? code_steps(w) : read_steps(w, t->path, t->how.first, t->how.steps, t->how.bits);
    if (status == TSR_OK && t->plain) status = tsr_multiview_compare(t->plain, w->result.made, &difference);
    if (status == TSR_OK) status = tsr_context_synchronize(w->context);
    w->result.psnr = fmin(difference.psnr[0], 99);
    return status;
}

static void *work(void *user)
{
    mvv_work *w = (mvv_work *)user;
    w->status = make(w);
    if (w->status != TSR_OK) {
        viewer_take_message(w->session, w->result.error, sizeof w->result.error);
        tsr_multiview_destroy(&w->result.made);
    }
    tsr_multiview_destroy(&w->task.plain);
    pthread_mutex_lock(&w->lock);
    w->done = 1;
    pthread_cond_broadcast(&w->ended);
    pthread_mutex_unlock(&w->lock);
    pthread_mutex_lock(&w->session->lock);
    pthread_cond_signal(&w->session->to_solver); /* the mode looks at it */
    pthread_mutex_unlock(&w->session->lock);
    return NULL;
}

tsr_status mvv_work_begin(viewer_show *show, tsr_context *context, const mvv_task *task, mvv_work **made)
{
    mvv_work *w = (mvv_work *)calloc(1, sizeof *w);
    *made = w;
    if (!w) {
        tsr_multiview *plain = task->plain;
        tsr_multiview_destroy(&plain);
        return TSR_ERROR_MEMORY;
    }
    w->session = show->s;
    w->context = context;
    w->task = *task;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    w->threaded = context != show->context && !pthread_create(&w->thread, NULL, work, w);
    if (!w->threaded) work(w);
    return TSR_OK;
}

int mvv_work_done(mvv_work *w)
{
    pthread_mutex_lock(&w->lock);
    const int done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

double mvv_work_share(mvv_work *w)
{
    pthread_mutex_lock(&w->lock);
    const double share = w->share;
    pthread_mutex_unlock(&w->lock);
    return share;
}

void mvv_work_wait(mvv_work *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->done) pthread_cond_wait(&w->ended, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void release(mvv_work **work)
{
    if ((*work)->threaded) pthread_join((*work)->thread, NULL);
    pthread_cond_destroy(&(*work)->ended);
    pthread_mutex_destroy(&(*work)->lock);
    free(*work);
    *work = NULL;
}

tsr_status mvv_work_take(mvv_work **work, mvv_result *result)
{
    mvv_work_wait(*work);
    const tsr_status status = (*work)->status;
    *result = (*work)->result;
    release(work);
    return status;
}

void mvv_work_end(mvv_work **work)
{
    if (!*work) return;
    pthread_mutex_lock(&(*work)->lock);
    (*work)->stop = 1;
    pthread_mutex_unlock(&(*work)->lock);
    mvv_work_wait(*work);
    tsr_multiview_destroy(&(*work)->result.made);
    release(work);
}
