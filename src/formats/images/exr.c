/* formats/images/exr.c: OpenEXR pictures through OpenEXRCore: scan lines and tiles of half, float and uint, in every packing that the library knows. A volume of float32
 * (u32 where all channels are uint) whose third axis counts the channels: R G B A or Y A first, then the others as the file lists them; their names are metadata
 * "exr.channels", and the first pixel of the data window is the origin. Deep pictures and subsampled channels are refused. Written with ZIP; half where every
 * value is one. */
#include <string.h>

#include "formats/images/rasters.h"

#ifdef TSR_HAVE_OPENEXR

#include <openexr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/contents.h"
#include "formats/images/exr_notes.h"
#include "formats/volume_files.h"
#include "io/half.h"
#include "io/inflate.h"

enum { CHANNELS_MOST = 1024 };

/* What the library reads from, writes to and says. */
typedef struct exr_state {
    const uint8_t *bytes;
    int64_t size;
    uint8_t *written;
    int64_t used, room;
    char message[256];
} exr_state;

static _Thread_local exr_state *speaking; /* the library's errors come without the user data */

static void on_error(exr_const_context_t context, exr_result_t code, const char *text)
{
    (void)context, (void)code;
    if (speaking) snprintf(speaking->message, sizeof speaking->message, "%s", text ? text : "");
}

static int64_t on_read(exr_const_context_t context, void *user, void *to, uint64_t size, uint64_t offset, exr_stream_error_func_ptr_t error)
{
    const exr_state *s = (const exr_state *)user;
    (void)context, (void)error;
    if (offset >= (uint64_t)s->size) return 0;
    const uint64_t left = (uint64_t)s->size - offset, n = size < left ? size : left;
    memcpy(to, s->bytes + offset, (size_t)n);
    return (int64_t)n;
}

static int64_t on_size(exr_const_context_t context, void *user)
{
    (void)context;
    return ((const exr_state *)user)->size;
}

static int64_t on_write(exr_const_context_t context, void *user, const void *from, uint64_t size, uint64_t offset, exr_stream_error_func_ptr_t error)
{
    exr_state *s = (exr_state *)user;
    (void)context, (void)error;
    const int64_t end = (int64_t)(offset + size);
    if (end > s->room) {
        const int64_t room = end + end / 2 + 4096;
        uint8_t *grown = (uint8_t *)realloc(s->written, (size_t)room);
        if (!grown) return -1;
        memset(grown + s->room, 0, (size_t)(room - s->room));
        s->written = grown;
        s->room = room;
    }
    memcpy(s->written + offset, from, (size_t)size);
    s->used = end > s->used ? end : s->used;
    return (int64_t)size;
}

static exr_context_initializer_t settings_of(exr_state *s)
{
    exr_context_initializer_t c = EXR_DEFAULT_CONTEXT_INITIALIZER;
    c.error_handler_fn = on_error;
    c.user_data = s;
    speaking = s;
    return c;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct exr_reader {
    tsr_input *input;
    const char *file;
    exr_context_t context;
    exr_state state;
    int32_t width, height, left, top, channels;
    int tiled, whole_numbers;
    int part;                                        /* of the file, which may hold several pictures */
    exr_result_t (*unpack)(exr_decode_pipeline_t *); /* of the packing of the file */
    uint8_t *scratch;                                /* of one chunk that ZIP packed */
    size_t scratch_room;
    int16_t order[CHANNELS_MOST];                    /* order[c]: where channel c of the file goes */
    char names[1024];
    uint8_t *to;
} exr_reader;

static tsr_status failed(const exr_reader *r, const char *what)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged EXR picture: %s%s%s", r->file, what, *r->state.message ? ": " : "", r->state.message);
}

/* Colours first, in the order in which they are spoken of. */
static int rank_of(const char *name, int index)
{
    static const char *const first[] = { "R", "G", "B", "Y", "A" };
    for (int k = 0; k < 5; k++)
        if (!strcmp(name, first[k])) return k - 5;
    return index;
}

