#include "formats/stored.h"

#include "formats/pieces.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB_BYTES = 128 << 20 };

/* ---- axes -------------------------------------------------------------------------------------------------------------------------------------- */

char tsr_stored_role(const char *name)
{
    const char letter = (char)tolower((unsigned char)name[0]);
    if (strchr("qiam", letter) && letter) return 't';
    if (letter == 's') return 'c';
    return letter && strchr("xyztc", letter) ? letter : 0;
}

tsr_status tsr_stored_guess(tsr_stored *a, const tsr_input *input, const char *name, const tsr_read_options *o)
{
    const int n = a->axes;
    if (n < 1 || n > 5) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s has %d axes, expected 1 to 5", tsr_input_name(input), name, n);
    const int last = n == 4 && (o->channel_given != o->frame_given ? o->channel_given : a->size[3] <= 4);
    static const char *const roles[] = { "", "x", "yx", "zyx", "tzyx", "tczyx" };
    memcpy(a->role, last ? "zyxc" : roles[n], (size_t)n);
    return TSR_OK;
}

/* ---- copying ----------------------------------------------------------------------------------------------------------------------------------- */

void tsr_stored_copy_line(const uint8_t *from, int64_t from_stride, uint8_t *to, int64_t to_stride, int64_t count, size_t element)
{
    if (from_stride == (int64_t)element && to_stride == (int64_t)element) {
        memcpy(to, from, (size_t)count * element);
        return;
    }
    switch (element) {
    case 1:
        for (int64_t i = 0; i < count; i++) to[i * to_stride] = from[i * from_stride];
        break;
    case 2:
        for (int64_t i = 0; i < count; i++) memcpy(to + i * to_stride, from + i * from_stride, 2);
        break;
    case 4:
        for (int64_t i = 0; i < count; i++) memcpy(to + i * to_stride, from + i * from_stride, 4);
        break;
    default:
        for (int64_t i = 0; i < count; i++) memcpy(to + i * to_stride, from + i * from_stride, element);
    }
}

void tsr_stored_copy(int axes, const int64_t *count, const uint8_t *from, const int64_t *from_stride, uint8_t *to, const int64_t *to_stride,
                     size_t element)
{
    int64_t at[TSR_STORED_AXES] = { 0 };
    const int inner = axes - 1;
    for (int k = 0; k < axes; k++)
        if (count[k] < 1) return;
    for (;;) {
        const uint8_t *line = from;
        uint8_t *line_to = to;
        for (int k = 0; k < inner; k++) {
            line += at[k] * from_stride[k];
            line_to += at[k] * to_stride[k];
        }
        tsr_stored_copy_line(line, from_stride[inner], line_to, to_stride[inner], count[inner], element);
        int k = inner - 1;
        while (k >= 0 && ++at[k] == count[k]) at[k--] = 0;
        if (k < 0) return;
    }
}

float tsr_stored_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    uint32_t bits = sign | (exponent + 112) << 23 | fraction << 13;
    float value;
    if (exponent == 31) bits = sign | 0x7f800000u | fraction << 13;
    if (exponent == 0) { /* zero and subnormal numbers: fraction / 2^24 */
        value = ldexpf((float)fraction, -24);
        return sign ? -value : value;
    }
    memcpy(&value, &bits, 4);
    return value;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_box_check(const char *name, tsr_size3 n, const tsr_size3 box[2])
{
    const tsr_size3 l = box[0], u = box[1];
    if (l.x < 0 || l.y < 0 || l.z < 0 || u.x > n.x || u.y > n.y || u.z > n.z || l.x >= u.x || l.y >= u.y || l.z >= u.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.box is %lld,%lld,%lld:%lld,%lld,%lld, expected voxels of %lld x %lld x %lld, one at least", name,
                 (long long)l.x, (long long)l.y, (long long)l.z, (long long)u.x, (long long)u.y, (long long)u.z, (long long)n.x, (long long)n.y,
                 (long long)n.z);
    return TSR_OK;
}

tsr_geometry tsr_box_geometry(const tsr_geometry *geometry, tsr_size3 lower)
{
    tsr_geometry g = *geometry;
    const tsr_vec3 origin = tsr_geometry_to_world(geometry, (tsr_vec3){ (double)lower.x, (double)lower.y, (double)lower.z });
    g.affine[0][3] = origin.x;
    g.affine[1][3] = origin.y;
    g.affine[2][3] = origin.z;
    return g;
}

