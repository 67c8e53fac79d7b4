/* The page of a calibration: one HTML file that needs no other. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"

typedef struct page {
    char *text;
    size_t size, room;
    int failed;
} page;

static void put(page *p, const char *format, ...) TSR_PRINTF(2, 3);
static void put(page *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char line[2048];
    const int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n < 0 || p->failed) return;
    const size_t length = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    if (p->size + length + 1 > p->room) {
        const size_t room = 2 * (p->size + length) + 4096;
        char *grown = (char *)realloc(p->text, room);
        if (!grown) {
            p->failed = 1;
            return;
        }
        p->text = grown;
        p->room = room;
    }
    memcpy(p->text + p->size, line, length + 1);
    p->size += length;
}

static void put_plain(page *p, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') put(p, "&lt;");
        else if (*text == '&') put(p, "&amp;");
        else if (*text == '"') put(p, "&quot;");
        else put(p, "%c", *text);
    }
}

static void put_base64(page *p, const uint8_t *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const unsigned v = (unsigned)bytes[i] << 16 | (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0) | (i + 2 < size ? bytes[i + 2] : 0u);
        put(p, "%c%c%c%c", digit[v >> 18], digit[v >> 12 & 63], i + 1 < size ? digit[v >> 6 & 63] : '=', i + 2 < size ? digit[v & 63] : '=');
    }
}

static const char *const colours[8] = { "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#9c6b4e" };

double calibrate_view_rms(const calibrate_result *r, const calibrate_view *view)
{
    const double(*residual)[2] = tsr_calibration_residuals(r->calibration);
    double sum = 0;
    for (int64_t i = view->first; i < view->first + view->count; i++) sum += residual[i][0] * residual[i][0] + residual[i][1] * residual[i][1];
    return view->count ? sqrt(sum / (double)view->count) : 0;
}

/* Residuals as dots round the middle; rings at one and two of `step`. */
static void scatter(page *p, const calibrate_result *r, int32_t camera)
{
    const double(*residual)[2] = tsr_calibration_residuals(r->calibration);
    double rms = 0;
    tsr_pinhole c;
    if (tsr_calibration_camera(r->calibration, camera, &c, NULL, &rms) != TSR_OK) return;
    const double step = rms > 0 ? pow(10, floor(log10(2 * rms))) * (2 * rms / pow(10, floor(log10(2 * rms))) > 5   ? 5
                                                                    : 2 * rms / pow(10, floor(log10(2 * rms))) > 2 ? 2
                                                                                                                   : 1)
                                : 1;
    put(p, "<svg viewBox='-130 -130 260 260' role='img' aria-label='residuals'><line x1='-125' x2='125' class='axis'/><line y1='-125' y2='125' "
           "class='axis'/>");
    for (int k = 1; k <= 2; k++)
        put(p, "<circle r='%d' class='ring'/><text x='%d' y='-3' text-anchor='end'>%g px</text>", 55 * k, 55 * k - 2, step * k);
    for (int32_t v = 0; v < r->views; v++) {
        const calibrate_view *view = &r->view[v];
        if (view->camera != camera) continue;
        for (int64_t i = view->first; i < view->first + view->count; i++) {
            const double x = fmax(-127, fmin(127, 55 * residual[i][0] / step)), y = fmax(-127, fmin(127, 55 * residual[i][1] / step));
            put(p, "<circle cx='%.1f' cy='%.1f' r='1.6' fill='%s' fill-opacity='.6'/>", x, y, colours[v % 8]);
        }
    }
    put(p, "</svg>");
}

/* Where in the image points were seen. */
static void coverage(page *p, const calibrate_result *r, int32_t camera, const tsr_pinhole *c)
{
    put(p, "<svg viewBox='0 0 %d %d' role='img' aria-label='coverage'><rect width='%d' height='%d' class='frame'/>", c->width, c->height, c->width,
        c->height);
    for (int32_t v = 0; v < r->views; v++) {
        const calibrate_view *view = &r->view[v];
        if (view->camera != camera) continue;
        for (int64_t i = view->first; i < view->first + view->count; i++)
            put(p, "<circle cx='%.1f' cy='%.1f' r='%.2f' fill='%s'/>", r->sighting[i].pixel[0], r->sighting[i].pixel[1], c->width / 180.0,
                colours[v % 8]);
    }
    put(p, "<path d='M%.1f %.1fm-9 0h18m-9 -9v18' class='centre'/></svg>", c->cx, c->cy);
}

