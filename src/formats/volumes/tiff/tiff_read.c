/* TIFF, read: which pages make the volume, in which order, and where they lie in the world. Pages that lie plainly one behind another are mapped like the
 * voxels of any other file; the rest goes through libtiff (tiff_pages.c). */
#include "formats/volumes/tiff/tiff_pages.h"

#include "formats/contents.h"

#ifdef TSR_HAVE_TIFF

#include "core/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tsr_tiff_close(void *user)
{
    tsr_tiff *t = (tsr_tiff *)user;
    if (!t) return;
    for (int i = 0; i < t->readers; i++) tsr_tiff_reader_close(&t->own[i]);
    tsr_tiff_reader_close(&t->main);
    tsr_tiff_notes_free(&t->notes);
    free(t->own);
    free(t->page);
    free(t->list);
    free(t);
}

/* ---- a file ------------------------------------------------------------------------------------------------------------------------------------ */

static uint64_t number_at(const tsr_tiff_reader *r, uint64_t at, int bytes)
{
    uint64_t value = 0;
    if (r->size < (uint64_t)bytes || at > r->size - (uint64_t)bytes) return 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | r->bytes[at + (uint64_t)(TIFFIsBigEndian(r->tif) ? i : bytes - 1 - i)];
    return value;
}

/* One over the resolution of the page that is set, to the last bit: libtiff gives it in float32. 0: it has none. */
static double exact_spacing(const tsr_tiff_reader *r, uint32_t tag)
{
    const int big = number_at(r, 2, 2) == 43;
    const uint64_t offset = TIFFCurrentDirOffset(r->tif), count = number_at(r, offset, big ? 8 : 2);
    for (uint64_t i = 0; i < count && i < 4096; i++) {
        const uint64_t entry = offset + (big ? 8 + 20 * i : 2 + 12 * i);
        if (number_at(r, entry, 2) != tag || number_at(r, entry + 2, 2) != 5) continue;
        const uint64_t at = big ? entry + 12 : number_at(r, entry + 8, 4);
        const double numerator = (double)number_at(r, at, 4), denominator = (double)number_at(r, at + 4, 4);
        return numerator > 0 && denominator > 0 ? denominator / numerator : 0;
    }
    return 0;
}

/* Headers and description. *text is the description's, within libtiff's memory until another page is set. */
tsr_status tsr_tiff_open(tsr_input *input, tsr_tiff **opened, char **text)
{
    const uint8_t *bytes;
    size_t size;
    const char *description = NULL;
    tsr_status status;
    *opened = NULL;
    *text = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    tsr_tiff *t = (tsr_tiff *)calloc(1, sizeof *t);
    if (!t) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    TSR_TRY_GOTO(tsr_tiff_reader_open(input, bytes, size, &t->main), fail);
    if (TIFFGetField(t->main.tif, TIFFTAG_IMAGEDESCRIPTION, &description) && description && !(*text = strdup(description)))
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: out of memory", tsr_input_name(input));
    for (int k = 0; k < 2; k++) t->spacing[k] = exact_spacing(&t->main, k ? TIFFTAG_YRESOLUTION : TIFFTAG_XRESOLUTION);
    TIFFGetFieldDefaulted(t->main.tif, TIFFTAG_RESOLUTIONUNIT, &t->resolution_unit);
    TSR_TRY_GOTO(tsr_tiff_pages(t), fail);
    *opened = t;
    return TSR_OK;
fail:
    free(*text);
    *text = NULL;
    tsr_tiff_close(t);
    return status;
}

static tsr_status add_series(tsr_contents *contents, int64_t number, const tsr_tiff_page *p, int64_t pages)
{
    char name[24], type[32];
    snprintf(name, sizeof name, "%lld", (long long)number);
    const tsr_contents_entry entry = { "series", name, tsr_tiff_type(p, type), 3, { pages, p->height, p->width } };
    TSR_TRY(tsr_contents_add(contents, &entry));
    return TSR_OK;
}

