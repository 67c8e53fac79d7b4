/* tools/tessera/render_check.c: which options of `tessera render` go together. */
#include <math.h>
#include <string.h>

#include "render.h"

/* Options that say nothing without another one, or beside another one. */
static int check_needs(const struct render *r)
{
    enum {
        SLICE = 1,
        OBLIQUE = 2,
        EYE = 4,
        CLIP = 8,
        LOOKUP = 16,
        FILM = 32,
        ISOVALUE = 64,
        VIEW = 128,
        GALLERY = 256,
        SWEEP = 512,
        RECORDS = 1024,
        ALONE = 2048
    }; /* ALONE: records without a volume */
    static const struct {
        int option;
        const char *name;
        int needs;            /* one of these */
        const char *expected; /* what that is called */
        int never;            /* any of these */
    } rules[] = {
        { GIVEN_NORMAL, "normal", OBLIQUE, "--slice oblique", 0 },
        { GIVEN_CENTRE, "centre", OBLIQUE, "--slice oblique", 0 },
        { GIVEN_SLICE_HEIGHT, "slice-height", SLICE, "--slice", 0 },
        { GIVEN_POSITION, "position", SLICE, "--slice", SWEEP },
        { GIVEN_PALETTE, "palette", SLICE, "--slice", 0 },
        { GIVEN_LINE_WIDTH, "line-width", SLICE, "--slice", 0 },
        { GIVEN_LINE_COLOR, "line-color", SLICE, "--slice", 0 },
        { GIVEN_NEAREST, "nearest", SLICE, "--slice", 0 },
        { GIVEN_TARGET, "target", EYE, "--eye", 0 },
        { GIVEN_FOV, "fov", EYE, "--eye", 0 },
        { GIVEN_UP, "up", EYE | OBLIQUE, "--eye or --slice oblique", 0 },
        { GIVEN_CLIP_OFFSET, "clip-offset", CLIP, "--clip-normal", 0 },
        { GIVEN_CLIP_FACE, "clip-face", CLIP, "--clip-normal", 0 },
        { GIVEN_CLIP_SURFACE_ONLY, "clip-surface-only", CLIP, "--clip-normal", 0 },
        { GIVEN_CLIP_VOLUME_ONLY, "clip-volume-only", CLIP, "--clip-normal", 0 },
        { GIVEN_LOOKUP_SIZE, "lookup-size", LOOKUP, "--lookup table or preintegrated", 0 },
        { GIVEN_RATE, "rate", FILM, "a film (--turntable, --sweep or several inputs)", 0 },
        { GIVEN_INSIDE_BELOW, "inside-below", ISOVALUE, "--isovalue", RECORDS },
        { GIVEN_CULL, "cull", RECORDS, "--records", 0 },
        { GIVEN_AZIMUTH, "azimuth", 0, NULL, SLICE | VIEW | EYE | GALLERY },
        { GIVEN_ELEVATION, "elevation", 0, NULL, SLICE | VIEW | EYE | GALLERY },
        { GIVEN_PROJECTION, "projection", 0, NULL, SLICE | GALLERY },
        { GIVEN_MODE, "mode", 0, NULL, SLICE | GALLERY | ALONE },
        { GIVEN_TRANSFER, "transfer", 0, NULL, SLICE | ALONE },
        { GIVEN_SURFACE_TRANSFER, "surface-transfer", 0, NULL, SLICE | GALLERY | RECORDS },
        { GIVEN_LOOKUP, "lookup", 0, NULL, SLICE | GALLERY | ALONE },
        { GIVEN_OPACITY_SCALE, "opacity-scale", 0, NULL, SLICE | GALLERY | ALONE },
        { GIVEN_UNSHADED, "unshaded", 0, NULL, SLICE | GALLERY | ALONE },
        { GIVEN_REGION, "region", 0, NULL, SLICE | GALLERY | ALONE },
        { GIVEN_SURFACE_COLOR, "surface-color", 0, NULL, SLICE },
        { GIVEN_SURFACE_OPACITY, "surface-opacity", 0, NULL, SLICE | GALLERY },
        { GIVEN_SURFACE_LAYERS, "surface-layers", 0, NULL, SLICE | GALLERY },
        { GIVEN_FLAT, "flat", 0, NULL, SLICE | GALLERY },
        { GIVEN_AMBIENT_OCCLUSION, "ambient-occlusion", 0, NULL, SLICE | GALLERY },
        { GIVEN_SPECULAR, "specular", 0, NULL, SLICE | GALLERY },
        { GIVEN_CLIP_NORMAL, "clip-normal", 0, NULL, SLICE | GALLERY },
        { GIVEN_STEP, "step", 0, NULL, SLICE | GALLERY | ALONE },
        { GIVEN_JITTER, "jitter", 0, NULL, SLICE | GALLERY | ALONE },
        { GIVEN_BACKGROUND, "background", 0, NULL, SLICE | GALLERY },
        { GIVEN_BACKGROUND_BOTTOM, "background-bottom", 0, NULL, SLICE | GALLERY },
    };
    static const struct {
        int bit;
        const char *name;
    } others[] = { { SWEEP, "--sweep" },
                   { SLICE, "--slice" },
                   { VIEW, "--view" },
                   { EYE, "--eye" },
                   { GALLERY, "--gallery" },
                   { RECORDS, "--records" },
                   { ALONE, "--records without a volume" } };
    const int has = (r->slice_given ? SLICE : 0) | (r->slice_given && r->slice.axis == 3 ? OBLIQUE : 0) | (r->eye_given ? EYE : 0) |
                    (r->options.clip ? CLIP : 0) | (r->options.lookup != TSR_LOOKUP_NONE ? LOOKUP : 0) | (r->film ? FILM : 0) |
                    (r->isovalue_given ? ISOVALUE : 0) | (r->view ? VIEW : 0) | (r->gallery ? GALLERY : 0) | (r->sweep ? SWEEP : 0) |
                    (r->by_records ? RECORDS : 0) | (r->by_records && !r->surface ? ALONE : 0);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const int option = rules[i].option;
        const int given = option == GIVEN_UP ? r->up_given : option == GIVEN_CLIP_NORMAL ? r->options.clip : r->given[option];
        if (!given) continue;
        if (rules[i].needs && !(has & rules[i].needs)) return cli_usage(r->cli, "--%s: expected %s beside it", rules[i].name, rules[i].expected);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (has & rules[i].never & others[k].bit) return cli_usage(r->cli, "--%s: has no effect beside %s", rules[i].name, others[k].name);
    }
    return CLI_OK;
}

