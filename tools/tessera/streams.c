#include "streams.h"

#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 };

static const char *const filters[] = { "dd97", "legall53", "dd137", "haar", "haar-shift", "fidelity", "daub97" };
static const char *const components[] = { "Y", "C1", "C2" };

/* ---- show ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct totals {
    int64_t units, pictures, intra, forward, between, problems, bytes, motion, padding;
    int64_t kind_bytes[3]; /* intra, forward, between */
    double band[3][TSR_DIRAC_BAND_LEVELS][4];
    int32_t wavelet, depth, group_now, group_longest, group_shortest;
} totals;

typedef struct showing {
    const cli_call *cli;
    const char *path;
    tsr_dirac_inspector *inspector;
    int have_sequence;
    totals all;
    plot bits; /* of each picture: motion, levels from the coarsest on, padding */
    int plotted;
} showing;

static void show_sequence(const showing *s, const tsr_dirac_sequence *q)
{
    static const char *const profiles[] = { "low delay", "simple", "main intra", "high quality", NULL, NULL, NULL, NULL, "main" };
    const char *profile = q->profile >= 0 && q->profile <= 8           ? profiles[q->profile]
                          : q->profile == TSR_DIRAC_PROFILE_STATISTICS ? "statistics, tessera's own: no standard has it"
                                                                       : NULL;
    if (s->cli->globals.json) {
        json_open("sequence", '{');
        json_int("major_version", q->major_version);
        json_int("minor_version", q->minor_version);
        json_int("profile", q->profile);
        json_int("level", q->level);
        json_int("base_format", q->base_format);
        json_int("width", q->width);
        json_int("height", q->height);
        json_text("chroma", tsr_chroma_name(q->chroma));
        json_int("bits", q->luma_depth);
        json_bool("interlaced", q->interlaced);
        json_bool("top_field_first", q->top_field_first);
        json_bool("fields", q->fields);
        json_real("rate", (double)q->rate[0] / q->rate[1]);
        json_close('}');
        return;
    }
    printf("  sequence     version %d.%d, profile %d%s%s%s, level %d, base format %d\n", q->major_version, q->minor_version, q->profile,
           profile ? " (" : "", profile ? profile : "", profile ? ")" : "", q->level, q->base_format);
    printf("  frames       %d x %d, %s, %d bits, %s%s, %g frames a second\n", q->width, q->height, tsr_chroma_name(q->chroma), q->luma_depth,
           !q->interlaced       ? "progressive"
           : q->top_field_first ? "interlaced, top field first"
                                : "interlaced, bottom field first",
           q->fields ? ", a picture each field" : "", (double)q->rate[0] / q->rate[1]);
}

static int64_t bits_of(const tsr_dirac_unit_info *u)
{
    int64_t bits = 0;
    for (int c = 0; c < 3; c++)
        for (int level = 0; level < TSR_DIRAC_BAND_LEVELS; level++)
            for (int band = 0; band < 4; band++) bits += u->band_bits[c][level][band];
    return bits;
}

static void show_picture(const showing *s, const tsr_dirac_unit_info *u)
{
    if (s->cli->globals.json) {
        json_open(NULL, '{');
        json_int("offset", u->offset);
        json_int("bytes", u->bytes);
        json_text("kind", u->name);
        json_int("number", u->number);
        json_open("references", '[');
        for (int32_t r = 0; r < u->references; r++) json_int(NULL, u->reference[r]);
        json_close(']');
        json_text("wavelet", filters[u->wavelet]);
        json_int("depth", u->depth);
        json_int("motion_bits", u->motion_bits);
        json_int("coefficient_bits", bits_of(u));
        json_int("padding_bits", u->padding_bits);
        if (u->quantiser_least >= 0) {
            json_int("quantiser_least", u->quantiser_least);
            json_int("quantiser_most", u->quantiser_most);
        }
        if (u->problem) json_text("problem", u->problem);
        json_close('}');
        return;
    }
    char references[40] = "";
    if (u->references == 1) snprintf(references, sizeof references, "%u", u->reference[0]);
    if (u->references == 2) snprintf(references, sizeof references, "%u %u", u->reference[0], u->reference[1]);
    printf("  %10u  %-52s %-14s %10lld %12lld %10lld\n", u->number, u->name, references, (long long)u->bytes, (long long)bits_of(u),
           (long long)u->motion_bits);
}