/* The levels of the pyramid of page `number`: the page itself, and the smaller ones that it names. */
static int64_t count_levels(tsr_tiff *t, int64_t number)
{
    uint64_t *sub = NULL;
    uint16_t subs = 0;
    if (!TIFFSetSubDirectory(t->main.tif, t->page[number].offset)) return 1;
    t->main.current = 0;
    return TIFFGetField(t->main.tif, TIFFTAG_SUBIFD, &subs, &sub) ? 1 + (int64_t)subs : 1;
}

/* Series of pages of one shape, and the levels of the first. OME-XML counts its own. */
static tsr_status list_contents(tsr_tiff *t, tsr_contents *contents)
{
    int64_t count = 0, first = 0;
    int64_t *list = (int64_t *)malloc((size_t)t->pages * sizeof *list);
    tsr_status status = TSR_OK;
    if (!list) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(t->main.input));
    const int64_t series = tsr_tiff_series(t, 0, list, &count, &first), head = first;
    for (int64_t k = 0; k < series && series > 1 && status == TSR_OK; k++) {
        tsr_tiff_series(t, k, list, &count, &first);
        status = add_series(contents, k, &t->page[first], count);
    }
    free(list);
    TSR_TRY(status);
    const int64_t levels = count_levels(t, head);
    for (int64_t k = 0; k < levels && levels > 1; k++) {
        uint64_t *sub = NULL;
        uint16_t subs = 0;
        tsr_tiff_page p = t->page[head];
        char name[24], type[32];
        if (k && TIFFSetSubDirectory(t->main.tif, t->page[head].offset) && TIFFGetField(t->main.tif, TIFFTAG_SUBIFD, &subs, &sub) && k <= subs &&
            TIFFSetSubDirectory(t->main.tif, sub[k - 1]))
            tsr_tiff_look(t->main.tif, &p, t->main.size);
        snprintf(name, sizeof name, "%lld", (long long)k);
        const tsr_contents_entry entry = { "level", name, tsr_tiff_type(&p, type), 2, { p.height, p.width } };
        TSR_TRY(tsr_contents_add(contents, &entry));
    }
    return TSR_OK;
}

tsr_status tsr_tiff_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    tsr_tiff *t;
    char *text;
    (void)options;
    TSR_TRY(tsr_tiff_open(input, &t, &text));
    tsr_tiff_notes notes;
    tsr_status status = tsr_tiff_describe(input, text, t->pages, 0, &notes);
    if (status == TSR_OK && notes.series > 1) {
        for (int64_t k = 0; k < notes.series && status == TSR_OK; k++) {
            tsr_tiff_notes one;
            status = tsr_tiff_describe(input, text, t->pages, k, &one);
            if (status != TSR_OK) break;
            const int64_t first = one.order.page && one.order.page[0] >= 0 ? one.order.page[0] : 0;
            status = add_series(contents, k, &t->page[first], one.order.pages);
            tsr_tiff_notes_free(&one);
        }
        tsr_tiff_notes_free(&notes);
    } else if (status == TSR_OK) {
        tsr_tiff_notes_free(&notes);
        status = list_contents(t, contents);
    }
    free(text);
    tsr_tiff_close(t);
    return status;
}

/* A microscope that was stopped, a copy that broke off: what is there is read, and said. */
static void say_what_is_missing(const tsr_tiff *t)
{
    const tsr_tiff_notes *n = &t->notes;
    int64_t missing = 0;
    for (int64_t i = 0; i < n->order.pages && n->order.page; i++) missing += n->order.page[i] < 0;
    if (missing)
        tsr_remark("%s: of %lld planes that its OME-XML speaks of the file has not %lld: they are zero", tsr_input_name(t->main.input),
                   (long long)n->order.pages, (long long)missing);
    if (t->pages > 1 && n->promised > t->pages)
        tsr_remark("%s: of %lld images that its description speaks of the file has %lld", tsr_input_name(t->main.input), (long long)n->promised,
                   (long long)t->pages);
}

