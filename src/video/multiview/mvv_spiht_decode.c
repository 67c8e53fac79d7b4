/* video/multiview/mvv_spiht_decode.c: the lists of the encoder again. What a stream that is cut off does not say stays unknown. */
#include "video/multiview/mvv_spiht.h"

typedef struct decoding {
    tsr_mvv_coder *c;
    tsr_mvv_state s;
    int failed;
} decoding;

/* Room for so many more, and the lists' addresses, which may be new. 0 without memory. */
static int reserve(decoding *d, int64_t pixels, int64_t sets, int64_t found)
{
    tsr_mvv_coder *c = d->c;
    const int there = tsr_mvv_list_reserve(&c->pixels, d->s.pixel_count + pixels) && tsr_mvv_list_reserve(&c->sets, d->s.set_count + sets) &&
                      tsr_mvv_list_reserve(&c->found, d->s.found_count + found) && tsr_mvv_list_reserve(&c->value, d->s.found_count + found);
    d->s.pixels = c->pixels.item;
    d->s.sets = c->sets.item;
    d->s.found = c->found.item;
    d->s.value = c->value.item;
    d->failed |= !there;
    return there;
}

/* Up to 64 bits from `at` on, in a word. All are there. */
static inline uint64_t word_at(const uint8_t *bytes, int64_t at, int64_t count)
{
    uint64_t word = 0;
    const int by = (int)(at & 7);
    const int64_t many = (by + count + 7) / 8;
    memcpy(&word, bytes + (at >> 3), (size_t)(many > 8 ? 8 : many));
    word = TSR_LE(64, word) >> by;
    if (many > 8) word |= (uint64_t)bytes[(at >> 3) + 8] << (64 - by);
    return count < 64 ? word & ((1ull << count) - 1) : word;
}

/* A group of `count` bits of syntax planes that is there as a whole: entries from `begin` on whose bit is 0 move to `kept`, `found` is done for the
 * others in
 * their order. Only those cost more than a 64th of a step. */
#define EACH_SET_BIT(s, list, begin, count, kept, entry, found)                                      \
    for (int64_t done_ = 0, at_ = (s)->at[0]; done_ < (count); done_ += 64) {                        \
        const int64_t some_ = tsr_min64(64, (count)-done_);                                          \
        uint64_t bits_ = word_at((s)->bytes, at_ + done_, some_);                                    \
        int64_t from_ = 0;                                                                           \
        for (; bits_; bits_ &= bits_ - 1) {                                                          \
            const int64_t here_ = __builtin_ctzll(bits_);                                            \
            const uint32_t entry = (list)[(begin) + done_ + here_];                                  \
            memmove((list) + (kept), (list) + (begin) + done_ + from_, (size_t)(here_ - from_) * 4); \
            (kept) += here_ - from_;                                                                 \
            from_ = here_ + 1;                                                                       \
            found;                                                                                   \
        }                                                                                            \
        memmove((list) + (kept), (list) + (begin) + done_ + from_, (size_t)(some_ - from_) * 4);     \
        (kept) += some_ - from_;                                                                     \
    }

static void pixels(decoding *d)
{
    tsr_mvv_state *s = &d->s;
    const int64_t count = s->pixel_count, signs = s->at[0] + count;
    const int64_t ones = tsr_mvv_bits_count(s->bytes, tsr_min64(s->at[0], s->end), tsr_min64(signs, s->end));
    int64_t kept = 0;
    if (!reserve(d, 0, 0, s->sign ? ones : count)) return;
    if (!s->sign || signs + ones > s->end) {
        tsr_mvv_pixels_by_bit(s);
        return;
    }
    s->at[2] = signs;
    EACH_SET_BIT(s, s->pixels, 0, count, kept, x, (void)tsr_mvv_find(s, x))
    s->pixel_count = kept;
    s->at[0] = s->at[2];
}

/* Of a generation of `count` sets from `first` on: how many are significant, and their children. */
static int64_t significant(const tsr_mvv_state *s, int64_t first, int64_t count, int64_t *children)
{
    int64_t sum = 0;
    *children = 0;
    for (int64_t done = 0; done < count && s->at[0] + done < s->end; done += 64) {
        const int64_t some = tsr_min64(tsr_min64(64, count - done), s->end - s->at[0] - done);
        for (uint64_t bits = word_at(s->bytes, s->at[0] + done, some); bits; bits &= bits - 1, sum++) {
            const uint32_t x = s->sets[first + done + __builtin_ctzll(bits)];
            if (!(x & TSR_MVV_SET_B)) *children += tsr_mvv_children_of(s->shape, x, tsr_mvv_level(s->shape, x));
        }
    }
    return sum;
}

