/* .tsr files: bit-exact round trips of every kind of list, raw files as other programs map them, channels and metadata, damage of every kind. */
#include "scratch.h"
#include "tile_lists.h"

#include "device/isa.h"
#include "formats/grids/tsr.h"
#include "io/xxh64.h"
#include "tessera/levelset.h"

static void write_list(const tsr_tiles *tiles, const char *name, tsr_tiles_values values, int compression, int raw)
{
    tsr_tiles_write_options options = TSR_TILES_WRITE_OPTIONS;
    options.overwrite = 1;
    options.values = values;
    options.compression = compression;
    options.raw = raw;
    require_ok(tsr_tiles_write(tiles, scratch(name), &options));
}

static void round_trips(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int k = 0; k < LIST_KINDS; k++) {
        tsr_tiles *tiles = make_list(context, &list_kinds[k]), *back;
        const float band = tiles->pool.band;
        for (int way = 0; way < 5; way++) { /* packed, plain, raw; 16-bit packed and raw */
            write_list(tiles, "list.tsr", way < 3 ? TSR_TILES_F32 : TSR_TILES_Q16, way == 1 ? -1 : 0, way == 2 || way == 4);
            require_ok(tsr_tiles_read(context, scratch("list.tsr"), NULL, &back));
            check_same_list(tiles, back, way < 3 ? 0 : band / 32767.0f * 1.0001f);
            check_invariants(back);
            tsr_tiles_destroy(&back);
        }
        tsr_tiles_destroy(&tiles);
    }
    assert_int_equal(scratch_files(1), 1);
    tsr_context_destroy(&context);
}

/* The codes of the specification: saturated ones exact, half a step else, sign and band kept. */
static void sixteen_bits(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    const float bands[3] = { 2.5f, 1e-3f, 37.0f };
    for (int b = 0; b < 3; b++) {
        const float band = bands[b];
        assert_int_equal(tsr_q16(band, band), 32767);
        assert_int_equal(tsr_q16(-band, band), -32767);
        assert_true(tsr_of_q16(32767, band) == band && tsr_of_q16(-32767, band) == -band);
        assert_int_equal(tsr_q16(nextafterf(band, 0), band), 32766);
        assert_int_equal(tsr_q16(nextafterf(-band, 0), band), -32766);
        assert_int_equal(tsr_q16(-1e-30f, band), -1);
        assert_int_equal(tsr_q16(1e-30f, band), 0);
        for (int i = 0; i < 100000; i++) {
            const float v = (float)((test_uniform(&random) * 2 - 1) * (double)band);
            const int32_t q = tsr_q16(v, band), expected = (int32_t)lround((double)v * 32767 / (double)band);
            const float back = tsr_of_q16(q, band);
            if (expected != 0 && abs(expected) != 32767) assert_int_equal(q, expected);
            assert_true((back < 0) == (v < 0) && back > -band && back < band);
            assert_int_equal(tsr_q16(back, band), q);
        }
    }
}

static void threads_and_bytes(void **unused)
{
    (void)unused;
    tsr_context *one = test_context_on("cpu", 1), *four = test_context_on("cpu", 4);
    tsr_tiles *tiles = make_list(one, &list_kinds[0]), *copy;
    size_t a_size, b_size;
    require_ok(tsr_tiles_copy(tiles, four, &copy));
    write_list(tiles, "one.tsr", TSR_TILES_F32, 0, 0);
    write_list(copy, "four.tsr", TSR_TILES_F32, 0, 0);
    void *a = scratch_read("one.tsr", &a_size), *b = scratch_read("four.tsr", &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    free(a);
    free(b);
    tsr_tiles_destroy(&copy);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&one);
    tsr_context_destroy(&four);
    scratch_files(1);
}

