#include "plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 960, HIGH = 320, LEFT = 70, RIGHT = 150, TOP = 34, BOTTOM = 34 };

static const char *const colors[PLOT_ROWS] = { "#2f5fb3", "#c4472b", "#3a8f4d", "#8a5fb8", "#c8912a", "#2a9aa8", "#9a3f6f", "#6d7a2c",
                                               "#4c4c4c", "#7fa3dd", "#e39a86", "#8ec79b", "#bfa3dd", "#e3c486", "#8fd0d8", "#cf8fb2" };

int plot_add(plot *p, const double *values)
{
    if (p->columns == p->room) {
        const int64_t room = 2 * p->room + 64;
        for (int k = 0; k < p->count; k++) {
            double *larger = (double *)realloc(p->value[k], (size_t)room * sizeof *larger);
            if (!larger) return 0;
            p->value[k] = larger;
        }
        p->room = room;
    }
    for (int k = 0; k < p->count; k++) p->value[k][p->columns] = values[k];
    p->columns++;
    return 1;
}

void plot_free(plot *p)
{
    for (int k = 0; k < p->count; k++) free(p->value[k]);
    p->columns = p->room = 0;
}

typedef struct page {
    char *text;
    size_t size, room;
    int failed;
} page;

static void put(page *g, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (g->failed || n < 0) return;
    const size_t length = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    if (g->size + length + 1 > g->room) {
        char *larger = (char *)realloc(g->text, 2 * g->room + 4096);
        if (!larger) {
            g->failed = 1;
            return;
        }
        g->text = larger;
        g->room = 2 * g->room + 4096;
    }
    memcpy(g->text + g->size, line, length + 1);
    g->size += length;
}

/* The range of values; of bars, of their sums. */
static void range_of(const plot *p, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t x = 0; x < p->columns; x++) {
        double sum = 0;
        for (int k = 0; k < p->count; k++) {
            const double v = p->value[k][x];
            if (!isfinite(v)) continue;
            sum += v;
            if (p->bars) continue;
            *low = fmin(*low, v);
            *high = fmax(*high, v);
        }
        if (p->bars) *high = fmax(*high, sum);
    }
    if (p->bars || p->from_zero) *low = 0;
    if (!isfinite(*low)) *low = 0;
    if (!isfinite(*high) || *high <= *low) *high = *low + 1;
}

/* 1, 2 or 5 times a power of 10: about five of them in the range. */
static double step_of(double range)
{
    const double rough = range / 5, power = pow(10, floor(log10(rough))), part = rough / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

static double across(const plot *p, double x) { return LEFT + (x + 0.5) * (WIDE - LEFT - RIGHT) / (double)(p->columns ? p->columns : 1); }

static void axes(page *g, const plot *p, double top, double low, double high)
{
    const double step = step_of(high - low), bottom = top + HIGH - TOP - BOTTOM;
    put(g, "<text x=\"%d\" y=\"%g\" class=\"t\">%s</text>\n", LEFT, top - 12, p->title);
    for (double v = ceil(low / step) * step; v <= high + step * 1e-9; v += step) {
        const double y = bottom - (v - low) / (high - low) * (bottom - top);
        put(g, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"g\"/><text x=\"%d\" y=\"%.1f\" class=\"e\">%g</text>\n", LEFT, WIDE - RIGHT,
            y, y, LEFT - 6, y + 4, fabs(v) < step * 1e-9 ? 0 : v);
    }
    put(g, "<text x=\"%d\" y=\"%g\" class=\"e\">%s</text>\n", LEFT - 6, top - 12, p->unit);
    const double each = p->columns > 10 ? fmax(1, step_of((double)p->columns)) : 1;
    for (double x = 0; x < (double)p->columns; x += each) put(g, "<text x=\"%.1f\" y=\"%.1f\" class=\"m\">%g</text>\n", across(p, x), bottom + 16, x);
    for (int k = 0; k < p->count; k++)
        put(g, "<rect x=\"%d\" y=\"%g\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"%g\">%s</text>\n", WIDE - RIGHT + 14,
            top + 16.0 * k, colors[k], WIDE - RIGHT + 30, top + 16.0 * k + 9, p->name[k]);
}

static void draw(page *g, const plot *p, double top)
{
    double low, high;
    const double bottom = top + HIGH - TOP - BOTTOM, wide = 0.85 * (WIDE - LEFT - RIGHT) / (double)(p->columns ? p->columns : 1);
    range_of(p, &low, &high);
    axes(g, p, top, low, high);
    for (int64_t x = 0; x < p->columns && p->bars; x++) {
        double y = bottom;
        for (int k = 0; k < p->count; k++) {
            const double size = p->value[k][x] / (high - low) * (bottom - top);
            y -= size;
            if (size > 0)
                put(g, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", across(p, (double)x) - wide / 2, y, wide, size,
                    colors[k]);
        }
    }
    for (int k = 0; k < p->count && !p->bars; k++) {
        int open = 0;
        for (int64_t x = 0; x < p->columns; x++) {
            const double v = p->value[k][x];
            if (!isfinite(v)) {
                if (open) put(g, "\"/>\n");
                open = 0;
                continue;
            }
            if (!open) put(g, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colors[k]);
            open = 1;
            put(g, "%.2f,%.2f ", across(p, (double)x), bottom - (v - low) / (high - low) * (bottom - top));
        }
        if (open) put(g, "\"/>\n");
    }
}

int plot_write(const cli_call *cli, const char *path, const plot *plots, int count)
{
    page g = { 0 };
    put(&g,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>text{font:12px "
        "sans-serif;fill:#333}.t{font-weight:bold;font-size:14px}.e{text-anchor:end}.m{text-anchor:middle}.g{stroke:#ddd}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        WIDE, count * HIGH, WIDE, count * HIGH);
    for (int k = 0; k < count; k++) draw(&g, &plots[k], k * HIGH + TOP);
    put(&g, "</svg>\n");
    const int code = g.failed ? cli_error(cli, CLI_FAILED, "out of memory") : cli_write_text(cli, path, g.text);
    free(g.text);
    return code;
}
