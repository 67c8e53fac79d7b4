/* fluid/sim.c: particles come in, are sorted into cells, and go on in time. */
#include "fluid/sim.h"

#include <math.h>
#include <string.h>


enum { NEIGHBOURS = 40 }; /* for which the list has room at first; it grows */

/* ---- creation -------------------------------------------------------------------------------------------------------------------------------- */

static int finite3(tsr_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static tsr_status check_options(const tsr_fluid_sim_options *o)
{
    const double extent[3] = { o->upper.x - o->lower.x, o->upper.y - o->lower.y, o->upper.z - o->lower.z };
    if (!(o->spacing >= 1e-6 && o->spacing <= 1e3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "spacing is %g, expected 1e-6 to 1000 metres", o->spacing);
    if (!finite3(o->lower) || !finite3(o->upper) || !(extent[0] > 0 && extent[1] > 0 && extent[2] > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region from (%g, %g, %g) to (%g, %g, %g), expected upper above lower", o->lower.x, o->lower.y, o->lower.z,
                 o->upper.x, o->upper.y, o->upper.z);
    for (int k = 0; k < 3; k++)
        if (!(extent[k] <= 1e5 * o->spacing))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "region of %g metres with particles %g metres apart, expected at most 100 000 spacings", extent[k], o->spacing);
    if (!finite3(o->gravity) || fabs(o->gravity.x) + fabs(o->gravity.y) + fabs(o->gravity.z) > 1e6)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "gravity is (%g, %g, %g), expected m/s^2 up to 10^6", o->gravity.x, o->gravity.y, o->gravity.z);
    if (!(o->density >= 1e-3 && o->density <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "density is %g, expected 0.001 to 10^6 kg/m^3", o->density);
    if (!(o->viscosity <= 1e3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "viscosity is %g, expected up to 1000 m^2/s", o->viscosity);
    if (!(o->tension >= 0 && o->tension <= 1e4)) TSR_FAIL(TSR_ERROR_ARGUMENT, "tension is %g, expected 0 to 10000 N/m", o->tension);
    if (!(o->friction >= 0 && o->friction <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "friction is %g, expected 0 to 1", o->friction);
    if (!(o->step >= 0 && o->step <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "step is %g, expected 0 to 1 second", o->step);
    if (!(o->courant > 0 && o->courant <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "courant is %g, expected above 0, up to 1", o->courant);
    if (!(o->tolerance > 0 && o->tolerance <= 0.1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "tolerance is %g, expected above 0, up to 0.1", o->tolerance);
    if (o->iterations < 1 || o->iterations > 10000) TSR_FAIL(TSR_ERROR_ARGUMENT, "iterations is %d, expected 1 to 10000", (int)o->iterations);
    if (!(o->jitter <= 0.3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "jitter is %g, expected up to 0.3 spacings", o->jitter);
    if (o->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected bytes from 0", (long long)o->memory_limit);
    return TSR_OK;
}

static double length(tsr_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/* The kernel that gives a cubic lattice its density at rest, and walls the distance at which its first layer has it, too. */
static void make_kernel(tsr_fluid_sim *sim)
{
    const tsr_fluid_sim_options *o = &sim->options;
    const double s = o->spacing, reach = 2 * s;
    double sum = 0, half = 0; /* of W over a lattice, and over one whose layers end half a spacing below */
    for (int z = -2; z <= 2; z++)
        for (int y = -2; y <= 2; y++)
            for (int x = -2; x <= 2; x++) {
                const double q = sqrt((double)(x * x + y * y + z * z)) / 2, w = q >= 1 ? 0 : q <= 0.5 ? 6 * q * q * (q - 1) + 1 : 2 * (1 - q) * (1 - q) * (1 - q);
                sum += w;
                if (z >= 0) half += w;
            }
    sim->mass = o->density / (sum * 8 / (3.14159265358979323846 * reach * reach * reach));
    double low = 0, high = 1; /* the q at which a wall makes up for what is missing */
    for (int i = 0; i < 60; i++) {
        const double q = 0.5 * (low + high), p = 1 - q;
        const double beyond = q > 0.5 ? p * p * p * p * p * (8 - 16 * p / 3) / 5 : 0.5 - 1.4 * q + 8 * q * q * q / 3 - 4.8 * q * q * q * q * q + 3.2 * q * q * q * q * q * q;
        if (beyond > 1 - half / sum) low = q;
        else high = q;
    }
    const double value = sim->mass * 8 / (3.14159265358979323846 * reach * reach * reach);
    sim->kernel = (tsr_sim_kernel){ .reach = (float)reach, .square = (float)(reach * reach), .inverse = (float)(1 / reach), .mass = (float)sim->mass,
                                    .offset = (float)(low * reach - 0.5 * s), .value = (float)value, .slope = (float)(value / (reach * reach)),
                                    /* tension = 4 density^2 H^2 J * strength, J = 21 / 28160; acceleration = strength * mass * 32 / (pi H^3) * shape */
                                    .cohesion = (float)(o->tension / (4 * o->density * o->density * reach * reach * (21.0 / 28160)) * sim->mass * 32 /
                                                        (3.14159265358979323846 * reach * reach * reach)) };
    const double calm = 0.06 * s * sqrt(length(o->gravity) * s);
    sim->viscosity = o->viscosity < 0 ? 0 : o->viscosity > calm ? o->viscosity : calm;
}

tsr_status tsr_fluid_sim_create(tsr_context *context, const tsr_fluid_sim_options *options, tsr_fluid_sim **sim)
{
    TSR_RETURNS(sim);
    tsr_fluid_sim_options o;
    tsr_status status;
    if (!context || !options || !sim) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !context ? "context" : !options ? "options" : "sim");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!o.weightless && o.gravity.x == 0 && o.gravity.y == 0 && o.gravity.z == 0) o.gravity.z = -9.81;
    if (o.density == 0) o.density = 1000;
    if (o.courant == 0) o.courant = 0.4;
    if (o.tolerance == 0) o.tolerance = 1e-4;
    if (o.iterations == 0) o.iterations = 100;
    if (o.jitter == 0) o.jitter = 0.01;
    TSR_TRY(check_options(&o));
    const double extent[3] = { o.upper.x - o.lower.x, o.upper.y - o.lower.y, o.upper.z - o.lower.z };
    double cells = 1;
    for (int k = 0; k < 3; k++) cells *= ceil(extent[k] / (2 * o.spacing));
    if (cells > 0x1p28)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "the region has %.0f cells of two spacings, expected at most 268435456: a smaller region or a larger spacing", cells);
    void *memory = NULL;
    TSR_TRY(tsr_host_allocate(NULL, sizeof **sim, &memory));
    tsr_fluid_sim *s = (tsr_fluid_sim *)memory;
    memset(s, 0, sizeof *s);
    s->context = context;
    s->options = o;
    s->cell = 2 * o.spacing * (1 + 1e-6); /* no neighbour lies two cells away, whatever is rounded */
    for (int k = 0; k < 3; k++) {
        s->cells[k] = (int32_t)(extent[k] / s->cell) + 1;
    }
    make_kernel(s);
    TSR_TRY_GOTO(tsr_device_allocate(context, ((size_t)s->cells[0] * (size_t)s->cells[1] * (size_t)s->cells[2] + 1) * 4, (void **)&s->starts), fail);
    TSR_TRY_GOTO(tsr_device_allocate(context, 4 * sizeof *s->reduced, (void **)&s->reduced), fail);
    *sim = s;
    return TSR_OK;
fail:
    tsr_fluid_sim_destroy(&s);
    return status;
}

/* ---- device memory that grows ---------------------------------------------------------------------------------------------------------------- */

static size_t cell_count(const tsr_fluid_sim *s) { return (size_t)s->cells[0] * (size_t)s->cells[1] * (size_t)s->cells[2]; }

static void release_state(tsr_fluid_sim *s, tsr_sim_state *state, int64_t capacity)
{
    const size_t n = (size_t)capacity;
    tsr_device_release(s->context, state->place, n * 16);
    tsr_device_release(s->context, state->move, n * 16);
    tsr_device_release(s->context, state->impulse, n * 4);
    tsr_device_release(s->context, state->number, n * 4);
    memset(state, 0, sizeof *state);
}
static tsr_status allocate_state(tsr_fluid_sim *s, tsr_sim_state *state, int64_t capacity)
{
    const size_t n = (size_t)capacity;
    TSR_TRY(tsr_device_allocate(s->context, n * 16, (void **)&state->place));
    TSR_TRY(tsr_device_allocate(s->context, n * 16, (void **)&state->move));
    TSR_TRY(tsr_device_allocate(s->context, n * 4, (void **)&state->impulse));
    TSR_TRY(tsr_device_allocate(s->context, n * 4, (void **)&state->number));
    return TSR_OK;
}

/* Everything that is made anew in each step. */
static void release_work(tsr_fluid_sim *s)
{
    const size_t n = (size_t)s->capacity;
    tsr_context *c = s->context;
    release_state(s, &s->other, s->capacity);
    tsr_device_release(c, s->free, n * 16);
    tsr_device_release(c, s->solid, n * 16);
    tsr_device_release(c, s->key, n * 4);
    tsr_device_release(c, s->sorted, n * 4);
    tsr_device_release(c, s->order, n * 4);
    tsr_device_release(c, s->error, n * 4);
    tsr_device_release(c, s->fast, n * 4);
    tsr_device_release(c, s->found, (n + 1) * 4);
    tsr_device_release(c, s->first, (n + 1) * 4);
    tsr_device_release(c, s->list, (size_t)s->list_capacity * 4);
    tsr_device_release(c, s->work, s->work_bytes);
    s->free = s->solid = NULL;
    s->key = s->sorted = s->order = s->found = s->first = s->list = NULL;
    s->error = s->fast = NULL;
    s->work = NULL;
    s->list_capacity = 0;
    s->work_bytes = 0;
}

static tsr_status check_memory(const tsr_fluid_sim *s, int64_t bytes)
{
    const int64_t limit = s->options.memory_limit;
    if (limit && bytes > limit)
        TSR_FAIL(TSR_ERROR_CAPACITY, "the particles need %lld bytes of device memory, the memory limit is %lld", (long long)bytes, (long long)limit);
    return TSR_OK;
}

static tsr_status grow_list(tsr_fluid_sim *s, int64_t entries)
{
    TSR_TRY(check_memory(s, s->capacity * 160 + entries * 4 + (int64_t)cell_count(s) * 4));
    tsr_device_release(s->context, s->list, (size_t)s->list_capacity * 4);
    s->list = NULL;
    s->list_capacity = 0;
    TSR_TRY(tsr_device_allocate(s->context, (size_t)entries * 4, (void **)&s->list));
    s->list_capacity = entries;
    return TSR_OK;
}

static tsr_status allocate_work(tsr_fluid_sim *s)
{
    const size_t n = (size_t)s->capacity;
    tsr_context *c = s->context;
    size_t bytes[3];
    TSR_TRY(tsr_sort_workspace(c, TSR_U32, 1, s->capacity, &bytes[0]));
    TSR_TRY(tsr_scan_workspace(c, s->capacity + 1, &bytes[1]));
    TSR_TRY(tsr_reduce_workspace(c, s->capacity, &bytes[2]));
    TSR_TRY(allocate_state(s, &s->other, s->capacity));
    TSR_TRY(tsr_device_allocate(c, n * 16, (void **)&s->free));
    TSR_TRY(tsr_device_allocate(c, n * 16, (void **)&s->solid));
    TSR_TRY(tsr_device_allocate(c, n * 4, (void **)&s->key));
    TSR_TRY(tsr_device_allocate(c, n * 4, (void **)&s->sorted));
    TSR_TRY(tsr_device_allocate(c, n * 4, (void **)&s->order));
    TSR_TRY(tsr_device_allocate(c, n * 4, (void **)&s->error));
    TSR_TRY(tsr_device_allocate(c, n * 4, (void **)&s->fast));
    TSR_TRY(tsr_device_allocate(c, (n + 1) * 4, (void **)&s->found));
    TSR_TRY(tsr_device_allocate(c, (n + 1) * 4, (void **)&s->first));
    for (int k = 0; k < 3; k++) s->work_bytes = s->work_bytes > bytes[k] ? s->work_bytes : bytes[k];
    TSR_TRY(tsr_device_allocate(c, s->work_bytes, &s->work));
    TSR_TRY(grow_list(s, (int64_t)n * NEIGHBOURS));
    return TSR_OK;
}

static tsr_status reserve(tsr_fluid_sim *s, int64_t count)
{
    tsr_status status = TSR_OK;
    if (count <= s->capacity) return TSR_OK;
    if (count > 100000000) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%lld particles, expected at most 100000000", (long long)count);
    int64_t capacity = s->capacity + s->capacity / 2 < count ? count : s->capacity + s->capacity / 2;
    if (capacity < 1024) capacity = 1024;
    TSR_TRY(check_memory(s, capacity * (160 + 4 * NEIGHBOURS) + (int64_t)cell_count(s) * 4));
    tsr_sim_state bigger = { 0 };
    const tsr_backend *b = s->context->backend;
    tsr_queue *queue = s->context->queue;
    const size_t n = (size_t)s->count;
    TSR_TRY_GOTO(allocate_state(s, &bigger, capacity), fail);
    if (n) {
        TSR_TRY_GOTO(b->copy(queue, bigger.place, s->now.place, n * 16), fail);
        TSR_TRY_GOTO(b->copy(queue, bigger.move, s->now.move, n * 16), fail);
        TSR_TRY_GOTO(b->copy(queue, bigger.impulse, s->now.impulse, n * 4), fail);
        TSR_TRY_GOTO(b->copy(queue, bigger.number, s->now.number, n * 4), fail);
        TSR_TRY_GOTO(tsr_context_synchronize(s->context), fail);
    }
    release_work(s);
    release_state(s, &s->now, s->capacity);
    s->now = bigger;
    s->capacity = capacity;
    TSR_TRY(allocate_work(s));
    return TSR_OK;
fail:
    release_state(s, &bigger, capacity);
    return status;
}

void tsr_fluid_sim_destroy(tsr_fluid_sim **sim)
{
    if (!sim || !*sim) return;
    tsr_fluid_sim *s = *sim;
    release_work(s);
    release_state(s, &s->now, s->capacity);
    tsr_device_release(s->context, s->starts, (cell_count(s) + 1) * 4);
    tsr_device_release(s->context, s->reduced, 4 * sizeof *s->reduced);
    tsr_device_release(s->context, s->device_colliders, sizeof s->colliders);
    for (int32_t k = 0; k < s->collider_count; k++) {
        const tsr_sim_collider *c = &s->colliders[k];
        const size_t bytes = (size_t)c->size[0] * (size_t)c->size[1] * (size_t)c->size[2] * 4;
        tsr_device_release(s->context, s->fields[k], bytes);
        if (c->kind == TSR_SIM_FIELD) {
            void *field;
            memcpy(&field, &c->field, sizeof field);
            tsr_host_release(NULL, field, bytes);
        }
        tsr_mesh_destroy(&s->meshes[k]);
    }
    tsr_host_release(NULL, s, sizeof *s);
    *sim = NULL;
}

/* ---- particles come in ----------------------------------------------------------------------------------------------------------------------- */

static int in_region(const tsr_fluid_sim *s, const float p[3])
{
    const tsr_fluid_sim_options *o = &s->options;
    return p[0] >= (float)o->lower.x && p[0] <= (float)o->upper.x && p[1] >= (float)o->lower.y && p[1] <= (float)o->upper.y &&
           p[2] >= (float)o->lower.z && p[2] <= (float)o->upper.z;
}

enum { PORTION = 1 << 16 };
struct portion {
    tsr_sim4 place[PORTION], move[PORTION];
    float impulse[PORTION];
    uint32_t number[PORTION];
};

static tsr_status upload(tsr_fluid_sim *s, const struct portion *p, int64_t count)
{
    const tsr_backend *b = s->context->backend;
    tsr_queue *queue = s->context->queue;
    const size_t n = (size_t)count;
    if (!count) return TSR_OK;
    TSR_TRY(reserve(s, s->count + count));
    TSR_TRY(b->upload(queue, s->now.place + s->count, p->place, n * 16));
    TSR_TRY(b->upload(queue, s->now.move + s->count, p->move, n * 16));
    TSR_TRY(b->upload(queue, s->now.impulse + s->count, p->impulse, n * 4));
    TSR_TRY(b->upload(queue, s->now.number + s->count, p->number, n * 4));
    s->count += count;
    s->next_number += count;
    return TSR_OK;
}

tsr_status tsr_sim_append(tsr_fluid_sim *s, const double *positions, const double *velocities, int64_t count, int checked)
{
    struct portion *p = NULL;
    tsr_status status = TSR_OK;
    int64_t n = 0;
    TSR_TRY(reserve(s, s->count + (count < 1024 ? count : 1024)));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *p, (void **)&p));
    for (int64_t i = 0; i < count; i++) {
        const double *at = positions + 3 * i, *v = velocities + 3 * i;
        const float place[3] = { (float)at[0], (float)at[1], (float)at[2] };
        if (!checked && (!in_region(s, place) || tsr_sim_distance(s, at) < 0.45f * (float)s->options.spacing)) continue;
        if (s->next_number + n > (int64_t)UINT32_MAX) TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, done, "more than 4294967295 particles came in");
        p->place[n] = (tsr_sim4){ place[0], place[1], place[2], 0.0f };
        p->move[n] = (tsr_sim4){ (float)v[0], (float)v[1], (float)v[2], 0.0f };
        p->impulse[n] = 0.0f;
        p->number[n] = (uint32_t)(s->next_number + n);
        const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (speed > s->speed) s->speed = speed;
        if (++n == PORTION) {
            TSR_TRY_GOTO(upload(s, p, n), done);
            n = 0;
        }
    }
    TSR_TRY_GOTO(upload(s, p, n), done);
done:
    tsr_host_release(NULL, p, sizeof *p);
    return status;
}

/* ---- one step -------------------------------------------------------------------------------------------------------------------------------- */

tsr_sim_job tsr_sim_job_of(const tsr_fluid_sim *s, double dt)
{
    const tsr_fluid_sim_options *o = &s->options;
    tsr_sim_job j = { .kernel = s->kernel, .count = s->count, .rest = (float)o->density, .inverse_rest = (float)(1 / o->density), .dt = (float)dt,
                      .inverse_dt = dt > 0 ? (float)(1 / dt) : 0.0f, .correction = 0.2f, .relaxation = 0.5f,
                      .impulse_ratio = dt > 0 ? (s->step > 0 ? (float)(dt / s->step) : 0.0f) : 1.0f,
                      .gravity = { (float)o->gravity.x, (float)o->gravity.y, (float)o->gravity.z }, .nearest = 0.1f * (float)o->spacing,
                      .lower = { (float)o->lower.x, (float)o->lower.y, (float)o->lower.z },
                      .upper = { (float)o->upper.x, (float)o->upper.y, (float)o->upper.z }, .cells = { s->cells[0], s->cells[1], s->cells[2] },
                      .inverse_cell = (float)(1 / s->cell), .colliders = s->device_colliders, .collider_count = s->collider_count,
                      .place = s->now.place, .move = s->now.move, .impulse = s->now.impulse, .free = s->free, .solid = s->solid, .number = s->now.number,
                      .key = s->key, .error = s->error, .speed = s->fast, .order = s->order, .starts = s->starts, .found = s->found, .first = s->first,
                      .list = s->list };
    /* a kernel-weighted mean of velocity differences is H^2 3 / 80 of the Laplacian */
    const double share = s->viscosity * dt / (o->spacing * o->spacing * 4 * 3 / 80);
    j.kernel.viscosity = (float)(share * (double)s->kernel.value / o->density);
    j.friction = (float)(o->friction * dt / 0.01 < 1 ? o->friction * dt / 0.01 : 1);
    return j;
}

static tsr_status pass(const tsr_fluid_sim *s, tsr_sim_pass which, const tsr_sim_job *job) { return s->context->backend->fluidsim->pass(s->context->queue, which, job); }

static int32_t bits_of(uint64_t largest)
{
    int32_t bits = 1;
    while (largest >> bits) bits++;
    return bits;
}

static tsr_status sort_particles(tsr_fluid_sim *s, tsr_sim_job *j)
{
    const tsr_backend *b = s->context->backend;
    uint32_t alive = 0;
    TSR_TRY(pass(s, TSR_SIM_KEYS, j));
    TSR_TRY(tsr_sort(s->context, TSR_U32, s->key, s->sorted, s->list, s->order, s->count, 0, bits_of(cell_count(s)), s->work, s->work_bytes));
    j->from_place = s->now.place;
    j->from_move = s->now.move;
    j->from_impulse = s->now.impulse;
    j->from_number = s->now.number;
    j->place = s->other.place;
    j->move = s->other.move;
    j->impulse = s->other.impulse;
    j->number = s->other.number;
    j->key = s->sorted;
    TSR_TRY(pass(s, TSR_SIM_GATHER, j));
    TSR_TRY(pass(s, TSR_SIM_STARTS, j));
    TSR_TRY(b->download(s->context->queue, &alive, s->starts + cell_count(s), sizeof alive));
    const tsr_sim_state other = s->other;
    s->other = s->now;
    s->now = other;
    s->gone += s->count - (int64_t)alive;
    s->count = j->count = (int64_t)alive;
    return TSR_OK;
}

tsr_status tsr_sim_prepare(tsr_fluid_sim *s, tsr_sim_job *j)
{
    const tsr_backend *b = s->context->backend;
    uint32_t entries = 0;
    if (!s->colliders_ready && s->collider_count) {
        tsr_sim_collider own[TSR_SIM_COLLIDERS_MOST];
        memcpy(own, s->colliders, sizeof own);
        for (int32_t k = 0; k < s->collider_count; k++) own[k].field = s->fields[k];
        if (!s->device_colliders) TSR_TRY(tsr_device_allocate(s->context, sizeof s->colliders, (void **)&s->device_colliders));
        TSR_TRY(b->upload(s->context->queue, s->device_colliders, own, sizeof own));
        TSR_TRY(tsr_context_synchronize(s->context));
        s->colliders_ready = 1;
        j->colliders = s->device_colliders;
    }
    if (!s->count) return TSR_OK;
    TSR_TRY(sort_particles(s, j));
    if (!s->count) return TSR_OK;
    TSR_TRY(pass(s, TSR_SIM_COUNT, j));
    TSR_TRY(tsr_scan(s->context, TSR_SCAN_EXCLUSIVE, TSR_U32, s->found, s->count + 1, TSR_U32, s->first, s->work, s->work_bytes));
    TSR_TRY(b->download(s->context->queue, &entries, s->first + s->count, sizeof entries));
    if ((int64_t)entries > s->list_capacity) {
        TSR_TRY(grow_list(s, (int64_t)entries + (int64_t)entries / 4));
        j->list = s->list;
    }
    TSR_TRY(pass(s, TSR_SIM_LIST, j));
    TSR_TRY(pass(s, TSR_SIM_DENSITY, j));
    return TSR_OK;
}

/* Reduces an array of the particles; waits. */
static tsr_status reduce(tsr_fluid_sim *s, tsr_reduction reduction, const float *data, double *value)
{
    tsr_reduced result;
    TSR_TRY(tsr_reduce(s->context, reduction, TSR_F32, data, s->count, s->reduced, s->work, s->work_bytes));
    TSR_TRY(s->context->backend->download(s->context->queue, &result, s->reduced, sizeof result));
    *value = result.f;
    return TSR_OK;
}

static tsr_status press(tsr_fluid_sim *s, const tsr_sim_job *j)
{
    TSR_TRY(pass(s, TSR_SIM_PUSH, j));
    for (int32_t i = 0; i < s->options.iterations; i++) {
        double error = 0;
        TSR_TRY(pass(s, TSR_SIM_PRESS, j));
        if (i) TSR_TRY(reduce(s, TSR_REDUCE_SUM, s->error, &error));
        TSR_TRY(pass(s, TSR_SIM_PUSH, j));
        s->iterations++;
        if (i && error <= s->options.tolerance * (double)s->count) break;
    }
    return TSR_OK;
}

static tsr_status one_step(tsr_fluid_sim *s, double dt)
{
    TSR_TRY(tsr_sim_flow_in(s));
    if (s->count) {
        double square = 0;
        tsr_sim_job j = tsr_sim_job_of(s, dt);
        TSR_TRY(tsr_sim_prepare(s, &j));
        if (s->count) {
            TSR_TRY(press(s, &j));
            TSR_TRY(pass(s, TSR_SIM_MOVE, &j));
            TSR_TRY(reduce(s, TSR_REDUCE_MAX, s->fast, &square));
        }
        s->speed = sqrt(square);
        if (!isfinite(s->speed)) TSR_FAIL(TSR_ERROR_ARGUMENT, "the fluid burst after %g seconds: a shorter step is needed (step, courant)", s->time);
        s->step = dt;
    }
    s->time += dt;
    s->steps++;
    return TSR_OK;
}

/* How long a step may be now. */
static double longest_step(const tsr_fluid_sim *s)
{
    const tsr_fluid_sim_options *o = &s->options;
    const double g = length(o->gravity), h = o->spacing;
    double dt = o->step > 0 ? o->step : 0.05;
    if (g > 0) dt = fmin(dt, 0.06 * sqrt(h / g));
    if (s->speed > 0) dt = fmin(dt, o->courant * h / s->speed);
    if (s->viscosity > 0) dt = fmin(dt, 0.5 * (4 * h * h * 3 / 80) / s->viscosity); /* half of what would turn a difference round */
    if (o->tension > 0) dt = fmin(dt, 0.4 * sqrt(o->density * h * h * h / (6.28318530717958648 * o->tension)));
    for (int32_t k = 0; k < s->inflow_count; k++) dt = fmin(dt, o->courant * h / s->inflows[k].speed);
    return dt;
}

tsr_status tsr_fluid_sim_advance(tsr_fluid_sim *sim, double seconds, const tsr_progress *progress)
{
    TSR_NEEDS(sim);
    if (!(seconds >= 0 && seconds <= 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "seconds is %g, expected 0 to 10^9", seconds);
    const double begin = sim->time, end = begin + seconds;
    while (sim->time < end) {
        const double left = end - sim->time, steps = ceil(left / longest_step(sim) * (1 - 1e-9));
        TSR_PROGRESS(progress, 1 - left / seconds, "simulating");
        if (left < 1e-12 * end) break;
        if (!(steps <= 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "a step of %g seconds, expected longer ones: the fluid moves at %g m/s", left / steps, sim->speed);
        TSR_TRY(one_step(sim, steps > 1 ? left / steps : left));
    }
    sim->time = end;
    return TSR_OK;
}

int64_t tsr_fluid_sim_count(const tsr_fluid_sim *sim) { return sim ? sim->count : 0; }
