#include "formats/points/laz_items.h"

#include "io/little_endian.h"

#include <stddef.h>

static void median_add(laz_median *m, int32_t value)
{
    int32_t *v = m->value;
    const int32_t middle = v[2];
    if (!m->low) {
        int i = 3;
        for (; i >= 0 && value < v[i]; i--) v[i + 1] = v[i];
        v[i + 1] = value;
        m->low = value >= middle;
    } else {
        int i = 1;
        for (; i < 5 && v[i] < value; i++) v[i - 1] = v[i];
        v[i - 1] = value;
        m->low = middle < value;
    }
}

static uint32_t even_up_to(uint32_t k, uint32_t most) { return k < most ? k & ~1u : most; }

/* ---- formats 0 to 3 -------------------------------------------------------------------------------------------------------------------------------- */

/* Contexts of return r of n; those that cannot be have some, too. */
static const uint8_t return_map[8][8] = { { 15, 14, 13, 12, 11, 10, 9, 8 },  { 14, 0, 1, 3, 6, 10, 10, 9 },   { 13, 1, 2, 4, 7, 11, 11, 10 },
                                          { 12, 3, 4, 5, 8, 12, 12, 11 },    { 11, 6, 7, 8, 9, 13, 13, 12 },  { 10, 10, 11, 12, 13, 14, 14, 13 },
                                          { 9, 10, 11, 12, 13, 14, 15, 14 }, { 8, 9, 10, 11, 12, 13, 14, 15 } };

static int apart(int a, int b) { return a < b ? b - a : a - b; }

/* One of x and y: the step from the last point's beside the middle of the last ones. */
static void step_to(laz_coder *c, laz_integer *n, laz_median *m, uint32_t context, const uint8_t *last, uint8_t *p)
{
    const int32_t before = tsr_get_i32(last);
    const int32_t d = laz_whole(c, n, 32, context, m->value[2], (int32_t)((uint32_t)tsr_get_i32(p) - (uint32_t)before));
    median_add(m, d);
    tsr_put_i32(p, (int32_t)((uint32_t)before + (uint32_t)d));
}

enum { SOURCE = 1, USER = 2, ANGLE = 4, CLASS = 8, BRIGHT = 16, FLAGS = 32 };

static uint32_t changed10(const laz_point10 *s, const uint8_t *p)
{
    const uint8_t *last = s->last;
    return (p[14] != last[14] ? FLAGS : 0u) | (tsr_get_u16(p + 12) != s->intensity[return_map[p[14] >> 3 & 7][p[14] & 7]] ? BRIGHT : 0u) |
           (p[15] != last[15] ? CLASS : 0u) | (p[16] != last[16] ? ANGLE : 0u) | (p[17] != last[17] ? USER : 0u) |
           (memcmp(p + 18, last + 18, 2) ? SOURCE : 0u);
}

static void point10(laz_coder *c, laz_point10 *s, uint8_t *p)
{
    const uint8_t *last = s->last;
    if (!c->writing) memcpy(p, last, 20);
    const uint32_t changed = laz_symbol(c, &s->changed, 64, c->writing ? changed10(s, p) : 0);
    if (changed & FLAGS) p[14] = (uint8_t)laz_symbol(c, &s->flags[last[14]], 256, p[14]);
    const int r = p[14] & 7, n = p[14] >> 3 & 7, m = return_map[n][r], level = apart(n, r);
    const uint32_t single = n == 1;
    if (changed & BRIGHT) s->intensity[m] = (uint16_t)laz_whole(c, &s->bright, 16, m < 3 ? (uint32_t)m : 3, s->intensity[m], tsr_get_u16(p + 12));
    tsr_put_u16(p + 12, s->intensity[m]);
    if (changed & CLASS) p[15] = (uint8_t)laz_symbol(c, &s->class_of[last[15]], 256, p[15]);
    if (changed & ANGLE) p[16] = (uint8_t)(last[16] + laz_symbol(c, &s->angle[p[14] >> 6 & 1], 256, (uint8_t)(p[16] - last[16])));
    if (changed & USER) p[17] = (uint8_t)laz_symbol(c, &s->user[last[17]], 256, p[17]);
    if (changed & SOURCE) tsr_put_u16(p + 18, (uint16_t)laz_whole(c, &s->source, 16, 0, tsr_get_u16(last + 18), tsr_get_u16(p + 18)));
    step_to(c, &s->d[0], &s->median[0][m], single, last, p);
    step_to(c, &s->d[1], &s->median[1][m], single + even_up_to(s->d[0].k, 20), last + 4, p + 4);
    s->height[level] = laz_whole(c, &s->z, 32, single + even_up_to((s->d[0].k + s->d[1].k) / 2, 18), s->height[level], tsr_get_i32(p + 8));
    tsr_put_i32(p + 8, s->height[level]);
    memcpy(s->last, p, 20);
}

