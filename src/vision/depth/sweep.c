/* vision/depth/sweep.c: checks, lenses, stacks of pictures, and what is valid in the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tessera/lens.h"
#include "tessera/views.h"
#include "vision/depth/sweep.h"

void tsr_depth_maps_destroy(tsr_depth_maps *maps)
{
    if (!maps) return;
    tsr_volume **const all[] = { &maps->depth, &maps->valid, &maps->score, &maps->count, &maps->hypothesis, &maps->state, &maps->disparity, &maps->scores };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_volume_destroy(all[i]);
}

/* ---- checks -------------------------------------------------------------------------------------------------------------------- */

static tsr_status in_range(const char *name, double value, double lower, double upper)
{
    if (!(value >= lower && value <= upper)) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: %s is %g, expected %g to %g", name, value, lower, upper);
    return TSR_OK;
}

static tsr_status check_options(tsr_plane_sweep_options *o, int32_t views)
{
    if (views < 2) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: %d views, expected at least 2", views);
    if (views > 4096) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: %d views, expected at most 4096", views);
    TSR_TRY(in_range("method", o->method, TSR_DEPTH_STACK, TSR_DEPTH_VOLUME));
    TSR_TRY(in_range("cost", o->cost, TSR_DEPTH_L2NORM, TSR_DEPTH_ZNCC));
    TSR_TRY(in_range("filter", o->filter, TSR_DEPTH_BOX, TSR_DEPTH_GAUSS));
    TSR_TRY(in_range("upsampling", o->upsampling, TSR_DEPTH_UPSAMPLING_DEFAULT, TSR_DEPTH_BILATERAL));
    TSR_TRY(in_range("median", o->median, TSR_DEPTH_MEDIAN_3, TSR_DEPTH_MEAN_3));
    o->channels = o->channels ? o->channels : 1;
    if (o->channels != 1 && o->channels != 3 && o->channels != 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: channels is %d, expected 1, 3 or 4", o->channels);
    o->window = o->window ? o->window : 5;
    if (o->window != 5 && o->window != 7) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: window is %d, expected 5 or 7", o->window);
    o->ratio = o->ratio ? o->ratio : 3;
    if (o->ratio != 2 && o->ratio != 3) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: ratio is %d, expected 2 or 3", o->ratio);
    o->samples = o->samples ? o->samples : 4;
    o->reach = o->reach ? o->reach : 2;
    o->step = o->step != 0 ? o->step : o->method == TSR_DEPTH_VOLUME ? 1.0 : 0.5;
    if (o->hypotheses == 1 || o->hypotheses < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: hypotheses is %d, expected 2 to 65536, or 0: by step", o->hypotheses);
    TSR_TRY(in_range("levels", o->levels, 0, TSR_PLANES_LEVELS - 1));
    TSR_TRY(in_range("samples", o->samples, 1, 16));
    TSR_TRY(in_range("reach", o->reach, 1, 64));
    TSR_TRY(in_range("step", o->step, 1e-3, 1e6));
    TSR_TRY(in_range("hypotheses", o->hypotheses, 0, 65536));
    TSR_TRY(in_range("contributors", o->contributors, 0, views));
    TSR_TRY(in_range("dark", o->dark, 0, 256));
    TSR_TRY(in_range("texture", o->texture, 0, 256));
    TSR_TRY(in_range("flat", o->flat, -1e30, 1e30));
    TSR_TRY(in_range("uniqueness", o->uniqueness, 0, 1e6));
    TSR_TRY(in_range("consistency", o->consistency, 0, 1e6));
    TSR_TRY(in_range("refinements", o->refinements, 0, 1000));
    TSR_TRY(in_range("shadows", o->shadows, 0, 16));
    TSR_TRY(in_range("shadow_tolerance", o->shadow_tolerance, 0, 1e6));
    if (o->shadow_tolerance == 0) o->shadow_tolerance = 0.02;
    if (!o->contributors) o->contributors = o->raw ? 1 : (int32_t)fmax(2, ceil(0.3 * views));
    if (!o->raw && o->contributors < 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: contributors is 1, expected at least 2 (or raw: a single view agrees with itself)");
    if (o->method == TSR_DEPTH_VOLUME) TSR_TRY(tsr_match_settings("plane sweep", &o->paths, &o->p1, &o->p2));
    if (o->no_levels) o->levels = 0;
    if (o->upsampling == TSR_DEPTH_UPSAMPLING_DEFAULT) o->upsampling = o->method == TSR_DEPTH_MIPMAP ? TSR_DEPTH_BILINEAR : TSR_DEPTH_NEAREST;
    return TSR_OK;
}

static int same_view(const tsr_camera *a, const tsr_camera *b)
{
    return !memcmp(&a->position, &b->position, sizeof a->position) && !memcmp(a->rotation, b->rotation, sizeof a->rotation) && a->projection == b->projection &&
           a->fov == b->fov && a->height == b->height && a->aspect == b->aspect && a->offset[0] == b->offset[0] && a->offset[1] == b->offset[1] &&
           (a->projection != TSR_PROJECTION_MATRIX || !memcmp(a->matrix, b->matrix, sizeof a->matrix));
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------ */

/* Sizes, masks and lenses of the views. */
static tsr_status prepare_views(tsr_planes *s)
{
    const tsr_plane_sweep_options *o = &s->o;
    for (int32_t v = 0; v < s->count; v++) {
        const tsr_depth_view *view = &s->views[v];
        char name[40];
        snprintf(name, sizeof name, "image of view %d", v);
        TSR_TRY(tsr_depth_image(s->context, view->image, o->channels, name, &s->size[v][0], &s->size[v][1]));
        TSR_TRY(tsr_camera_check(&view->camera));
        if (s->size[v][0] < 2 || s->size[v][1] < 2)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: image of view %d has %d x %d pixels, expected at least 2 x 2", v, s->size[v][0], s->size[v][1]);
        if (view->mask) {
            int32_t w, h;
            snprintf(name, sizeof name, "mask of view %d", v);
            TSR_TRY(tsr_depth_image(s->context, view->mask, 1, name, &w, &h));
            if (w != s->size[v][0] || h != s->size[v][1])
                TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: mask of view %d has %d x %d pixels, its image %d x %d, expected the same", v, w, h, s->size[v][0],
                         s->size[v][1]);
            s->masked = 1;
        }
        if (!tsr_lens_distorts(&view->camera.lens)) continue;
        const tsr_lens lens = tsr_camera_lens(&view->camera, s->size[v][0], s->size[v][1]);
        tsr_lens_warp_options warp = TSR_LENS_WARP_OPTIONS;
        warp.channels = o->channels;
        TSR_TRY(tsr_lens_warp(s->context, view->image, &lens, &warp, &s->clean[2 * v], view->mask ? NULL : &s->clean[2 * v + 1]));
        warp.channels = 1;
        warp.sampling = TSR_LENS_NEAREST;
        if (view->mask) TSR_TRY(tsr_lens_warp(s->context, view->mask, &lens, &warp, &s->clean[2 * v + 1], NULL));
        s->masked = 1;
    }
    s->masked = s->masked || o->dark > 0 || o->texture > 0;
    return TSR_OK;
}

static const tsr_volume *image_of(const tsr_planes *s, int32_t v) { return s->clean[2 * v] ? s->clean[2 * v] : s->views[v].image; }
static const tsr_volume *mask_of(const tsr_planes *s, int32_t v) { return s->clean[2 * v + 1] ? s->clean[2 * v + 1] : s->views[v].mask; }

/* Of the Gaussian with the variance of a box of 3^k pixels: Young and van Vliet's coefficients. */
static void gauss_of(int32_t k, tsr_planes_gauss_job *job)
{
    const double sigma = sqrt((pow(9, k) - 1) / 12), q = sigma >= 2.5 ? 0.98711 * sigma - 0.96330 : 3.97156 - 4.14554 * sqrt(1 - 0.26891 * sigma);
    const double b0 = 1.57825 + 2.44413 * q + 1.4281 * q * q + 0.422205 * q * q * q, b1 = 2.44413 * q + 2.85619 * q * q + 1.26661 * q * q * q;
    const double b2 = -(1.4281 * q * q + 1.26661 * q * q * q), b3 = 0.422205 * q * q * q;
    job->before[0] = (float)(b1 / b0);
    job->before[1] = (float)(b2 / b0);
    job->before[2] = (float)(b3 / b0);
    job->gain = (float)(1 - (b1 + b2 + b3) / b0);
}

/* Which stack level serves a level of the grids: the box nearest to the spacing. */
static int32_t stack_of(const tsr_planes *s, int32_t level)
{
    return s->o.method == TSR_DEPTH_STACK && s->o.ratio == 2 ? (int32_t)floor(level * 0.6309297535714574 + 0.5) : level;
}

/* The stack of one view into its levels' texels. */
static tsr_status make_stack(tsr_planes *s, int32_t v, float *const *texels, int32_t depth, int32_t margin, uint32_t *const sums[3])
{
    const tsr_planes_ops *step = tsr_planes_steps(s);
    tsr_queue *queue = s->context->queue;
    const tsr_volume *mask = mask_of(s, v);
    const int32_t w = s->size[v][0], h = s->size[v][1];
    const int64_t pixels = (int64_t)w * h, wide = w + 2 * margin, high = h + 2 * margin;
    const tsr_planes_load_job load = { .width = w, .height = h, .margin = margin, .channels = s->o.channels, .image = (const uint8_t *)image_of(s, v)->data,
                                      .mask = mask ? (const uint8_t *)mask->data : NULL, .dark = (float)s->o.dark, .flat = (float)s->o.texture, .sums = sums[0] };
    if (margin) TSR_TRY(s->context->backend->fill(queue, sums[0], 0, (size_t)(wide * high) * 16));
    TSR_TRY(step->load(queue, &load, pixels));
    const tsr_planes_mean_job first = { .width = w, .margin = margin, .from = sums[0], .to = texels[0], .plain = 1 };
    TSR_TRY(step->mean(queue, &first, pixels));
    int32_t reach = 1, lw = w, lh = h;
    for (int32_t k = 1; k <= depth; k++) {
        if (s->o.method == TSR_DEPTH_MIPMAP) {
            const tsr_planes_halve_job halve = { .width = lw, .height = lh, .half_width = (lw + 1) / 2, .from = texels[k - 1], .to = texels[k] };
            lw = (lw + 1) / 2;
            lh = (lh + 1) / 2;
            TSR_TRY(step->halve(queue, &halve, (int64_t)lw * lh));
        } else if (s->o.filter == TSR_DEPTH_GAUSS) {
            tsr_planes_gauss_job gauss = { .width = w, .height = h, .data = texels[k] };
            const tsr_planes_mean_job plain = { .width = w, .margin = margin, .from = sums[0], .to = texels[k], .plain = 1 };
            const tsr_planes_even_job even = { .data = texels[k] };
            gauss_of(k, &gauss);
            TSR_TRY(step->mean(queue, &plain, pixels));
            TSR_TRY(step->gauss(queue, &gauss, 4 * (int64_t)h));
            gauss.along_y = 1;
            TSR_TRY(step->gauss(queue, &gauss, 4 * (int64_t)w));
            TSR_TRY(step->even(queue, &even, pixels));
        } else {
            tsr_planes_box_job box = { .width = (int32_t)wide, .height = (int32_t)high, .reach = reach, .from = sums[k == 1 ? 0 : 2], .to = sums[1] };
            TSR_TRY(step->box(queue, &box, 4 * wide * high));
            box.along_y = 1;
            box.from = sums[1];
            box.to = sums[2];
            TSR_TRY(step->box(queue, &box, 4 * wide * high));
            const tsr_planes_mean_job mean = { .width = w, .margin = margin, .from = sums[2], .to = texels[k] };
            TSR_TRY(step->mean(queue, &mean, pixels));
            reach *= 3;
        }
    }
    return TSR_OK;
}

static tsr_status send_table(tsr_planes *s)
{
    const size_t bytes = sizeof *s->table * (size_t)s->count * (size_t)(s->levels + 1);
    if (!s->device_table) TSR_TRY(tsr_depth_take(&s->memory, bytes, &s->device_table));
    TSR_TRY(s->context->backend->upload(s->context->queue, s->device_table, s->table, bytes));
    TSR_TRY(s->context->backend->synchronize(s->context->queue));
    return TSR_OK;
}

/* Stacks of all views and the tables of the levels that point into them. */
static tsr_status make_stacks(tsr_planes *s)
{
    const int32_t depth = s->o.method == TSR_DEPTH_VOLUME ? 0 : stack_of(s, s->levels);
    const int32_t margin = s->o.method == TSR_DEPTH_STACK && s->o.filter == TSR_DEPTH_BOX && depth ? ((int32_t)pow(3, depth) - 1) / 2 : 0;
    int64_t total = 0, most = 0;
    float *all, **texels;
    uint32_t *sums[3];
    tsr_status status = TSR_OK;
    for (int32_t v = 0; v < s->count; v++) {
        int64_t w = s->size[v][0], h = s->size[v][1];
        most = tsr_max64(most, (w + 2 * margin) * (h + 2 * margin));
        for (int32_t k = 0; k <= depth; k++) {
            total += w * h * 4;
            if (s->o.method == TSR_DEPTH_MIPMAP) w = (w + 1) / 2, h = (h + 1) / 2;
        }
    }
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)total * 4, &all));
    for (int k = 0; k < 3; k++) TSR_TRY(tsr_depth_take(&s->memory, (size_t)most * 16, &sums[k]));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(depth + 1) * sizeof *texels, (void **)&texels));
    for (int32_t v = 0; v < s->count; v++) {
        int32_t w = s->size[v][0], h = s->size[v][1];
        for (int32_t k = 0; k <= depth; k++) {
            texels[k] = all;
            all += (int64_t)w * h * 4;
            for (int32_t l = 0; l <= s->levels; l++) {
                if (stack_of(s, l) != k) continue;
                tsr_planes_view_level *t = &s->table[(int64_t)l * s->count + v];
                *t = (tsr_planes_view_level){ .texels = texels[k], .width = w, .height = h, .masked = s->masked };
                /* Halved pictures: texel u of level k is place (u + 1/2) 2^k - 1/2 of the first. */
                const double scale = s->o.method == TSR_DEPTH_MIPMAP ? ldexp(1, -k) : 1;
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 4; c++)
                        t->row[r][c] = (float)(r == 2 ? s->row[v][2][c] : s->row[v][r][c] * scale + (0.5 * scale - 0.5) * s->row[v][2][c]);
            }
            if (s->o.method == TSR_DEPTH_MIPMAP) w = (w + 1) / 2, h = (h + 1) / 2;
        }
        TSR_TRY_GOTO(make_stack(s, v, texels, depth, margin, sums), done);
    }
    TSR_TRY_GOTO(send_table(s), done);
    for (int k = 0; k < 3; k++) tsr_depth_drop(&s->memory, sums[k]);