static tsr_status choose_series(tsr_tiff *t, const char *text, const tsr_read_options *options)
{
    const char *name = tsr_input_name(t->main.input);
    const int64_t wanted = options->series_given ? options->series : 0;
    tsr_tiff_notes *n = &t->notes;
    int64_t count = 0;
    if (wanted < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0 or more", name, (long long)wanted);
    TSR_TRY(tsr_tiff_describe(t->main.input, text, t->pages, wanted, n));
    t->list = (int64_t *)malloc((size_t)t->pages * sizeof *t->list);
    if (!t->list) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the numbers of %lld pages", name, (long long)t->pages);
    const int own = n->series > 0; /* OME-XML: every page counts */
    count = own ? n->series : tsr_tiff_series(t, n->contiguous ? 0 : wanted, t->list, &t->listed, &t->first);
    if (wanted >= count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0 to %lld", name, (long long)wanted, (long long)count - 1);
    if (count > 1 && !options->series_given) {
        tsr_contents *contents;
        char shown[400];
        TSR_TRY(tsr_contents_create(&contents));
        tsr_status status = TSR_OK;
        int64_t first = 0, listed = 0;
        int64_t *list = (int64_t *)malloc((size_t)t->pages * sizeof *list);
        for (int64_t k = 0; k < count && !own && list && status == TSR_OK; k++) {
            tsr_tiff_series(t, k, list, &listed, &first);
            status = add_series(contents, k, &t->page[first], listed);
        }
        free(list);
        tsr_contents_show(contents, "series", shown, sizeof shown);
        tsr_contents_destroy(&contents);
        TSR_TRY(status);
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds %lld images%s%s: options.series 0 to %lld says which", name, (long long)count, *shown ? ": " : "",
                 shown, (long long)count - 1);
    }
    if (own) {
        for (int64_t i = 0; i < t->pages; i++) t->list[i] = i;
        t->listed = t->pages;
        for (int64_t i = n->order.pages - 1; i >= 0; i--)
            if (n->order.page[i] >= 0) t->first = n->order.page[i];
    }
    if (n->samples) { /* of which the first page alone has a header */
        const tsr_tiff_page *p = &t->page[t->first];
        const uint64_t per = (uint64_t)p->width * p->height, rest = per ? (uint64_t)n->samples / per : 0;
        const int64_t pages = p->samples ? tsr_max64((int64_t)(rest / p->samples), 1) : 1;
        if (n->order.pages != pages) n->order = (tsr_tiff_order){ .axes = 1, .role = { 'z' }, .size = { pages }, .pages = pages };
    }
    if (!n->order.axes || (!n->order.page && n->order.pages != t->listed && !(n->contiguous && t->pages == 1)))
        n->order = (tsr_tiff_order){ .axes = 1, .role = { 'z' }, .size = { t->listed }, .pages = t->listed };
    say_what_is_missing(t);
    t->page_axes = n->order.axes;
    return TSR_OK;
}

static tsr_status check_page(const tsr_tiff *t, const tsr_input *input)
{
    const tsr_tiff_page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    if (!p->width || !p->height || !p->samples)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: page %lld has %u x %u pixels of %u samples, expected 1 or more", tsr_input_name(input),
                 (long long)t->first, p->width, p->height, p->samples);
    if (p->compression == COMPRESSION_OJPEG || !TIFFIsCODECConfigured(p->compression))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: packed by method %u, which this libtiff does not unpack: tifffile (imagecodecs) or bfconvert do",
                 tsr_input_name(input), p->compression);
    if (p->depth > 1)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: page %lld holds %u slices (ImageDepth), expected a page for each: tifffile rewrites it",
                 tsr_input_name(input), (long long)t->first, p->depth);
    if (p->photometric == PHOTOMETRIC_YCBCR)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: colours as luminance and chrominance (YCbCr), expected RGB or grey", tsr_input_name(input));
    const int64_t named = o->page ? o->pages : tsr_min64(o->pages, t->listed); /* of one header for all it says any number */
    for (int64_t i = 0; i < named && t->page_axes; i++) {
        const int64_t number = o->page ? o->page[i] : t->list[i];
        const tsr_tiff_page *q = number >= 0 ? &t->page[number] : p;
        if (!tsr_tiff_same_kind(p, q) || q->planar != p->planar)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: page %lld is %u x %u of %u bits, page %lld of the same image %u x %u of %u bits",
                     tsr_input_name(input), (long long)number, q->width, q->height, q->bits, (long long)t->first, p->width, p->height, p->bits);
    }
    return TSR_OK;
}