tsr_status tsr_box_cut(const char *name, const tsr_size3 box[2], tsr_volume **volume)
{
    const tsr_volume *v = *volume;
    const tsr_size3 l = box[0], n = { box[1].x - l.x, box[1].y - l.y, box[1].z - l.z };
    const int64_t element = (int64_t)tsr_dtype_size(v->dtype), from[3] = { v->size.x * v->size.y * element, v->size.x * element, element },
                  to[3] = { n.x * n.y * element, n.x * element, element }, count[3] = { n.z, n.y, n.x };
    tsr_volume *cut = NULL;
    tsr_status status;
    TSR_TRY(tsr_box_check(name, v->size, box));
    const tsr_geometry g = tsr_box_geometry(&v->geometry, l);
    TSR_TRY(tsr_volume_create(NULL, v->dtype, n, &g, &cut));
    TSR_TRY_GOTO(tsr_volume_take_header(cut, v), fail);
    memcpy(cut->parts, v->parts, sizeof cut->parts);
    tsr_stored_copy(3, count, (const uint8_t *)v->data + l.z * from[0] + l.y * from[1] + l.x * from[2], from, (uint8_t *)cut->data, to, (size_t)element);
    tsr_volume_destroy(volume);
    *volume = cut;
    return TSR_OK;
fail:
    tsr_volume_destroy(&cut);
    return status;
}

/* ---- a volume ---------------------------------------------------------------------------------------------------------------------------------- */

/* What is read of the array: which axes are x, y and z (-1: none), and the box. */
typedef struct plan {
    tsr_stored array;
    int axis[3];
    tsr_size3 lower, size;
    int64_t start[TSR_STORED_AXES];
    size_t element;
    /* voxels that were read ahead: [first, first + held) of the volume */
    uint8_t *slab;
    int64_t first, held, rows, depth;
} plan;

static tsr_status read_box(const plan *p, tsr_size3 lower, tsr_size3 size, uint8_t *to)
{
    int64_t start[TSR_STORED_AXES], count[TSR_STORED_AXES], stride[TSR_STORED_AXES];
    const int64_t from[3] = { p->lower.x + lower.x, p->lower.y + lower.y, p->lower.z + lower.z }, n[3] = { size.x, size.y, size.z };
    const int64_t step[3] = { (int64_t)p->element, (int64_t)p->element * size.x, (int64_t)p->element * size.x * size.y };
    for (int k = 0; k < p->array.axes; k++) {
        start[k] = p->start[k];
        count[k] = 1;
        stride[k] = (int64_t)p->element;
        for (int a = 0; a < 3; a++)
            if (p->axis[a] == k) {
                start[k] = from[a];
                count[k] = n[a];
                stride[k] = step[a];
            }
    }
    return p->array.read(p->array.user, start, count, stride, to);
}

/* Rows and slices that are read together: as many as are packed together, and fit. */
static void plan_slabs(plan *p, int64_t limit)
{
    const int64_t budget = limit ? tsr_max64(limit / 4, 1 << 20) : SLAB_BYTES, row = p->size.x * (int64_t)p->element, slice = row * p->size.y;
    const int64_t cy = p->axis[1] >= 0 ? tsr_max64(p->array.chunk[p->axis[1]], 1) : 1,
                  cz = p->axis[2] >= 0 ? tsr_max64(p->array.chunk[p->axis[2]], 1) : 1;
    p->depth = p->rows = 1;
    if (slice <= budget) {
        p->rows = p->size.y;
        p->depth = tsr_min64(budget / slice, p->size.z);
        if (p->depth >= cz) p->depth = p->depth / cz * cz;
    } else {
        p->rows = tsr_max64(budget / row, 1);
        if (p->rows >= cy) p->rows = p->rows / cy * cy;
    }
}

/* The slab with voxel `at`. */
static tsr_status read_slab(plan *p, int64_t at)
{
    const int64_t slice = p->size.x * p->size.y, z = at / slice, y = at % slice / p->size.x;
    tsr_size3 lower = { 0, 0, 0 }, size = { p->size.x, p->size.y, 1 };
    if (p->rows == p->size.y) { /* slabs end where chunks of the file do */
        const int64_t phase = p->lower.z % p->depth;
        lower.z = tsr_max64((z + phase) / p->depth * p->depth - phase, 0);
        size.z = tsr_min64((z + phase) / p->depth * p->depth - phase + p->depth, p->size.z) - lower.z;
    } else {
        const int64_t phase = p->lower.y % p->rows;
        lower.z = z;
        lower.y = tsr_max64((y + phase) / p->rows * p->rows - phase, 0);
        size.y = tsr_min64((y + phase) / p->rows * p->rows - phase + p->rows, p->size.y) - lower.y;
    }
    p->held = 0;
    if (!p->slab) p->slab = (uint8_t *)malloc((size_t)(p->size.x * p->rows * p->depth) * p->element);
    if (!p->slab) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld slices", (long long)p->depth);
    TSR_TRY(read_box(p, lower, size, p->slab));
    p->first = (lower.z * p->size.y + lower.y) * p->size.x;
    p->held = size.x * size.y * size.z;
    return TSR_OK;
}