static void bars(page *p, const calibrate_result *r)
{
    double most = 0;
    for (int32_t v = 0; v < r->views; v++) most = fmax(most, calibrate_view_rms(r, &r->view[v]));
    put(p, "<h2>Pictures</h2><table><tr><th>picture<th>camera<th>points<th>error, pixels<th></tr>");
    for (int32_t v = 0; v < r->views; v++) {
        const calibrate_view *view = &r->view[v];
        const double rms = calibrate_view_rms(r, view);
        put(p, "<tr><td>");
        put_plain(p, view->name);
        if (!view->count) put(p, "<td>%d<td>0<td colspan='2'>no board</tr>", (int)view->camera);
        else
            put(p, "<td>%d<td>%lld<td>%.3f<td><div class='bar' style='width:%.1fem;background:%s'></div></tr>", (int)view->camera,
                (long long)view->count, rms, most > 0 ? 16 * rms / most : 0, colours[v % 8]);
    }
    put(p, "</table>");
}

static void number_row(page *p, const char *name, double value, double sigma, const char *unit)
{
    put(p, "<tr><td>%s<td>%.6g<td>", name, value);
    if (isinf(sigma)) put(p, "not determined");
    else if (sigma > 0) put(p, "&plusmn; %.2g", sigma);
    else put(p, "held");
    put(p, "<td>%s</tr>", unit);
}

/* A picture made smaller, as it is and straight. */
static void pictures(page *p, const tsr_image *from, const tsr_pinhole *c)
{
    tsr_camera camera;
    const int32_t w = from->width > 360 ? 360 : from->width, h = (int32_t)((int64_t)w * from->height / from->width) + (w < 1);
    if (h < 1 || tsr_camera_from_pinhole(c, &camera) != TSR_OK) return;
    const double scale = (double)from->width / w;
    put(p, "<figure>");
    for (int straight = 0; straight < 2; straight++) {
        tsr_image to = { 0 };
        uint8_t *bytes = NULL;
        size_t size = 0;
        if (tsr_image_create(w, h, 3, &to) != TSR_OK) break;
        for (int32_t y = 0; y < h; y++)
            for (int32_t x = 0; x < w; x++) {
                double at[2] = { (x + 0.5) * scale, (y + 0.5) * scale };
                int shown = 1;
                if (straight) {
                    const double u = (at[0] - c->cx) / c->fx, v = (at[1] - c->cy) / c->fy;
                    tsr_camera plain = camera;
                    plain.position = (tsr_vec3){ 0, 0, 0 };
                    memset(plain.rotation, 0, sizeof plain.rotation);
                    for (int k = 0; k < 3; k++) plain.rotation[k][k] = 1;
                    shown = tsr_camera_project(&plain, c->width, c->height, (tsr_vec3){ u, -v, -1 }, at, NULL) == TSR_OK;
                }
                const int32_t i = (int32_t)floor(at[0]), j = (int32_t)floor(at[1]);
                if (!shown || i < 0 || j < 0 || i >= from->width || j >= from->height) continue;
                const uint8_t *s = from->pixels + ((int64_t)j * from->width + i) * from->channels;
                for (int k = 0; k < 3; k++) to.pixels[((int64_t)y * w + x) * 3 + k] = s[from->channels > 2 ? k : 0];
            }
        if (tsr_image_pack_jpeg(&to, 85, 1, &bytes, &size) == TSR_OK) {
            put(p, "<img alt='%s' src='data:image/jpeg;base64,", straight ? "without the lens" : "as taken");
            put_base64(p, bytes, size);
            put(p, "'>");
            free(bytes);
        }
        tsr_image_destroy(&to);
    }
    put(p, "<figcaption>As taken, and without the lens's distortion.</figcaption></figure>");
}