/* Before memory is taken: could the file hold so much? */
static tsr_status check_size(const tsr_tiff *t, const tsr_input *input)
{
    const tsr_tiff_page *p = &t->page[t->first];
    const uint64_t most = p->compression == COMPRESSION_NONE                                                     ? 1
                          : p->compression == COMPRESSION_PACKBITS                                               ? 64
                          : p->compression == COMPRESSION_ADOBE_DEFLATE || p->compression == COMPRESSION_DEFLATE ? 1040
                          : p->compression == COMPRESSION_LZW                                                    ? 4096
                                                                                                                 : 0;
    const uint64_t bits = (uint64_t)p->bits * p->samples * p->width; /* at most 2^64 / 2^16 */
    uint64_t bytes;
    if (__builtin_mul_overflow(bits / 8, (uint64_t)p->height, &bytes) || (most && t->level == 0 && bytes / most > t->main.size))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: TIFF page %lld asks for %u x %u x %u samples of %u bits, the file has %llu bytes",
                 tsr_input_name(input), (long long)t->first, p->width, p->height, p->samples, p->bits, (unsigned long long)t->main.size);
    return TSR_OK;
}

static tsr_status choose_level(tsr_tiff *t, const tsr_read_options *options)
{
    const int64_t levels = count_levels(t, t->first);
    const tsr_tiff_page *p = &t->page[t->first];
    uint64_t *sub = NULL;
    uint16_t subs = 0;
    tsr_tiff_page small = *p;
    t->level = options->level_given ? options->level : 0;
    if (t->level < 0 || t->level >= levels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.level is %lld, expected 0%s: the file has %lld level%s", tsr_input_name(t->main.input),
                 (long long)t->level, levels > 1 ? " to the last of them" : "", (long long)levels, levels > 1 ? "s" : "");
    if (t->level) {
        if (!TIFFGetField(t->main.tif, TIFFTAG_SUBIFD, &subs, &sub) || t->level > subs || !TIFFSetSubDirectory(t->main.tif, sub[t->level - 1]))
            return tsr_tiff_fail(&t->main, "level", t->level);
        tsr_tiff_look(t->main.tif, &small, t->main.size);
    }
    t->width = small.width;
    t->height = small.height;
    if (!t->width || !t->height) TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: level %lld has no pixels", tsr_input_name(t->main.input), (long long)t->level);
    return TSR_OK;
}

