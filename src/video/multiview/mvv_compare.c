/* video/multiview/mvv_compare.c: errors of decoded textures, on texels that count. */
#include <math.h>

#include "core/parallel.h"
#include "video/multiview/multiview.h"

typedef struct sums {
    int64_t texels, masks_differ, square[3], square_rgb;
    int32_t largest[3];
} sums;

typedef struct comparing {
    const tsr_multiview_view *a, *b;
    sums *of; /* each texture its own: no order to mind */
} comparing;

static void compare_texture(const comparing *c, int64_t k)
{
    const tsr_multiview_view *v = c->a;
    const int64_t texels = tsr_mvv_texels(v), words = tsr_mvv_words(v->width);
    sums s = { 0 };
    for (int32_t y = 0; y < v->height; y++) {
        const uint64_t *ma = c->a->visible ? c->a->visible + k * tsr_mvv_mask_words(v) + y * words : NULL;
        const uint64_t *mb = c->b->visible ? c->b->visible + k * tsr_mvv_mask_words(v) + y * words : NULL;
        for (int32_t u = 0; u < v->width; u++) {
            const int64_t i = k * texels + (int64_t)y * v->width + u;
            const int in_a = !ma || tsr_mvv_bit(ma, u), in_b = !mb || tsr_mvv_bit(mb, u);
            uint8_t pa[3], pb[3], ra[3], rb[3];
            s.masks_differ += in_a != in_b;
            if (!in_a || !in_b) continue;
            s.texels++;
            int same = 1;
            for (int p = 0; p < 3; p++) {
                pa[p] = c->a->plane[p][i];
                pb[p] = c->b->plane[p][i];
                const int32_t d = pa[p] - pb[p], size = d < 0 ? -d : d;
                s.square[p] += d * d;
                if (size > s.largest[p]) s.largest[p] = size;
                same &= !d;
            }
            if (same) continue;
            tsr_multiview_rgb(pa, ra);
            tsr_multiview_rgb(pb, rb);
            for (int p = 0; p < 3; p++) s.square_rgb += (ra[p] - rb[p]) * (ra[p] - rb[p]);
        }
    }
    c->of[k] = s;
}

static void compare_some(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t k = begin; k < end; k++) compare_texture((const comparing *)user, k);
}

static double psnr(int64_t texels, double mse)
{
    if (!texels) return 0;
    return mse > 0 ? 10 * log10(255.0 * 255.0 / mse) : HUGE_VAL;
}

static void finish(const sums *of, int64_t count, tsr_multiview_difference *d)
{
    sums all = { 0 };
    for (int64_t k = 0; k < count; k++) {
        all.texels += of[k].texels;
        all.masks_differ += of[k].masks_differ;
        all.square_rgb += of[k].square_rgb;
        for (int p = 0; p < 3; p++) {
            all.square[p] += of[k].square[p];
            all.largest[p] = all.largest[p] > of[k].largest[p] ? all.largest[p] : of[k].largest[p];
        }
    }
    d->texels = all.texels;
    d->masks_differ = all.masks_differ;
    for (int p = 0; p < 3; p++) {
        d->mse[p] = all.texels ? (double)all.square[p] / (double)all.texels : 0;
        d->psnr[p] = psnr(all.texels, d->mse[p]);
        d->largest[p] = all.largest[p];
    }
    d->mse_rgb = all.texels ? (double)all.square_rgb / (3.0 * (double)all.texels) : 0;
    d->psnr_rgb = psnr(all.texels, d->mse_rgb);
}

tsr_status tsr_multiview_compare(const tsr_multiview *a, const tsr_multiview *b, tsr_multiview_difference *difference)
{
    TSR_NEEDS(difference);
    tsr_multiview_difference own = TSR_MULTIVIEW_DIFFERENCE;
    TSR_TRY(TSR_STRUCT_BEGUN(difference));
    tsr_mvv_host ha = { 0 }, hb = { 0 };
    void *room = NULL;
    if (!a || !b) TSR_FAIL(TSR_ERROR_ARGUMENT, "two objects are compared, one is missing");
    const tsr_multiview_view *x = &a->view, *y = &b->view;
    if (x->width != y->width || x->height != y->height || x->cameras != y->cameras || x->steps != y->steps)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d steps of %d cameras, %d x %d texels, and %d of %d, %d x %d: expected the same", x->steps, x->cameras,
                 x->width, x->height, y->steps, y->cameras, y->width, y->height);
    const int64_t count = (int64_t)x->steps * x->cameras;
    const size_t bytes = (size_t)count * sizeof(sums);
    tsr_status status = tsr_host_allocate(NULL, bytes, &room);
    if (status == TSR_OK) status = tsr_mvv_host_open(a, TSR_MVV_ALL, &ha);
    if (status == TSR_OK) status = tsr_mvv_host_open(b, TSR_MVV_ALL, &hb);
    if (status == TSR_OK) {
        comparing c = { &ha.view, &hb.view, (sums *)room };
        tsr_parallel(tsr_context_threads(a->context), count, 1, compare_some, &c);
        finish(c.of, count, &own);
        status = TSR_STRUCT_GIVE(difference, &own);
    }
    tsr_mvv_host_close(&ha);
    tsr_mvv_host_close(&hb);
    tsr_host_release(NULL, room, bytes);
    return status;
}