static tsr_status read_pieces(void *user, int64_t first, int64_t count, void *to)
{
    plan *p = (plan *)user;
    uint8_t *q = (uint8_t *)to;
    while (count) {
        if (first < p->first || first >= p->first + p->held) TSR_TRY(read_slab(p, first));
        const int64_t n = tsr_min64(count, p->first + p->held - first);
        memcpy(q, p->slab + (first - p->first) * (int64_t)p->element, (size_t)n * p->element);
        first += n;
        count -= n;
        q += n * (int64_t)p->element;
    }
    return TSR_OK;
}

static void close_plan(void *user)
{
    plan *p = (plan *)user;
    if (p->array.close) p->array.close(p->array.user);
    free(p->slab);
    free(p);
}

/* Roles become axes of space and picks. */
static tsr_status assign(plan *p, tsr_input *input, const tsr_read_options *options, tsr_axes *axes, int *image)
{
    tsr_stored *a = &p->array;
    p->axis[0] = p->axis[1] = p->axis[2] = -1;
    *image = a->color && !options->channel_given;
    for (int k = 0; k < a->axes; k++) {
        static const char letters[] = "xyz";
        const char role = a->role[k];
        char field[64];
        if (a->size[k] < 1) TSR_FAIL(TSR_ERROR_FORMAT, "%s: axis %d of %s has no samples", tsr_input_name(input), k, a->field);
        if (role && strchr(letters, role)) {
            for (int d = 0; d < 3; d++)
                if (letters[d] == role) p->axis[d] = p->axis[d] < 0 ? k : TSR_STORED_AXES;
            continue;
        }
        if (*image && role == 'c') {
            p->axis[2] = k;
            continue;
        }
        if (role == '.') {
            p->start[k] = a->pick[k];
            continue;
        }
        snprintf(field, sizeof field, "axis %d of %.40s", k, a->field);
        TSR_TRY(tsr_axes_part(axes,
                              role == 't'   ? TSR_PART_FRAME
                              : role == 'l' ? TSR_PART_LAYER
                                            : TSR_PART_CHANNEL,
                              a->size[k], field, input, options));
        p->start[k] = axes->pick[axes->count - 1];
    }
    for (int d = 0; d < 3; d++)
        if (p->axis[d] >= TSR_STORED_AXES) TSR_FAIL(TSR_ERROR_FORMAT, "%s: two axes of %s are called %c", tsr_input_name(input), a->field, "xyz"[d]);
    if (p->axis[0] < 0 && p->axis[1] < 0 && p->axis[2] < 0)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s has no axis of space", tsr_input_name(input), a->field);
    p->size = (tsr_size3){ p->axis[0] >= 0 ? a->size[p->axis[0]] : 1, p->axis[1] >= 0 ? a->size[p->axis[1]] : 1,
                           p->axis[2] >= 0 ? a->size[p->axis[2]] : 1 };
    return TSR_OK;
}

static tsr_status finish(plan *p, const tsr_axes *axes, int image, tsr_volume *volume)
{
    for (int k = 0; k < TSR_PARTS; k++) volume->parts[k] = p->array.parts[k] ? p->array.parts[k] : axes->parts[k];
    if (image) TSR_TRY(tsr_volume_set_channels(volume));
    return TSR_OK;
}

tsr_status tsr_stored_volume(const tsr_stored *array, tsr_input *input, const tsr_read_options *options, const tsr_geometry *geometry,
                             tsr_volume **volume)
{
    tsr_voxel_place *place = tsr_input_settings(input)->place;
    tsr_axes axes = { 0 };
    tsr_layout layout = { .dtype = array->dtype };
    tsr_block block = { 0 };
    tsr_geometry g = *geometry;
    int image = 0;
    int64_t bytes;
    tsr_status status;
    plan *p = (plan *)calloc(1, sizeof *p);
    if (!p) {
        if (array->close) array->close(array->user);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    }
    p->array = *array;
    p->element = tsr_dtype_size(array->dtype);
    TSR_TRY_GOTO(assign(p, input, options, &axes, &image), done);
    TSR_TRY_GOTO(tsr_voxel_bytes(input, array->dtype, p->size, &bytes), done);
    if (options->box_given) {
        TSR_TRY_GOTO(tsr_box_check(tsr_input_name(input), p->size, options->box), done);
        p->lower = options->box[0];
        p->size = (tsr_size3){ options->box[1].x - p->lower.x, options->box[1].y - p->lower.y, options->box[1].z - p->lower.z };
        bytes = p->size.x * p->size.y * p->size.z * (int64_t)p->element;
        g = tsr_box_geometry(geometry, p->lower);
        image = image && p->size.z == array->size[p->axis[2]];
    }
    layout.size = p->size;
    if (place) {
        block.data = p;
        TSR_TRY_GOTO(tsr_volume_of_block(input, &layout, &g, &block, volume), done);
        TSR_TRY_GOTO(finish(p, &axes, image, *volume), done);
        plan_slabs(p, options->memory_limit);
        place->user = p;
        place->read = read_pieces;
        place->close = close_plan;
        place->bytes = bytes;
        place->element = p->element;
        return TSR_OK;
    }
    TSR_TRY_GOTO(tsr_input_allocate(input, bytes, "voxels", &block), done);
    TSR_TRY_GOTO(read_box(p, (tsr_size3){ 0, 0, 0 }, p->size, (uint8_t *)block.data), done);
    TSR_TRY_GOTO(tsr_volume_of_block(input, &layout, &g, &block, volume), done);
    TSR_TRY_GOTO(finish(p, &axes, image, *volume), done);
done:
    tsr_block_release(&block);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    close_plan(p);
    return status;
}