static tsr_status take_channels(exr_reader *r)
{
    const exr_attr_chlist_t *list = NULL;
    size_t used = 0;
    if (exr_get_channels(r->context, r->part, &list) != EXR_ERR_SUCCESS || !list || list->num_channels < 1) return failed(r, "no channels");
    if (list->num_channels > CHANNELS_MOST)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: an EXR picture of %d channels, expected at most %d", r->file, list->num_channels, (int)CHANNELS_MOST);
    r->channels = list->num_channels;
    r->whole_numbers = 1;
    for (int c = 0; c < r->channels; c++) {
        const exr_attr_chlist_entry_t *e = &list->entries[c];
        if (e->x_sampling != 1 || e->y_sampling != 1)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: EXR channel '%.40s' has fewer samples than pixels (luminance and chroma), expected one each",
                     r->file, e->name.str);
        if (e->pixel_type != EXR_PIXEL_UINT) r->whole_numbers = 0;
        r->order[c] = 0;
        for (int other = 0; other < r->channels; other++)
            r->order[c] = (int16_t)(r->order[c] + (rank_of(list->entries[other].name.str, other) < rank_of(e->name.str, c)));
    }
    for (int place = 0; place < r->channels; place++)
        for (int c = 0; c < r->channels; c++)
            if (r->order[c] == place && used + strlen(list->entries[c].name.str) + 2 < sizeof r->names)
                used += (size_t)snprintf(r->names + used, sizeof r->names - used, "%s%s", used ? " " : "", list->entries[c].name.str);
    return TSR_OK;
}

static tsr_status take_header(exr_reader *r, const tsr_read_options *options)
{
    exr_storage_t storage = EXR_STORAGE_SCANLINE;
    exr_attr_box2i_t window;
    int parts = 0;
    if (exr_get_count(r->context, &parts) != EXR_ERR_SUCCESS || parts < 1) return failed(r, "no part");
    if (options->series_given && (options->series < 0 || options->series >= parts))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0 to %d: the parts of the EXR file", r->file, (long long)options->series, parts - 1);
    r->part = options->series_given ? (int)options->series : 0;
    if (exr_get_storage(r->context, r->part, &storage) != EXR_ERR_SUCCESS) return failed(r, "no part");
    if (storage == EXR_STORAGE_DEEP_SCANLINE || storage == EXR_STORAGE_DEEP_TILED)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a deep EXR picture (several samples a pixel), expected a flat one: exrflatten or the renderer makes it",
                 r->file);
    if (parts > 1 && !options->series_given) tsr_remark("%s: of %d parts of the EXR file the first is read (options.series chooses another)", r->file, parts);
    r->tiled = storage == EXR_STORAGE_TILED;
    if (exr_get_data_window(r->context, r->part, &window) != EXR_ERR_SUCCESS) return failed(r, "no data window");
    const int64_t w = (int64_t)window.max.x - window.min.x + 1, h = (int64_t)window.max.y - window.min.y + 1;
    if (w < 1 || h < 1 || w > INT32_MAX || h > INT32_MAX) return failed(r, "an impossible data window");
    r->width = (int32_t)w, r->height = (int32_t)h, r->left = window.min.x, r->top = window.min.y;
    return take_channels(r);
}

/* Voxels that packing did not make smaller lie in the file as they are; OpenEXRCore 3.1 takes those of B44 for packed ones. */
static exr_result_t take_stored(exr_decode_pipeline_t *decode)
{
    memcpy(decode->unpacked_buffer, decode->packed_buffer, (size_t)decode->chunk.unpacked_size);
    return EXR_ERR_SUCCESS;
}

