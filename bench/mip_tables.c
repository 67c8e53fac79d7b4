#include "mip_tables.h"

struct drawing {
    mip_scene *s;
    tsr_mip_render_options o;
};
static tsr_status draw(void *user)
{
    struct drawing *d = (struct drawing *)user;
    return tsr_mip_render(d->s->mip, d->s->view, &d->o, d->s->frame, NULL);
}

static tsr_mip_render_options options_of(tsr_mip_mode mode)
{
    tsr_mip_render_options o = TSR_MIP_RENDER_OPTIONS;
    o.mode = mode;
    o.close = TSR_MIP_CLOSE_OFF;
    return o;
}

/* The picture from all coefficients, for `errors_of`. */
static tsr_status draw_full(mip_scene *s, tsr_mip_mode mode)
{
    const tsr_mip_render_options all = options_of(mode);
    return tsr_mip_render(s->mip, s->view, &all, s->full, NULL);
}
static tsr_status errors_of(struct drawing *d, tsr_mip_errors *e)
{
    TSR_TRY(draw(d));
    return tsr_mip_compare(d->s->frame, d->s->full, e);
}

tsr_status mip_equal_error(mip_scene *s, double error)
{
    const int64_t all = tsr_mip_describe(s->mip)->coefficients;
    struct drawing d = { s, options_of(TSR_MIP_SPLAT) };
    int64_t low = 0, high = all; /* too few; enough */
    char name[160];
    tsr_mip_errors e = TSR_MIP_ERRORS;
    TSR_TRY(draw_full(s, TSR_MIP_SPLAT));
    while (high - low > all / 1000) {
        d.o.count = (low + high) / 2;
        TSR_TRY(errors_of(&d, &e));
        if (e.relative <= error) high = d.o.count;
        else low = d.o.count;
    }
    d.o.count = high;
    TSR_TRY(errors_of(&d, &e));
    snprintf(name, sizeof name, "splat, equal error: %.1f %% for L1 %.3f, median %g", 100 * (double)high / (double)all, e.relative, e.median);
    bench_report(s->b, &(bench_case){ .name = name, .n = high, .time = bench_measure(s->b, draw, &d, NULL) });
    return TSR_OK;
}

tsr_status mip_figure_1_3(mip_scene *s)
{
    const tsr_mip_info i = *tsr_mip_describe(s->mip);
    for (int streamed = 0; streamed < 2; streamed++) {
        struct drawing d = { s, options_of(streamed ? TSR_MIP_SPLAT : TSR_MIP_CASCADE) };
        char name[160];
        tsr_mip_errors e = TSR_MIP_ERRORS;
        if (streamed) d.o.count = i.coefficients - i.by_level[0];
        else d.o.finest = 1;
        TSR_TRY(draw_full(s, TSR_MIP_SPLAT));
        TSR_TRY(errors_of(&d, &e));
        snprintf(name, sizeof name, "figure 1.3, %s, %.1f %%: L1 %.3f, max %g", streamed ? "as many, streamed" : "levels above the finest",
                 100 * (double)(i.coefficients - i.by_level[0]) / (double)i.coefficients, e.relative, e.maximum);
        bench_report(s->b, &(bench_case){ .name = name, .n = i.coefficients - i.by_level[0], .time = bench_measure(s->b, draw, &d, NULL) });
    }
    return TSR_OK;
}

tsr_status mip_linearity(mip_scene *s)
{
    enum { POINTS = 10 };
    const int64_t all = tsr_mip_describe(s->mip)->coefficients, first = all < 20000000 ? all / 10 : 10000000;
    static const tsr_mip_mode modes[] = { TSR_MIP_SPLAT, TSR_MIP_EXACT };
    for (int m = 0; m < 2; m++) {
        double x[POINTS], y[POINTS], slope, intercept;
        struct drawing d = { s, options_of(modes[m]) };
        bench_time last = { 0 };
        char name[200];
        for (int k = 0; k < POINTS; k++) {
            d.o.count = first + (all - first) * k / (POINTS - 1);
            last = bench_measure(s->b, draw, &d, NULL);
            x[k] = (double)d.o.count;
            y[k] = last.min; /* of a busy machine the least is the honest one */
            printf("    %11lld coefficients %10.3f ms\n", (long long)d.o.count, 1e3 * last.min);
        }
        const double fit = bench_line(x, y, POINTS, &slope, &intercept);
        snprintf(name, sizeof name, "linearity, %s, %.3g M to %.3g M coefficients: R^2 %.4f, %.3g ns each and %.3g ms", m ? "exact" : "splat",
                 1e-6 * x[0], 1e-6 * x[POINTS - 1], fit, 1e9 * slope, 1e3 * intercept);
        bench_report(s->b, &(bench_case){ .name = name, .n = all, .time = last, .bar = "R^2 above 0.99", .holds = fit > 0.99 });
    }
    return TSR_OK;
}

