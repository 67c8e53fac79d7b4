/* light/simulate.c: lights become wavefronts, which backends send through matter; accounts are made up. */
#include <math.h>
#include <stdlib.h>

#include "light/first_wave.h"

enum { MOST_LAYERS = 4, MOST_LIGHTS = 64 };

tsr_status tsr_light_check_sources(const tsr_light_source *sources, int32_t count)
{
    if (count < 0 || count > MOST_LIGHTS || (count && !sources))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d lights%s, expected 0 to %d", count, sources ? "" : " at NULL", MOST_LIGHTS);
    for (int32_t i = 0; i < count; i++) {
        const tsr_light_source *s = &sources[i];
        if ((unsigned)s->kind > TSR_LIGHT_SPOT)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: kind is %d, expected 0 (directional), 1 (point) or 2 (spot)", i, (int)s->kind);
        for (int k = 0; k < 3; k++) {
            if (!(s->color[k] >= 0 && s->color[k] <= 1e12))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: color[%d] is %g, expected 0 to 1e12", i, k, s->color[k]);
            if (!(fabs(s->position[k]) <= 1e9) || !(fabs(s->direction[k]) <= 1e9))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: position or direction [%d] is %g, %g, expected finite numbers", i, k, s->position[k],
                         s->direction[k]);
        }
        const double d = sqrt(s->direction[0] * s->direction[0] + s->direction[1] * s->direction[1] + s->direction[2] * s->direction[2]);
        if (s->kind != TSR_LIGHT_POINT && !(d > 1e-12)) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: its direction is 0, expected where it shines", i);
        if (s->kind == TSR_LIGHT_SPOT && !(s->angle > 0 && s->angle < 90))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: angle is %g, expected the half angle of the cone, above 0 and below 90 degrees", i, s->angle);
        if (s->kind == TSR_LIGHT_SPOT && !(s->soft >= 0 && s->soft <= 1))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: soft is %g, expected 0 to 1", i, s->soft);
        if (s->mask && (!s->mask->pixels || s->mask->width < 1 || s->mask->height < 1 || (s->mask->channels != 1 && s->mask->channels != 3)))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: its mask is %d x %d with %d channels, expected 1 or 3 channels", i, s->mask->width,
                     s->mask->height, s->mask->channels);
        if (s->mask && s->kind == TSR_LIGHT_POINT) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: a point light has no mask, expected a spot", i);
    }
    return TSR_OK;
}

void tsr_light_cone(const tsr_light_source *s, double *inner, double *outer)
{
    const double a = s->angle * (M_PI / 180);
    *outer = cos(a);
    *inner = cos(a * (1 - s->soft));
}

/* A light inside opaque matter is a mistake of the scene. */
static tsr_status check_inside(const tsr_light_matter *m, const tsr_light_emission *e, int32_t number)
{
    float four[4], n;
    if (!e->within) return TSR_OK;
    int64_t at = 0;
    for (int k = 2; k >= 0; k--) at = at * m->medium.size[k] + tsr_mini(tsr_maxi((int32_t)lround(e->at[k]), 0), m->medium.size[k] - 1);
    if (m->medium.dim) {
        TSR_TRY(tsr_device_move(NULL, four, m->context, m->medium.dim + at * 4, sizeof four));
        if (four[3] > 0.5f)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d lies inside opaque matter, at (%g, %g, %g)", number, e->light->position[0], e->light->position[1],
                     e->light->position[2]);
    }
    TSR_TRY(tsr_device_move(NULL, &n, m->context, m->medium.index + at * 4, sizeof n));
    for (int64_t i = 0; i < e->count[0]; i++) { /* |v| = n, of each colour */
        tsr_light_patch p;
        memcpy(&p, e->words[0] + i * TSR_LIGHT_WORDS, sizeof p);
        const float own = 1.0f + e->wave->bends[p.state & 3u] * (n - 1.0f);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 4; c++) p.v[k][c] *= own;
        memcpy(e->words[0] + i * TSR_LIGHT_WORDS, &p, sizeof p);
    }
    return TSR_OK;
}

/* ---- memory ---- */

