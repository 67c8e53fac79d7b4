/* formats/volumes/hdf5/matlab.c: MATLAB's files of level 5 (version 6 and 7), read only: full numeric and logical arrays, plain or compressed, of both byte orders. An array
 * A(row, column, slice, frame) lies with the rows fastest. Structures, cells, texts, sparse and complex arrays are passed over. Files of version 7.3 are HDF5.
 * Format: MathWorks, "MAT-File Format". */
#include "formats/contents.h"
#include "formats/stored.h"
#include "io/inflate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 128, LOOK = 512, MATRIX = 14, COMPRESSED = 15, ARRAYS_MOST = 4096 };

/* Types of data as they lie there, and classes of arrays. */
static const struct {
    int bytes, dtype; /* dtype -1: none */
} types[] = { { 0, -1 },      { 1, TSR_I8 }, { 1, TSR_U8 },  { 2, TSR_I16 }, { 2, TSR_U16 }, { 4, TSR_I32 }, { 4, TSR_U32 },
              { 4, TSR_F32 }, { 0, -1 },     { 8, TSR_F64 }, { 0, -1 },      { 0, -1 },      { 8, TSR_I64 }, { 8, TSR_U64 } };
static const tsr_dtype classes[] = { TSR_F64, TSR_F32, TSR_I8, TSR_U8, TSR_I16, TSR_U16, TSR_I32, TSR_U32, TSR_I64, TSR_U64 };
enum { FIRST_CLASS = 6, CLASSES = 10 };

typedef struct variable {
    int64_t at, bytes; /* of its element in the file, behind the tag */
    int packed;
    char name[64];
    int axes, class_of, kind;      /* kind: type of the numbers */
    int64_t size[TSR_STORED_AXES]; /* rows first */
    int64_t data, data_bytes;      /* the numbers, from the beginning of the matrix on */
} variable;

typedef struct matlab {
    tsr_input *input;
    const char *name;
    const uint8_t *all;
    int64_t all_size;
    int swap;
    variable *array;
    int64_t arrays;
    /* the one that is read */
    const uint8_t *numbers;
    uint8_t *unpacked;
    tsr_dtype dtype;
    int kind;
    int64_t stride[TSR_STORED_AXES]; /* in numbers, the slowest axis first */
    int axes;
} matlab;

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= HEAD && !memcmp(s->head, "MATLAB 5.0", 10) && (!memcmp(s->head + 126, "IM", 2) || !memcmp(s->head + 126, "MI", 2))
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

static uint32_t get32(const uint8_t *p, int swap)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return swap ? __builtin_bswap32(v) : v;
}

/* The element at *at of `size` bytes: its type, where its content lies and how long it is; *at moves behind it. 0: there is none. */
static int next_element(const uint8_t *p, int64_t size, int swap, int64_t *at, uint32_t *type, int64_t *content, int64_t *bytes)
{
    if (size - *at < 8) return 0;
    const uint32_t tag = get32(p + *at, swap);
    if (tag >> 16) { /* of four bytes at most, in the tag itself */
        *type = tag & 0xffff;
        *bytes = tag >> 16;
        *content = *at + 4;
        *at += 8;
        return *bytes <= 4;
    }
    *type = tag;
    *bytes = get32(p + *at + 4, swap);
    *content = *at + 8;
    *at = *content + (*bytes + 7) / 8 * 8;
    return 1;
}