done:
    tsr_host_release(NULL, texels, (size_t)(depth + 1) * sizeof *texels);
    return status;
}

/* The standard deviation of the noise of the first view: 1.4826 times the median of |4 middle - neighbours| / sqrt(20). */
static tsr_status noise_of(tsr_planes *s, double *sigma)
{
    const int32_t w = s->size[0][0], h = s->size[0][1], c = s->o.channels;
    int64_t histogram[2041] = { 0 }, count = 0, sum = 0;
    tsr_volume *host;
    TSR_TRY(tsr_volume_copy(image_of(s, 0), NULL, &host));
    const uint8_t *p = (const uint8_t *)host->data;
    for (int32_t y = 1; y < h - 1; y++)
        for (int32_t x = 1; x < w - 1; x++, count++) {
            const uint8_t *q = p + ((int64_t)y * w + x) * c;
            const int64_t row = (int64_t)w * c;
            histogram[abs(4 * q[0] - q[-c] - q[c] - q[-row] - q[row])]++;
        }
    tsr_volume_destroy(&host);
    int32_t k = 0;
    while (k < 2040 && (sum += histogram[k]) * 2 < count) k++;
    *sigma = 1.4826 * k / sqrt(20);
    return TSR_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------------- */

static tsr_status create_maps(tsr_planes *s, tsr_depth_maps *maps)
{
    const tsr_size3 size = { s->o.width, s->o.height, 1 };
    TSR_TRY(tsr_volume_create(s->context, TSR_F32, size, NULL, &maps->depth));
    TSR_TRY(tsr_volume_create(s->context, TSR_U8, size, NULL, &maps->valid));
    TSR_TRY(tsr_volume_create(s->context, TSR_F32, size, NULL, &maps->score));
    TSR_TRY(tsr_volume_create(s->context, TSR_U8, size, NULL, &maps->count));
    TSR_TRY(tsr_volume_create(s->context, TSR_F32, size, NULL, &maps->hypothesis));
    TSR_TRY(tsr_volume_create(s->context, TSR_U8, size, NULL, &maps->state));
    if (s->o.disparity) TSR_TRY(tsr_volume_create(s->context, TSR_F32, size, NULL, &maps->disparity));
    return TSR_OK;
}

/* Depths and disparities of what is valid. */
static tsr_status finish(tsr_planes *s, tsr_depth_maps *maps)
{
    const int64_t pixels = (int64_t)s->o.width * s->o.height;
    tsr_planes_depth_job job = { .width = s->o.width, .height = s->o.height, .scale = { 1.0f, 1.0f }, .t = (const float *)maps->hypothesis->data,
                                .valid = (const uint8_t *)maps->valid->data, .depth = (float *)maps->depth->data };
    for (int k = 0; k < 4; k++) {
        job.numerator[k] = (float)s->frame.numerator[k];
        job.denominator[k] = (float)s->frame.denominator[k];
    }
    TSR_TRY(tsr_planes_steps(s)->depth(s->context->queue, &job, pixels));
    if (!maps->disparity) return TSR_OK;
    job.view = s->device_table;
    job.depth = (float *)maps->disparity->data;
    TSR_TRY(tsr_planes_steps(s)->depth(s->context->queue, &job, pixels));
    return TSR_OK;
}

/* What the surface found before hides from each view: its depth map as the view sees it. The depth camera itself sees all of it. */
static tsr_status cast_shadows(tsr_planes *s, const tsr_camera *camera, const tsr_depth_maps *maps)
{
    tsr_projector surface = { .camera = *camera, .depth = maps->depth };
    tsr_project_options how = TSR_PROJECT_OPTIONS;
    surface.camera.lens = (tsr_lens){ 0 };
    how.connect = TSR_CONNECT_THRESHOLD;
    for (int32_t v = 0; v < s->count; v++) {
        tsr_camera view = s->views[v].camera;
        const int32_t w = s->size[v][0], h = s->size[v][1];
        const size_t bytes = (size_t)w * (size_t)h * sizeof(float);
        tsr_novel *seen = NULL;
        float *host = NULL;
        tsr_status status;
        if (v == s->reference || view.projection != TSR_PERSPECTIVE) continue;
        view.lens = (tsr_lens){ 0 };
        view.clip[0] = view.clip[1] = 0;
        if (!s->shadow[v]) TSR_TRY(tsr_depth_take(&s->memory, bytes, &s->shadow[v]));
        TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&host));
        TSR_TRY_GOTO(tsr_novel_create(s->context, w, h, &seen), next);
        TSR_TRY_GOTO(tsr_novel_project(seen, &view, &surface, &how), next);
        TSR_TRY_GOTO(tsr_novel_download(seen, host, NULL), next);
        TSR_TRY_GOTO(s->context->backend->upload(s->context->queue, s->shadow[v], host, bytes), next);
        TSR_TRY_GOTO(s->context->backend->synchronize(s->context->queue), next);
        for (int32_t l = 0; l <= s->levels; l++) {
            tsr_planes_view_level *t = &s->table[(int64_t)l * s->count + v];
            t->shadow = s->shadow[v];
            t->shadow_width = w;
            t->shadow_height = h;
            t->shadow_scale = s->o.method == TSR_DEPTH_MIPMAP ? ldexpf(1, stack_of(s, l)) : 1;
            t->shadow_slack = (float)(1 + s->o.shadow_tolerance);
            for (int c = 0; c < 4; c++) t->world[c] = (float)s->frame.to_world[4 * c + 3];
        }
    next:
        tsr_novel_destroy(&seen);
        tsr_host_release(NULL, host, bytes);
        TSR_TRY(status);
    }
    TSR_TRY(send_table(s));
    return TSR_OK;
}