/* Multiples of the last step of time, and what stands beyond them. */
enum { TIMES = 500, TIMES_LESS = 10, TIME_SAME = TIMES + TIMES_LESS + 1, TIME_FAR, TIME_SYMBOLS = TIMES + TIMES_LESS + 6 };

static void far_time(laz_coder *c, laz_time *t)
{
    t->next = (t->next + 1) & 3;
    const uint64_t high = (uint32_t)laz_whole(c, &t->d, 32, 8, (int32_t)(t->time[t->now] >> 32), 0);
    const uint64_t low = laz_bits(c, 16, 0), middle = laz_bits(c, 16, 0);
    t->now = t->next;
    t->time[t->now] = (int64_t)(high << 32 | middle << 16 | low);
    t->step[t->now] = t->extreme[t->now] = 0;
}

static void add_time(laz_time *t, int32_t d) { t->time[t->now] = (int64_t)((uint64_t)t->time[t->now] + (uint64_t)(int64_t)d); }

/* A step of so many times the last one. */
static void near_time(laz_coder *c, laz_time *t, int times)
{
    const int context = times == 0                   ? 7
                        : times == 1                 ? 1
                        : times < 10 && times > 0    ? 2
                        : times < TIMES && times > 0 ? 3
                        : times == TIMES             ? 4
                        : times > -TIMES_LESS        ? 5
                                                     : 6;
    const int32_t d = laz_whole(c, &t->d, 32, (uint32_t)context, (int32_t)((uint32_t)times * (uint32_t)t->step[t->now]), 0);
    add_time(t, d);
    if (times == 1) t->extreme[t->now] = 0;
    if (context != 4 && context < 6) return;
    if (++t->extreme[t->now] <= 3) return;
    t->step[t->now] = d;
    t->extreme[t->now] = 0;
}

/* Only to be passed over: read, never written. */
static void gps_time(laz_coder *c, laz_time *t, uint8_t *p)
{
    for (int turns = 0; turns < 4; turns++) {
        if (!t->step[t->now]) {
            const int symbol = (int)laz_symbol(c, &t->still, 6, 0);
            if (symbol > 2) {
                t->now = (t->now + symbol - 2) & 3;
                continue;
            }
            if (symbol == 1) {
                t->step[t->now] = laz_whole(c, &t->d, 32, 0, 0, 0);
                t->extreme[t->now] = 0;
                add_time(t, t->step[t->now]);
            } else if (symbol == 2) {
                far_time(c, t);
            }
        } else {
            const int symbol = (int)laz_symbol(c, &t->times, TIME_SYMBOLS, 0);
            if (symbol > TIME_FAR) {
                t->now = (t->now + symbol - TIME_FAR) & 3;
                continue;
            }
            if (symbol < TIME_SAME) near_time(c, t, symbol <= TIMES ? symbol : TIMES - symbol);
            else if (symbol == TIME_FAR) far_time(c, t);
        }
        break;
    }
    tsr_put_u64(p, (uint64_t)t->time[t->now]);
}