/* ZIP: the bytes, even ones first, as differences, deflated. Done here: the library's own takes twice as long. */
static exr_result_t take_zipped(exr_decode_pipeline_t *decode)
{
    exr_reader *r = (exr_reader *)decode->decoding_user_data;
    const size_t n = (size_t)decode->chunk.unpacked_size, half = (n + 1) / 2;
    uint8_t *to = (uint8_t *)decode->unpacked_buffer, even = 0, odd = 0;
    size_t stored = 0;
    int over = 0;
    if (n > r->scratch_room) {
        uint8_t *grown = (uint8_t *)realloc(r->scratch, n);
        if (!grown) return EXR_ERR_OUT_OF_MEMORY;
        r->scratch = grown;
        r->scratch_room = n;
    }
    const uint8_t *const s = r->scratch;
    if (tsr_inflate_whole(r->file, (const uint8_t *)decode->packed_buffer, (size_t)decode->chunk.packed_size, TSR_WRAPPER_ZLIB, r->scratch, n, &stored, &over) != TSR_OK || over ||
        stored != n)
        return EXR_ERR_CORRUPT_CHUNK;
    for (size_t i = 0; i < half; i++) odd = (uint8_t)(odd + s[i] + 128); /* the last of the first half, with one 128 too many ... */
    even = 128;                                                          /* ... as here, where the first byte is no difference */
    odd = (uint8_t)(odd + 128);
    for (size_t i = 0; i < n / 2; i++) {
        to[2 * i] = even = (uint8_t)(even + s[i] + 128);
        to[2 * i + 1] = odd = (uint8_t)(odd + s[half + i] + 128);
    }
    if (n % 2) to[n - 1] = (uint8_t)(even + s[half - 1] + 128);
    return EXR_ERR_SUCCESS;
}

/* One chunk: rows, or a tile, from column x and row y on. */
static tsr_status take_chunk(exr_reader *r, const exr_chunk_info_t *chunk, int64_t x, int64_t y, exr_decode_pipeline_t *decode, int *begun)
{
    exr_result_t code = *begun ? exr_decoding_update(r->context, r->part, chunk, decode) : exr_decoding_initialize(r->context, r->part, chunk, decode);
    const int first = !*begun;
    *begun |= code == EXR_ERR_SUCCESS;
    if (code != EXR_ERR_SUCCESS || decode->channel_count != r->channels) return failed(r, "a chunk that cannot be begun");
    if (y < 0 || x < 0 || chunk->height > r->height - y || chunk->width > r->width - x) return failed(r, "a chunk that leaves the picture");
    for (int c = 0; c < r->channels; c++) {
        exr_coding_channel_info_t *channel = &decode->channels[c];
        channel->decode_to_ptr = r->to + 4 * (((int64_t)r->order[c] * r->height + y) * r->width + x);
        channel->user_bytes_per_element = 4;
        channel->user_data_type = r->whole_numbers ? EXR_PIXEL_UINT : EXR_PIXEL_FLOAT;
        channel->user_pixel_stride = 4;
        channel->user_line_stride = r->width * 4;
    }
    if (first && exr_decoding_choose_default_routines(r->context, r->part, decode) != EXR_ERR_SUCCESS) return failed(r, "a packing that is not known");
    if (first) {
        exr_compression_t packing = EXR_COMPRESSION_NONE;
        (void)exr_get_compression(r->context, r->part, &packing);
        decode->decoding_user_data = r;
        r->unpack = packing == EXR_COMPRESSION_ZIP || packing == EXR_COMPRESSION_ZIPS ? take_zipped : decode->decompress_fn;
    }
    if (r->unpack) decode->decompress_fn = chunk->packed_size == chunk->unpacked_size ? take_stored : r->unpack;
    if (exr_decoding_run(r->context, r->part, decode) != EXR_ERR_SUCCESS) return failed(r, "a chunk");
    return TSR_OK;
}