static tsr_status search(tsr_planes *s, tsr_depth_maps *maps)
{
    tsr_volume_destroy(&maps->scores);
    TSR_TRY(s->o.method == TSR_DEPTH_VOLUME ? tsr_planes_volume(s, maps) : tsr_planes_levels(s, maps));
    TSR_TRY(finish(s, maps));
    return TSR_OK;
}

static tsr_status run(tsr_planes *s, const tsr_camera *camera, tsr_depth_maps *maps)
{
    const tsr_plane_sweep_options *o = &s->o;
    TSR_TRY(prepare_views(s));
    if (!s->o.width) s->o.width = s->size[0][0];
    if (!s->o.height) s->o.height = s->size[0][1];
    if (o->width < 1 || o->height < 1 || o->width > 32768 || o->height > 32768)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: depth map of %d x %d pixels, expected 1 x 1 to 32768 x 32768", o->width, o->height);
    TSR_TRY(tsr_planes_frame_make(camera, o, &s->frame));
    s->reference = -1;
    for (int32_t v = 0; v < s->count; v++) {
        TSR_TRY(tsr_planes_frame_rows(&s->frame, &s->views[v].camera, s->size[v][0], s->size[v][1], s->row[v]));
        if (s->reference < 0 && same_view(camera, &s->views[v].camera) && s->size[v][0] == o->width && s->size[v][1] == o->height) s->reference = v;
    }
    TSR_TRY(tsr_planes_cover(&s->frame, s->row, s->size, s->count, o, &s->pixels));
    if (s->o.flat < 0) {
        double sigma = 0;
        TSR_TRY(noise_of(s, &sigma));
        s->o.flat = 2 * sigma * sqrt(o->method == TSR_DEPTH_MIPMAP ? o->samples * o->samples : 1);
        if (s->o.flat < 1e-3) s->o.flat = 1e-3;
    }
    const int32_t smaller = o->width < o->height ? o->width : o->height;
    s->levels = o->method == TSR_DEPTH_VOLUME || o->no_levels ? 0 : o->levels;
    if (!o->levels && !o->no_levels && o->method != TSR_DEPTH_VOLUME) {
        if (o->method == TSR_DEPTH_MIPMAP)
            while (o->samples << (s->levels + 1) <= smaller / 16 && s->levels < 8) s->levels++;
        else
            while (pow(o->ratio, s->levels + 1) * 9 <= smaller && s->levels < (o->ratio == 3 ? 3 : 5)) s->levels++;
    }
    TSR_TRY(tsr_host_allocate(NULL, sizeof *s->table * (size_t)s->count * (size_t)(s->levels + 1), (void **)&s->table));
    TSR_TRY(make_stacks(s));
    TSR_PROGRESS(&o->progress, 0.2, "pictures");
    TSR_TRY(create_maps(s, maps));
    TSR_TRY(search(s, maps));
    for (int32_t round = 0; round < o->shadows; round++) {
        TSR_TRY(cast_shadows(s, camera, maps));
        TSR_TRY(search(s, maps));
    }
    maps->levels = s->levels;
    return TSR_OK;
}