typedef struct arena {
    void *memory[16];
    size_t bytes[16];
    int count;
} arena;
static tsr_status take(tsr_context *context, arena *a, size_t bytes, int clear, void **to)
{
    TSR_TRY(tsr_device_allocate(context, bytes, to));
    a->memory[a->count] = *to;
    a->bytes[a->count++] = bytes;
    return clear ? context->backend->fill(context->queue, *to, 0, bytes) : TSR_OK;
}
static void give(tsr_context *context, arena *a)
{
    while (a->count--) tsr_device_release(context, a->memory[a->count], a->bytes[a->count]);
    a->count = 0;
}

/* ---- the simulation ---- */

static tsr_status check(tsr_light_options *o)
{
    if (o->cfl == 0) o->cfl = 0.5;
    if (o->extent == 0) o->extent = 0.75;
    if (!o->layers) o->layers = 1;
    if (!o->grid) o->grid = 64;
    if (!o->capacity) o->capacity = 1 << 20;
    if (!o->steps) o->steps = 8000;
    if (!o->rounds) o->rounds = TSR_LIGHT_ROUNDS;
    if (o->faint == 0) o->faint = 1e-4;
    if (o->least_area == 0) o->least_area = 0.01;
    if (!o->ground.texels) o->ground.texels = 512;
    if (!(o->cfl > 0 && o->cfl <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "cfl is %g, expected above 0 and at most 1", o->cfl);
    if (!(o->extent >= 0.1 && o->extent <= 16)) TSR_FAIL(TSR_ERROR_ARGUMENT, "extent is %g, expected 0.1 to 16 voxels", o->extent);
    if ((unsigned)o->integrator > TSR_LIGHT_EULER && o->integrator != TSR_LIGHT_LEAP)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "integrator is %d, expected RK4, RK2, Euler or LEAP: particles of a wavefront share their time",
                 (int)o->integrator);
    if ((unsigned)o->record > TSR_LIGHT_GATHER) TSR_FAIL(TSR_ERROR_ARGUMENT, "record is %d, expected 0 (strongest) or 1 (gather)", (int)o->record);
    if (o->layers < 1 || o->layers > MOST_LAYERS) TSR_FAIL(TSR_ERROR_ARGUMENT, "layers is %d, expected 1 to %d", o->layers, MOST_LAYERS);
    if (o->record == TSR_LIGHT_GATHER && o->layers != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "layers is %d, expected 1 where all light is gathered", o->layers);
    if (o->grid < 2 || o->grid > 1024) TSR_FAIL(TSR_ERROR_ARGUMENT, "grid is %d, expected 2 to 1024", o->grid);
    if (o->capacity < 1 || o->capacity >= 1 << 26)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "capacity is %lld, expected 1 to 67108863 patches", (long long)o->capacity);
    if (o->steps < 1 || o->steps >= 16000) TSR_FAIL(TSR_ERROR_ARGUMENT, "steps is %d, expected 1 to 15999", o->steps);
    if (o->rounds < 1 || o->rounds > TSR_LIGHT_ROUNDS) TSR_FAIL(TSR_ERROR_ARGUMENT, "rounds is %d, expected 1 to %d", o->rounds, TSR_LIGHT_ROUNDS);
    if (!(o->faint < 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "faint is %g, expected below 1", o->faint);
    if (!(o->least_area > 0 && o->least_area <= 100))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "least_area is %g, expected above 0 and at most 100", o->least_area);
    if (!(o->dispersion >= 0 && o->dispersion < 0.5)) TSR_FAIL(TSR_ERROR_ARGUMENT, "dispersion is %g, expected 0 to below 0.5", o->dispersion);
    if (o->ground.present && (o->ground.texels < 2 || o->ground.texels > 16384))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "texels of the floor is %d, expected 2 to 16384", o->ground.texels);
    return TSR_OK;
}

static tsr_status set_floor(const tsr_light_matter *m, const tsr_light_options *o, tsr_light_floor *f)
{
    const double lowest = m->origin[2] - 0.5 * m->voxel;
    const double larger = fmax(m->medium.size[0], m->medium.size[1]) * m->voxel, extent = o->ground.extent != 0 ? o->ground.extent : 2 * larger;
    if (!(o->ground.height <= lowest + 1e-9 * fabs(lowest) + 1e-12) || !(o->ground.height > -1e9))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "height of the floor is %g, expected at most %g, where the volume ends", o->ground.height, lowest);
    if (!(extent > 0 && extent <= 1e4 * larger))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "extent of the floor is %g, expected above 0 and at most %g", extent, 1e4 * larger);
    f->z = (float)((o->ground.height - m->origin[2]) / m->voxel);
    f->size[0] = f->size[1] = o->ground.texels;
    f->scale = (float)(o->ground.texels / (extent / m->voxel));
    for (int k = 0; k < 2; k++) f->corner[k] = (float)(0.5 * (m->medium.size[k] - 1) - 0.5 * extent / m->voxel);
    return TSR_OK;
}