static tsr_status take_pixels(exr_reader *r, exr_decode_pipeline_t *decode, int *begun, const tsr_progress *progress)
{
    exr_chunk_info_t chunk;
    int32_t lines = 1, tile_width = 1, tile_height = 1;
    if (!r->tiled) {
        if (exr_get_scanlines_per_chunk(r->context, r->part, &lines) != EXR_ERR_SUCCESS || lines < 1) return failed(r, "chunks of no lines");
        for (int64_t y = 0; y < r->height; y += lines) {
            TSR_PROGRESS(progress, (double)y / r->height, "reading");
            if (exr_read_scanline_chunk_info(r->context, r->part, (int)(r->top + y), &chunk) != EXR_ERR_SUCCESS)
                return failed(r, "a chunk that is not there");
            TSR_TRY(take_chunk(r, &chunk, 0, y, decode, begun));
        }
        return TSR_OK;
    }
    if (exr_get_tile_sizes(r->context, r->part, 0, 0, &tile_width, &tile_height) != EXR_ERR_SUCCESS || tile_width < 1 || tile_height < 1)
        return failed(r, "tiles of no size");
    for (int64_t y = 0; y < r->height; y += tile_height)
        for (int64_t x = 0; x < r->width; x += tile_width) {
            TSR_PROGRESS(progress, (double)y / r->height, "reading");
            if (exr_read_tile_chunk_info(r->context, r->part, (int)(x / tile_width), (int)(y / tile_height), 0, 0, &chunk) != EXR_ERR_SUCCESS)
                return failed(r, "a tile that is not there");
            TSR_TRY(take_chunk(r, &chunk, x, y, decode, begun));
        }
    return TSR_OK;
}

static tsr_status read_open(exr_reader *r, const tsr_read_options *options, tsr_volume **volume)
{
    exr_decode_pipeline_t decode = EXR_DECODE_PIPELINE_INITIALIZER;
    int begun = 0;
    TSR_TRY(take_header(r, options));
    /* no packing of the library makes much more than a thousand bytes of one */
    if ((int64_t)r->width * r->height / 4096 * r->channels > r->state.size * 16)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %d x %d pixels of %d channels do not fit in %lld bytes", r->file, r->width, r->height, r->channels,
                 (long long)r->state.size);
    TSR_TRY(tsr_raster_volume(r->input, r->width, r->height, r->channels, volume));
    if (r->whole_numbers) (*volume)->dtype = TSR_U32; /* four bytes, too */
    r->to = (uint8_t *)(*volume)->data;
    const tsr_status status = take_pixels(r, &decode, &begun, &options->progress);
    if (begun) exr_decoding_destroy(r->context, &decode);
    TSR_TRY(status);
    (*volume)->geometry.affine[0][3] = r->left;
    (*volume)->geometry.affine[1][3] = r->top;
    TSR_TRY(tsr_exr_take_notes(r->context, r->part, *volume));
    TSR_TRY(tsr_volume_set_meta(*volume, "exr.channels", r->names));
    return TSR_OK;
}