static void one_camera(page *p, const calibrate_result *r, int32_t index)
{
    static const char *const k_names[6] = { "k1", "k2", "k3", "k4", "k5", "k6" };
    tsr_pinhole c;
    tsr_calibration_sigma s;
    double rms;
    if (tsr_calibration_camera(r->calibration, index, &c, &s, &rms) != TSR_OK) return;
    put(p, "<section><h2>Camera %d</h2><p>%d x %d pixels, error %.4f pixels.</p><div class='row'><figure>", (int)index, (int)c.width, (int)c.height,
        rms);
    scatter(p, r, index);
    put(p, "<figcaption>Seen less predicted.</figcaption></figure><figure>");
    coverage(p, r, index, &c);
    put(p, "<figcaption>Where points were seen; the cross is the centre.</figcaption></figure>");
    put(p, "<table><tr><th>parameter<th>value<th>standard deviation<th></tr>");
    number_row(p, "fx", c.fx, s.fx, "pixels");
    number_row(p, "fy", c.fy, s.fy, "pixels");
    number_row(p, "cx", c.cx, s.cx, "pixels from the corner");
    number_row(p, "cy", c.cy, s.cy, "pixels from the corner");
    for (int k = 0; k < 6; k++)
        if (c.k[k] != 0 || s.k[k] != 0) number_row(p, k_names[k], c.k[k], s.k[k], "");
    for (int k = 0; k < 2; k++)
        if (c.p[k] != 0 || s.p[k] != 0) number_row(p, k ? "p2" : "p1", c.p[k], s.p[k], "");
    for (int k = 0; k < 3 && (index > 0 || r->info.poses == 1); k++) {
        const char *const names[3] = { "t x", "t y", "t z" };
        number_row(p, names[k], c.translation[k], s.translation[k], r->unit);
    }
    put(p, "</table></div>");
    if (r->picture[index].pixels) pictures(p, &r->picture[index], &c);
    put(p, "</section>");
}

int calibrate_report(const cli_call *cli, const char *path, const calibrate_result *r)
{
    page p = { 0 };
    put(&p,
        "<!DOCTYPE html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>Calibration</title><style>"
        ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 "
        "1em}.row{display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start}"
        "figure{margin:0 0 1em}svg{width:20em;height:auto;max-height:20em;border:1px solid #8886}svg text{font-size:9px;fill:currentColor}");
    put(&p, ".axis,.ring{stroke:#888;stroke-width:.5;fill:none}.frame{fill:#8881}.centre{stroke:currentColor;stroke-width:2}"
            "table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:left;border-bottom:1px solid "
            "#8884}.bar{height:.8em}.warn{border-left:4px solid #e08e00;padding-left:.7em}"
            "figcaption{color:#777}img{margin-right:.5em;max-width:100%%}</style>");
    put(&p,
        "<h1>Calibration</h1><p>%d camera%s, %d pose%s, %lld points seen. Error (root mean square) <b>%.4f pixels</b>; noise of a coordinate %.4f "
        "pixels; %d unknowns; condition "
        "number %.1e; %d steps.</p>",
        (int)r->info.cameras, r->info.cameras == 1 ? "" : "s", (int)r->info.poses, r->info.poses == 1 ? "" : "s", (long long)r->info.sightings,
        r->info.rms, r->info.sigma, (int)r->info.unknowns, r->info.condition, (int)r->info.iterations);
    for (int32_t i = 0; i < r->info.warnings; i++) {
        put(&p, "<p class='warn'>");
        put_plain(&p, tsr_calibration_warning(r->calibration, i));
        put(&p, "</p>");
    }
    for (int32_t c = 0; c < r->info.cameras; c++) one_camera(&p, r, c);
    bars(&p, r);
    put(&p, "</html>\n");
    const int code = p.failed || !p.text ? cli_error(cli, CLI_FAILED, "out of memory") : cli_write_text(cli, path, p.text);
    free(p.text);
    return code;
}