/* What the beginning of a matrix says; 0: it is no array of numbers. */
static int take_matrix(const uint8_t *p, int64_t size, int64_t whole, int swap, variable *v)
{
    uint32_t type;
    int64_t at = 0, content, bytes, count = 1;
    if (!next_element(p, size, swap, &at, &type, &content, &bytes) || type != 6 || bytes < 8 || size - content < 8) return 0;
    const uint32_t flags = get32(p + content, swap);
    v->class_of = (int)(flags & 255);
    if (v->class_of < FIRST_CLASS || v->class_of >= FIRST_CLASS + CLASSES || flags & 0x0800) return 0; /* not a number, or complex */
    if (!next_element(p, size, swap, &at, &type, &content, &bytes) || type != 5 || bytes < 8 || bytes / 4 > TSR_STORED_AXES || size - content < bytes)
        return 0;
    v->axes = (int)(bytes / 4);
    for (int k = 0; k < v->axes; k++) {
        v->size[k] = (int32_t)get32(p + content + 4 * k, swap);
        if (v->size[k] < 1 || __builtin_mul_overflow(count, v->size[k], &count)) return 0;
    }
    while (v->axes > 2 && v->size[v->axes - 1] == 1) v->axes--;
    if (!next_element(p, size, swap, &at, &type, &content, &bytes) || type != 1 || size - content < bytes) return 0;
    snprintf(v->name, sizeof v->name, "%.*s", (int)tsr_min64(bytes, 63), (const char *)p + content);
    if (!next_element(p, size, swap, &at, &type, &content, &bytes) || type >= sizeof types / sizeof *types || types[type].dtype < 0) return 0;
    v->kind = (int)type;
    v->data = content;
    v->data_bytes = bytes;
    return bytes / types[type].bytes == count && content <= whole && bytes <= whole - content;
}

static tsr_status list_arrays(matlab *m)
{
    size_t size;
    int64_t at = HEAD, content, bytes;
    uint32_t type;
    uint8_t head[LOOK];
    TSR_TRY(tsr_input_all(m->input, &m->all, &size));
    m->all_size = (int64_t)size;
    if (size < HEAD) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: a MATLAB file of %zu bytes, its header has 128", m->name, size);
    const uint16_t order = (uint16_t)(m->all[126] | m->all[127] << 8);
    m->swap = (order == 0x4d49) == tsr_host_big_endian(); /* "IM": little-endian */
    m->array = (variable *)calloc(ARRAYS_MOST, sizeof *m->array);
    if (!m->array) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", m->name);
    while (m->arrays < ARRAYS_MOST && next_element(m->all, m->all_size, m->swap, &at, &type, &content, &bytes)) {
        variable *v = &m->array[m->arrays];
        *v = (variable){ .at = content, .bytes = bytes, .packed = type == COMPRESSED };
        if (type == COMPRESSED) at = content + bytes; /* without padding */
        if (content > m->all_size || bytes > m->all_size - content)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: a MATLAB variable of %lld bytes at byte %lld, the file has %lld", m->name, (long long)bytes,
                     (long long)content, (long long)m->all_size);
        if (type == MATRIX) m->arrays += take_matrix(m->all + content, bytes, bytes, m->swap, v);
        if (type != COMPRESSED) continue;
        size_t got;
        int ended;
        if (tsr_inflate_head(m->name, m->all + content, (size_t)bytes, TSR_WRAPPER_ZLIB, head, sizeof head, &got, &ended) != TSR_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: a packed MATLAB variable at byte %lld: %.200s", m->name, (long long)content, tsr_error_message());
        if (got < 8 || get32(head, m->swap) != MATRIX) continue;
        m->arrays += take_matrix(head + 8, (int64_t)got - 8, get32(head + 4, m->swap), m->swap, v);
    }
    return TSR_OK;
}

static tsr_status show(const matlab *m, tsr_contents *contents)
{
    for (int64_t k = 0; k < m->arrays; k++) {
        const variable *v = &m->array[k];
        tsr_contents_entry e = { .kind = "dataset", .name = v->name, .type = tsr_dtype_name(classes[v->class_of - FIRST_CLASS]), .axes = v->axes };
        for (int a = 0; a < v->axes; a++) e.size[a] = v->size[a]; /* as MATLAB counts */
        TSR_TRY(tsr_contents_add(contents, &e));
    }
    return TSR_OK;
}

