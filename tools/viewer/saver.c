/* viewer/saver.c: a picture of the 3-D window for a file. The painter sets up a drawer with copies of what it shows (an image in host memory is shared),
 * and a thread draws, packs and writes with it while the painter goes on. */
#define _POSIX_C_SOURCE 200809L
#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double saved_pixels = 2048.0 * 2048.0; /* at most: seconds of work on all cores */

struct viewer_saver {
    viewer_drawer drawer;
    viewer_task task;
    char name[VIEWER_NAME_BYTES];
    int replace, done; /* done: under the session's lock */
    pthread_t thread;
};

static int32_t scaled(int32_t n, double scale) { return (int32_t)fmax(8, n * scale + 0.5); }

static void save(viewer_saver *p)
{
    viewer_session *s = p->drawer.s;
    char error[512] = "";
    tsr_image image = { 0 };
    viewer_frame frame = { 0 };
    int32_t width = p->task.look.width, height = p->task.look.height;
    if ((double)width * height > saved_pixels) {
        const double scale = sqrt(saved_pixels / ((double)width * height));
        viewer_session_tell(s, "notice", "%s: drawn with %d x %d pixels instead of %d x %d", p->name, scaled(width, scale), scaled(height, scale),
                            width, height);
        width = scaled(width, scale);
        height = scaled(height, scale);
    }
    const tsr_status status = viewer_draw(&p->drawer, &p->task, VIEWER_VOLUME, width, height, &frame, &image);
    if (status != TSR_OK) snprintf(error, sizeof error, "%s", tsr_error_message());
    else viewer_save_image(s, &image, p->name, p->replace, error, sizeof error);
    tsr_image_destroy(&image);
    if (*error) viewer_session_tell(s, "error", "%s", error);
    else viewer_session_tell(s, "saved", "%s", p->name);
}

static void *main_of_saver(void *saver)
{
    viewer_saver *p = (viewer_saver *)saver;
    viewer_session *s = p->drawer.s;
    save(p);
    pthread_mutex_lock(&s->lock);
    p->done = 1;
    pthread_cond_signal(&s->to_painter);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

viewer_saver *viewer_saver_start(const viewer_drawer *from, const viewer_task *task, const char *name, int replace)
{
    viewer_session *s = from->s;
    viewer_saver *p = (viewer_saver *)calloc(1, sizeof *p);
    if (!p) {
        viewer_session_tell(s, "error", "%s: out of memory", name);
        return NULL;
    }
    p->task = *task;
    p->task.draft = 0;
    if (!p->task.look.width) p->task.look.width = p->task.look.height = 768;
    snprintf(p->name, sizeof p->name, "%s", name);
    p->replace = replace;
    tsr_status status = viewer_drawer_create(s, &p->drawer);
    if (status == TSR_OK) {
        pthread_mutex_lock(&s->lock);
        from->image->references++;
        pthread_mutex_unlock(&s->lock);
        status = viewer_drawer_take_image(&p->drawer, from->image);
    }
    if (status == TSR_OK) status = viewer_drawer_copy_tiles(&p->drawer, from->tiles);
    if (status != TSR_OK) viewer_session_tell(s, "error", "%s: %s", name, tsr_error_message());
    else if (!pthread_create(&p->thread, NULL, main_of_saver, p)) return p;
    else viewer_session_tell(s, "error", "%s: cannot start a thread", name);
    viewer_drawer_clear(&p->drawer);
    free(p);
    return NULL;
}

int viewer_saver_done(const viewer_saver *saver) { return saver->done; }

void viewer_saver_finish(viewer_saver **saver)
{
    viewer_saver *p = *saver;
    *saver = NULL;
    if (!p) return;
    pthread_join(p->thread, NULL);
    viewer_drawer_clear(&p->drawer);
    free(p);
}