/* Resolution, unit and origin become the geometry. */
static tsr_status place(tsr_tiff *t)
{
    tsr_tiff_notes *n = &t->notes;
    tsr_volume *holder = n->holder;
    double(*a)[4] = holder->geometry.affine;
    const tsr_tiff_page *p = &t->page[t->first];
    if (!n->placed && !n->has_xy) {
        const int named = tsr_volume_unit(holder) > 0 || n->contiguous == 1;
        const double per = named ? 1 : t->resolution_unit == RESUNIT_CENTIMETER ? 10 : t->resolution_unit == RESUNIT_INCH ? 25.4 : 1;
        int known = 0;
        for (int k = 0; k < 2; k++) {
            if (t->spacing[k] == 0) continue;
            a[k][k] = per * t->spacing[k];
            known = 1;
        }
        if (known && !named && t->resolution_unit != RESUNIT_NONE && t->resolution_unit) TSR_TRY(tsr_volume_set_unit(holder, "mm"));
    }
    if (!n->placed && !n->has_z) a[2][2] = a[0][0]; /* nothing says it: as far as along x */
    for (int k = 0; k < 3 && !n->placed; k++) a[k][3] -= n->origin[k] * a[k][k];
    if (t->level) {
        const double fx = (double)p->width / (double)t->width, fy = (double)p->height / (double)t->height;
        for (int r = 0; r < 3; r++) {
            a[r][3] += a[r][0] * (fx - 1) / 2 + a[r][1] * (fy - 1) / 2; /* the centre of the first pixel of the level */
            a[r][0] *= fx;
            a[r][1] *= fy;
        }
    }
    return TSR_OK;
}

static void make_array(tsr_tiff *t, tsr_stored *a)
{
    const tsr_tiff_page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    const int planes = p->planar == PLANARCONFIG_SEPARATE;
    *a = (tsr_stored){ .dtype = t->dtype, .field = "the TIFF pages", .user = t, .read = tsr_tiff_array, .close = tsr_tiff_close };
    for (int k = o->axes - 1; k >= 0; k--) {
        a->role[a->axes] = o->role[k];
        a->size[a->axes] = o->size[k];
        a->chunk[a->axes++] = 1;
    }
    const char roles[4] = { 'c', 'y', 'x', 'c' };
    const int64_t size[4] = { p->samples, t->height, t->width, p->samples };
    for (int k = 0; k < 4; k++) {
        if ((k == 0 || k == 3) && (p->samples == 1 || planes != (k == 0))) continue;
        a->role[a->axes] = roles[k];
        a->size[a->axes] = size[k];
        a->chunk[a->axes++] = k == 1 ? tsr_max64(t->rows, 1) : size[k];
    }
}

/* Pages of channels whose pixels have samples, too: one number for both. */
static tsr_status join_channels(tsr_tiff *t, const tsr_read_options *options, tsr_stored *a)
{
    int pages = -1, samples = -1;
    for (int k = 0; k < a->axes; k++)
        if (a->role[k] == 'c' && a->size[k] > 1) *(k < (int)t->page_axes ? &pages : &samples) = k;
    a->color = samples >= 0 && pages < 0 && a->size[samples] <= 4;
    for (int k = 0; k < (int)t->page_axes; k++) a->color &= a->size[k] == 1;
    if (pages < 0 || samples < 0) return TSR_OK;
    const int64_t per = a->size[samples], all = a->size[pages] * per, wanted = options->channel;
    if (!options->channel_given)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: holds %lld channels (%lld of %lld samples), a volume is one of them: options.channel 0 to %lld says which",
                 tsr_input_name(t->main.input), (long long)all, (long long)a->size[pages], (long long)per, (long long)all - 1);
    if (wanted < 0 || wanted >= all)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.channel is %lld, expected 0 to %lld", tsr_input_name(t->main.input), (long long)wanted,
                 (long long)all - 1);
    a->role[pages] = a->role[samples] = '.';
    a->pick[pages] = wanted / per;
    a->pick[samples] = wanted % per;
    a->parts[TSR_PART_CHANNEL] = all;
    return TSR_OK;
}

/* Where the pages lie, if they do so plainly one behind another; -1: they do not. */
static int64_t plain_pages(const tsr_tiff *t)
{
    const tsr_tiff_page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    const int64_t bytes = (int64_t)p->width * p->height * (p->bits / 8);
    if (p->plain < 0 || t->level) return -1;
    if (t->notes.contiguous && t->pages == 1) return p->plain; /* ImageJ writes one header for many, too */
    for (int64_t i = 0; i < o->pages; i++) {
        const int64_t number = o->page ? o->page[i] : t->list[i];
        if (number < 0 || t->page[number].plain != t->page[o->page ? o->page[0] : t->list[0]].plain + i * bytes) return -1;
    }
    return t->page[o->page ? o->page[0] : t->list[0]].plain;
}

