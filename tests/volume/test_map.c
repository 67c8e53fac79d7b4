/* Passes in C of the caller's own, as modules: against plain loops, generations of an automaton, what is refused. */
#include "context.h"

#include "../../examples/map/life.h"
#include "maps/shift.h"

static char folder[4096];

static const char *module(const char *name)
{
    static char path[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int open_modules(void **state)
{
    const char *given = getenv("TESSERA_MODULES"); /* on another machine than the one it was built on */
    snprintf(folder, sizeof folder, "%s", given && *given ? given : MAP_FOLDER);
    return open_context(state);
}

static tsr_volume *volume_of(tsr_dtype dtype, tsr_size3 size, void *data)
{
    tsr_volume *host, *own;
    require_ok(tsr_volume_wrap(NULL, dtype, size, NULL, data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &own));
    tsr_volume_destroy(&host);
    return own;
}
static tsr_volume *empty_of(tsr_dtype dtype, tsr_size3 size)
{
    tsr_volume *own;
    require_ok(tsr_volume_create(context, dtype, size, NULL, &own));
    return own;
}
static tsr_volume *host_of(const tsr_volume *v)
{
    tsr_volume *host;
    require_ok(tsr_volume_copy(v, NULL, &host));
    return host;
}

/* Every type of element, domains of one, two and three axes and of odd extents, another input of another size. */
static void shifted_sums(void **state)
{
    (void)state;
    static const tsr_size3 sizes[3] = { { 37, 1, 1 }, { 33, 9, 1 }, { 13, 7, 5 } };
    uint64_t random = test_seed();
    shift numbers = { { -2, 1, 3 }, -0.75 };
    tsr_map map;
    require_ok(tsr_map_load(context, module("map_shift"), sizeof numbers, &map));
    map.data = &numbers;
    for (int n = 0; n < TSR_DTYPE_COUNT; n++) {
        const tsr_size3 size = sizes[n % 3], other = { 3 + n % 3, 1, 1 };
        const int64_t count = size.x * size.y * size.z;
        double first[512], second[8];
        for (int64_t i = 0; i < count; i++) first[i] = (double)(test_random(&random) % 100);
        for (int i = 0; i < 8; i++) second[i] = (double)(test_random(&random) % 1000) / 8;
        tsr_volume *doubles = volume_of(TSR_F64, size, first), *in[2] = { NULL, volume_of(TSR_F64, other, second) }, *plain;
        require_ok(tsr_volume_convert(context, doubles, (tsr_dtype)n, &plain));
        in[0] = plain;
        require_ok(tsr_volume_set_scaling(plain, 0.5, -3));
        tsr_volume *out[2] = { empty_of(TSR_F64, size), empty_of(TSR_I32, size) };
        numbers.step[0] = n - 4;
        require_ok(tsr_map_run(context, &map, size, (const tsr_volume *const *)in, 2, out, 2));
        tsr_volume *host[2] = { host_of(out[0]), host_of(out[1]) };
        const double *sums = (const double *)tsr_volume_data_const(host[0]);
        const int32_t *places = (const int32_t *)tsr_volume_data_const(host[1]);
        for (int z = 0; z < size.z; z++)
            for (int y = 0; y < size.y; y++)
                for (int x = 0; x < size.x; x++) {
                    const int64_t i = ((int64_t)z * size.y + y) * size.x + x;
                    int64_t p[3] = { x + numbers.step[0], y + 1, z + 3 }, e[3] = { size.x, size.y, size.z };
                    for (int k = 0; k < 3; k++) p[k] = p[k] < 0 ? 0 : p[k] >= e[k] ? e[k] - 1 : p[k];
                    const double expected = (first[(p[2] * size.y + p[1]) * size.x + p[0]] * 0.5 - 3) + -0.75 * second[y < other.x ? y : other.x - 1];
                    assert_true(sums[i] == expected);
                    assert_int_equal(places[i], 1000000 * z + 1000 * y + x);
                }
        for (int k = 0; k < 2; k++) {
            tsr_volume_destroy(&host[k]);
            tsr_volume_destroy(&in[k]);
            tsr_volume_destroy(&out[k]);
        }
        tsr_volume_destroy(&doubles);
    }
}

/* Ping-pong: a blinker has period 2; a glider lies one cell further along x and y after 4 generations, and at home after 4 x 16 on a torus of 16 x 16. A kernel that
 * met its own writes would not get there. */
static void generations(void **state)
{
    (void)state;
    enum { N = 16 };
    static const uint8_t glider[3][3] = { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };
    const tsr_size3 size = { N, N, 1 };
    const life conway = { 1 << 3, 1 << 2 | 1 << 3 };
    uint8_t cells[N * N] = { 0 };
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) cells[(y + 11) * N + x + 9] = glider[y][x];
    cells[3 * N + 2] = cells[3 * N + 3] = cells[3 * N + 4] = 1;
    tsr_volume *board[2] = { volume_of(TSR_U8, size, cells), empty_of(TSR_U8, size) };
    tsr_map map;
    require_ok(tsr_map_load(context, module("map_life.so"), sizeof conway, &map));
    map.data = &conway;
    const int64_t before = tsr_context_memory(context)->allocations;
    for (int step = 0; step < 4; step++)
        require_ok(tsr_map_run(context, &map, size, (const tsr_volume *const *)&board[step % 2], 1, &board[(step + 1) % 2], 1));
    assert_int_equal(tsr_context_memory(context)->allocations, before);
    tsr_volume *host = host_of(board[0]);
    const uint8_t *now = (const uint8_t *)tsr_volume_data_const(host);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            const int blinker = y == 3 && x >= 2 && x <= 4, on_glider = y >= 12 && y < 15 && x >= 10 && x < 13;
            assert_int_equal(now[y * N + x], blinker || (on_glider && glider[y - 12][x - 10]));
        }
    tsr_volume_destroy(&host);
    for (int k = 0; k < 2; k++) tsr_volume_destroy(&board[k]);
}