static void count(totals *t, const tsr_dirac_unit_info *u)
{
    const int begins = !u->fragment[1];
    t->units++;
    t->bytes += u->bytes;
    t->problems += u->problem != NULL;
    if (!u->is_picture) return;
    const int kind = !u->references ? 0 : u->is_reference ? 1 : 2;
    t->kind_bytes[kind] += u->bytes;
    t->motion += u->motion_bits;
    t->padding += u->padding_bits;
    if (!t->pictures) t->wavelet = u->wavelet;
    if (u->depth + u->depth_horizontal > t->depth) t->depth = u->depth + u->depth_horizontal;
    for (int c = 0; c < 3; c++)
        for (int level = 0; level < TSR_DIRAC_BAND_LEVELS; level++)
            for (int band = 0; band < 4; band++) t->band[c][level][band] += (double)u->band_bits[c][level][band];
    if (!begins) return;
    t->pictures++;
    *(kind == 0 ? &t->intra : kind == 1 ? &t->forward : &t->between) += 1;
    if (kind == 0) {
        if (t->group_now && (!t->group_shortest || t->group_now < t->group_shortest)) t->group_shortest = t->group_now;
        t->group_now = 0;
    }
    t->group_now++;
    if (t->group_now > t->group_longest) t->group_longest = t->group_now;
}

static void show_bands(const showing *s)
{
    static const char *const orientations[] = { "LL", "HL", "LH", "HH" };
    const totals *t = &s->all;
    const double pictures = t->pictures ? (double)t->pictures : 1;
    if (s->cli->globals.json) json_open("band_bits", '[');
    else printf("  bits of a picture's sub-bands, mean\n    level            Y         C1         C2\n");
    for (int level = 0; level <= t->depth; level++)
        for (int band = level > 0; band < (level ? 4 : 1); band++) {
            if (s->cli->globals.json) {
                json_open(NULL, '{');
                json_int("level", level);
                json_text("band", orientations[band]);
                for (int c = 0; c < 3; c++) json_real(components[c], t->band[c][level][band] / pictures);
                json_close('}');
            } else
                printf("    %d %s   %12.1f %10.1f %10.1f\n", level, orientations[band], t->band[0][level][band] / pictures,
                       t->band[1][level][band] / pictures, t->band[2][level][band] / pictures);
        }
    if (s->cli->globals.json) json_close(']');
}

static void show_totals(const showing *s, const tsr_dirac_sequence *q)
{
    const totals *t = &s->all;
    const double seconds = (double)t->pictures / (q->fields ? 2 : 1) * q->rate[1] / q->rate[0];
    if (s->cli->globals.json) {
        json_int("pictures", t->pictures);
        json_int("intra", t->intra);
        json_int("forward", t->forward);
        json_int("between", t->between);
        json_int("bytes", t->bytes);
        json_int("longest_group", t->group_longest);
        json_int("problems", t->problems);
        json_real("bits_per_second", seconds > 0 ? 8 * (double)t->bytes / seconds : (double)NAN);
    } else {
        printf("  pictures     %lld: %lld intra, %lld forward, %lld between; groups of at most %d\n", (long long)t->pictures, (long long)t->intra,
               (long long)t->forward, (long long)t->between, t->group_longest);
        printf("  transform    %s in the first picture, %d levels\n", filters[t->wavelet], t->depth);
        printf("  bytes        %lld: %lld intra, %lld forward, %lld between", (long long)t->bytes, (long long)t->kind_bytes[0],
               (long long)t->kind_bytes[1], (long long)t->kind_bytes[2]);
        if (seconds > 0) printf("; %.6g bits a second", 8 * (double)t->bytes / seconds);
        printf("\n  of them      %lld motion, %lld padding of slices\n", (long long)t->motion / 8, (long long)t->padding / 8);
    }
    show_bands(s);
}

