/* Streams: headers, pictures one after the other, references. */
#include "dirac_model.h"

void model_component_size(const model *m, int c, int *w, int *h)
{
    *w = c && m->chroma ? m->width / 2 : m->width;
    *h = (c && m->chroma == 2 ? m->height / 2 : m->height) / (m->fields ? 2 : 1);
}

static void unit(model *m, int code, const model_bits *payload, int unknown)
{
    const size_t size = payload ? payload->bits / 8 : 0, next = code == 0x10 || unknown ? 0 : 13 + size;
    model_literal(&m->out, 0x42424344, 32);
    model_literal(&m->out, (uint64_t)code, 8);
    model_literal(&m->out, next, 32);
    model_literal(&m->out, m->previous, 32);
    if (payload) model_append(&m->out, payload);
    m->previous = 13 + size;
}

static int bits_of(int excursion)
{
    int bits = 0;
    while ((1 << bits) < excursion + 1) bits++;
    return bits;
}

/* Also chooses extents, chroma and depths. */
static model_bits sequence_header(model *m)
{
    static const int presets[9][4] = { { 0 },
                                       { 0, 255, 128, 255 },
                                       { 16, 219, 128, 224 },
                                       { 64, 876, 512, 896 },
                                       { 256, 3504, 2048, 3584 },
                                       { 0, 1023, 512, 1023 },
                                       { 0, 4095, 2048, 4095 },
                                       { 4096, 56064, 32768, 57344 },
                                       { 0, 65535, 32768, 65535 } };
    uint64_t *s = &m->seed;
    model_bits b = { 0 };
    const int interlaced = model_below(s, 2);
    m->chroma = model_below(s, 3);
    m->fields = model_chance(s, 4);
    m->width = model_between(s, 1, 40) * (m->chroma ? 2 : 1);
    m->height = model_between(s, 1, 30) * (m->chroma == 2 ? 2 : 1) * (m->fields ? 2 : 1);
    if (model_chance(s, 30)) m->width = m->chroma ? 2 : 1;
    model_uint(&b, (uint32_t)m->major);
    model_uint(&b, m->kind == MODEL_CORE ? 2 : 0);
    model_uint(&b, m->kind == MODEL_CORE ? 8 : m->kind == MODEL_HIGH_QUALITY ? 3 : 0);
    model_uint(&b, 0);
    model_uint(&b, (uint32_t)model_below(s, m->kind == MODEL_CORE ? 21 : 23)); /* base format; what matters is given below */
    model_bit(&b, 1);
    model_uint(&b, (uint32_t)m->width);
    model_uint(&b, (uint32_t)m->height);
    model_bit(&b, 1);
    model_uint(&b, (uint32_t)m->chroma);
    model_bit(&b, 1);
    model_uint(&b, (uint32_t)interlaced);
    if (model_chance(s, 2)) { /* frame rate */
        const int index = model_below(s, m->major >= 3 ? 17 : 12);
        model_bit(&b, 1);
        model_uint(&b, (uint32_t)index);
        if (!index) {
            model_uint(&b, (uint32_t)model_between(s, 1, 100000));
            model_uint(&b, (uint32_t)model_between(s, 1, 1001));
        }
    } else model_bit(&b, 0);
    if (model_chance(s, 2)) { /* aspect */
        const int index = model_below(s, 7);
        model_bit(&b, 1);
        model_uint(&b, (uint32_t)index);
        for (int k = 0; k < 2 && !index; k++) model_uint(&b, (uint32_t)model_between(s, 1, 99));
    } else model_bit(&b, 0);
    model_bit(&b, 1); /* clean area: that of the base format may be larger than the picture */
    model_uint(&b, (uint32_t)m->width);
    model_uint(&b, (uint32_t)m->height);
    model_uint(&b, 0);
    model_uint(&b, 0);
    model_bit(&b, 1); /* signal range */
    const int range = model_below(s, m->major >= 3 ? 9 : 5);
    model_uint(&b, (uint32_t)range);
    if (range)
        for (int k = 0; k < 2; k++) m->depth[k] = bits_of(presets[range][1 + 2 * k]);
    else
        for (int k = 0; k < 2; k++) {
            const int bits = model_between(s, 4, 14), excursion = (1 << bits) - 1 - model_below(s, 1 << (bits - 1));
            m->depth[k] = bits_of(excursion);
            model_uint(&b, (uint32_t)model_below(s, 1 << bits));
            model_uint(&b, (uint32_t)excursion);
        }
    if (model_chance(s, 2)) { /* colour */
        const int index = model_below(s, 4);
        model_bit(&b, 1);
        model_uint(&b, (uint32_t)index);
        for (int k = 0; k < 3 && !index; k++) {
            const int given = model_below(s, 2);
            model_bit(&b, given);
            if (given) model_uint(&b, (uint32_t)model_below(s, 4));
        }
    } else model_bit(&b, 0);
    model_uint(&b, (uint32_t)m->fields);
    model_align(&b);
    return b;
}

/* Units that mean nothing to a picture. */
static void chatter(model *m, const model_bits *header)
{
    model_bits b = { 0 };
    const int what = model_below(&m->seed, 8);
    if (what > 2) return;
    if (what == 0) unit(m, 0, header, 0);
    else {
        for (int k = model_below(&m->seed, 40); k > 0; k--) model_literal(&b, (uint64_t)model_below(&m->seed, 256) & 0xfe, 8);
        unit(m, what == 1 ? 0x20 : 0x30, &b, 0);
        free(b.bytes);
    }
}