int render_check_surface(const struct render *r)
{
    static const struct {
        int option;
        const char *name;
    } of_surface[] = { { GIVEN_SURFACE_TRANSFER, "surface-transfer" },
                       { GIVEN_SURFACE_COLOR, "surface-color" },
                       { GIVEN_SURFACE_OPACITY, "surface-opacity" },
                       { GIVEN_SURFACE_LAYERS, "surface-layers" },
                       { GIVEN_FLAT, "flat" } };
    for (size_t i = 0; i < sizeof of_surface / sizeof *of_surface && !r->surface && !r->isovalue_given; i++)
        if (r->given[of_surface[i].option])
            return cli_usage(r->cli, "--%s: no surface to draw: expected --surface FILE or --isovalue V beside it", of_surface[i].name);
    return CLI_OK;
}

/* The sheet of six is --output, and each picture lies beside it: brain.png, brain-axial.png, ... */
static void gallery_path(const struct render *r, int picture, char path[4096])
{
    static const char *const names[6] = { "sagittal", "coronal", "axial", "view-1", "view-2", "combined" };
    const char *dot = strrchr(r->output, '.');
    int stem = dot && !strchr(dot, '/') ? (int)(dot - r->output) : (int)strlen(r->output);
    snprintf(path, 4096, "%.*s-%s.png", stem, r->output, names[picture]);
}

static int check_gallery(struct render *r)
{
    int code = CLI_OK;
    if (!strcmp(r->output, "-")) return cli_usage(r->cli, "--gallery: writes seven files, expected -o FILE.png instead of '-'");
    for (int i = 0; i < 6 && !code; i++) {
        gallery_path(r, i, r->pictures[i]);
        code = cli_check_write(r->cli, r->pictures[i], TSR_FILE_IMAGE, NULL);
    }
    return code;
}