/* ---- rivals ------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status project(void *user)
{
    struct drawing *d = (struct drawing *)user;
    tsr_mip_dense *dense = NULL;
    TSR_TRY(tsr_mip_dense_create(d->s->b->context, d->s->volume, &dense));
    const tsr_status status = tsr_mip_dense_render(dense, d->s->view, &d->o, d->s->frame);
    tsr_mip_dense_destroy(&dense);
    return status;
}

/* Of a volume that comes from fewer coefficients: its way back is part of each picture of a new number, its projection of every picture. */
static tsr_status report(mip_scene *s, const char *what, double part, tsr_volume *volume, double back_seconds)
{
    mip_scene own = *s;
    struct drawing d = { &own, options_of(TSR_MIP_EXACT) };
    char name[200];
    tsr_mip_errors e = TSR_MIP_ERRORS;
    own.volume = volume;
    TSR_TRY(project(&d));
    TSR_TRY(tsr_mip_compare(s->frame, s->full, &e));
    snprintf(name, sizeof name, "rivals, %s, %g %%: L1 %.2e, max %g, median %g", what, 100 * part, e.relative, e.maximum, e.median);
    bench_report(s->b, &(bench_case){ .name = name, .n = tsr_volume_count(volume), .time = bench_measure(s->b, project, &d, NULL) });
    if (back_seconds > 0) printf("    and %.1f ms for the volume back from its coefficients\n", 1e3 * back_seconds);
    return TSR_OK;
}

static tsr_status wavelet_rival(mip_scene *s, tsr_wavelet_filter filter, double part)
{
    const int64_t count = (int64_t)(part * (double)tsr_mip_describe(s->mip)->coefficients);
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_keep_options keep = TSR_WAVELET_KEEP_OPTIONS;
    tsr_volume *coefficients = NULL, *back = NULL;
    tsr_status status;
    char what[60];
    o.filter = filter;
    o.levels = 2;
    keep.keep = 100 * (double)count / (double)tsr_volume_count(s->volume);
    TSR_TRY_GOTO(tsr_volume_dwt(s->b->context, s->volume, &o, TSR_F32, &coefficients), done);
    TSR_TRY_GOTO(tsr_wavelet_volume_keep(s->b->context, coefficients, &keep, NULL), done);
    const double began = bench_clock(s->b->clock);
    TSR_TRY_GOTO(tsr_volume_idwt(s->b->context, coefficients, &back), done);
    TSR_TRY_GOTO(tsr_context_synchronize(s->b->context), done);
    const double seconds = bench_clock(s->b->clock) - began;
    snprintf(what, sizeof what, "wavelets %s, rays", tsr_wavelet_filter_name(filter));
    status = report(s, what, part, back, seconds);
done:
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&coefficients);
    return status;
}

/* A linear pyramid of two levels on the host: means of 2 x 2 x 2, differences from the mean; what matters most is 8^(level / 2) |difference|. */
struct linear {
    int64_t n[3][3];
    float *level[3]; /* differences, of the last the means */
};
static int64_t cells(const int64_t n[3]) { return n[0] * n[1] * n[2]; }
static float *parent(const struct linear *p, int level, int64_t i)
{
    const int64_t x = i % p->n[level][0], y = i / p->n[level][0] % p->n[level][1], z = i / p->n[level][0] / p->n[level][1];
    const int64_t *up = p->n[level + 1];
    return &p->level[level + 1][(z / 2 * up[1] + y / 2) * up[0] + x / 2];
}
static int make_linear(struct linear *p, const uint8_t *data, tsr_size3 size)
{
    for (int l = 0; l < 3; l++) {
        const int64_t whole[3] = { size.x, size.y, size.z };
        for (int k = 0; k < 3; k++) p->n[l][k] = (whole[k] + (1 << l) - 1) >> l;
        p->level[l] = (float *)calloc((size_t)cells(p->n[l]), sizeof(float));
        if (!p->level[l]) return 0;
    }
    for (int64_t i = 0; i < cells(p->n[0]); i++) p->level[0][i] = data[i];
    for (int l = 0; l < 2; l++) {
        uint8_t *children = (uint8_t *)calloc((size_t)cells(p->n[l + 1]), 1);
        if (!children) return 0;
        for (int64_t i = 0; i < cells(p->n[l]); i++) {
            float *up = parent(p, l, i);
            *up += p->level[l][i];
            children[up - p->level[l + 1]]++;
        }
        for (int64_t i = 0; i < cells(p->n[l + 1]); i++) p->level[l + 1][i] /= children[i];
        free(children);
    }
    for (int l = 0; l < 2; l++)
        for (int64_t i = 0; i < cells(p->n[l]); i++) p->level[l][i] -= *parent(p, l, i);
    return 1;
}

