/* Streams made up by chance with every parameter of the syntax, against the pictures of a model that shares nothing with the decoder. TESSERA_STREAMS=n:
 * so many streams. */
#include "context.h"
#include "dirac_model.h"

static char said[600];
static void damaged(void *user, int64_t offset, const char *text)
{
    (void)user;
    snprintf(said, sizeof said, "at byte %lld: %s", (long long)offset, text);
}

static const model_picture *picture_of(const model *m, uint32_t number)
{
    for (int k = 0; k < m->pictures; k++)
        if (m->picture[k].number == number) return &m->picture[k];
    return NULL;
}

/* 1 if the frame is the model's picture; else where it differs. */
static int same(const model *m, const model_picture *p, const tsr_video_frame *frame)
{
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < p->plane[c].h; y++)
            for (int x = 0; x < p->plane[c].w; x++) {
                const int64_t expected = *model_at(&p->plane[c], x, y) + (1 << (m->depth[c > 0] - 1)), at = (int64_t)y * frame->width[c] + x;
                const int64_t found = frame->format.bits > 8 ? ((const uint16_t *)frame->plane[c])[at] : ((const uint8_t *)frame->plane[c])[at];
                if (found == expected) continue;
                snprintf(said, sizeof said, "picture %u component %d at %d, %d: %lld, expected %lld", p->number, c, x, y, (long long)found,
                         (long long)expected);
                return 0;
            }
    return 1;
}

/* 0 and `said`: something is wrong. */
static int decodes(const model *m, int32_t ahead, uint64_t *seed)
{
    tsr_dirac_decode_options options = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
    int count = 0, right = 1, more = 0;
    options.pictures = options.strict = 1;
    options.damage = damaged;
    options.ahead = ahead;
    options.arithmetic = 3 * (ahead - 1); /* 0: threads of the CPU */
    *said = 0;
    require_ok(tsr_dirac_decoder_create(context, &options, &decoder));
    for (size_t at = 0, size = m->out.bits / 8; right && at < size;) {
        const size_t piece = model_chance(seed, 4) ? (size_t)model_between(seed, 1, 300) : size, left = size - at, take = piece < left ? piece : left;
        require_ok(tsr_dirac_decoder_push(decoder, m->out.bytes + at, take));
        at += take;
        if (at == size) require_ok(tsr_dirac_decoder_end(decoder));
        for (;;) {
            if (tsr_dirac_decoder_next(decoder, &frame, &info, &more) != TSR_OK) {
                if (!*said) snprintf(said, sizeof said, "%s", tsr_error_message());
                right = more = 0;
            }
            if (!more) break;
            const model_picture *p = picture_of(m, info.number);
            if (!p) snprintf(said, sizeof said, "a picture %u", info.number);
            right = p && same(m, p, &frame);
            count++;
            if (!right) break;
        }
    }
    if (right && count != m->pictures) {
        snprintf(said, sizeof said, "%d pictures, expected %d", count, m->pictures);
        right = 0;
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
    return right;
}

static void decodes_what_the_model_makes(void **state)
{
    const char *wanted = getenv("TESSERA_STREAMS");
    const int streams = wanted ? atoi(wanted) : test_is_slow() ? 60 : 300;
    uint64_t seed = test_seed() * 0xd1342543de82ef95u; /* other streams, not the same ones further on */
    int wrong = 0, kinds[3] = { 0, 0, 0 };
    (void)state;
    for (int k = 0; k < streams && wrong < 5; k++) {
        const uint64_t own = model_random(&seed);
        model m;
        model_make(&m, own);
        kinds[m.kind]++;
        if (!decodes(&m, 1 + k % 4, &seed)) {
            print_error("stream %d of seed %llu (%d x %d, chroma %d, fields %d, %d and %d bits, kind %d, version %d): %s\n", k,
                        (unsigned long long)own, m.width, m.height, m.chroma, m.fields, m.depth[0], m.depth[1], (int)m.kind, m.major, said);
            if (getenv("TESSERA_KEEP")) {
                FILE *file = fopen(getenv("TESSERA_KEEP"), "wb");
                if (file) {
                    fwrite(m.out.bytes, 1, m.out.bits / 8, file);
                    fclose(file);
                }
            }
            wrong++;
        }
        model_free(&m);
    }
    print_message("%d high quality, %d low delay, %d core: %d wrong\n", kinds[0], kinds[1], kinds[2], wrong);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(decodes_what_the_model_makes) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