enum { MOTION_ROW, FIRST_LEVEL_ROW, PADDING_ROW = FIRST_LEVEL_ROW + TSR_DIRAC_BAND_LEVELS, BIT_ROWS };

static int plot_picture(showing *s, const tsr_dirac_unit_info *u)
{
    double bits[BIT_ROWS] = { [MOTION_ROW] = (double)u->motion_bits / 8, [PADDING_ROW] = (double)u->padding_bits / 8 };
    if (!s->plotted) return 1;
    for (int level = 0; level < TSR_DIRAC_BAND_LEVELS; level++)
        for (int c = 0; c < 3; c++)
            for (int band = 0; band < 4; band++) bits[FIRST_LEVEL_ROW + level] += (double)u->band_bits[c][level][band] / 8;
    if (!u->fragment[1] || !s->bits.columns) return plot_add(&s->bits, bits);
    for (int k = 0; k < BIT_ROWS; k++) s->bits.value[k][s->bits.columns - 1] += bits[k]; /* more of the same picture */
    return 1;
}

/* Rows that are all 0 are left out. */
static int write_bits(showing *s, const char *path)
{
    static const char *const levels[TSR_DIRAC_BAND_LEVELS] = { "approximation", "level 1", "level 2", "level 3",  "level 4",  "level 5", "level 6",
                                                               "level 7",       "level 8", "level 9", "level 10", "level 11", "level 12" };
    plot shown = { .title = "bytes of each picture, in coded order", .unit = "bytes", .bars = 1, .columns = s->bits.columns };
    for (int k = 0; k < BIT_ROWS; k++) {
        double sum = 0;
        for (int64_t x = 0; x < s->bits.columns; x++) sum += s->bits.value[k][x];
        if (sum <= 0) continue;
        shown.name[shown.count] = k == MOTION_ROW ? "motion" : k == PADDING_ROW ? "padding" : levels[k - FIRST_LEVEL_ROW];
        shown.value[shown.count++] = s->bits.value[k];
    }
    return plot_write(s->cli, path, &shown, 1);
}

/* Units as they come; the table of pictures is open while they do. */
static int drain(showing *s)
{
    int more = 1;
    while (more) {
        tsr_dirac_unit_info unit = TSR_DIRAC_UNIT_INFO;
        const tsr_status status = tsr_dirac_inspector_next(s->inspector, &unit, &more);
        if (status != TSR_OK) return cli_status(s->cli, status, s->path);
        if (!more) break;
        tsr_dirac_sequence q = TSR_DIRAC_SEQUENCE;
        if (!s->have_sequence && tsr_dirac_inspector_sequence(s->inspector, &q) == TSR_OK) {
            s->have_sequence = 1;
            show_sequence(s, &q);
            if (s->cli->globals.json) json_open("pictures_table", '[');
            else printf("  %10s  %-52s %-14s %10s %12s %10s\n", "number", "kind", "from", "bytes", "coefficients", "motion");
        }
        count(&s->all, &unit);
        if (s->have_sequence && unit.is_picture) show_picture(s, &unit);
        if (unit.is_picture && !plot_picture(s, &unit)) return cli_error(s->cli, CLI_FAILED, "out of memory");
        if (unit.problem) cli_error(s->cli, CLI_FAILED, "%s: at byte %lld: %s: %s", s->path, (long long)unit.offset, unit.name, unit.problem);
    }
    return CLI_OK;
}