/* The header; closed by exr_finish. */
static tsr_status start(tsr_input *input, exr_reader *r)
{
    size_t size;
    r->input = input;
    r->file = tsr_input_name(input);
    TSR_TRY(tsr_input_all(input, &r->state.bytes, &size));
    r->state.size = (int64_t)size;
    exr_context_initializer_t settings = settings_of(&r->state);
    settings.read_fn = on_read;
    settings.size_fn = on_size;
    if (exr_start_read(&r->context, "picture", &settings) != EXR_ERR_SUCCESS) return failed(r, "its header");
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    exr_reader *r = (exr_reader *)calloc(1, sizeof *r);
    if (!r) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    tsr_status status = start(input, r);
    if (status == TSR_OK) {
        status = read_open(r, options, volume);
        exr_finish(&r->context);
    }
    speaking = NULL;
    free(r->scratch);
    free(r);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

/* The parts, by their numbers. */
static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    exr_reader *r = (exr_reader *)calloc(1, sizeof *r);
    int parts = 0;
    (void)options;
    if (!r) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    tsr_status status = start(input, r);
    if (status == TSR_OK && exr_get_count(r->context, &parts) != EXR_ERR_SUCCESS) parts = 0;
    for (int k = 0; k < parts && parts > 1 && status == TSR_OK; k++) {
        const exr_attr_chlist_t *channels = NULL;
        const char *called = NULL;
        exr_attr_box2i_t window;
        char name[16], type[100];
        if (exr_get_data_window(r->context, k, &window) != EXR_ERR_SUCCESS || exr_get_channels(r->context, k, &channels) != EXR_ERR_SUCCESS || !channels) continue;
        const int named = exr_get_name(r->context, k, &called) == EXR_ERR_SUCCESS && called;
        snprintf(name, sizeof name, "%d", k);
        snprintf(type, sizeof type, "part%s%.80s%s", named ? " '" : "", named ? called : "", named ? "'" : "");
        const tsr_contents_entry entry = { .kind = "series", .name = name, .type = type, .axes = 3,
                                           .size = { channels->num_channels, (int64_t)window.max.y - window.min.y + 1, (int64_t)window.max.x - window.min.x + 1 } };
        status = tsr_contents_add(contents, &entry);
    }
    if (r->context) exr_finish(&r->context);
    speaking = NULL;
    free(r);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------ */

static int all_halves(const tsr_volume *v)
{
    const uint32_t *bits = (const uint32_t *)v->data;
    for (int64_t i = 0, n = tsr_volume_count(v); i < n; i++) {
        float f, back;
        memcpy(&f, &bits[i], 4);
        back = tsr_half_to_float(tsr_half_from_float(f));
        if (memcmp(&f, &back, 4) != 0) return 0;
    }
    return 1;
}

/* The names that the file had, if there are as many, else the usual ones. */
static void name_channels(const tsr_volume *v, char (*names)[64])
{
    static const char *const usual[5][4] = { { "" }, { "Y" }, { "Y", "A" }, { "R", "G", "B" }, { "R", "G", "B", "A" } };
    const char *kept = tsr_volume_meta(v, "exr.channels");
    int64_t given = 0;
    tsr_text text = tsr_text_make(kept ? kept : "", kept ? strlen(kept) : 0);
    tsr_word word;
    while (given < v->size.z && tsr_text_word(&text, &word) && word.size < 64) {
        memcpy(names[given], word.text, word.size);
        names[given++][word.size] = 0;
    }
    if (given == v->size.z && !tsr_text_word(&text, &word)) return;
    for (int64_t c = 0; c < v->size.z; c++)
        if (v->size.z <= 4) snprintf(names[c], 64, "%s", usual[v->size.z][c]);
        else snprintf(names[c], 64, "c%04lld", (long long)c);
}

static tsr_status encode(exr_context_t context, const tsr_volume *v, char (*names)[64], exr_encode_pipeline_t *pipe, int *begun)
{
    const int32_t width = (int32_t)v->size.x, height = (int32_t)v->size.y, channels = (int32_t)v->size.z;
    int32_t lines = 1;
    if (exr_get_scanlines_per_chunk(context, 0, &lines) != EXR_ERR_SUCCESS) return TSR_ERROR_INTERNAL;
    for (int32_t y = 0; y < height; y += lines) {
        exr_chunk_info_t chunk;
        if (exr_write_scanline_chunk_info(context, 0, y, &chunk) != EXR_ERR_SUCCESS) return TSR_ERROR_INTERNAL;
        if ((*begun ? exr_encoding_update(context, 0, &chunk, pipe) : exr_encoding_initialize(context, 0, &chunk, pipe)) != EXR_ERR_SUCCESS)
            return TSR_ERROR_INTERNAL;
        for (int k = 0; k < pipe->channel_count; k++) {
            exr_coding_channel_info_t *c = &pipe->channels[k];
            int from = 0;
            while (from < channels - 1 && strcmp(names[from], c->channel_name) != 0) from++;
            c->user_bytes_per_element = 4;
            c->user_data_type = v->dtype == TSR_U32 ? EXR_PIXEL_UINT : EXR_PIXEL_FLOAT;
            c->user_pixel_stride = 4;
            c->user_line_stride = width * 4;
            c->encode_from_ptr = (const uint8_t *)v->data + 4 * ((int64_t)from * height + y) * width;
        }
        if (!*begun && exr_encoding_choose_default_routines(context, 0, pipe) != EXR_ERR_SUCCESS) return TSR_ERROR_INTERNAL;
        *begun = 1;
        if (exr_encoding_run(context, 0, pipe) != EXR_ERR_SUCCESS) return TSR_ERROR_INTERNAL;
    }
    return TSR_OK;
}

static tsr_status build(const tsr_volume *v, char (*names)[64], exr_state *state, const char *path)
{
    exr_context_initializer_t settings = settings_of(state);
    exr_context_t context = NULL;
    exr_encode_pipeline_t pipe = EXR_ENCODE_PIPELINE_INITIALIZER;
    int part = 0, begun = 0;
    const exr_pixel_type_t type = v->dtype == TSR_U32 ? EXR_PIXEL_UINT : all_halves(v) ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    settings.write_fn = on_write;
    tsr_status status = exr_start_write(&context, "picture", EXR_WRITE_FILE_DIRECTLY, &settings) == EXR_ERR_SUCCESS ? TSR_OK : TSR_ERROR_INTERNAL;
    if (status == TSR_OK &&
        (exr_add_part(context, "image", EXR_STORAGE_SCANLINE, &part) != EXR_ERR_SUCCESS ||
         exr_set_longname_support(context, 1) != EXR_ERR_SUCCESS ||
         exr_initialize_required_attr_simple(context, part, (int32_t)v->size.x, (int32_t)v->size.y, EXR_COMPRESSION_ZIP) != EXR_ERR_SUCCESS))
        status = TSR_ERROR_INTERNAL;
    for (int64_t c = 0; c < v->size.z && status == TSR_OK; c++)
        if (exr_add_channel(context, part, names[c], type, EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1) != EXR_ERR_SUCCESS) status = TSR_ERROR_INTERNAL;
    if (status == TSR_OK && !tsr_exr_put_notes(context, part, v)) status = TSR_ERROR_INTERNAL;
    if (status == TSR_OK && exr_write_header(context) != EXR_ERR_SUCCESS) status = TSR_ERROR_INTERNAL;
    if (status == TSR_OK) status = encode(context, v, names, &pipe, &begun);
    if (begun) exr_encoding_destroy(context, &pipe);
    if (context && exr_finish(&context) != EXR_ERR_SUCCESS && status == TSR_OK) status = TSR_ERROR_INTERNAL;
    speaking = NULL;
    if (status != TSR_OK) TSR_FAIL(TSR_ERROR_INTERNAL, "%s: OpenEXR: %s", path, *state->message ? state->message : "cannot write the picture");
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    const tsr_size3 n = volume->size;
    exr_state state = { .bytes = NULL };
    tsr_output *out = NULL;
    TSR_TRY(tsr_require_unscaled(volume, path, "an EXR picture"));
    if (volume->dtype != TSR_F32 && volume->dtype != TSR_U32)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: a volume of %s, an EXR picture holds f32 (light, depth) or u32 (names): convert it first (tessera convert --dtype f32)", path,
                 tsr_dtype_name(volume->dtype));
    if (n.z > CHANNELS_MOST || n.x > INT32_MAX / 8 || n.y > INT32_MAX / 8)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld x %lld pixels of %lld channels, expected a picture: one slice, or channels along z", path,
                 (long long)n.x, (long long)n.y, (long long)n.z);
    char(*names)[64] = (char(*)[64])calloc((size_t)n.z, sizeof *names);
    if (!names) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    name_channels(volume, names);
    tsr_status status = build(volume, names, &state, path);
    free(names);
    if (status == TSR_OK) status = tsr_output_open(path, options, &out);
    if (status == TSR_OK) {
        status = tsr_output_write(out, state.written, (size_t)state.used);
        status = tsr_output_finish(&out, status);
    }
    free(state.written);
    return status;
}

#else

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    (void)options, (void)volume;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no EXR (libopenexr-dev was not found)", tsr_input_name(input));
}
static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    (void)volume, (void)options;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no EXR (libopenexr-dev was not found)", path);
}
static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    (void)options, (void)contents;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no EXR (libopenexr-dev was not found)", tsr_input_name(input));
}

#endif

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 4 && !memcmp(s->head, "\x76\x2f\x31\x01", 4) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_exr = { .name = "exr",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".exr" },
                                    .recognise = recognise,
                                    .whole = 1,
                                    .keeps_metadata = 1,
                                    .units = TSR_UNITS_ANY,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume,
                                    .series = 1,
                                    .list = list };