static tsr_status read_plain(tsr_tiff *t, tsr_input *input, const tsr_read_options *options, int64_t offset, tsr_volume **volume)
{
    const tsr_tiff_page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    static const char *const names[] = { "the TIFF pages", "channels" };
    tsr_axes axes = { 0 };
    tsr_layout layout = { .dtype = t->dtype, .swap = p->bits > 8 && TIFFIsByteSwapped(t->main.tif) };
    tsr_block block;
    tsr_axes_space(&axes, p->width);
    tsr_axes_space(&axes, p->height);
    for (int k = 0; k < o->axes; k++) {
        if (o->role[k] == 'z') tsr_axes_space(&axes, o->size[k]);
        else
            TSR_TRY(
                tsr_axes_part(&axes, o->role[k] == 't' ? TSR_PART_FRAME : TSR_PART_CHANNEL, o->size[k], names[o->role[k] == 'c'], input, options));
    }
    axes.trailer = 1;
    TSR_TRY(tsr_axes_read(&axes, input, offset, NULL, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &t->notes.holder->geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    return TSR_OK;
}

static tsr_status keep_texts(tsr_tiff *t)
{
    static const struct {
        uint32_t tag;
        const char *key;
    } texts[] = { { TIFFTAG_SOFTWARE, "tiff.software" }, { TIFFTAG_DATETIME, "tiff.datetime" }, { TIFFTAG_ARTIST, "tiff.artist" } };
    const tsr_tiff_page *p = &t->page[t->first];
    const char *value;
    if (!TIFFSetSubDirectory(t->main.tif, t->page[0].offset)) return tsr_tiff_fail(&t->main, "page", 0);
    t->main.current = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (TIFFGetField(t->main.tif, texts[i].tag, &value) && value && *value && strncmp(value, "tessera", 7))
            TSR_TRY(tsr_volume_set_meta(t->notes.holder, texts[i].key, value));
    if (p->photometric == PHOTOMETRIC_MINISWHITE) TSR_TRY(tsr_volume_set_meta(t->notes.holder, "tiff.photometric", "0 is white"));
    if (p->photometric == PHOTOMETRIC_PALETTE) TSR_TRY(tsr_volume_set_meta(t->notes.holder, "tiff.photometric", "numbers of a palette"));
    if (t->main.warning[0]) TSR_TRY(tsr_volume_set_meta(t->notes.holder, "tiff.warning", t->main.warning));
    return TSR_OK;
}

static tsr_status build(tsr_tiff *t, tsr_input *input, const char *text, const tsr_read_options *options, tsr_stored *a)
{
    uint32_t rows = 0;
    TSR_TRY(choose_series(t, text, options));
    TSR_TRY(check_page(t, input));
    TSR_TRY(tsr_tiff_dtype(input, &t->page[t->first], &t->dtype));
    TSR_TRY(keep_texts(t));
    TSR_TRY(choose_level(t, options));
    TSR_TRY(check_size(t, input));
    TSR_TRY(place(t));
    if (TIFFIsTiled(t->main.tif)) TIFFGetField(t->main.tif, TIFFTAG_TILELENGTH, &rows);
    else TIFFGetFieldDefaulted(t->main.tif, TIFFTAG_ROWSPERSTRIP, &rows);
    t->rows = rows && rows < t->height ? rows : t->height;
    t->readers = tsr_parallel_default_threads();
    t->own = (tsr_tiff_reader *)calloc((size_t)t->readers, sizeof *t->own);
    if (!t->own) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    make_array(t, a);
    TSR_TRY(join_channels(t, options, a));
    return TSR_OK;
}

tsr_status tsr_tiff_prepare(tsr_tiff *t, tsr_input *input, tsr_stored *a)
{
    uint32_t rows = 0;
    const tsr_tiff_page *p = &t->page[0];
    t->page_axes = 0; /* the pages of this file are not those of the image */
    TSR_TRY(check_page(t, input));
    TSR_TRY(tsr_tiff_dtype(input, p, &t->dtype));
    TSR_TRY(keep_texts(t));
    TSR_TRY(check_size(t, input));
    t->width = p->width, t->height = p->height;
    TSR_TRY(place(t));
    if (TIFFIsTiled(t->main.tif)) TIFFGetField(t->main.tif, TIFFTAG_TILELENGTH, &rows);
    else TIFFGetFieldDefaulted(t->main.tif, TIFFTAG_ROWSPERSTRIP, &rows);
    t->rows = rows && rows < t->height ? rows : t->height;
    make_array(t, a);
    return TSR_OK;
}

/* OME-XML that names files: are they several, or another one? Then the file is read with them and adopted: *taken. */
static tsr_status read_others(tsr_tiff *t, tsr_input *input, const char *text, const tsr_read_options *options, tsr_volume **volume, int *taken)
{
    const int64_t wanted = options->series_given ? options->series : 0;
    *taken = 0;
    if (!text || !strstr(text, "FileName=") || wanted < 0) return TSR_OK;
    TSR_TRY(tsr_tiff_describe(input, text, t->pages, wanted, &t->notes));
    if (!t->notes.order.file || wanted >= t->notes.series || (t->notes.series > 1 && !options->series_given)) {
        tsr_tiff_notes_free(&t->notes);
        return TSR_OK;
    }
    *taken = 1;
    return tsr_tiff_read_files(t, input, options, volume);
}

tsr_status tsr_tiff_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_tiff *t;
    char *text;
    tsr_stored array;
    tsr_volume *holder = NULL;
    *volume = NULL;
    TSR_TRY(tsr_tiff_open(input, &t, &text));
    int taken;
    tsr_status status = read_others(t, input, text, options, volume, &taken);
    if (taken) {
        free(text);
        return status;
    }
    if (status == TSR_OK) status = build(t, input, text, options, &array);
    free(text);
    if (status != TSR_OK) {
        tsr_tiff_close(t);
        return status;
    }
    holder = t->notes.holder;
    t->notes.holder = NULL;
    const int64_t plain = plain_pages(t);
    const int behind_one = t->notes.contiguous && t->pages == 1 && t->notes.order.pages > 1; /* of many images: mapped, then the box is cut out */
    if (plain >= 0 && (!options->box_given || (behind_one && !tsr_input_settings(input)->place)) && !array.parts[TSR_PART_CHANNEL]) {
        t->notes.holder = holder;
        status = read_plain(t, input, options, plain, volume);
        if (status == TSR_OK && options->box_given) status = tsr_box_cut(tsr_input_name(input), options->box, volume);
        t->notes.holder = NULL;
        tsr_tiff_close(t);
    } else if (behind_one) {
        tsr_tiff_close(t);
        status =
            TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: TIFF: many images behind one header, of which no colours and nothing packed can be read, and no box in pieces",
                       tsr_input_name(input));
    } else status = tsr_stored_volume(&array, input, options, &holder->geometry, volume);
    if (status == TSR_OK) status = tsr_volume_take_header(*volume, holder);
    tsr_volume_destroy(&holder);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(status);
    return TSR_OK;
}

#else

static tsr_status left_out(const tsr_input *input)
{
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: is a TIFF image, which this build does not read: it has no libtiff; package libtiff-dev",
             tsr_input_name(input));
}

tsr_status tsr_tiff_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    (void)options;
    *volume = NULL;
    return left_out(input);
}

tsr_status tsr_tiff_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    (void)options, (void)contents;
    return left_out(input);
}

#endif