int streams_show(const cli_call *cli, const char *path, const char *plot_path)
{
    showing s = { .cli = cli, .path = path, .bits.count = BIT_ROWS, .plotted = plot_path != NULL };
    tsr_dirac_source *source = NULL;
    char *piece = (char *)malloc(PIECE);
    size_t got = 1;
    int code = piece ? CLI_OK : cli_error(cli, CLI_FAILED, "out of memory");
    tsr_status status = code ? TSR_OK : tsr_dirac_source_create(path, &source);
    if (status == TSR_OK && !code) status = tsr_dirac_inspector_create(&s.inspector);
    if (status != TSR_OK) code = cli_status(cli, status, path);
    if (!code && cli->globals.json) {
        json_text("kind", "stream");
        json_text("format", "dirac");
    }
    while (!code && got) {
        status = tsr_dirac_source_read(source, piece, PIECE, &got);
        if (status == TSR_OK) status = got ? tsr_dirac_inspector_push(s.inspector, piece, got) : tsr_dirac_inspector_end(s.inspector);
        code = status == TSR_OK ? drain(&s) : cli_status(cli, status, path);
    }
    tsr_dirac_sequence q = TSR_DIRAC_SEQUENCE;
    if (!code && !s.have_sequence) code = cli_error(cli, CLI_FAILED, "%s: no sequence header", path);
    if (s.have_sequence && cli->globals.json) json_close(']');
    if (!code && tsr_dirac_inspector_sequence(s.inspector, &q) == TSR_OK) show_totals(&s, &q);
    if (!code && plot_path) code = write_bits(&s, plot_path);
    if (!code && s.all.problems) code = CLI_FAILED;
    plot_free(&s.bits);
    tsr_dirac_source_destroy(&source);
    free(piece);
    tsr_dirac_inspector_destroy(&s.inspector);
    return code;
}

/* ---- compare ------------------------------------------------------------------------------------------------------------------------------- */

/* Frames of a film, or of a stream. */
typedef struct source {
    const char *path;
    tsr_video_reader *film;
    tsr_dirac_decoder *stream;
    tsr_dirac_source *file;
    char *piece;
    int ended;
    tsr_video_frame frame;
} source;

static int open_source(const cli_call *cli, tsr_context *context, const char *path, source *s)
{
    *s = (source){ .path = path };
    tsr_status status;
    if (!tsr_dirac_recognise(path)) status = tsr_video_reader_create(path, NULL, &s->film);
    else {
        s->piece = (char *)malloc(PIECE);
        if (!s->piece) return cli_error(cli, CLI_FAILED, "out of memory");
        status = tsr_dirac_source_create(path, &s->file);
        if (status == TSR_OK) status = tsr_dirac_decoder_create(context, NULL, &s->stream);
    }
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
}

static void close_source(source *s)
{
    tsr_video_reader_destroy(&s->film);
    tsr_dirac_decoder_destroy(&s->stream);
    tsr_video_frame_destroy(&s->frame);
    tsr_dirac_source_destroy(&s->file);
    free(s->piece);
}

static int next_frame(const cli_call *cli, source *s, int *more)
{
    tsr_status status = TSR_OK;
    if (s->film) {
        status = tsr_video_reader_next_frame(s->film, &s->frame, more);
        return status == TSR_OK ? CLI_OK : cli_status(cli, status, s->path);
    }
    for (;;) {
        status = tsr_dirac_decoder_next(s->stream, &s->frame, NULL, more);
        if (status != TSR_OK) return cli_status(cli, status, s->path);
        if (*more || s->ended) return CLI_OK;
        size_t got = 0;
        status = tsr_dirac_source_read(s->file, s->piece, PIECE, &got);
        s->ended = status == TSR_OK && !got;
        if (status == TSR_OK) status = got ? tsr_dirac_decoder_push(s->stream, s->piece, got) : tsr_dirac_decoder_end(s->stream);
        if (status != TSR_OK) return cli_status(cli, status, s->path);
    }
}

typedef struct mean {
    int64_t frames;
    double error[3], ssim, worst;
} mean;

