/* Core-syntax streams written by BBC's encoder (dirac-research 1.0.2) from a test picture of ffmpeg, and the checksums (CRC-32 of zlib) of what BBC's
 * decoder makes of them. Whole streams, streams in small pieces, cut streams and streams with changed bytes. */
#include <zlib.h>

#include "context.h"

typedef struct stream {
    const char *name;
    size_t bytes; /* of all frames */
    uint32_t checksum;
} stream;
static const stream streams[] = {
    { "inter", 46080, 0xe752d459 },       { "inter_eighth", 61440, 0xc73b7b20 }, { "inter_444", 92160, 0x10b52fdb },
    { "intra_codes", 61440, 0xcd311955 }, { "quantisers", 46080, 0x27ff9f61 },   { "fields", 228096, 0x3d2a7e29 },
};
enum { STREAMS = sizeof streams / sizeof *streams };

static unsigned char *read_stream(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.drc", FIXTURES, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void count_damage(void *user, int64_t offset, const char *text)
{
    (void)offset;
    (void)text;
    ++*(int *)user;
}

/* Pictures whose arithmetic codes a device decodes together; 0: the CPU does. */
static int32_t arithmetic;

/* Pushes `piece` bytes at a time. The status of the first failure; bytes and checksum of all frames. */
static tsr_status decode(const unsigned char *bytes, size_t size, size_t piece, int strict, size_t *out, uint32_t *checksum, int *damage)
{
    tsr_dirac_decode_options options = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    tsr_status status = TSR_OK;
    int more = 0;
    *out = 0;
    *checksum = 0;
    *damage = 0;
    options.strict = strict;
    options.arithmetic = arithmetic;
    options.damage = count_damage;
    options.user = damage;
    require_ok(tsr_dirac_decoder_create(context, &options, &decoder));
    for (size_t at = 0; status == TSR_OK; at += piece) {
        const size_t left = size - at, now = left < piece ? left : piece;
        require_ok(tsr_dirac_decoder_push(decoder, bytes + at, now));
        if (left <= piece) require_ok(tsr_dirac_decoder_end(decoder));
        for (;;) {
            status = tsr_dirac_decoder_next(decoder, &frame, NULL, &more);
            if (status != TSR_OK || !more) break;
            *out += (size_t)frame.bytes;
            *checksum = (uint32_t)crc32(*checksum, frame.plane[0], (uInt)frame.bytes);
        }
        if (left <= piece) break;
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
    return status;
}

static void decodes_as_the_reference(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * STREAMS; k++)
        for (size_t piece = 100; piece <= 1000000; piece *= 10000) {
            arithmetic = k < STREAMS ? 0 : piece > 100 ? 64 : 2;
            size_t size, out;
            uint32_t checksum;
            int damage;
            unsigned char *bytes = read_stream(streams[k % STREAMS].name, &size);
            require_ok(decode(bytes, size, piece, 1, &out, &checksum, &damage));
            assert_int_equal(out, streams[k % STREAMS].bytes);
            assert_int_equal(checksum, streams[k % STREAMS].checksum);
            assert_int_equal(damage, 0);
            free(bytes);
        }
}

/* A stream that begins in the middle: pictures whose references are missing are concealed or left out, and said; strict refuses. */
static void begins_in_the_middle(void **state)
{
    size_t size, out, header = 0;
    uint32_t checksum;
    int damage;
    unsigned char *bytes = read_stream("inter", &size);
    (void)state;
    for (size_t at = 13; !header; at++)
        if (!memcmp(bytes + at, "BBCD", 4)) header = at;
    size_t second = header + 13;
    while (memcmp(bytes + second, "BBCD", 4) != 0) second++;
    memmove(bytes + header, bytes + second, size - second); /* without the intra picture */
    size -= second - header;
    require_ok(decode(bytes, size, size, 0, &out, &checksum, &damage));
    assert_true(damage > 0);
    require_error(decode(bytes, size, size, 1, &out, &checksum, &damage), TSR_ERROR_FORMAT, "missing");
    free(bytes);
}

/* Any damage: no crash, never more frames than pictures. */
static void survives_damage(void **state)
{
    uint64_t seed = test_seed();
    const int turns = test_is_slow() ? 10 : 100;
    (void)state;
    for (int turn = 0; turn < turns; turn++) {
        arithmetic = turn % 3 ? 0 : 1 + turn % 5;
        const stream *s = &streams[test_random(&seed) % STREAMS];
        size_t size, out;
        uint32_t checksum;
        int damage;
        unsigned char *bytes = read_stream(s->name, &size);
        if (turn % 4 == 0) size = 1 + test_random(&seed) % size;
        for (int k = turn % 4 ? (int)(1 + test_random(&seed) % 8) : 0; k > 0; k--) {
            const size_t from = test_random(&seed) % 4 ? 60 : 0; /* mostly behind the sequence header: it may ask for huge pictures */
            if (size > from) bytes[from + test_random(&seed) % (size - from)] ^= (unsigned char)(1u << test_random(&seed) % 8);
        }
        const tsr_status status = decode(bytes, size, 1 + test_random(&seed) % size, 0, &out, &checksum, &damage);
        assert_true(status == TSR_OK || status == TSR_ERROR_FORMAT || status == TSR_ERROR_MEMORY || status == TSR_ERROR_UNSUPPORTED);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(decodes_as_the_reference), cmocka_unit_test(begins_in_the_middle),
                                        cmocka_unit_test(survives_damage) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