static int clamped(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

/* Byte k of a colour (red low, red high, green low ...) beside the one that is expected. */
static void color_byte(laz_coder *c, laz_color *s, int k, int expected, uint8_t *p)
{
    p[k] = (uint8_t)(expected + (int)laz_symbol(c, &s->byte[k], 256, (uint8_t)(p[k] - expected)));
}

/* Red, green and blue of 16 bits, beside those of the last point. */
static void color(laz_coder *c, laz_color *s, uint8_t *last, uint8_t *p)
{
    uint32_t changed = 0;
    for (int k = 0; k < 6 && c->writing; k++) changed |= (uint32_t)(p[k] != last[k]) << k;
    if (c->writing && (memcmp(p, p + 2, 2) || memcmp(p, p + 4, 2))) changed |= 64;
    if (!c->writing) memcpy(p, last, 6);
    changed = laz_symbol(c, &s->used, 128, changed);
    for (int k = 0; k < 2; k++)
        if (changed >> k & 1) color_byte(c, s, k, last[k], p);
    for (int k = 0; k < 2 && changed & 64; k++) { /* low bytes, then high ones */
        int d = p[k] - last[k];
        if (changed >> (k + 2) & 1) color_byte(c, s, k + 2, clamped(d + last[k + 2]), p);
        d = (d + p[k + 2] - last[k + 2]) / 2;
        if (changed >> (k + 4) & 1) color_byte(c, s, k + 4, clamped(d + last[k + 4]), p);
    }
    if (!(changed & 64)) {
        memcpy(p + 2, p, 2);
        memcpy(p + 4, p, 2);
    }
    memcpy(last, p, 6);
}

static void code_items(laz_coder *c, const laz_layout *l, laz_state *s, const uint8_t *before, uint8_t *p)
{
    point10(c, &s->point10, p);
    int at = 20;
    for (int k = 1; k < l->items; at += l->item[k++].size) {
        if (l->item[k].type == LAZ_GPS11) gps_time(c, &s->time, p + at);
        else if (l->item[k].type == LAZ_RGB12) color(c, &s->color, s->color_last, p + at);
        else
            for (int i = 0; i < l->item[k].size; i++) p[at + i] = (uint8_t)(before[at + i] + laz_symbol(c, &s->extra[i], 256, 0));
    }
}

static void begin_items(const laz_layout *l, laz_state *s, const uint8_t *first)
{
    memset(s, 0, sizeof *s);
    memcpy(s->point10.last, first, 20);
    int at = 20;
    for (int k = 1; k < l->items; at += l->item[k++].size) {
        if (l->item[k].type == LAZ_GPS11) s->time.time[0] = tsr_get_i64(first + at);
        if (l->item[k].type == LAZ_RGB12) memcpy(s->color_last, first + at, 6);
    }
}

void laz_pack_chunk(const laz_layout *l, laz_state *s, laz_coder *c, const uint8_t *records, int64_t count)
{
    uint8_t row[26];
    c->arena->used = 0;
    begin_items(l, s, records);
    for (int64_t i = 1; i < count; i++) {
        memcpy(row, records + i * l->record, (size_t)l->record);
        code_items(c, l, s, records + (i - 1) * l->record, row);
    }
    laz_end(c);
}

/* ---- formats 6 to 8, in layers --------------------------------------------------------------------------------------------------------------------- */

static const uint8_t return_map14[16][16] = {
    { 0, 1, 2, 3, 4, 5, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5 }, { 1, 0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 },
    { 2, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3 }, { 3, 3, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 },
    { 4, 3, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 }, { 5, 3, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 },
    { 3, 3, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4 }, { 4, 3, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4 },
    { 4, 3, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4 }, { 5, 3, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4 },
    { 5, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4 }, { 5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 4, 4, 4 },
    { 5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4, 4 }, { 5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4 },
    { 5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5 }, { 5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5 }
};

/* The layers that are unpacked; the others are passed over. */
typedef struct layers {
    laz_coder xy, z, class_of, bright, color;
    int has_z, has_class, has_bright, has_color;
} layers;

static void begin_channel(laz_point14 *s, const int32_t place[3], uint8_t returns, uint8_t class_now, uint16_t bright)
{
    memset(s, 0, offsetof(laz_point14, color_last));
    s->used = 1;
    memcpy(s->place, place, sizeof s->place);
    s->returns = returns;
    s->class_now = class_now;
    s->bright_now = bright;
    for (int k = 0; k < 8; k++) s->intensity[k] = bright, s->height[k] = place[2];
}

/* Which return of how many. */
static void take_returns(laz_coder *c, laz_point14 *s, uint32_t changed)
{
    uint32_t n = s->returns >> 4, r = s->returns & 15;
    if (changed & 4) n = laz_symbol(c, &s->number[n], 16, 0);
    if ((changed & 3) == 1) r = (r + 1) & 15;
    else if ((changed & 3) == 2) r = (r + 15) & 15;
    else if ((changed & 3) == 3) r = changed & 16 ? laz_symbol(c, &s->which[r], 16, 0) : (r + 2 + laz_symbol(c, &s->same, 13, 0)) & 15;
    s->returns = (uint8_t)(n << 4 | r);
}

/* The next point: its channel, and whether that is another one than before. */
static int point14(layers *l, laz_state *state, int channel, int *other)
{
    laz_point14 *s = &state->channel[channel];
    const int last_r = s->returns & 15, last_n = s->returns >> 4;
    const uint32_t changed = laz_symbol(&l->xy, &s->changed[(last_r == 1) + 2 * (last_r >= last_n) + 4 * s->timed], 128, 0);
    *other = (changed & 64) != 0;
    if (*other) {
        const laz_point14 *from = s;
        channel = (channel + 1 + (int)laz_symbol(&l->xy, &s->channel, 3, 0)) & 3;
        s = &state->channel[channel];
        if (!s->used) begin_channel(s, from->place, from->returns, from->class_now, from->bright_now);
    }
    take_returns(&l->xy, s, changed);
    const int r = s->returns & 15, n = s->returns >> 4, timed = (changed & 16) != 0, m = return_map14[n][r] << 1 | timed,
              level = apart(n, r) < 7 ? apart(n, r) : 7;
    const int ends = 2 * (r == 1) + (r >= n);
    const uint32_t single = n == 1;
    for (int k = 0; k < 2; k++) {
        const int32_t d = laz_whole(&l->xy, &s->d[k], 32, single + (k ? even_up_to(s->d[0].k, 20) : 0), s->median[k][m].value[2], 0);
        median_add(&s->median[k][m], d);
        s->place[k] = (int32_t)((uint32_t)s->place[k] + (uint32_t)d);
    }
    if (l->has_z)
        s->place[2] = s->height[level] = laz_whole(&l->z, &s->z, 32, single + even_up_to((s->d[0].k + s->d[1].k) / 2, 18), s->height[level], 0);
    if (l->has_class) s->class_now = (uint8_t)laz_symbol(&l->class_of, &s->class_of[(s->class_now & 31) << 1 | (ends == 3)], 256, 0);
    if (l->has_bright) {
        uint16_t *last = &s->intensity[ends << 1 | timed];
        s->bright_now = *last = (uint16_t)laz_whole(&l->bright, &s->bright, 16, (uint32_t)ends, *last, 0);
    }
    s->timed = timed;
    return channel;
}

/* Version 3 goes on from the colour of the channel before where the new one has had points already; version 4 from the channel's own. `channel` is of the colours:
 * to version 3 all points but the first of a run are of channel 0, as its first writer had it. */
static void color14(layers *l, laz_state *state, int channel, int *last_channel, int version, uint8_t *p)
{
    laz_point14 *s = &state->channel[channel];
    int from = *last_channel;
    if (from != channel) {
        *last_channel = channel;
        if (!s->color_used) {
            memset(&s->color, 0, sizeof s->color);
            memcpy(s->color_last, state->channel[from].color_last, 6);
            s->color_used = 1;
            from = channel;
        }
        if (version == 4) from = channel;
    }
    uint8_t *last = state->channel[from].color_last;
    if (l->has_color) color(&l->color, &s->color, last, p);
    else memcpy(p, last, 6);
}

/* A layer of the chunk: where it begins and whether it is there. */
static int begin_layer(laz_coder *c, laz_arena *arena, const uint8_t **at, const uint8_t *end, uint32_t bytes)
{
    const uint8_t *from = *at;
    if (bytes > (uint64_t)(end - from)) return -1;
    *at += bytes;
    if (c && bytes) laz_begin_reading(c, arena, from, *at);
    return bytes > 0;
}

/* The sizes of all layers stand together, in the order of the items. */
static int begin_layers(layers *l, const laz_layout *layout, laz_arena *arena, const uint8_t *at, const uint8_t *end)
{
    int sizes = 0;
    for (int k = 0; k < layout->items; k++)
        sizes += layout->item[k].type == LAZ_POINT14    ? 9
                 : layout->item[k].type == LAZ_RGBNIR14 ? 2
                 : layout->item[k].type == LAZ_RGB14    ? 1
                                                        : layout->item[k].size;
    const uint8_t *size = at;
    if (end - at < 4 * sizes) return 0;
    at += 4 * sizes;
    const int xy = begin_layer(&l->xy, arena, &at, end, tsr_get_u32(size));
    l->has_z = begin_layer(&l->z, arena, &at, end, tsr_get_u32(size + 4));
    l->has_class = begin_layer(&l->class_of, arena, &at, end, tsr_get_u32(size + 8));
    if (begin_layer(NULL, arena, &at, end, tsr_get_u32(size + 12)) < 0) return 0; /* flags */
    l->has_bright = begin_layer(&l->bright, arena, &at, end, tsr_get_u32(size + 16));
    for (int k = 5; k < 9; k++)
        if (begin_layer(NULL, arena, &at, end, tsr_get_u32(size + 4 * k)) < 0) return 0;
    l->has_color = 0;
    if (layout->items > 1 && layout->item[1].type != LAZ_BYTE14) l->has_color = begin_layer(&l->color, arena, &at, end, tsr_get_u32(size + 36));
    return xy > 0 && l->has_z >= 0 && l->has_class >= 0 && l->has_bright >= 0 && l->has_color >= 0;
}

static void put_point14(const laz_point14 *s, int channel, uint8_t *p)
{
    for (int k = 0; k < 3; k++) tsr_put_i32(p + 4 * k, s->place[k]);
    tsr_put_u16(p + 12, s->bright_now);
    p[14] = s->returns;
    p[15] = (uint8_t)(channel << 4);
    p[16] = s->class_now;
}

static int unpack_layers(const laz_layout *layout, laz_arena *arena, laz_state *state, const uint8_t *from, int64_t bytes, int64_t count,
                         uint8_t *records)
{
    layers l = { .has_z = 0 };
    const uint8_t *first = from, *end = from + bytes;
    const int colored = layout->items > 1 && layout->item[1].type != LAZ_BYTE14;
    int channel = first[15] >> 4 & 3, color_channel = channel, other;
    if (bytes < layout->record + 4) return 0;
    memcpy(records, first, (size_t)layout->record);
    if (count == 1) return 1;
    if ((int64_t)tsr_get_u32(from + layout->record) != count || !begin_layers(&l, layout, arena, from + layout->record + 4, end)) return 0;
    for (int k = 0; k < LAZ_CHANNELS; k++) state->channel[k].used = state->channel[k].color_used = 0;
    laz_point14 *s = &state->channel[channel];
    begin_channel(s, (int32_t[3]){ tsr_get_i32(first), tsr_get_i32(first + 4), tsr_get_i32(first + 8) }, first[14], first[16],
                  tsr_get_u16(first + 12));
    if (colored) memcpy(s->color_last, first + 30, 6);
    memset(&s->color, 0, sizeof s->color);
    s->color_used = 1;
    for (int64_t i = 1; i < count; i++) {
        uint8_t *p = records + i * layout->record;
        memset(p, 0, (size_t)layout->record);
        channel = point14(&l, state, channel, &other);
        put_point14(&state->channel[channel], channel, p);
        const int version = colored ? layout->item[1].version : 0;
        if (colored) color14(&l, state, version == 4 || other ? channel : 0, &color_channel, version, p + 30);
    }
    return !(l.xy.failed | l.z.failed | l.class_of.failed | l.bright.failed | l.color.failed);
}

/* ---- chunks ---------------------------------------------------------------------------------------------------------------------------------------- */

size_t laz_arena_words(const laz_layout *l)
{
    const size_t byte = laz_model_words(256), whole = LAZ_CONTEXTS * laz_model_words(33) + 32 * byte;
    size_t words =
        2 * laz_model_words(TIME_SYMBOLS) + 6 * whole + (3 * 256 + 2 + 6) * byte + laz_model_words(64) + laz_model_words(128); /* formats 0 to 3 */
    const size_t channel =
        8 * laz_model_words(128) + 32 * laz_model_words(16) + 4 * laz_model_words(16) + (64 + 6) * byte + laz_model_words(128) + 4 * whole;
    if (words < LAZ_CHANNELS * channel) words = LAZ_CHANNELS * channel;
    for (int k = 0; k < l->items; k++)
        if (l->item[k].type == LAZ_BYTE) words += (size_t)l->item[k].size * byte;
    return words;
}

int laz_unpack_chunk(const laz_layout *l, laz_arena *arena, laz_state *s, const uint8_t *from, int64_t bytes, int64_t count, uint8_t *records)
{
    laz_coder c;
    arena->used = 0;
    if (l->item[0].type == LAZ_POINT14) return unpack_layers(l, arena, s, from, bytes, count, records);
    begin_items(l, s, from);
    memcpy(records, from, (size_t)l->record);
    if (count == 1) return 1;
    laz_begin_reading(&c, arena, from + l->record, from + bytes);
    for (int64_t i = 1; i < count; i++) code_items(&c, l, s, records + (i - 1) * l->record, records + i * l->record);
    return !c.failed;
}