static void show_frame(const cli_call *cli, int64_t frame, const tsr_video_quality *q)
{
    if (!cli->globals.json) {
        printf("%8lld %9.3f %9.3f %9.3f %9.6f\n", (long long)frame, q->psnr[0], q->psnr[1], q->psnr[2], q->ssim);
        return;
    }
    json_open(NULL, '{');
    for (int c = 0; c < 3; c++) json_real(c == 0 ? "psnr_y" : c == 1 ? "psnr_c1" : "psnr_c2", q->psnr[c]);
    json_real("ssim", q->ssim);
    json_close('}');
}

static void show_mean(const cli_call *cli, const mean *m, double peak)
{
    double psnr[3];
    for (int c = 0; c < 3; c++) psnr[c] = m->error[c] > 0 ? 10 * log10(peak * peak * (double)m->frames / m->error[c]) : (double)INFINITY;
    if (cli->globals.json) {
        json_close(']');
        json_int("frames", m->frames);
        for (int c = 0; c < 3; c++) json_real(c == 0 ? "psnr_y" : c == 1 ? "psnr_c1" : "psnr_c2", psnr[c]);
        json_real("worst_psnr_y", m->worst);
        json_real("ssim", m->ssim / (double)m->frames);
    } else printf("%8s %9.3f %9.3f %9.3f %9.6f\n", "all", psnr[0], psnr[1], psnr[2], m->ssim / (double)m->frames);
}

int streams_compare(const cli_call *cli, double least_psnr, const char *plot_path)
{
    plot plots[2] = { { .title = "PSNR of each frame", .unit = "dB", .count = 3, .name = { "Y", "C1", "C2" } },
                      { .title = "structural similarity of luma", .unit = "SSIM", .count = 1, .name = { "Y" } } };
    source s[2] = { { .path = NULL }, { .path = NULL } };
    tsr_context *context = NULL;
    mean m = { .worst = INFINITY };
    double peak = 255;
    int code = cli_context(cli, &context), differs = 0, more[2] = { 1, 1 };
    for (int k = 0; k < 2 && !code; k++) code = open_source(cli, context, cli->input[k], &s[k]);
    if (!code && cli->globals.json) json_open(NULL, '{'), json_open("frames_table", '[');
    else if (!code) printf("%8s %9s %9s %9s %9s\n", "frame", "PSNR Y", "C1", "C2", "SSIM Y");
    while (!code) {
        tsr_video_quality q = TSR_VIDEO_QUALITY;
        for (int k = 0; k < 2 && !code; k++) code = next_frame(cli, &s[k], &more[k]);
        if (code || !more[0] || !more[1]) break;
        const tsr_status status = tsr_video_compare(&s[0].frame, &s[1].frame, &q);
        if (status != TSR_OK) code = cli_status(cli, status, s[0].path);
        if (code) break;
        show_frame(cli, m.frames++, &q);
        if (plot_path && (!plot_add(&plots[0], q.psnr) || !plot_add(&plots[1], &q.ssim))) code = cli_error(cli, CLI_FAILED, "out of memory");
        if (code) break;
        for (int c = 0; c < 3; c++) m.error[c] += q.error[c];
        m.ssim += q.ssim;
        m.worst = fmin(m.worst, q.psnr[0]);
        differs |= least_psnr >= 0 ? q.psnr[0] < least_psnr : q.error[0] > 0 || q.error[1] > 0 || q.error[2] > 0;
        peak = (1 << s[0].frame.format.bits) - 1;
    }
    if (!code && m.frames) show_mean(cli, &m, peak);
    if (!code && !m.frames) code = cli_error(cli, CLI_FAILED, "%s: no picture in it", more[0] ? cli->input[1] : cli->input[0]);
    if (!code && more[0] != more[1]) {
        cli_note(cli, "%s: ends after %lld frames, the other goes on", more[0] ? cli->input[1] : cli->input[0], (long long)m.frames);
        differs = 1;
    }
    if (!code && plot_path) code = plot_write(cli, plot_path, plots, 2);
    for (int k = 0; k < 2; k++) plot_free(&plots[k]);
    for (int k = 0; k < 2; k++) close_source(&s[k]);
    tsr_context_destroy(&context);
    return code ? code : differs ? CLI_DIFFERS : CLI_OK;
}