tsr_status tsr_volume_take_header(tsr_volume *volume, const tsr_volume *holder)
{
    const char *key, *value;
    volume->slope = holder->slope;
    volume->intercept = holder->intercept;
    for (int32_t i = 0; tsr_volume_meta_at(holder, i, &key, &value); i++) TSR_TRY(tsr_volume_set_meta(volume, key, value));
    return TSR_OK;
}

/* ---- for writers ------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_volume_part(const tsr_volume *v, int64_t first, int64_t count, void *part, const uint8_t **voxels)
{
    *voxels = v->feed ? (const uint8_t *)part : (const uint8_t *)v->data + first * (int64_t)tsr_dtype_size(v->dtype);
    if (v->feed) TSR_TRY(v->feed->read(v->feed->user, first, count, part));
    return TSR_OK;
}

int tsr_geometry_is_plain(const tsr_geometry *g)
{
    int plain = g->space == TSR_SPACE_NONE;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) plain &= r == c ? g->affine[r][c] > 0 : g->affine[r][c] == 0;
    return plain;
}

const char *tsr_stored_unit(const tsr_volume *v)
{
    const char *unit = tsr_volume_unit_name(v);
    const tsr_vec3 h = tsr_geometry_spacing(&v->geometry);
    return unit ? unit : h.x != 1 || h.y != 1 || h.z != 1 ? "mm" : NULL;
}

static const char *const spaces[] = { "none", "RAS", "LPS" };

tsr_status tsr_volume_notes(const tsr_volume *v, tsr_note_sink sink, void *user)
{
    const tsr_geometry *g = &v->geometry;
    const char *key, *value;
    char text[12 * 26 + 1], number[32], name[300];
    if (!tsr_geometry_is_plain(g)) {
        size_t used = 0;
        for (int i = 0; i < 12; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", tsr_print_double(number, g->affine[i / 4][i % 4]));
        TSR_TRY(sink(user, "tessera.affine", text));
        TSR_TRY(sink(user, "tessera.space", spaces[g->space]));
    }
    if (v->slope != 1) TSR_TRY(sink(user, "tessera.slope", tsr_print_double(number, v->slope)));
    if (v->intercept != 0) TSR_TRY(sink(user, "tessera.intercept", tsr_print_double(number, v->intercept)));
    for (int32_t i = 0; tsr_volume_meta_at(v, i, &key, &value); i++) {
        if (strlen(key) > 250) continue;
        snprintf(name, sizeof name, "meta.%s", key);
        TSR_TRY(sink(user, name, value));
    }
    return TSR_OK;
}

tsr_status tsr_volume_take_note(tsr_volume *v, const char *key, const char *value)
{
    double n[12];
    if (!strncmp(key, "meta.", 5) && key[5]) return tsr_volume_set_meta(v, key + 5, value);
    if (!strcmp(key, "tessera.affine") && tsr_parse_numbers(value, n, 12)) {
        tsr_geometry g = v->geometry;
        for (int i = 0; i < 12; i++) g.affine[i / 4][i % 4] = n[i];
        if (tsr_geometry_check(&g) == TSR_OK) v->geometry = g;
    }
    if (!strcmp(key, "tessera.space"))
        for (int s = 0; s < 3; s++)
            if (!strcmp(value, spaces[s])) v->geometry.space = (tsr_space)s;
    if (!strcmp(key, "tessera.slope") && tsr_parse_numbers(value, n, 1) && isfinite(n[0]) && n[0] != 0) v->slope = n[0];
    if (!strcmp(key, "tessera.intercept") && tsr_parse_numbers(value, n, 1) && isfinite(n[0])) v->intercept = n[0];
    return TSR_OK;
}