static double weight(const struct linear *p, int l, int64_t i)
{
    static const double scale[3] = { 1, 2.8284271247461903, 8 };
    return fabs((double)p->level[l][i]) * scale[l];
}

/* The least weight of the `count` largest, twelve bits at a time; all of equal weight stay. */
static double threshold_of(const struct linear *p, int64_t count)
{
    enum { BINS = 4096 };
    double low = 0, width = 8 * 256.0 / BINS;
    for (int turn = 0; turn < 2; turn++, width /= BINS) {
        int64_t in[BINS] = { 0 }, above = 0;
        for (int l = 0; l < 3; l++)
            for (int64_t i = 0; i < cells(p->n[l]); i++) {
                const double bin = floor((weight(p, l, i) - low) / width);
                if (bin >= BINS) above++;
                else if (bin >= 0) in[(int)bin]++;
            }
        int last = BINS - 1;
        while (last > 0 && above + in[last] <= count) above += in[last--];
        low += last * width;
    }
    return low + width * BINS;
}

static tsr_status linear_rival(mip_scene *s, double part)
{
    const int64_t count = (int64_t)(part * (double)tsr_mip_describe(s->mip)->coefficients);
    const tsr_size3 size = tsr_volume_size(s->volume);
    struct linear p = { 0 };
    tsr_volume *host = NULL, *back = NULL;
    tsr_status status;
    TSR_TRY_GOTO(tsr_volume_copy(s->volume, NULL, &host), done);
    uint8_t *data = (uint8_t *)tsr_volume_data(host);
    if (!make_linear(&p, data, size)) {
        status = TSR_FAILED(TSR_ERROR_MEMORY, "no memory for the pyramid of means");
        goto done;
    }
    const double least = threshold_of(&p, count);
    for (int l = 2; l >= 0; l--)
        for (int64_t i = 0; i < cells(p.n[l]); i++) {
            if (weight(&p, l, i) <= least) p.level[l][i] = 0;
            if (l < 2) p.level[l][i] += *parent(&p, l, i);
        }
    for (int64_t i = 0; i < cells(p.n[0]); i++) data[i] = (uint8_t)fmin(fmax((double)p.level[0][i] + 0.5, 0), 255);
    TSR_TRY_GOTO(tsr_volume_copy(host, s->b->context, &back), done);
    status = report(s, "linear pyramid, rays", part, back, 0);
done:
    for (int l = 0; l < 3; l++) free(p.level[l]);
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&host);
    return status;
}

tsr_status mip_rivals(mip_scene *s)
{
    static const double parts[] = { 0.5, 0.13, 0.06 };
    TSR_TRY(draw_full(s, TSR_MIP_EXACT));
    for (int k = 0; k < (s->b->quick ? 1 : 3); k++) {
        struct drawing d = { s, options_of(TSR_MIP_EXACT) };
        char name[160];
        tsr_mip_errors e = TSR_MIP_ERRORS;
        d.o.fraction = parts[k];
        TSR_TRY(errors_of(&d, &e));
        snprintf(name, sizeof name, "rivals, morphological, %g %%: L1 %.2e, max %g, median %g", 100 * parts[k], e.relative, e.maximum, e.median);
        bench_report(s->b, &(bench_case){ .name = name, .n = tsr_volume_count(s->volume), .time = bench_measure(s->b, draw, &d, NULL) });
        TSR_TRY(wavelet_rival(s, TSR_WAVELET_HAAR, parts[k]));
        TSR_TRY(wavelet_rival(s, TSR_WAVELET_DAUB97, parts[k]));
        TSR_TRY(linear_rival(s, parts[k]));
    }
    return TSR_OK;
}
