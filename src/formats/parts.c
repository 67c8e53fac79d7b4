#include "formats/parts.h"

#include <stdio.h>
#include <string.h>

static const char *const part_names[TSR_PARTS] = { "frame", "layer", "channel" };

static int given(const tsr_read_options *o, tsr_part part, int64_t *index)
{
    *index = part == TSR_PART_FRAME ? o->frame : part == TSR_PART_LAYER ? o->layer : o->channel;
    return part == TSR_PART_FRAME ? o->frame_given : part == TSR_PART_LAYER ? o->layer_given : o->channel_given;
}

void tsr_axes_space(tsr_axes *axes, int64_t size)
{
    axes->size[axes->count] = size;
    axes->pick[axes->count++] = -1;
}

static tsr_status check_index(const char *name, tsr_part part, int64_t index, int64_t count)
{
    char most[24];
    if (index >= 0 && index < count) return TSR_OK;
    snprintf(most, sizeof most, "%lld", (long long)count - 1);
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.%s is %lld, expected 0%s%s: the file has %lld %s%s", name, part_names[part], (long long)index,
             count > 1 ? " to " : "", count > 1 ? most : "", (long long)count, part_names[part], count > 1 ? "s" : "");
}

tsr_status tsr_axes_part(tsr_axes *axes, tsr_part part, int64_t size, const char *field, const tsr_input *input, const tsr_read_options *options)
{
    int64_t index = 0;
    const char *name = tsr_input_name(input);
    if (size > 1 && axes->parts[part] > 1)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s has %lld samples beside an axis of %lld %ss, expected one such axis", name, field, (long long)size,
                 (long long)axes->parts[part], part_names[part]);
    if (size > 1 && !given(options, part, &index))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds %lld %ss (%s), a volume is one of them: options.%s 0 to %lld says which", name, (long long)size,
                 part_names[part], field, part_names[part], (long long)size - 1);
    if (size > 1) TSR_TRY(check_index(name, part, index, size));
    if (size > axes->parts[part]) axes->parts[part] = size;
    axes->size[axes->count] = size;
    axes->pick[axes->count++] = index;
    return TSR_OK;
}

tsr_status tsr_parts_check(const tsr_volume *volume, const char *name, const tsr_read_options *options)
{
    for (int part = 0; part < TSR_PARTS; part++) {
        int64_t index;
        if (given(options, (tsr_part)part, &index))
            TSR_TRY(check_index(name, (tsr_part)part, index, volume->parts[part] > 1 ? volume->parts[part] : 1));
    }
    return TSR_OK;
}

/* What is kept of the first `count` axes, and from where with which strides. */
struct gather {
    int64_t first, size[3], stride[3];
    int axes, scattered;
};

static void plan(const tsr_axes *axes, int count, struct gather *g)
{
    int64_t stride = 1;
    *g = (struct gather){ .size = { 1, 1, 1 } };
    for (int k = 0; k < count; stride *= axes->size[k++]) {
        if (axes->pick[k] < 0) {
            g->size[g->axes] = axes->size[k];
            g->stride[g->axes++] = stride;
        } else {
            g->first += axes->pick[k] * stride;
            g->scattered |= axes->size[k] > 1;
        }
    }
}

static void copy_rows(const struct gather *g, size_t element, const uint8_t *from, uint8_t *to)
{
    for (int64_t z = 0; z < g->size[2]; z++)
        for (int64_t y = 0; y < g->size[1]; y++) {
            const uint8_t *row = from + (g->first + y * g->stride[1] + z * g->stride[2]) * (int64_t)element;
            const int64_t step = g->stride[0] * (int64_t)element, bytes = g->size[0] * (int64_t)element;
            if (g->stride[0] == 1) memcpy(to, row, (size_t)bytes);
            else
                for (int64_t x = 0; x < g->size[0]; x++, row += step) memcpy(to + x * (int64_t)element, row, element);
            to += bytes;
        }
}

static tsr_status read_plain(tsr_input *input, int64_t offset, const tsr_names *files, const tsr_layout *layout, tsr_block *block)
{
    if (files) TSR_TRY(tsr_layout_read_files(input, files, layout, block));
    else TSR_TRY(tsr_layout_read(input, offset, layout, block));
    return TSR_OK;
}

tsr_status tsr_axes_read(const tsr_axes *axes, tsr_input *input, int64_t offset, const tsr_names *files, tsr_layout *layout, tsr_block *block)
{
    const int64_t element = (int64_t)tsr_dtype_size(layout->dtype);
    const int apart = layout->encoding != TSR_ENCODING_ASCII && layout->skip >= 0 && (!files || files->count == 1); /* parts can be passed over */
    int64_t total = 1, skip = 0, bytes;
    int count = axes->count;
    struct gather g;
    const tsr_layout whole = *layout;
    tsr_status status;
    for (int k = 0; k < axes->count; k++)
        if (__builtin_mul_overflow(total, axes->size[k], &total) || total > INT64_MAX / 16)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: the extents of the header overflow 64 bits", tsr_input_name(input));
    const int64_t everything = total * element;
    if (!files && !axes->trailer) tsr_layout_remark_rest(input, offset, &whole, everything, "the header");
    for (; count > 0 && apart && axes->pick[count - 1] >= 0; count--) { /* of the slowest axes: the voxels of one part lie together */
        if (axes->size[count - 1] < 1)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: an axis of %lld frames, layers or channels, expected at least 1", tsr_input_name(input),
                     (long long)axes->size[count - 1]);
        total /= axes->size[count - 1];
        skip += axes->pick[count - 1] * total * element;
    }
    plan(axes, count, &g);
    layout->size = (tsr_size3){ g.size[0], g.size[1], g.size[2] };
    if (__builtin_add_overflow(layout->skip, skip, &layout->skip))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the voxels begin beyond any file", tsr_input_name(input));
    if (files) layout->bytes = everything - skip;
    if (!g.scattered) return read_plain(input, offset, files, layout, block);
    if (tsr_input_settings(input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: voxels of several parts that lie mixed cannot be read in pieces, convert the file first",
                 tsr_input_name(input));
    tsr_layout all = *layout;
    tsr_block mixed;
    all.size = (tsr_size3){ total, 1, 1 };
    *block = (tsr_block){ 0 };
    TSR_TRY(tsr_voxel_bytes(input, layout->dtype, layout->size, &bytes));
    TSR_TRY(read_plain(input, offset, files, &all, &mixed));
    TSR_TRY_GOTO(tsr_input_allocate(input, bytes, "voxels", block), done);
    copy_rows(&g, (size_t)element, (const uint8_t *)mixed.data, (uint8_t *)block->data);
done:
    tsr_block_release(&mixed);
    return status;
}

void tsr_volume_parts(const tsr_volume *volume, int64_t *frames, int64_t *layers, int64_t *channels)
{
    int64_t *const to[TSR_PARTS] = { frames, layers, channels };
    for (int part = 0; part < TSR_PARTS; part++)
        if (to[part]) *to[part] = volume->parts[part] > 1 ? volume->parts[part] : 1;
}