static void refused(void **state)
{
    (void)state;
    const tsr_size3 size = { 5, 4, 1 };
    const life rule = { 8, 12 };
    tsr_map map, none = { NULL, NULL };
    tsr_volume *a = empty_of(TSR_U8, size), *b = empty_of(TSR_U8, size), *small = empty_of(TSR_U8, (tsr_size3){ 5, 3, 1 });
    const tsr_volume *in[2] = { a, a };
    require_error(tsr_map_load(context, module("map_nowhere"), 8, &map), TSR_ERROR_IO, "map_nowhere");
    require_error(tsr_map_load(context, module("map_life"), 12, &map), TSR_ERROR_ARGUMENT, "works on 8 bytes of data, given are 12");
    require_error(tsr_map_load(context, NULL, 8, &map), TSR_ERROR_ARGUMENT, "path is NULL");
    if (tsr_context_device(context).kind != TSR_DEVICE_CUDA)
        require_error(tsr_map_load(context, module("term_vortex"), 12, &map), TSR_ERROR_FORMAT, "no module made with TSR_MAP or TSR_CLASSIFIER");
    require_ok(tsr_map_load(context, module("map_life"), sizeof rule, &map));
    require_error(tsr_map_run(context, &map, size, in, 1, &b, 1), TSR_ERROR_ARGUMENT, "data is NULL, expected 8 bytes");
    map.data = &rule;
    require_error(tsr_map_run(context, &none, size, in, 1, &b, 1), TSR_ERROR_ARGUMENT, "tsr_map_load");
    require_error(tsr_map_run(context, &map, size, in, 1, &a, 1), TSR_ERROR_ARGUMENT, "output 0 shares memory with input 0");
    require_error(tsr_map_run(context, &map, size, in, 2, &b, 1), TSR_ERROR_ARGUMENT, "2 inputs and 1 outputs, expected 1 and 1");
    require_error(tsr_map_run(context, &map, size, in, 1, &small, 1), TSR_ERROR_ARGUMENT,
                  "output 0 has 15 elements, expected those of the domain, 20");
    tsr_volume *wide = empty_of(TSR_U16, size);
    const tsr_volume *wrong = wide;
    require_error(tsr_map_run(context, &map, size, in, 1, &wide, 1), TSR_ERROR_ARGUMENT, "output 0 is u16, expected u8 as the module has it");
    require_error(tsr_map_run(context, &map, size, &wrong, 1, &b, 1), TSR_ERROR_ARGUMENT, "input 0 is u16, expected u8 as the module has it");
    tsr_volume_destroy(&wide);
    require_error(tsr_map_run(context, &map, (tsr_size3){ 5, 0, 1 }, in, 1, &b, 1), TSR_ERROR_ARGUMENT, "extent y is 0");
    require_ok(tsr_map_run(context, &map, size, in, 1, &b, 1));
    require_ok(tsr_context_synchronize(context));
    tsr_volume_destroy(&small);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shifted_sums), cmocka_unit_test(generations), cmocka_unit_test(refused) };
    return cmocka_run_group_tests_name("map", tests, open_modules, close_context);
}