static tsr_status choose(const matlab *m, const tsr_read_options *options, const variable **chosen)
{
    tsr_contents *contents = NULL;
    char text[800];
    int count = 0;
    *chosen = NULL;
    if (!m->arrays) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a MATLAB file without arrays of numbers", m->name);
    TSR_TRY(tsr_contents_create(&contents));
    tsr_status status = show(m, contents);
    const char *wanted = options->dataset   ? options->dataset + (options->dataset[0] == '/')
                         : status == TSR_OK ? tsr_contents_only(contents, "dataset", &count)
                                            : NULL;
    for (int64_t k = 0; k < m->arrays && wanted && !*chosen; k++)
        if (!strcmp(m->array[k].name, wanted)) *chosen = &m->array[k];
    if (status == TSR_OK && !*chosen) {
        tsr_contents_show(contents, "dataset", text, sizeof text);
        status = options->dataset
                     ? TSR_FAILED(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%.80s', the file holds %s", m->name, options->dataset, text)
                     : TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: holds %lld arrays, a volume is one of them: options.dataset says which of %s", m->name,
                                  (long long)m->arrays, text);
    }
    tsr_contents_destroy(&contents);
    return status;
}

/* ---- voxels -------------------------------------------------------------------------------------------------------------------------------------------- */

/* A number of the class out of one of another type, which MATLAB takes where it holds every value. */
static void widen(const uint8_t *from, int kind, int swap, tsr_dtype dtype, uint8_t *to)
{
    uint8_t own[8];
    const int n = types[kind].bytes;
    for (int k = 0; k < n; k++) own[k] = from[swap ? n - 1 - k : k];
    int64_t whole = 0;
    uint64_t more = 0;
    double real = 0;
    float single;
    int16_t two;
    uint16_t two_more;
    int32_t four;
    uint32_t four_more;
    switch (types[kind].dtype) {
    case TSR_I8: whole = (int8_t)own[0]; break;
    case TSR_U8: whole = own[0]; break;
    case TSR_I16: memcpy(&two, own, 2), whole = two; break;
    case TSR_U16: memcpy(&two_more, own, 2), whole = two_more; break;
    case TSR_I32: memcpy(&four, own, 4), whole = four; break;
    case TSR_U32: memcpy(&four_more, own, 4), whole = four_more; break;
    case TSR_I64: memcpy(&whole, own, 8); break;
    case TSR_U64: memcpy(&more, own, 8), whole = (int64_t)more; break;
    case TSR_F32: memcpy(&single, own, 4), real = (double)single; break;
    default: memcpy(&real, own, 8);
    }
    if (types[kind].dtype != TSR_F32 && types[kind].dtype != TSR_F64) real = types[kind].dtype == TSR_U64 ? (double)more : (double)whole;
    else whole = real > -9e18 && real < 9e18 ? (int64_t)real : 0;
    if (dtype == TSR_F64) memcpy(to, &real, 8);
    else if (dtype == TSR_F32) {
        single = (float)real;
        memcpy(to, &single, 4);
    } else switch (tsr_dtype_size(dtype)) {
        case 1: to[0] = (uint8_t)whole; break;
        case 2: two_more = (uint16_t)whole, memcpy(to, &two_more, 2); break;
        case 4: four_more = (uint32_t)whole, memcpy(to, &four_more, 4); break;
        default: memcpy(to, &whole, 8);
        }
}

static tsr_status read_box(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    const matlab *m = (const matlab *)user;
    const int same = types[m->kind].dtype == (int)m->dtype, bytes = types[m->kind].bytes;
    const size_t element = tsr_dtype_size(m->dtype);
    int64_t from[TSR_STORED_AXES], skip = 0, at[TSR_STORED_AXES] = { 0 };
    for (int k = 0; k < m->axes; k++) {
        from[k] = m->stride[k] * bytes;
        skip += start[k] * from[k];
    }
    if (same && (!m->swap || element == 1)) {
        tsr_stored_copy(m->axes, count, m->numbers + skip, from, to, stride, element);
        return TSR_OK;
    }
    for (;;) {
        const uint8_t *p = m->numbers + skip;
        uint8_t *q = to;
        int k = m->axes - 1;
        for (int a = 0; a < m->axes; a++) p += at[a] * from[a], q += at[a] * stride[a];
        for (int64_t i = 0; i < count[k]; i++) widen(p + i * from[k], m->kind, m->swap, m->dtype, q + i * stride[k]);
        k--;
        while (k >= 0 && ++at[k] == count[k]) at[k--] = 0;
        if (k < 0) return TSR_OK;
    }
}