static void generation(decoding *d, int64_t begin, int64_t end, int64_t *kept)
{
    tsr_mvv_state *s = &d->s;
    const int64_t count = end - begin, left = tsr_max64(0, s->end - s->at[0]);
    int64_t children = tsr_min64(left, TSR_MVV_CHILDREN * count), open = tsr_min64(left, count), after = 0, stay = *kept;
    if (s->sign) {
        open = significant(s, begin, count, &children);
        s->at[1] = s->at[0] + count;
        s->at[2] = s->at[1] + children;
        after = s->at[2] + tsr_mvv_bits_count(s->bytes, tsr_min64(s->at[1], s->end), tsr_min64(s->at[2], s->end));
    }
    if (!reserve(d, children, TSR_MVV_CHILDREN * open, children)) return;
    if (s->sign && after <= s->end) EACH_SET_BIT(s, s->sets, begin, count, stay, entry, tsr_mvv_open_set(s, entry))
    else tsr_mvv_sets_by_bit(s, begin, end, &stay);
    *kept = stay;
    if (s->sign) s->at[0] = after;
}

static void plane(decoding *d)
{
    tsr_mvv_state *s = &d->s;
    const int64_t before = s->found_count;
    int64_t kept = 0, begin = 0;
    pixels(d);
    for (int64_t end = s->set_count; begin < end && !s->cut && !d->failed; begin = end, end = s->set_count) generation(d, begin, end, &kept);
    s->set_count = kept;
    if (s->cut || d->failed) return;
    const int64_t whole = tsr_mvv_refined_count(s, before);
    for (int64_t k = 0; k < whole; k++) s->value[k] = tsr_mvv_refined(s->value[k], s->plane, tsr_mvv_bit_of(s->bytes, s->at[0] + k));
    s->at[0] += whole;
}

tsr_status tsr_mvv_check_planes(int32_t planes, int32_t most_planes)
{
    if (planes > most_planes || planes > TSR_MVV_MOST_PLANES)
        TSR_FAIL(TSR_ERROR_FORMAT, "a stream of %d bit planes, expected at most %d", planes, most_planes);
    return TSR_OK;
}

tsr_status tsr_mvv_bad_directory(int32_t number)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "bit plane %d of a stream does not begin where its directory says", number);
}

tsr_status tsr_mvv_spiht_decode(tsr_mvv_coder *c, const tsr_mvv_shape *shape, const uint8_t *bytes, int64_t size, tsr_multiview_syntax syntax,
                                int32_t most_planes)
{
    const int serial = syntax == TSR_MULTIVIEW_SYNTAX_SERIAL;
    decoding d = { .c = c, .s = { .shape = shape, .bytes = bytes, .end = 8 * size, .child = serial ? 0 : 1, .sign = serial ? 0 : 2 } };
    c->pixels.count = c->sets.count = c->found.count = c->value.count = 0;
    if (!size) return TSR_OK;
    const int32_t planes = bytes[0];
    TSR_TRY(tsr_mvv_check_planes(planes, most_planes));
    const int64_t first = serial ? 1 : 1 + 4 * planes;
    if (first > size) return TSR_OK; /* cut within its directory */
    if (reserve(&d, 1, 1, 1)) {
        d.s.pixels[d.s.pixel_count++] = 0;
        if (tsr_mvv_has_children(shape, 0, 0)) d.s.sets[d.s.set_count++] = 0;
    }
    d.s.at[0] = 8 * first;
    for (int32_t k = 0; k < planes && !d.s.cut && !d.failed; k++) {
        if (!serial) { /* each plane begins where the one before ended, at a whole byte; a plane that was never written begins at the end */
            const int64_t place = 8 * (first + (int64_t)tsr_get_u32(bytes + 1 + 4 * k)), here = (d.s.at[0] + 7) / 8 * 8;
            if (place != here && place < d.s.end) return tsr_mvv_bad_directory(k);
            d.s.at[0] = here;
        }
        d.s.plane = planes - 1 - k;
        plane(&d);
    }
    if (d.failed) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the lists of a stream");
    c->found.count = c->value.count = d.s.found_count;
    return TSR_OK;
}