int render_check(struct render *r)
{
    cli_call *cli = r->cli;
    if (r->slice_given + r->gallery + (r->view || r->eye_given) > 1)
        return cli_usage(cli, "--slice, --gallery, --view and --eye: expected one of them");
    if (r->view && r->eye_given) return cli_usage(cli, "--view and --eye: expected one of them");
    if (r->window_given && (isinf(r->window[0]) || isinf(r->window[1]))) return cli_usage(cli, "--window: expected two finite numbers LOWER:UPPER");
    if (r->window_given && !(r->window[0] < r->window[1]))
        return cli_usage(cli, "--window: %g:%g given, expected LOWER:UPPER in rising order", r->window[0], r->window[1]);
    if (r->turntable && (r->slice_given || r->gallery || r->view || r->eye_given))
        return cli_usage(cli, "--turntable: turns --azimuth, expected no --slice, --gallery, --view or --eye beside it");
    if (r->sweep && (!r->slice_given || r->slice.axis == 3)) return cli_usage(cli, "--sweep: expected --slice x, y or z beside it");
    if (r->sweep && cli->inputs > 1) return cli_usage(cli, "--sweep: expected one input");
    if (r->gallery && cli->inputs > 1) return cli_usage(cli, "--gallery: expected one input");
    if (r->frames_given && !r->turntable && !r->sweep) return cli_usage(cli, "--frames: expected --turntable or --sweep beside it");
    if (r->slice_given && r->passes > 1) return cli_usage(cli, "--passes: of views; a slice is smoothed by --supersampling");
    if (r->by_records && (r->slice_given || r->gallery)) return cli_usage(cli, "--records: of views, expected no --slice or --gallery beside it");
    if (r->by_records && !r->surface && r->window_given) return cli_usage(cli, "--window: has no effect beside --records without a volume");
    if (r->stack && (r->slice_given || r->gallery || r->surface || r->isovalue_given || r->by_records || r->passes > 1))
        return cli_usage(cli, "--stack: of a volume alone, expected no --slice, --gallery, --surface, --isovalue, --records or --passes beside it");
    if (r->stack && r->options.mode != TSR_RENDER_AUTO && r->options.mode != TSR_RENDER_VOLUME)
        return cli_usage(cli, "--stack: has no effect beside --mode other than volume");
    r->film = r->turntable || r->sweep || cli->inputs > 1;
    const int needs = check_needs(r);
    if (needs) return needs;
    if (r->by_records && (r->options.mode == TSR_RENDER_VOLUME || r->options.mode == TSR_RENDER_MIP))
        return cli_usage(cli, "--records: has no effect beside --mode %s", r->options.mode == TSR_RENDER_MIP ? "mip" : "volume");
    if (r->film && r->options.transparent && r->output && !strstr(r->output, ".png"))
        return cli_usage(cli, "--transparent: %s holds no alpha, expected numbered pictures as name-%%04d.png", r->output);
    if (!r->film) {
        int code = cli_check_write(cli, r->output, TSR_FILE_IMAGE, r->output && !strcmp(r->output, "-") ? "png" : NULL);
        return !code && r->gallery ? check_gallery(r) : code;
    }
    return CLI_OK;
}

void render_take_given(struct render *r)
{
    static const struct {
        enum render_given name;
        tsr_given bit;
    } bits[] = { { GIVEN_BACKGROUND, TSR_GIVEN_BACKGROUND_TOP },
                 { GIVEN_BACKGROUND_BOTTOM, TSR_GIVEN_BACKGROUND_BOTTOM },
                 { GIVEN_SURFACE_COLOR, TSR_GIVEN_SURFACE_COLOR },
                 { GIVEN_LINE_COLOR, TSR_GIVEN_LINE_COLOR },
                 { GIVEN_SURFACE_OPACITY, TSR_GIVEN_SURFACE_OPACITY },
                 { GIVEN_OPACITY_SCALE, TSR_GIVEN_OPACITY_SCALE },
                 { GIVEN_CENTRE, TSR_GIVEN_CENTRE } };
    tsr_render_options *o = &r->options;
    if (r->given[GIVEN_BACKGROUND] && !r->given[GIVEN_BACKGROUND_BOTTOM]) {
        o->background[1] = o->background[0];
        r->given[GIVEN_BACKGROUND_BOTTOM] = 1;
    }
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++)
        if (r->given[bits[k].name]) o->given |= bits[k].bit;
    r->slice.given = o->given;
    if (r->given[GIVEN_AMBIENT_OCCLUSION] && o->ambient_occlusion == 0) o->ambient_occlusion = -1;
    if (r->given[GIVEN_SPECULAR] && o->specular == 0) o->specular = -1;
    if (r->given[GIVEN_LINE_WIDTH] && r->slice.line_width == 0) r->slice.line_width = -1;
}
