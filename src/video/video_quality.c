/* video/video_quality.c: errors of frames, and structural similarity. */
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "tessera/video.h"

enum { WINDOW = 8, STEP = 4 };

static double sample(const tsr_video_frame *f, int plane, int64_t at)
{
    return f->format.bits > 8 ? (double)((const uint16_t *)f->plane[plane])[at] : (double)((const uint8_t *)f->plane[plane])[at];
}

static double error_of(const tsr_video_frame *a, const tsr_video_frame *b, int plane)
{
    const int64_t n = (int64_t)a->width[plane] * a->height[plane];
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const double d = sample(a, plane, k) - sample(b, plane, k);
        sum += d * d;
    }
    return n ? sum / (double)n : 0;
}

static double window_similarity(const tsr_video_frame *a, const tsr_video_frame *b, int32_t x0, int32_t y0, int32_t w, int32_t h)
{
    const double peak = (1 << a->format.bits) - 1, c1 = 1e-4 * peak * peak, c2 = 9e-4 * peak * peak, n = (double)w * h;
    double sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
    for (int32_t y = y0; y < y0 + h; y++)
        for (int32_t x = x0; x < x0 + w; x++) {
            const double u = sample(a, 0, (int64_t)y * a->width[0] + x), v = sample(b, 0, (int64_t)y * a->width[0] + x);
            sa += u;
            sb += v;
            aa += u * u;
            bb += v * v;
            ab += u * v;
        }
    const double ma = sa / n, mb = sb / n, va = aa / n - ma * ma, vb = bb / n - mb * mb, cov = ab / n - ma * mb;
    return (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

static double similarity(const tsr_video_frame *a, const tsr_video_frame *b)
{
    const int32_t w = a->width[0], h = a->height[0], ww = w < WINDOW ? w : WINDOW, wh = h < WINDOW ? h : WINDOW;
    double sum = 0;
    int64_t n = 0;
    for (int32_t y = 0; y + wh <= h; y += STEP)
        for (int32_t x = 0; x + ww <= w; x += STEP, n++) sum += window_similarity(a, b, x, y, ww, wh);
    return sum / (double)n;
}

tsr_status tsr_video_compare(const tsr_video_frame *a, const tsr_video_frame *b, tsr_video_quality *quality)
{
    tsr_video_quality own = TSR_VIDEO_QUALITY;
    if (!a || !b || !quality) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !a ? "frame" : !b ? "reference" : "quality");
    TSR_TRY(TSR_STRUCT_BEGUN(quality));
    if (!a->bytes || a->format.width != b->format.width || a->format.height != b->format.height || a->format.chroma != b->format.chroma ||
        a->format.bits != b->format.bits)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "frames of %d x %d, %s, %d bits and %d x %d, %s, %d bits, expected the same of both", a->format.width,
                 a->format.height, tsr_chroma_name(a->format.chroma), a->format.bits, b->format.width, b->format.height,
                 tsr_chroma_name(b->format.chroma), b->format.bits);
    const double peak = (1 << a->format.bits) - 1;
    for (int c = 0; c < a->planes; c++) {
        own.error[c] = error_of(a, b, c);
        own.psnr[c] = own.error[c] > 0 ? 10 * log10(peak * peak / own.error[c]) : (double)INFINITY;
    }
    own.ssim = similarity(a, b);
    return TSR_STRUCT_GIVE(quality, &own);
}
