/* Memory that is refused: every call that takes some ends with an error where all of its requests from one on are refused, and where one is unless it can do
 * with less; what it had goes back. */
#include <stdlib.h>

#include "support.h"
#include "tessera/csg.h"
#include "tessera/levelset.h"
#include "tessera/surface.h"
#include "tessera/voxelize.h"

struct memory {
    int64_t calls, refused, live; /* requests; the first that is refused, 0: none; bytes out */
    int all;                      /* refuse the later ones, too */
};

static void *take(void *user, size_t bytes, size_t alignment)
{
    struct memory *m = (struct memory *)user;
    const int64_t call = ++m->calls;
    void *memory = NULL;
    if (m->refused && (m->all ? call >= m->refused : call == m->refused)) return NULL;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes ? bytes : 1)) return NULL;
    m->live += (int64_t)bytes;
    return memory;
}
static void give(void *user, void *memory, size_t bytes)
{
    if (memory) ((struct memory *)user)->live -= (int64_t)bytes;
    free(memory);
}

struct scene {
    tsr_context *context;
    tsr_tiles *a, *b;
    tsr_mesh *mesh;
};

static tsr_status shapes(struct scene *s)
{
    tsr_tiles_options o = TSR_TILES_OPTIONS;
    const tsr_shape one = { .kind = TSR_SHAPE_SPHERE, .centre = { 20, 20, 20 }, .radius = 9 };
    tsr_tiles *made = NULL;
    tsr_status status = tsr_tiles_shape(s->context, NULL, &o, &one, &made);
    tsr_tiles_destroy(&made);
    return status;
}
static tsr_status combined(struct scene *s)
{
    tsr_tiles *made = NULL;
    tsr_status status = tsr_tiles_combine(s->a, s->b, TSR_CSG_UNION, 0, &made);
    tsr_tiles_destroy(&made);
    return status;
}
static tsr_status moved(struct scene *s)
{
    tsr_levelset_options o = TSR_LEVELSET_OPTIONS;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_levelset *solver = NULL;
    tsr_tiles *copy = NULL;
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = 2 };
    o.term_count = 1;
    o.space = TSR_STENCIL_WENO5;
    o.time = TSR_TIME_RK3;
    tsr_status status = tsr_tiles_copy(s->a, s->context, &copy);
    if (status == TSR_OK) status = tsr_levelset_create(copy, &o, &solver);
    if (status == TSR_OK) status = tsr_levelset_step(solver, 20, NULL, &report); /* grows */
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&copy);
    return status;
}
static tsr_status morphed(struct scene *s)
{
    const double t = 0.4;
    tsr_tiles *made = NULL;
    tsr_status status = tsr_tiles_morph(s->a, s->b, &t, 1, NULL, NULL, &made);
    tsr_tiles_destroy(&made);
    return status;
}
static tsr_status meshed(struct scene *s)
{
    tsr_mesh *made = NULL;
    tsr_status status = tsr_surface_extract_tiles(s->context, s->a, NULL, &made, NULL);
    tsr_mesh_destroy(&made);
    return status;
}
static tsr_status voxelized(struct scene *s)
{
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
    tsr_tiles *made = NULL;
    o.spacing = (tsr_vec3){ 1, 1, 1 };
    tsr_status status = tsr_tiles_from_mesh(s->context, s->mesh, &o, &made, NULL);
    tsr_tiles_destroy(&made);
    return status;
}

static void every_request(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tsr_status (*run)(struct scene *);
    } work[] = { { "shape", shapes }, { "csg", combined }, { "steps", moved }, { "morph", morphed }, { "mesh", meshed }, { "voxelize", voxelized } };
    struct memory m = { 0 };
    struct scene s;
    tsr_context_options w = TSR_CONTEXT_OPTIONS;
    tsr_tiles_options o = TSR_TILES_OPTIONS;
    const tsr_shape ball = { .kind = TSR_SHAPE_SPHERE, .centre = { 20, 20, 20 }, .radius = 9 },
                    other = { .kind = TSR_SHAPE_SPHERE, .centre = { 25, 20, 20 }, .radius = 8 };
    w.device = "cpu";
    w.threads = 1;
    w.host_allocator = w.device_allocator = (tsr_allocator){ take, give, &m };
    require_ok(tsr_context_create(&w, &s.context));
    require_ok(tsr_tiles_shape(s.context, NULL, &o, &ball, &s.a));
    require_ok(tsr_tiles_shape(s.context, NULL, &o, &other, &s.b));
    require_ok(tsr_surface_extract_tiles(s.context, s.a, NULL, &s.mesh, NULL));
    for (size_t k = 0; k < sizeof work / sizeof *work; k++) {
        const int64_t before = m.live;
        m.calls = m.refused = 0;
        require_ok(work[k].run(&s));
        const int64_t requests = m.calls, stride = 1 + requests / (test_watches_threads() ? 5 : 100); /* on one thread */
        assert_true(requests > 0);
        assert_int_equal(m.live, before);
        for (m.all = 0; m.all < 2; m.all++)
            for (int64_t refused = 1; refused <= requests; refused += stride) {
                m.calls = 0;
                m.refused = refused;
                const tsr_status status = work[k].run(&s);
                const int asked_again = status == TSR_OK && !m.all; /* growth asks for less then */
                if (status != TSR_ERROR_MEMORY && status != TSR_ERROR_CAPACITY && !asked_again)
                    fail_msg("%s, request %lld of %lld refused: status %d", work[k].name, (long long)refused, (long long)requests, (int)status);
                if (m.live != before)
                    fail_msg("%s, request %lld of %lld refused: %lld bytes are left", work[k].name, (long long)refused, (long long)requests,
                             (long long)(m.live - before));
            }
        m.refused = 0;
        require_ok(work[k].run(&s));
    }
    tsr_mesh_destroy(&s.mesh);
    tsr_tiles_destroy(&s.a);
    tsr_tiles_destroy(&s.b);
    tsr_context_destroy(&s.context);
    assert_int_equal(m.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_request) };
    return cmocka_run_group_tests_name("refused memory", tests, NULL, NULL);
}