/* A raw file as another program reads it: with nothing but the numbers of docs/formats/tsr.md. */
static void raw_layout(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = make_list(context, &list_kinds[2]);
    size_t size;
    write_list(tiles, "raw.tsr", TSR_TILES_F32, 0, 1);
    unsigned char *bytes = (unsigned char *)scratch_read("raw.tsr", &size);
    tiles_picture p = picture_of(tiles);
    uint64_t count, offset;
    uint32_t edge;
    memcpy(&edge, bytes + 16, 4);
    memcpy(&count, bytes + 168, 8);
    memcpy(&offset, bytes + 200, 8);
    assert_int_equal(edge, 8);
    assert_int_equal(count, p.state.count);
    assert_int_equal(offset % 4096, 0);
    assert_int_equal(size, offset + count * 2048);
    for (uint64_t i = 0; i < count; i++) assert_memory_equal(bytes + offset + i * 2048, p.phi + (int64_t)p.ids[i] * 512, 2048);
    picture_drop(&p);
    free(bytes);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    scratch_files(1);
}

static void extras(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = make_list(context, &list_kinds[1]), *back;
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    uint16_t *ages = (uint16_t *)malloc((size_t)info.count * 2);
    double *centres = (double *)malloc((size_t)info.count * 24);
    for (int64_t i = 0; i < info.count; i++) {
        ages[i] = (uint16_t)(i * 7);
        for (int k = 0; k < 3; k++) centres[3 * i + k] = (double)i / (k + 3);
    }
    const tsr_tiles_meta meta[2] = { { "tessera.step", "17" }, { "name", "Käse" } };
    const tsr_tiles_channel channels[2] = { { "age", TSR_U16, 1, ages }, { "centre", TSR_F64, 3, centres } };
    tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
    write.meta = meta;
    write.meta_count = 2;
    write.channels = channels;
    write.channel_count = 2;
    require_ok(tsr_tiles_write(tiles, scratch("extras.tsr"), &write));
    require_error(tsr_tiles_write(tiles, scratch("extras.tsr"), &write), TSR_ERROR_IO, "exists");
    tsr_tiles_extras *got = NULL;
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    read.extras = &got;
    require_ok(tsr_tiles_read(context, scratch("extras.tsr"), &read, &back));
    check_same_list(tiles, back, 0);
    tsr_tiles_meta m;
    tsr_tiles_channel c;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tsr_tiles_extras_meta_at(got, i, &m), 1);
        assert_string_equal(m.key, meta[i].key);
        assert_string_equal(m.value, meta[i].value);
        assert_int_equal(tsr_tiles_extras_channel_at(got, i, &c), 1);
        assert_string_equal(c.name, channels[i].name);
        assert_int_equal(c.dtype, channels[i].dtype);
        assert_int_equal(c.elements, channels[i].elements);
        assert_memory_equal(c.data, channels[i].data, (size_t)info.count * (i ? 24 : 2));
    }
    assert_int_equal(tsr_tiles_extras_meta_at(got, 2, &m), 0);
    assert_int_equal(tsr_tiles_extras_channel_at(got, -1, &c), 0);
    tsr_tiles_extras_destroy(&got);
    tsr_tiles_destroy(&back);
    tsr_tiles_file_info about = TSR_TILES_FILE_INFO;
    require_ok(tsr_tiles_file_describe(scratch("extras.tsr"), NULL, &about));
    assert_string_equal(about.format, "tsr");
    assert_int_equal(about.count, info.count);
    assert_int_equal(about.active_voxels, info.active_voxels);
    assert_int_equal(about.channel_count, 2);
    assert_int_equal(about.meta_count, 2);
    assert_int_equal(about.edge, 4);
    assert_true(about.band == info.band);
    tsr_file_kind kind;
    const char *format;
    require_ok(tsr_file_recognise(scratch("extras.tsr"), &kind, &format));
    assert_int_equal(kind, TSR_FILE_TILES);
    assert_string_equal(format, "tsr");
    free(ages);
    free(centres);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    scratch_files(1);
}