static void close_file(void *user)
{
    matlab *m = (matlab *)user;
    free(m->array);
    free(m->unpacked);
    free(m);
}

static tsr_status take_numbers(matlab *m, const variable *v)
{
    tsr_block room;
    const int64_t all = v->data + v->data_bytes;
    m->numbers = m->all + v->at + v->data;
    if (!v->packed) return TSR_OK;
    if (all / TSR_DEFLATE_MOST_RATIO > v->bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the MATLAB array '%s' of %lld bytes in %lld packed ones", m->name, v->name, (long long)all,
                 (long long)v->bytes);
    TSR_TRY(tsr_input_allocate(m->input, all, "an array", &room)); /* is so much allowed? */
    tsr_block_release(&room);
    m->unpacked = (uint8_t *)malloc((size_t)all);
    if (!m->unpacked) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld bytes", m->name, (long long)all);
    TSR_TRY(tsr_inflate_exactly(m->name, tsr_input_settings(m->input)->progress, m->all + v->at, (size_t)v->bytes, TSR_WRAPPER_ZLIB, 8, m->unpacked,
                                (size_t)all, "a packed MATLAB array"));
    m->numbers = m->unpacked + v->data;
    return TSR_OK;
}

static tsr_status build(matlab *m, const tsr_read_options *options, tsr_stored *a)
{
    static const char *const roles[] = { "", "y", "xy", "zxy", "tzxy", "tczxy" };
    const variable *v;
    TSR_TRY(list_arrays(m));
    TSR_TRY(choose(m, options, &v));
    if (v->axes > 5) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the MATLAB array '%s' has %d axes, expected 1 to 5", m->name, v->name, v->axes);
    TSR_TRY(take_numbers(m, v));
    m->dtype = classes[v->class_of - FIRST_CLASS];
    m->kind = v->kind;
    m->axes = v->axes;
    *a = (tsr_stored){ .axes = v->axes, .dtype = m->dtype, .field = "the MATLAB array", .user = m, .read = read_box, .close = close_file };
    memcpy(a->role, v->axes == 4 && options->channel_given && !options->frame_given ? "czxy" : roles[v->axes], (size_t)v->axes);
    int64_t below = 1;
    for (int k = 0; k < v->axes; k++) { /* rows are the last axis here */
        a->size[v->axes - 1 - k] = v->size[k];
        m->stride[v->axes - 1 - k] = below;
        below *= v->size[k];
    }
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_stored array;
    *volume = NULL;
    matlab *m = (matlab *)calloc(1, sizeof *m);
    if (!m) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    m->input = input;
    m->name = tsr_input_name(input);
    const tsr_status status = build(m, options, &array);
    if (status != TSR_OK) {
        close_file(m);
        return status;
    }
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    return tsr_stored_volume(&array, input, options, &g, volume);
}

static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    matlab *m = (matlab *)calloc(1, sizeof *m);
    (void)options;
    if (!m) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    m->input = input;
    m->name = tsr_input_name(input);
    tsr_status status = list_arrays(m);
    if (status == TSR_OK && m->arrays > 1) status = show(m, contents);
    if (status == TSR_OK) tsr_contents_only_first(contents, "dataset");
    close_file(m);
    return status;
}

const tsr_format tsr_format_matlab = { .name = "matlab",
                                       .kind = TSR_FILE_VOLUME,
                                       .extensions = { ".mat" },
                                       .recognise = recognise,
                                       .boxes = 1,
                                       .datasets = 1,
                                       .read_volume = read_volume,
                                       .list = list };