/* ---- slices -------------------------------------------------------------------------------------------------------------------------------- */

static void fragments(model *m, const model_picture *p, const model_slices *s, int code)
{
    const int count = s->nx * s->ny;
    model_bits b = { 0 };
    model_literal(&b, p->number, 32);
    model_literal(&b, s->head.bits / 8, 16);
    model_literal(&b, 0, 16);
    model_append(&b, &s->head);
    unit(m, code, &b, 0);
    free(b.bytes);
    for (int first = 0, n; first < count; first += n) {
        n = model_between(&m->seed, 1, count - first);
        while (s->starts[first + n] - s->starts[first] > 65535 && n > 1) n--;
        b = (model_bits){ 0 };
        model_literal(&b, p->number, 32);
        model_literal(&b, s->starts[first + n] - s->starts[first], 16);
        model_literal(&b, (uint64_t)n, 16);
        model_literal(&b, (uint64_t)(first % s->nx), 16);
        model_literal(&b, (uint64_t)(first / s->nx), 16);
        for (size_t k = s->starts[first]; k < s->starts[first + n]; k++) model_literal(&b, s->body.bytes[k], 8);
        unit(m, code, &b, 0);
        free(b.bytes);
    }
}

static void slice_picture(model *m, model_picture *p, int in_fragments)
{
    model_slices s;
    model_make_slices(m, p, &s);
    if (in_fragments) fragments(m, p, &s, m->kind == MODEL_HIGH_QUALITY ? 0xec : 0xcc);
    else {
        model_bits b = { 0 };
        model_literal(&b, p->number, 32);
        model_append(&b, &s.head);
        model_append(&b, &s.body);
        unit(m, m->kind == MODEL_HIGH_QUALITY ? 0xe8 : 0xc8, &b, model_chance(&m->seed, 10));
        free(b.bytes);
    }
    model_slices_free(&s);
}

/* ---- core syntax --------------------------------------------------------------------------------------------------------------------------- */

static void core_picture(model *m, model_picture *p)
{
    uint64_t *s = &m->seed;
    const int references = m->references ? model_below(s, 3) : 0, variable = !references && model_chance(s, 3), kept = model_below(s, 3) > 0;
    const int twice = references == 2 && m->references == 1; /* one picture, seen twice */
    const model_picture *from[2] = { NULL, NULL };
    model_bits b = { 0 };
    model_literal(&b, p->number, 32);
    for (int r = 0; r < references; r++) {
        from[r] = &m->reference[twice ? 0 : model_below(s, m->references)];
        model_sint(&b, (int32_t)(from[r]->number - p->number));
    }
    int retired = -1;
    if (kept) {
        if (m->references == MODEL_REFERENCES || (m->references && model_chance(s, 2))) retired = model_below(s, m->references);
        model_sint(&b, retired < 0 ? 0 : (int32_t)(m->reference[retired].number - p->number));
    }
    model_make_core(m, p, references, from, variable, &b);
    unit(m, (variable ? 0x40 : 0) | 0x08 | (kept ? 0x04 : 0) | references, &b, model_chance(s, 10));
    free(b.bytes);
    if (retired >= 0) m->reference[retired] = m->reference[--m->references];
    if (kept) m->reference[m->references++] = *p;
}

/* ---- streams ------------------------------------------------------------------------------------------------------------------------------- */

void model_make(model *m, uint64_t seed)
{
    *m = (model){ .seed = seed };
    uint64_t *s = &m->seed;
    m->kind = (model_kind)model_below(s, 3);
    if (model_chance(s, 3)) m->kind = MODEL_CORE;
    const int third = m->kind != MODEL_CORE && model_chance(s, 2);
    m->major = third ? 3 : m->kind == MODEL_LOW_DELAY ? model_between(s, 1, 2) : 2;
    model_bits header = sequence_header(m);
    unit(m, 0, &header, 0);
    const int count = m->kind == MODEL_CORE ? model_between(s, 1, 5) : model_between(s, 1, 3), swaps = m->kind == MODEL_CORE && model_chance(s, 2);
    uint32_t first = model_chance(s, 8) ? 0u - (uint32_t)model_below(s, 6) : (uint32_t)model_below(s, 1 << 20);
    if (m->fields) first &= ~1u;
    for (int k = 0; k < count; k++) {
        model_picture *p = &m->picture[m->pictures++];
        uint32_t ahead = (uint32_t)k;
        if (swaps && k && k + (k % 2) < count) ahead = (uint32_t)(k % 2 ? k + 1 : k - 1); /* pairs the other way round */
        p->number = first + ahead;
        chatter(m, &header);
        if (m->kind == MODEL_CORE) core_picture(m, p);
        else slice_picture(m, p, third && model_chance(s, 2));
    }
    unit(m, 0x10, NULL, 0);
    free(header.bytes);
}

void model_free(model *m)
{
    for (int k = 0; k < m->pictures; k++)
        for (int c = 0; c < 3; c++) free(m->picture[k].plane[c].v);
    free(m->out.bytes);
}