/* The files of docs/formats/tsr.md: the plane x - 1.5, clamped to 1, in 4 x 4 x 4 voxels. */
static void test_vectors(void **unused)
{
    (void)unused;
    static const char *const names[] = { "plane.tsr", "plane-zstd.tsr", "plane-q16.tsr", "plane-raw.tsr", "plane.nvdb" };
    tsr_context *context = test_context();
    for (int i = 0; i < 5; i++) {
        char path[512];
        tsr_tiles *tiles;
        tsr_tiles_read_options options = TSR_TILES_READ_OPTIONS;
        float values[64];
        int32_t at[1][3];
        tsr_tiles_info info = TSR_TILES_INFO;
        options.edge = 4;
        snprintf(path, sizeof path, "%s/%s", TESSERA_FIXTURES, names[i]);
        if (i == 1 && !tsr_codec_known(TSR_CODEC_ZSTD)) {
            require_error(tsr_tiles_read(context, path, &options, &tiles), TSR_ERROR_UNSUPPORTED, "built without");
            continue;
        }
        require_ok(tsr_tiles_read(context, path, &options, &tiles));
        require_ok(tsr_tiles_describe(tiles, &info));
        assert_true(info.edge == 4 && info.active_voxels == 32 && info.band == 1);
        if (i == 4) { /* unbounded: its neighbours came with the management */
            tsr_tiles_destroy(&tiles);
            continue;
        }
        assert_int_equal(info.count, 1);
        require_ok(tsr_tiles_download(tiles, at, values));
        for (int v = 0; v < 64; v++) {
            const double expected = fmin(fmax(v % 4 - 1.5, -1), 1);
            assert_true(i == 2 ? fabs((double)values[v] - expected) < 1.0 / 65534 + 1e-7 : (double)values[v] == expected);
        }
        assert_true(at[0][0] == 0 && at[0][1] == 0 && at[0][2] == 0);
        if (i != 1) { /* written again: the same bytes */
            size_t size, again;
            tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
            write.overwrite = 1;
            write.compression = -1;
            write.values = i == 2 ? TSR_TILES_Q16 : TSR_TILES_F32;
            write.raw = i == 3;
            require_ok(tsr_tiles_write(tiles, scratch("again.tsr"), &write));
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            char *expected = (char *)malloc(8192), *got = (char *)scratch_read("again.tsr", &again);
            size = fread(expected, 1, 8192, file);
            fclose(file);
            assert_int_equal(again, size);
            if (i != 3) assert_memory_equal(got, expected, size);
            else assert_memory_equal(got + 4096, expected + 4096, 256); /* the codec of the channels differs */
            free(expected);
            free(got);
        }
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
    scratch_files(1);
}

/* ---- damage ---------------------------------------------------------------------------------------------------------------------------------- */

/* Puts the header's checksum right again, so that the field itself is what is wrong. */
static void repair(unsigned char *bytes)
{
    uint32_t extra;
    memcpy(&extra, bytes + TSR_AT_META_BYTES, 4);
    uint64_t sum = tsr_xxh64(bytes + TSR_FILE_HEADER, extra, tsr_xxh64(bytes, TSR_AT_SUM, 0));
    memcpy(bytes + TSR_AT_SUM, &sum, 8);
}

static void damaged(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = make_list(context, &list_kinds[4]), *back;
    for (int raw = 0; raw < 2; raw++) {
        size_t size;
        write_list(tiles, "good.tsr", TSR_TILES_F32, 0, raw);
        unsigned char *bytes = (unsigned char *)scratch_read("good.tsr", &size), *bad = (unsigned char *)malloc(size + 8);
        for (size_t cut = 0; cut < size; cut += cut < 600 ? 37 : size / 60 + 1) { /* every truncation is noticed */
            scratch_write("bad.tsr", bytes, cut);
            assert_int_equal(tsr_tiles_read(context, scratch("bad.tsr"), NULL, &back), TSR_ERROR_FORMAT);
            assert_null(back);
            assert_non_null(strstr(tsr_error_message(), "bad.tsr"));
        }
        memcpy(bad, bytes, size);
        memset(bad + size, 0, 8);
        scratch_write("bad.tsr", bad, size + 8);
        require_error(tsr_tiles_read(context, scratch("bad.tsr"), NULL, &back), TSR_ERROR_FORMAT, "after the last chunk");
        for (size_t at = 8; at < size; at += at < 256 ? 1 : size / 150 + 1) { /* every flipped bit is noticed, but for the padding of a raw file */
            uint64_t offset;
            memcpy(&offset, bytes + TSR_AT_VALUES_OFFSET, 8);
            if (raw && at < offset && at > offset - 4096 && bytes[at] == 0) continue;
            memcpy(bad, bytes, size);
            bad[at] ^= 0x10;
            scratch_write("bad.tsr", bad, size);
            tsr_status status = tsr_tiles_read(context, scratch("bad.tsr"), NULL, &back);
            assert_true(status == TSR_ERROR_FORMAT || status == TSR_ERROR_UNSUPPORTED);
            assert_null(back);
        }
        memcpy(bad, bytes, size); /* a flipped value names its chunk */
        bad[size - 3] ^= 1;
        scratch_write("bad.tsr", bad, size);
        require_error(tsr_tiles_read(context, scratch("bad.tsr"), NULL, &back), TSR_ERROR_FORMAT,
                      raw ? "raw values of tile" : "values chunk of tiles");
        free(bytes);
        free(bad);
    }
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    scratch_files(1);
}

static void lying_headers(void **unused)
{
    (void)unused;
    static const struct {
        int at, width;
        uint64_t value;
        tsr_status status;
        const char *message;
    } lies[] = {
        { TSR_AT_MAJOR, 2, 2, TSR_ERROR_UNSUPPORTED, "version 2.0" },
        { TSR_AT_HEADER, 4, 100, TSR_ERROR_FORMAT, "header has 100 bytes" },
        { TSR_AT_EDGE, 4, 5, TSR_ERROR_FORMAT, "edge is 5" },
        { TSR_AT_FLAGS, 4, 8, TSR_ERROR_UNSUPPORTED, "flags are" },
        { TSR_AT_FLAGS, 4, TSR_FLAG_PAGED, TSR_ERROR_FORMAT, "expected 0 as it is unbounded" },
        { TSR_AT_VALUES, 4, 2, TSR_ERROR_UNSUPPORTED, "values are of kind 2" },
        { TSR_AT_BACKGROUND, 4, 2, TSR_ERROR_FORMAT, "background is 2" },
        { TSR_AT_BAND, 8, 0x7ff8000000000000ull, TSR_ERROR_FORMAT, "band is" },
        { TSR_AT_BAND, 8, 0x3fb999999999999aull, TSR_ERROR_FORMAT, "band is 0.1" },
        { TSR_AT_DOMAIN, 8, 0, TSR_ERROR_FORMAT, "domain has 0 voxels along x" },
        { TSR_AT_DOMAIN + 16, 8, UINT64_MAX, TSR_ERROR_FORMAT, "domain has -1 voxels along z" },
        { TSR_AT_DOMAIN, 8, 9, TSR_ERROR_FORMAT, "key of tile" },
        { TSR_AT_DOMAIN, 8, 1 << 26, TSR_ERROR_MEMORY, "page table" },
        { TSR_AT_AFFINE, 8, 0x7ff0000000000000ull, TSR_ERROR_FORMAT, "list.tsr" },
        { TSR_AT_SPACE, 4, 3, TSR_ERROR_FORMAT, "space is 3" },
        { TSR_AT_CHANNELS, 4, 65, TSR_ERROR_FORMAT, "65 channels" },
        { TSR_AT_CHANNELS, 4, 1, TSR_ERROR_FORMAT, "channel 0 has a name of 0 bytes" },
        { TSR_AT_COUNT, 8, 1ull << 40, TSR_ERROR_FORMAT, "count is 1099511627776" },
        { TSR_AT_COUNT, 8, 1 << 16, TSR_ERROR_MEMORY, "memory limit" },
        { TSR_AT_COUNT, 8, 3, TSR_ERROR_FORMAT, "expected keys of tiles 0 + 3" },
        { TSR_AT_INSIDE_ABSENT, 8, UINT64_MAX, TSR_ERROR_FORMAT, "absent tiles are -1" },
        { TSR_AT_META_COUNT, 4, 1, TSR_ERROR_FORMAT, "1 metadata in 0 bytes" },
        { TSR_AT_META_BYTES, 4, 0xffffffffu, TSR_ERROR_MEMORY, "bytes of metadata" },
        { TSR_AT_META_BYTES, 4, 1u << 20, TSR_ERROR_FORMAT, "truncated" },
        { TSR_AT_VALUES_OFFSET, 8, 4096, TSR_ERROR_FORMAT, "values begin at byte 4096" },
        { TSR_AT_CODEC, 4, 9, TSR_ERROR_UNSUPPORTED, "codec is 9" },
        { TSR_AT_CHUNK_TILES, 4, 0, TSR_ERROR_FORMAT, "chunks have 0 tiles" },
    };
    tsr_context *context = test_context();
    tsr_tiles *tiles = make_list(context, &list_kinds[4]), *back;
    tsr_tiles_read_options options = TSR_TILES_READ_OPTIONS;
    size_t size;
    options.memory_limit = 64 << 20;
    write_list(tiles, "list.tsr", TSR_TILES_F32, 0, 0);
    unsigned char *bytes = (unsigned char *)scratch_read("list.tsr", &size), *bad = (unsigned char *)malloc(size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        memcpy(bad, bytes, size);
        memcpy(bad + lies[i].at, &lies[i].value, (size_t)lies[i].width);
        if (lies[i].at != TSR_AT_META_BYTES) repair(bad);
        scratch_write("list.tsr", bad, size);
        require_error(tsr_tiles_read(context, scratch("list.tsr"), &options, &back), lies[i].status, lies[i].message);
        assert_null(back);
    }
    free(bytes);
    free(bad);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    scratch_files(1);
}

static void bad_arguments(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = make_list(context, &list_kinds[0]), *back;
    tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    require_error(tsr_tiles_write(tiles, scratch("x.nii"), &write), TSR_ERROR_ARGUMENT, "names no tile list format");
    require_error(tsr_tiles_write(tiles, scratch("x.vdb"), &write), TSR_ERROR_UNSUPPORTED, "tessera-vdb");
    require_error(tsr_tiles_write(NULL, scratch("x.tsr"), &write), TSR_ERROR_ARGUMENT, "NULL");
    write.compression = 10;
    require_error(tsr_tiles_write(tiles, scratch("x.tsr"), &write), TSR_ERROR_ARGUMENT, "compression is 10");
    write.compression = 0;
    const tsr_tiles_meta nameless = { "", "x" };
    write.meta = &nameless;
    write.meta_count = 1;
    require_error(tsr_tiles_write(tiles, scratch("x.tsr"), &write), TSR_ERROR_ARGUMENT, "metadata 0");
    require_error(tsr_tiles_write(tiles, scratch("x.nvdb"), &write), TSR_ERROR_UNSUPPORTED, "no metadata");
    write.meta_count = 0;
    const tsr_tiles_channel empty = { "c", TSR_F32, 0, &empty };
    write.channels = &empty;
    write.channel_count = 1;
    require_error(tsr_tiles_write(tiles, scratch("x.tsr"), &write), TSR_ERROR_ARGUMENT, "channel 0");
    write.channel_count = 0;
    assert_int_equal(scratch_files(0), 0); /* nothing half-written */
    require_ok(tsr_tiles_write(tiles, scratch("x.tsr"), &write));
    require_error(tsr_tiles_read(context, scratch("nix.tsr"), NULL, &back), TSR_ERROR_IO, "nix.tsr: cannot open");
    require_error(tsr_tiles_read(NULL, scratch("x.tsr"), NULL, &back), TSR_ERROR_ARGUMENT, "context is NULL");
    read.edge = 5;
    require_error(tsr_tiles_read(context, scratch("x.tsr"), &read, &back), TSR_ERROR_ARGUMENT, "edge is 5");
    read.edge = 0;
    read.memory_limit = 1000;
    require_error(tsr_tiles_read(context, scratch("x.tsr"), &read, &back), TSR_ERROR_MEMORY, "memory limit is 1000");
    scratch_write("noise.tsr", "hello", 5);
    require_error(tsr_tiles_read(context, scratch("noise.tsr"), NULL, &back), TSR_ERROR_FORMAT, "truncated");
    scratch_write("a.vdb", " BDV\0\0\0\0aaaaaaaaaaaa", 20);
    require_error(tsr_tiles_read(context, scratch("a.vdb"), NULL, &back), TSR_ERROR_UNSUPPORTED, "tessera-vdb");
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    scratch_files(1);
}

/* Published values of xxHash64 (its own sanity checks, seed 0 and the prime 2654435761, on the bytes its generator makes). */
static void checksum(void **unused)
{
    (void)unused;
    assert_true(tsr_xxh64("", 0, 0) == 0xef46db3751d8e999ull);
    assert_true(tsr_xxh64("a", 1, 0) == 0xd24ec4f1a98c6e5bull);
    assert_true(tsr_xxh64("abc", 3, 0) == 0x44bc2cf5ad770999ull);
    assert_true(tsr_xxh64("Nobody inspects the spammish repetition", 39, 0) == 0xfbcea83c8a378bf1ull);
    uint8_t bytes[200];
    uint64_t seed = test_seed();
    for (int k = 0; k < 200; k++) bytes[k] = (uint8_t)test_random(&seed);
    for (size_t size = 0; size <= sizeof bytes; size++) { /* in parts of any length: the same */
        tsr_xxh64_sum sum = tsr_xxh64_begin(size);
        for (size_t at = 0, part; at < size; at += part) {
            part = (size_t)(test_random(&seed) % (size < 40 ? 9 : 70));
            part = part < size - at ? part : size - at;
            tsr_xxh64_add(&sum, bytes + at, part);
        }
        assert_true(tsr_xxh64_end(&sum) == tsr_xxh64(bytes, size, size));
    }
}

/* ---- lists from parts ---------------------------------------------------------------------------------------------------------------------------- */

static void assembled(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int k = 0; k < LIST_KINDS; k++) {
        tsr_tiles *tiles = make_list(context, &list_kinds[k]), *back;
        tsr_tiles_parts parts;
        require_ok(tsr_tiles_take_apart(tiles, &parts));
        const size_t voxels = (size_t)parts.count << (3 * tiles->pool.log2_edge);
        int32_t(*coordinates)[3] = (int32_t(*)[3])malloc((size_t)parts.count * 12 + 1);
        float *values = (float *)malloc(voxels * sizeof *values + 1);
        require_ok(tsr_tiles_download(tiles, coordinates, values));
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        options.edge = list_kinds[k].edge;
        options.index = list_kinds[k].index;
        if (list_kinds[k].bounded) options.domain = list_size;
        options.band = (double)tiles->pool.band;
        tsr_tiles_contents contents = TSR_TILES_CONTENTS;
        contents.count = parts.count;
        contents.coordinates = (const int32_t(*)[3])coordinates;
        contents.values = values;
        contents.background_inside = parts.state.background == TSR_TILE_INSIDE;
        for (int way = 0; way < 3; way++) { /* signs given and kept, given and managed, worked out */
            contents.inside = way < 2 ? parts.inside : NULL;
            contents.keep = way == 0;
            require_ok(tsr_tiles_assemble(context, &tiles->geometry, &options, &contents, &back));
            check_invariants(back);
            if (way < 2) {
                check_same_list(tiles, back, 0);
            } else {
                tsr_tile_state a, b;
                require_ok(tsr_tiles_read_state(tiles, &a));
                require_ok(tsr_tiles_read_state(back, &b));
                assert_true(b.active_voxels == a.active_voxels && b.count == a.count);
            }
            tsr_tiles_destroy(&back);
        }
        if (parts.count > 1) {
            contents.inside = NULL;
            int32_t old = coordinates[1][2];
            coordinates[1][2] = -5000000;
            require_error(tsr_tiles_assemble(context, NULL, &options, &contents, &back), TSR_ERROR_ARGUMENT, "z of tile 1 is -5000000");
            coordinates[1][2] = old;
            memcpy(coordinates[1], coordinates[0], sizeof coordinates[0]);
            require_error(tsr_tiles_assemble(context, NULL, &options, &contents, &back), TSR_ERROR_ARGUMENT, "not in increasing order");
            require_ok(tsr_tiles_download(tiles, coordinates, NULL));
            values[3] = NAN;
            require_error(tsr_tiles_assemble(context, NULL, &options, &contents, &back), TSR_ERROR_ARGUMENT, "voxel 3 of tile 0 is not finite");
        }
        free(coordinates);
        free(values);
        tsr_tiles_parts_free(&parts);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* What the current variant makes of the values of a tile: the masks (listed, then negative) and the byte planes that they came from. */
static void split_again(const float *values, int32_t voxels, uint32_t outside, const uint8_t *masks, const uint8_t *planes, int64_t n)
{
    const size_t bytes = (size_t)voxels / 8;
    uint8_t *split = (uint8_t *)malloc(2 * bytes), *again = (uint8_t *)malloc((size_t)(4 * n) + 1);
    uint32_t *words = (uint32_t *)malloc((size_t)(n + TSR_SPLIT_BEYOND) * sizeof *words);
    assert_int_equal(TSR_ISA_SELECT(tsr_split_tile)(values, voxels, outside, split, split + bytes, words, 0), n);
    TSR_ISA_SELECT(tsr_planes_of_words)(words, n, 4, again);
    assert_memory_equal(split, masks, 2 * bytes);
    assert_memory_equal(again, planes, (size_t)(4 * n));
    TSR_ISA_SELECT(tsr_planes_of_words)(words, n, 2, again);
    assert_memory_equal(again, planes, (size_t)(2 * n));
    free(split);
    free(again);
    free(words);
}

/* Values of random masks by every SIMD variant against one bit at a time, in blocks of their own so that a sanitizer sees what is read. */
static void variants_of_joining(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    const uint32_t outside = 0x40200000u; /* 2.5 */
    for (int round = 0; round < 200; round++) {
        const int32_t voxels = round & 1 ? 512 : 64, bytes = voxels / 8;
        uint8_t *masks = (uint8_t *)malloc((size_t)(2 * bytes));
        int64_t n = 0, at = 0;
        for (int32_t i = 0; i < bytes; i++) {
            const int kind = (int)(test_uniform(&random) * 4);
            masks[i] = kind == 0 ? 0 : kind == 1 ? 0xff : (uint8_t)(test_uniform(&random) * 256);
            masks[bytes + i] = (uint8_t)((unsigned)(test_uniform(&random) * 256) & ~(unsigned)masks[i]);
            n += __builtin_popcount(masks[i]);
        }
        uint8_t *planes = (uint8_t *)malloc((size_t)(4 * n) + 1);
        uint32_t *words = (uint32_t *)malloc((size_t)(n + TSR_JOIN_BEYOND) * sizeof *words), most = 0;
        float *values = (float *)malloc((size_t)voxels * sizeof *values);
        for (int64_t i = 0; i < 4 * n; i++) planes[i] = (uint8_t)(test_uniform(&random) * 256);
        for (int64_t i = 0; i < n; i++) {
            const uint32_t word = ((uint32_t)planes[3 * n + i] << 24 | (uint32_t)planes[2 * n + i] << 16 | (uint32_t)planes[n + i] << 8 | planes[i]);
            if ((word & 0x7fffffffu) > most) most = word & 0x7fffffffu;
        }
        for (int isa = 0; isa < TSR_ISA_COUNT; isa++) {
            tsr_isa_force(-1);
            if (isa > (int)tsr_isa_current()) break;
            tsr_isa_force(isa);
            memset(words, 0x5a, (size_t)(n + TSR_JOIN_BEYOND) * sizeof *words);
            assert_int_equal(TSR_ISA_SELECT(tsr_words_of_planes)(planes, n, words), most);
            assert_int_equal(TSR_ISA_SELECT(tsr_join_tile)(masks, masks + bytes, voxels, outside, words, 0, values), n);
            at = 0;
            for (int32_t i = 0; i < voxels; i++) {
                uint32_t expected = outside | (uint32_t)(masks[bytes + i / 8] >> i % 8 & 1) << 31, bits;
                if (masks[i / 8] >> i % 8 & 1) {
                    expected = (uint32_t)planes[3 * n + at] << 24 | (uint32_t)planes[2 * n + at] << 16 | (uint32_t)planes[n + at] << 8 | planes[at];
                    at++;
                }
                memcpy(&bits, values + i, sizeof bits);
                assert_int_equal(bits, expected);
            }
            split_again(values, voxels, outside, masks, planes, n);
        }
        tsr_isa_force(-1);
        free(masks);
        free(planes);
        free(words);
        free(values);
    }
}

/* Reading leaves the buffer that is not current alone: whatever it holds, steps and 16-bit storage go as those of the list that was saved. */
static void other_buffer(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int k = 0; k < LIST_KINDS; k++) {
        tsr_tiles *tiles = make_list(context, &list_kinds[k]), *back;
        tsr_tiles *both[2];
        write_list(tiles, "list.tsr", TSR_TILES_F32, 0, 0);
        require_ok(tsr_tiles_read(context, scratch("list.tsr"), NULL, &back));
        if (tsr_tiles_host_readable(back))
            memset(back->pool.phi[1] + ((size_t)TSR_TILE_FIRST << (3 * back->pool.log2_edge)), 0xff,
                   (size_t)(back->pool.capacity - TSR_TILE_FIRST) * sizeof(float) << (3 * back->pool.log2_edge));
        both[0] = tiles;
        both[1] = back;
        for (int side = 0; side < 2; side++) {
            tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
            tsr_levelset *levelset;
            tsr_levelset_report report = TSR_LEVELSET_REPORT;
            options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.3 };
            options.term_count = 1;
            require_ok(tsr_tiles_set_storage(both[side], TSR_STORAGE_I16));
            require_ok(tsr_tiles_set_storage(both[side], TSR_STORAGE_F32));
            require_ok(tsr_levelset_create(both[side], &options, &levelset));
            require_ok(tsr_levelset_step(levelset, 3, NULL, &report));
            tsr_levelset_destroy(&levelset);
        }
        check_same_list(tiles, back, 0);
        check_invariants(back);
        tsr_tiles_destroy(&back);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum),          cmocka_unit_test(sixteen_bits),  cmocka_unit_test(assembled),     cmocka_unit_test(round_trips),
        cmocka_unit_test(threads_and_bytes), cmocka_unit_test(raw_layout),    cmocka_unit_test(extras),        cmocka_unit_test(test_vectors),
        cmocka_unit_test(damaged),           cmocka_unit_test(lying_headers), cmocka_unit_test(bad_arguments), cmocka_unit_test(variants_of_joining),
        cmocka_unit_test(other_buffer),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