static void share(const tsr_light_wave *w, double area, const int64_t units[3], int64_t patches, tsr_light_power *to)
{
    for (int k = 0; k < 3; k++) to->power[k] = (double)units[k] / (double)w->unit * area;
    to->patches = patches;
}

typedef struct simulation {
    tsr_context *context;
    const tsr_light_matter *matter;
    tsr_light_options o;
    tsr_light_wave wave;
    tsr_light_field *field;
    tsr_light_emission e;
    arena arena;
    int64_t capacity, start[3], start_count, *counts;
    tsr_light_account account;
    double began;
} simulation;

static tsr_status emit_all(simulation *s, const tsr_light_source *sources, int32_t count)
{
    double total[3] = { 0 }, least = 1e300, most = 0;
    tsr_light_emission *e = &s->e;
    for (int32_t i = 0; i < count; i++) {
        const int64_t before = e->count[0];
        e->light = &sources[i];
        e->wave = &s->wave;
        e->within = 0;
        e->colors = s->o.dispersion > 0 ? 3 : 1;
        tsr_light_source own = sources[i];
        if (own.kind != TSR_LIGHT_DIRECTIONAL)
            for (int k = 0; k < 3; k++) own.color[k] /= s->matter->voxel * s->matter->voxel; /* per steradian: in squares of voxels */
        e->light = &own;
        memset(e->power, 0, sizeof e->power);
        TSR_TRY(tsr_light_emit(e, s->matter, s->o.grid));
        const int64_t after = e->count[0];
        tsr_light_emission part = *e;
        part.words[0] = e->words[0] ? e->words[0] + before * TSR_LIGHT_WORDS : NULL;
        part.count[0] = after - before;
        TSR_TRY(check_inside(s->matter, &part, i));
        const float color[3] = { (float)own.color[0], (float)own.color[1], (float)own.color[2] };
        double bright = (double)tsr_light_luminance(color);
        if (own.kind != TSR_LIGHT_DIRECTIONAL) {
            double r2 = 0;
            for (int k = 0; k < 3; k++) r2 += (e->centre[k] - e->at[k]) * (e->centre[k] - e->at[k]);
            bright /= fmax(r2, e->reach * e->reach);
        }
        if (bright > 0) least = fmin(least, bright);
        for (int k = 0; k < 3; k++) total[k] += e->power[k];
    }
    for (int k = 0; k < 3; k++) most = fmax(most, total[k]);
    s->wave.least =
        s->o.faint > 0 && least < 1e300 ? (float)(s->o.faint * least * s->o.extent * s->o.extent) : -1.0f; /* of what a voxel is given at first */
    s->wave.unit = (float)ldexp(1, 46 - (most > 0 ? (int)ceil(log2(most)) : 0));
    for (int64_t i = 0; i < e->count[0]; i++) {
        tsr_light_patch p;
        memcpy(&p, e->words[0] + i * TSR_LIGHT_WORDS, sizeof p);
        for (int k = 0; k < 3; k++) s->start[k] += tsr_light_units(p.power[k], s->wave.unit);
    }
    s->start_count = e->count[0];
    return TSR_OK;
}

/* Patches of a host array to a list of the device, word by word. */
static tsr_status upload_list(simulation *s, int which, const float *words, int64_t count)
{
    const tsr_light_list *l = &s->wave.list[which];
    if (!count) return TSR_OK;
    float *row = malloc((size_t)count * sizeof *row);
    if (!row) TSR_FAIL(TSR_ERROR_MEMORY, "no %lld bytes for patches", (long long)count * 4);
    tsr_status status = TSR_OK;
    for (int k = 0; k < l->words && status == TSR_OK; k++) {
        for (int64_t i = 0; i < count; i++) row[i] = words[i * TSR_LIGHT_WORDS + k];
        status = tsr_device_move(s->context, l->data + k * l->across, NULL, row, (size_t)count * sizeof *row);
    }
    free(row);
    return status;
}