static tsr_status sweep(tsr_context *context, const tsr_depth_view *views, int32_t count, const tsr_camera *camera, const tsr_plane_sweep_options *o,
                        tsr_depth_maps *maps)
{
    tsr_planes s = { .context = context, .views = views, .count = count, .o = *o, .memory = { .context = context } };
    tsr_status status = TSR_ERROR_MEMORY;
    s.size = calloc((size_t)count, sizeof *s.size);
    s.row = calloc((size_t)count, sizeof *s.row);
    s.clean = calloc((size_t)count * 2, sizeof *s.clean);
    s.shadow = calloc((size_t)count, sizeof *s.shadow);
    if (!s.size || !s.row || !s.clean || !s.shadow) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "plane sweep: out of host memory for %d views", count);
    TSR_TRY_GOTO(run(&s, camera, maps), done);
done:
    if (s.table) tsr_host_release(NULL, s.table, sizeof *s.table * (size_t)count * (size_t)(s.levels + 1));
    for (int32_t v = 0; v < 2 * count && s.clean; v++) tsr_volume_destroy(&s.clean[v]);
    tsr_depth_release(&s.memory);
    free(s.size);
    free(s.row);
    free(s.clean);
    free(s.shadow);
    return status;
}

/* The first two views' own depth maps, those that the depth camera is not, must agree. */
static tsr_status cross_check(tsr_context *context, const tsr_depth_view *views, int32_t count, const tsr_camera *camera, const tsr_plane_sweep_options *o,
                              tsr_depth_maps *maps)
{
    for (int32_t v = 0; v < 2; v++) {
        tsr_camera own = views[v].camera;
        tsr_plane_sweep_options other = *o;
        tsr_depth_maps there = TSR_DEPTH_MAPS;
        tsr_status status;
        if (same_view(camera, &own)) continue;
        own.lens = (tsr_lens){ 0 };
        other.disparity = other.scores = other.width = other.height = 0;
        if (own.projection == TSR_PROJECTION_MATRIX) other.nearest = other.farthest = 0;
        TSR_TRY_GOTO(sweep(context, views, count, &own, &other, &there), fail);
        TSR_TRY_GOTO(tsr_depth_check(context, maps->depth, camera, there.depth, &own, o->consistency, 0, maps->valid), fail);
    fail:
        tsr_depth_maps_destroy(&there);
        if (status != TSR_OK) return status;
    }
    return TSR_OK;
}