static tsr_status prepare(simulation *s, const tsr_light_source *sources, int32_t count)
{
    tsr_light_wave *w = &s->wave;
    tsr_context *c = s->context;
    const tsr_light_options *o = &s->o;
    const int64_t voxels = tsr_light_voxels(s->matter->medium.size);
    const double d = o->dispersion;
    w->medium = s->matter->medium;
    w->bends[0] = w->bends[2] = 1.0f;
    w->bends[1] = (float)(1 - d);
    w->bends[3] = (float)(1 + d);
    w->dt = (float)(o->cfl * fmin(1, 1 + (1 + d) * (s->matter->least_index - 1)));
    w->extent = (float)o->extent;
    w->least_area = (float)o->least_area;
    w->integrator = (int32_t)o->integrator;
    w->project = !o->no_projection;
    w->rounds = o->rounds;
    w->go_on = o->go_on;
    w->mirrors = !o->no_fresnel;
    w->layers = o->layers;
    s->field->layers = o->layers;
    for (int k = 0; k < 3; k++) s->field->size[k] = w->medium.size[k];
    if (o->ground.present) {
        const int64_t texels = (int64_t)o->ground.texels * o->ground.texels;
        TSR_TRY(set_floor(s->matter, o, &w->floor));
        s->field->floor = w->floor;
        TSR_TRY(tsr_device_allocate(c, (size_t)texels * 12, (void **)&s->field->floor.light));
        w->floor.light = s->field->floor.light;
        TSR_TRY(take(c, &s->arena, (size_t)texels * 24, 1, (void **)&w->floor.sums));
    }
    TSR_TRY(emit_all(s, sources, count));
    /* room for the first list in every case; on the host for the second list, too: patches for the floor come through it. Rows of words are an odd number of
     * lines apart: the words of a patch then lie in different sets of a cache */
    w->capacity = tsr_max64(o->capacity, s->e.count[0]);
    const int64_t rows = tsr_max64(w->capacity, s->e.count[1]), padded = ((rows / 32 + 2) | 1) * 32;
    for (int k = 0; k < 2; k++) {
        TSR_TRY(take(c, &s->arena, (size_t)padded * sizeof(tsr_light_patch), 0, (void **)&w->list[k].data));
        w->list[k].across = padded;
        w->list[k].words = w->mirrors ? TSR_LIGHT_WORDS : TSR_LIGHT_PLAIN_WORDS;
    }
    TSR_TRY(take(c, &s->arena, (size_t)w->capacity, 0, (void **)&w->fate));
    TSR_TRY(take(c, &s->arena, sizeof(tsr_light_account), 1, (void **)&w->account));
    TSR_TRY(tsr_device_allocate(c, (size_t)voxels * 16 * (size_t)o->layers, (void **)&s->field->field));
    TSR_TRY(c->backend->fill(c->queue, s->field->field, 0, (size_t)voxels * 16 * (size_t)o->layers));
    w->field = s->field->field;
    if (o->record == TSR_LIGHT_GATHER) {
        TSR_TRY(take(c, &s->arena, (size_t)voxels * 48, 1, (void **)&w->sums));
    } else {
        TSR_TRY(take(c, &s->arena, (size_t)w->capacity * 8, 0, (void **)&w->mark));
        TSR_TRY(take(c, &s->arena, (size_t)w->capacity * 4, 0, (void **)&w->at));
        TSR_TRY(take(c, &s->arena, (size_t)voxels * 8, 1, (void **)&w->keys));
    }
    TSR_TRY(take(c, &s->arena, 3 * sizeof(int64_t), 1, (void **)&s->counts));
    TSR_TRY(upload_list(s, 1, s->e.words[1], s->e.count[1]));
    if (s->e.count[1]) TSR_TRY(c->backend->light->land(c->queue, w, s->e.count[1]));
    TSR_TRY(upload_list(s, 0, s->e.words[0], s->e.count[0]));
    s->account.patches = s->e.count[0];
    return tsr_device_move(c, w->account, NULL, &s->account, sizeof s->account);
}

static tsr_status march(simulation *s)
{
    tsr_context *c = s->context;
    const tsr_light_ops *ops = c->backend->light;
    const int64_t batch = c->device.kind == TSR_DEVICE_CPU ? 16 : 1024;
    void *workspace = NULL;
    int64_t step = 0;
    TSR_TRY(take(c, &s->arena, ops->advance_bytes(s->wave.capacity), 1, &workspace));
    while (s->account.patches && step < s->o.steps + 1) {
        const int64_t count = tsr_min64(batch, s->o.steps + 1 - step);
        TSR_PROGRESS(&s->o.progress, (double)step / (step + 600.0), "light"); /* how many steps there will be is not known */
        TSR_TRY(ops->advance(c->queue, &s->wave, step, count, workspace));
        TSR_TRY(tsr_device_move(NULL, &s->account, c, s->wave.account, sizeof s->account));
        step += count;
    }
    if (s->account.patches) TSR_TRY(ops->last(c->queue, &s->wave, step));
    TSR_TRY(ops->settle(c->queue, &s->wave));
    return tsr_device_move(NULL, &s->account, c, s->wave.account, sizeof s->account);
}

static tsr_status report_on(simulation *s, tsr_light_report *report)
{
    tsr_light_report r = { .struct_size = sizeof r, .several = -1, .strongest = -1 };
    tsr_context *c = s->context;
    const tsr_light_account *a = &s->account;
    const double area = s->matter->voxel * s->matter->voxel;
    const int64_t voxels = tsr_light_voxels(s->field->size);
    tsr_light_power *const ended[TSR_LIGHT_REASONS] = { &r.left, &r.landed, &r.faint, &r.caustic, &r.torn, &r.stopped };
    int64_t counts[3];
    share(&s->wave, area, s->start, s->start_count, &r.start);
    for (int k = 0; k < TSR_LIGHT_REASONS; k++) share(&s->wave, area, a->ended[k], a->ends[k], ended[k]);
    share(&s->wave, area, a->rest, a->patches, &r.rest);
    for (int k = 0; k < 3; k++) {
        int64_t all = a->dimmed[k] + a->mirrored[k] + a->rest[k];
        for (int i = 0; i < TSR_LIGHT_REASONS; i++) all += a->ended[i][k];
        r.absorbed[k] = (double)a->dimmed[k] / (double)s->wave.unit * area;
        r.reflected[k] = (double)a->mirrored[k] / (double)s->wave.unit * area;
        if (s->start[k]) r.balance = fmax(r.balance, fabs((double)(s->start[k] - all)) / (double)s->start[k]);
    }
    r.steps = a->steps;
    r.peak = a->peak;
    r.moved = a->moved;
    r.splits = a->splits;
    r.crowded = a->crowded;
    const tsr_light_census census = { .field = s->field->field, .voxels = voxels, .layers = s->field->layers, .counts = s->counts };
    TSR_TRY(c->backend->light->census(c->queue, &census));
    TSR_TRY(tsr_device_move(NULL, counts, c, s->counts, sizeof counts));
    r.lit = (double)counts[0] / (double)voxels;
    if (s->field->layers > 1 && counts[0]) {
        r.several = (double)counts[1] / (double)counts[0];
        r.strongest = counts[1] ? (double)counts[2] / 1048576.0 / (double)counts[1] : 1;
    }
    r.seconds = tsr_seconds_now() - s->began;
    return TSR_STRUCT_GIVE(report, &r);
}

tsr_status tsr_light_simulate(tsr_context *context, const tsr_light_matter *matter, const tsr_light_source *sources, int32_t count,
                              const tsr_light_options *options, tsr_light_field **field, tsr_light_report *report)
{
    TSR_RETURNS(field);
    tsr_status status;
    simulation s = { .context = context, .matter = matter, .began = tsr_seconds_now() };
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(tsr_light_require(context, matter));
    TSR_TRY(TSR_OPTIONS_TAKE(&s.o, options));
    TSR_TRY(check(&s.o));
    TSR_TRY(tsr_light_check_sources(sources, count));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *s.field, (void **)&s.field));
    memset(s.field, 0, sizeof *s.field);
    s.field->context = context;
    TSR_TRY_GOTO(prepare(&s, sources, count), end);
    TSR_TRY_GOTO(march(&s), end);
    if (report) TSR_TRY_GOTO(report_on(&s, report), end);
    TSR_TRY_GOTO(tsr_context_synchronize(context), end);
    *field = s.field;
    s.field = NULL;
    status = TSR_OK;
end:
    give(context, &s.arena);
    free(s.e.words[0]);
    free(s.e.words[1]);
    tsr_light_field_destroy(&s.field);
    return status;
}