tsr_status tsr_plane_sweep(tsr_context *context, const tsr_depth_view *views, int32_t count, const tsr_camera *camera, const tsr_plane_sweep_options *options,
                           tsr_depth_maps *maps)
{
    TSR_NEEDS(maps);
    tsr_status status;
    tsr_plane_sweep_options o;
    tsr_camera own;
    *maps = (tsr_depth_maps)TSR_DEPTH_MAPS;
    if (!context || !views) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: %s is NULL", context ? "views" : "context");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(&o, count));
    if (camera) {
        own = *camera;
        TSR_TRY(tsr_camera_check(&own));
    } else {
        tsr_camera *all = malloc(sizeof *all * (size_t)count);
        if (!all) TSR_FAIL(TSR_ERROR_MEMORY, "plane sweep: out of host memory for %d cameras", count);
        for (int32_t v = 0; v < count; v++) all[v] = views[v].camera;
        status = tsr_camera_middle(all, count, &own);
        free(all);
        TSR_TRY(status);
    }
    TSR_TRY_GOTO(sweep(context, views, count, &own, &o, maps), fail);
    if (o.consistency > 0) {
        if (!o.width) o.width = (int32_t)maps->depth->size.x, o.height = (int32_t)maps->depth->size.y;
        TSR_TRY_GOTO(cross_check(context, views, count, &own, &o, maps), fail);
    }
    tsr_volume *valid;
    TSR_TRY_GOTO(tsr_volume_copy(maps->valid, NULL, &valid), fail);
    for (int64_t i = 0; i < tsr_volume_count(valid); i++) maps->valid_count += ((const uint8_t *)valid->data)[i];
    tsr_volume_destroy(&valid);
    return TSR_OK;
fail:
    tsr_depth_maps_destroy(maps);
    return status;
}

tsr_status tsr_depth_check(tsr_context *context, tsr_volume *depth, const tsr_camera *camera, const tsr_volume *other, const tsr_camera *other_camera,
                           double tolerance, int seen, tsr_volume *valid)
{
    TSR_NEEDS(context, depth, camera, other, other_camera, valid);
    static const char *const names[] = { "context", "depth", "camera", "other", "other_camera", "valid" };
    const void *const given[] = { context, depth, camera, other, other_camera, valid };
    for (size_t i = 0; i < 6; i++)
        if (!given[i]) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth check: %s is NULL", names[i]);
    TSR_TRY(tsr_volume_require(context, depth, "depth"));
    TSR_TRY(tsr_volume_require(context, other, "other"));
    TSR_TRY(tsr_volume_require(context, valid, "valid"));
    if (depth->dtype != TSR_F32 || other->dtype != TSR_F32 || valid->dtype != TSR_U8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth check: element types %s, %s and %s of depth, other and valid, expected f32, f32 and u8", tsr_dtype_name(depth->dtype),
                 tsr_dtype_name(other->dtype), tsr_dtype_name(valid->dtype));
    if (valid->size.x != depth->size.x || valid->size.y != depth->size.y || depth->size.z != 1 || other->size.z != 1 || valid->size.z != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth check: depth has %lld x %lld pixels, valid %lld x %lld, expected the same, and one slice", (long long)depth->size.x,
                 (long long)depth->size.y, (long long)valid->size.x, (long long)valid->size.y);
    if (!(tolerance >= 0 && tolerance < 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth check: tolerance is %g, expected 0 to 1e9", tolerance);
    const int32_t w = (int32_t)depth->size.x, h = (int32_t)depth->size.y, ow = (int32_t)other->size.x, oh = (int32_t)other->size.y;
    tsr_planes_consist_job job = { .width = w, .height = h, .other_width = ow, .other_height = oh, .tolerance = (float)tolerance, .unseen = !seen,
                                  .parallel = camera->projection == TSR_ORTHOGRAPHIC, .depth = (float *)depth->data, .other = (const float *)other->data,
                                  .valid = (uint8_t *)valid->data };
    /* The ray is affine in the pixel: three of them say all. */
    static const double place[3][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 } };
    tsr_vec3 origin[3], direction[3];
    for (int k = 0; k < 3; k++) TSR_TRY(tsr_camera_ray(camera, w, h, place[k], &origin[k], &direction[k]));
    if (camera->projection == TSR_PROJECTION_MATRIX) {
        tsr_pinhole pinhole;
        TSR_TRY(tsr_camera_to_pinhole(camera, w, h, &pinhole)); /* of 16 numbers: those of a frustum alone */
    }
    const tsr_vec3 *varying = job.parallel ? origin : direction, *fixed = job.parallel ? direction : origin;
    double column[4][4] = { { 0 } }; /* of (across x, across y, d, 1) */
    for (int k = 0; k < 2; k++) {
        column[k][0] = varying[k + 1].x - varying[0].x;
        column[k][1] = varying[k + 1].y - varying[0].y;
        column[k][2] = varying[k + 1].z - varying[0].z;
    }
    const tsr_vec3 along = job.parallel ? fixed[0] : varying[0], start = job.parallel ? varying[0] : fixed[0];
    memcpy(column[2], &along, sizeof along);
    memcpy(column[3], &start, sizeof start);
    column[3][3] = 1;
    tsr_camera plain = *other_camera;
    double projection[16], view[16];
    plain.lens = (tsr_lens){ 0 };
    TSR_TRY(tsr_camera_matrices(&plain, ow, oh, view, projection));
    for (int c = 0; c < 4; c++) {
        double e[4], q[4];
        tsr_matrix4_apply(view, column[c], e);
        tsr_matrix4_apply(projection, e, q);
        job.row[0][c] = (float)((q[0] + q[3]) * 0.5 * ow);
        job.row[1][c] = (float)((q[3] - q[1]) * 0.5 * oh);
        job.row[3][c] = (float)q[3];
        job.row[2][c] = (float)-e[2]; /* the depth itself */
    }
    TSR_TRY(context->backend->planes->consist(context->queue, &job, (int64_t)w * h));
    TSR_TRY(context->backend->synchronize(context->queue));
    return TSR_OK;
}
