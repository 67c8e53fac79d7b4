#include "tessera/wavelet_domain.h"

#include <stdlib.h>
#include <string.h>

#include "wavelet/slab.h"

/* A part of this process. */
typedef struct part {
    tsr_context *context;
    void *window, *result; /* device memory of `room` elements */
    void *workspace;
    int64_t room, workspace_bytes;
    tsr_wavelet_slab slab; /* of the level in work */
    tsr_wavelet_plan *plan;
    int32_t plan_level;
} part;

/* What a step sends and receives. */
typedef struct mail {
    tsr_message *message;
    struct {
        tsr_context *context; /* of a device that the message is to reach yet */
        void *device;
    } * arrival;
    int32_t count, room;
} mail;

struct tsr_wavelet_domain {
    tsr_wavelet_plan *whole;
    tsr_communicator communicator; /* rank 0 of 1 where there is none */
    int32_t axis, parts, count;    /* parts of all ranks; of this one */
    size_t element;
    mail mail;
    part part[]; /* of this one */
};

/* ---- who owns what --------------------------------------------------------------------------------------------------------------------- */

/* How often the axis is split before the level. */
static int32_t splits_before(const tsr_wavelet_domain *d, int32_t level) { return level ? d->whole->stage[level - 1].splits[d->axis] : 0; }

/* First sample of a part at a level; that of part `parts` is the end. */
static int64_t part_begin(const tsr_wavelet_domain *d, int32_t number, int32_t level)
{
    const int32_t all = splits_before(d, d->whole->levels), before = splits_before(d, level);
    const int64_t n = d->whole->size[d->axis], blocks = ((n - 1) >> all) + 1;
    const int64_t begin = (int64_t)(((__int128)blocks * number / d->parts)) << all;
    return begin >= n ? d->whole->stage[level].size[d->axis] : begin >> before;
}

static int64_t part_end(const tsr_wavelet_domain *d, int32_t number, int32_t level) { return part_begin(d, number + 1, level); }
static int is_empty(const tsr_wavelet_domain *d, int32_t number) { return part_begin(d, number, 0) == part_end(d, number, 0); }
static int32_t first_part(const tsr_wavelet_domain *d) { return d->communicator.rank * d->count; }
static part *local_part(tsr_wavelet_domain *d, int32_t number)
{
    const int32_t k = number - first_part(d);
    return k >= 0 && k < d->count ? &d->part[k] : NULL;
}
static tsr_wavelet_slab slab_of(const tsr_wavelet_domain *d, int32_t number, int32_t level)
{
    return tsr_wavelet_slab_make(d->whole, level, d->axis, part_begin(d, number, level), part_end(d, number, level));
}

/* The part that owns number i of a level, counted in samples or, `split`, in coefficients of one kind. */
static int32_t owner_of(const tsr_wavelet_domain *d, int32_t level, int64_t i, int split)
{
    int32_t low = 0, high = d->parts - 1;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const int64_t end = part_end(d, middle, level);
        if (i < (split ? end / 2 + (end & 1) : end)) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* ---- exchange ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status add_message(tsr_wavelet_domain *d, int32_t rank, int receive, tsr_context *context, void *device, int64_t bytes)
{
    mail *m = &d->mail;
    const int staged = context->device.kind != TSR_DEVICE_CPU;
    void *host = device;
    if (m->count == m->room) {
        const int32_t room = 2 * m->room + 16;
        void *grown = realloc(m->message, (size_t)room * sizeof *m->message);
        if (grown) m->message = (tsr_message *)grown;
        void *arrival = grown ? realloc(m->arrival, (size_t)room * sizeof *m->arrival) : NULL;
        if (!arrival) TSR_FAIL(TSR_ERROR_MEMORY, "wavelet: out of memory for messages");
        memcpy(&m->arrival, &arrival, sizeof arrival);
        m->room = room;
    }
    if (staged) TSR_TRY(tsr_host_allocate(NULL, (size_t)bytes, &host));
    m->message[m->count] = (tsr_message){ rank, receive, host, bytes };
    m->arrival[m->count].context = staged ? context : NULL;
    m->arrival[m->count++].device = device;
    if (staged && !receive) TSR_TRY(tsr_device_move(NULL, host, context, device, (size_t)bytes));
    return TSR_OK;
}

/* All ranks go on, or none. */
static tsr_status agree(tsr_wavelet_domain *d, tsr_status status)
{
    int32_t worst = status;
    if (d->communicator.ranks > 1) TSR_TRY(d->communicator.agree(d->communicator.user, &worst));
    if (status == TSR_OK && worst != TSR_OK) TSR_FAIL((tsr_status)worst, "wavelet: another rank failed (%s)", tsr_status_name((tsr_status)worst));
    TSR_TRY(status);
    return TSR_OK;
}

/* The messages are all there before any is sent: a rank that has none to send because of a failure would leave those waiting that expect one. */
static tsr_status deliver(tsr_wavelet_domain *d, tsr_status status)
{
    mail *m = &d->mail;
    status = agree(d, status);
    if (status == TSR_OK && d->communicator.ranks > 1) status = d->communicator.exchange(d->communicator.user, m->message, m->count);
    for (int32_t k = 0; k < m->count; k++) {
        if (!m->arrival[k].context) continue;
        if (status == TSR_OK && m->message[k].receive)
            status = tsr_device_move(m->arrival[k].context, m->arrival[k].device, NULL, m->message[k].data, (size_t)m->message[k].bytes);
        tsr_host_release(NULL, m->message[k].data, (size_t)m->message[k].bytes);
    }
    m->count = 0;
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status wait_for_all(tsr_wavelet_domain *d)
{
    for (int32_t k = 0; k < d->count; k++) {
        const tsr_context *context = d->part[k].context;
        TSR_TRY(context->backend->synchronize(context->queue));
    }
    return TSR_OK;
}

/* Between two devices of a kind the driver finds the way; else through the host. The source is at rest. */
static tsr_status copy_between(tsr_context *to, void *data, tsr_context *from, const void *source, size_t bytes)
{
    if (to->device.kind == from->device.kind) TSR_TRY(to->backend->copy(to->queue, data, source, bytes));
    else TSR_TRY(tsr_device_move(to, data, from, source, bytes));
    return TSR_OK;
}

/* A kind of slices, `bytes` each: where those that a part owns lie in its buffer, and where a window wants its own and those around. */
typedef struct kind {
    int split, high;
    int64_t all; /* of the whole */
} kind;

typedef struct span {
    int64_t own, own_count, own_at; /* first slice it owns, and where that lies: slices from the start of the buffer that others read */
    int64_t want, want_count, want_at;
} span;

static span span_of(const tsr_wavelet_domain *d, int32_t number, int32_t level, const kind *k)
{
    const tsr_wavelet_slab s = slab_of(d, number, level);
    const int32_t half = k->split ? 2 : 1;
    if (k->split && k->high) return (span){ s.begin / 2, s.own_high, s.own_low, s.from / 2, s.high, s.low };
    if (k->split) return (span){ s.begin / half, s.own_low, 0, s.from / half, s.low, 0 };
    return (span){ s.begin, s.end - s.begin, s.begin - s.from, s.from, s.to - s.from, 0 };
}

/* Slices that part `to` wants and does not own, out of the buffers of those that do. Samples lie in the window already, at their places;
 * coefficients come out of `result` into the window, their own as well. */
static tsr_status fetch(tsr_wavelet_domain *d, int32_t to, int32_t level, const kind *k, int64_t bytes)
{
    const span s = span_of(d, to, level, k);
    part *target = local_part(d, to);
    for (int64_t at = 0; at < s.want_count;) {
        const int64_t i = ((s.want + at) % k->all + k->all) % k->all;
        const int32_t from = owner_of(d, level, i, k->split);
        const span o = span_of(d, from, level, k);
        const int64_t n = tsr_min64(s.want_count - at, o.own + o.own_count - i);
        part *source = local_part(d, from);
        const int same = from == to && !k->split; /* and not the far side of a periodic axis: */
        if (n < 1) TSR_FAIL(TSR_ERROR_INTERNAL, "wavelet: nobody owns slice %lld of level %d", (long long)i, level);
        char *q = target ? (char *)target->window + (s.want_at + at) * bytes : NULL;
        char *p = source ? (char *)(k->split ? source->result : source->window) + (o.own_at + i - o.own) * bytes : NULL;
        if (source && target) {
            if (!same || p != q) TSR_TRY(copy_between(target->context, q, source->context, p, (size_t)(n * bytes)));
        } else if (target) TSR_TRY(add_message(d, from / d->count, 1, target->context, q, n * bytes));
        else if (source) TSR_TRY(add_message(d, to / d->count, 0, source->context, p, n * bytes));
        at += n;
    }
    return TSR_OK;
}

/* All that all windows want of a kind of slices; all ranks come here, or none. Parts that neither are here nor want anything from here are looked at as well: there are few. */
static tsr_status fetch_all(tsr_wavelet_domain *d, int32_t level, int split)
{
    const int64_t bytes = tsr_wavelet_slab_inner(d->whole, level, d->axis) * (int64_t)d->element, n = d->whole->stage[level].size[d->axis];
    const kind kinds[2] = { { split, 0, split ? (n + 1) / 2 : n }, { split, 1, n / 2 } };
    tsr_status status = wait_for_all(d);
    for (int32_t k = 0; k <= split; k++)
        for (int32_t to = 0; to < d->parts && status == TSR_OK; to++)
            if (!is_empty(d, to)) status = fetch(d, to, level, &kinds[k], bytes);
    status = deliver(d, status);
    if (status == TSR_OK) status = wait_for_all(d); /* what was read may be written now */
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- bands ------------------------------------------------------------------------------------------------------------------------------------- */

/* A band of a packed array of these extents in layout mallat. */
static tsr_wavelet_array mallat_band(const int64_t size[], const int64_t pitch[], uint32_t bits, char *data, size_t element)
{
    tsr_wavelet_array b = { data, { 1, 1, 1, 1, 1 } };
    int64_t offset = 0;
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) {
        if (a) b.stride[a] = b.stride[a - 1] * pitch[a - 1];
        if (bits >> a & 1) offset += (size[a] + 1) / 2 * b.stride[a];
    }
    b.stride[TSR_WAVELET_AXES] = b.stride[TSR_WAVELET_AXES - 1] * pitch[TSR_WAVELET_AXES - 1];
    b.data = data + offset * (int64_t)element;
    return b;
}

/* Extents of the part's own samples at a level. */
static void own_size(const tsr_wavelet_domain *d, int32_t number, int32_t level, int64_t size[TSR_WAVELET_DIMENSIONS])
{
    memcpy(size, d->whole->stage[level].size, TSR_WAVELET_DIMENSIONS * sizeof *size);
    size[d->axis] = part_end(d, number, level) - part_begin(d, number, level);
}

static void band_extents(const tsr_wavelet_domain *d, int32_t level, uint32_t bits, const int64_t size[], int64_t band[TSR_WAVELET_DIMENSIONS])
{
    const uint32_t axes = d->whole->stage[level].axes;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++)
        band[a] = !(a < TSR_WAVELET_AXES && axes >> a & 1) ? size[a] : (bits >> a & 1) ? size[a] / 2 : (size[a] + 1) / 2;
}

/* Copies what the part owns of each band between a packed array at `packed` (of the window, `skip` in front, or of what it owns) and the user's
 * coefficients; the approximation, where another level follows, between it and `next`. */
static tsr_status move_bands(tsr_wavelet_domain *d, int32_t k, int32_t level, const tsr_wavelet_slab *window, char *packed, char *coefficients,
                             char *next, int store)
{
    part *p = &d->part[k];
    const tsr_wavelet_stage *stage = &d->whole->stage[level];
    const int split = tsr_wavelet_slab_split(d->whole, level, d->axis);
    int64_t local[TSR_WAVELET_DIMENSIONS], mine[TSR_WAVELET_DIMENSIONS], around[TSR_WAVELET_DIMENSIONS];
    own_size(d, first_part(d) + k, 0, local);
    own_size(d, first_part(d) + k, level, mine);
    memcpy(around, mine, sizeof around);
    if (window) around[d->axis] = window->to - window->from;
    for (uint32_t bits = 0; bits < 8; bits++) {
        int64_t band[TSR_WAVELET_DIMENSIONS], empty = 0;
        if (bits & ~stage->axes) continue;
        band_extents(d, level, bits, mine, band);
        for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) empty |= !band[a];
        if (empty) continue;
        tsr_wavelet_array here = mallat_band(around, around, bits, packed, d->element),
                          there = mallat_band(mine, local, bits, coefficients, d->element);
        if (window && split) here.data = (char *)here.data + window->skip * here.stride[d->axis] * (int64_t)d->element;
        if (!bits && level + 1 < d->whole->levels) there = mallat_band(band, band, 0, next, d->element);
        TSR_TRY(p->context->backend->wavelet->copy(p->context->queue, d->element, band, store ? &here : &there, store ? &there : &here));
    }
    return TSR_OK;
}

/* ---- levels ------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_plan(tsr_wavelet_domain *d, part *p, int32_t level)
{
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    if (p->plan && p->plan_level == level) return TSR_OK;
    tsr_wavelet_plan_destroy(&p->plan);
    TSR_TRY(tsr_wavelet_slab_plan(p->context, d->whole, level, d->axis, p->slab.to - p->slab.from, &p->plan));
    p->plan_level = level;
    tsr_wavelet_plan_describe(p->plan, &info);
    if (info.workspace_bytes <= p->workspace_bytes) return TSR_OK;
    if (p->workspace) tsr_device_release(p->context, p->workspace, (size_t)p->workspace_bytes);
    p->workspace = NULL;
    p->workspace_bytes = info.workspace_bytes;
    TSR_TRY(tsr_device_allocate(p->context, (size_t)info.workspace_bytes, &p->workspace));
    return TSR_OK;
}

static int64_t slice_bytes(const tsr_wavelet_domain *d, int32_t level)
{
    return tsr_wavelet_slab_inner(d->whole, level, d->axis) * (int64_t)d->element;
}

static char *own_place(const tsr_wavelet_domain *d, const part *p, int32_t level)
{
    return (char *)p->window + (p->slab.begin - p->slab.from) * slice_bytes(d, level);
}

static tsr_status forward_part(tsr_wavelet_domain *d, int32_t k, int32_t level, void *const *coefficients)
{
    part *p = &d->part[k];
    const tsr_wavelet_slab window = p->slab;
    TSR_TRY(take_plan(d, p, level));
    TSR_TRY(tsr_wavelet_forward(p->plan, p->window, p->result, p->workspace));
    if (level + 1 < d->whole->levels) p->slab = slab_of(d, first_part(d) + k, level + 1);
    TSR_TRY(move_bands(d, k, level, &window, (char *)p->result, (char *)coefficients[k],
                       own_place(d, p, level + 1 < d->whole->levels ? level + 1 : level), 1));
    return TSR_OK;
}

static tsr_status copy_part(tsr_wavelet_domain *d, int32_t k, void *to, const void *from)
{
    const part *p = &d->part[k];
    const int32_t number = first_part(d) + k;
    TSR_TRY(
        p->context->backend->copy(p->context->queue, to, from, (size_t)((part_end(d, number, 0) - part_begin(d, number, 0)) * slice_bytes(d, 0))));
    return TSR_OK;
}

static tsr_status check_arrays(const tsr_wavelet_domain *d, const void *const *samples, void *const *coefficients)
{
    for (int32_t k = 0; k < d->count; k++)
        if (!samples || !coefficients || (!is_empty(d, first_part(d) + k) && (!samples[k] || !coefficients[k])))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %s of part %d is NULL", samples && samples[k] ? "the result" : "the input", first_part(d) + k);
    return TSR_OK;
}

#define FOR_LOCAL_PARTS(d, k)              \
    for (int32_t k = 0; k < d->count; k++) \
        if (!is_empty(d, first_part(d) + k))

tsr_status tsr_wavelet_domain_forward(tsr_wavelet_domain *domain, const void *const *samples, void *const *coefficients)
{
    TSR_NEEDS(domain);
    tsr_status status = check_arrays(domain, samples, coefficients); /* the others hear of it below */
    FOR_LOCAL_PARTS(domain, k)
    {
        if (domain->whole->levels) domain->part[k].slab = slab_of(domain, first_part(domain) + k, 0);
        if (status == TSR_OK)
            status = copy_part(domain, k, domain->whole->levels ? own_place(domain, &domain->part[k], 0) : coefficients[k], samples[k]);
    }
    TSR_TRY(agree(domain, status));
    for (int32_t level = 0; level < domain->whole->levels; level++) {
        status = TSR_OK;
        if (tsr_wavelet_slab_split(domain->whole, level, domain->axis)) status = fetch_all(domain, level, 0);
        FOR_LOCAL_PARTS(domain, k) if (status == TSR_OK) status = forward_part(domain, k, level, coefficients);
        TSR_TRY(agree(domain, status));
    }
    TSR_TRY(wait_for_all(domain));
    return TSR_OK;
}

/* All coefficients of a level that a part owns, packed, from the user's and from the approximation that the level below left in the window. */
static tsr_status gather_part(tsr_wavelet_domain *d, int32_t k, int32_t level, const void *const *coefficients)
{
    void *user;
    memcpy(&user, &coefficients[k], sizeof user); /* is only read */
    TSR_TRY(move_bands(d, k, level, NULL, (char *)d->part[k].result, (char *)user, (char *)d->part[k].window, 0));
    return TSR_OK;
}

static tsr_status inverse_part(tsr_wavelet_domain *d, int32_t k, int32_t level, void *const *samples)
{
    part *p = &d->part[k];
    const int split = tsr_wavelet_slab_split(d->whole, level, d->axis);
    const int64_t bytes = slice_bytes(d, level);
    TSR_TRY(take_plan(d, p, level));
    void *from = split ? p->window : p->result, *to = split ? p->result : p->window;
    TSR_TRY(tsr_wavelet_inverse(p->plan, from, to, p->workspace));
    char *own = (char *)to + (p->slab.begin - p->slab.from) * bytes;
    const size_t size = (size_t)((p->slab.end - p->slab.begin) * bytes);
    if (!level) TSR_TRY(p->context->backend->copy(p->context->queue, samples[k], own, size));
    else if (split) TSR_TRY(p->context->backend->copy(p->context->queue, p->window, own, size)); /* at its front for the next level */
    return TSR_OK;
}

tsr_status tsr_wavelet_domain_inverse(tsr_wavelet_domain *domain, const void *const *coefficients, void *const *samples)
{
    TSR_NEEDS(domain);
    tsr_status status = check_arrays(domain, coefficients, samples); /* the others hear of it below */
    if (!domain->whole->levels) FOR_LOCAL_PARTS(domain, k) if (status == TSR_OK) status = copy_part(domain, k, samples[k], coefficients[k]);
    TSR_TRY(agree(domain, status));
    for (int32_t level = domain->whole->levels - 1; level >= 0; level--) {
        FOR_LOCAL_PARTS(domain, k)
        {
            domain->part[k].slab = slab_of(domain, first_part(domain) + k, level);
            if (status == TSR_OK) status = gather_part(domain, k, level, coefficients);
        }
        TSR_TRY(agree(domain, status));
        if (tsr_wavelet_slab_split(domain->whole, level, domain->axis)) status = fetch_all(domain, level, 1);
        FOR_LOCAL_PARTS(domain, k) if (status == TSR_OK) status = inverse_part(domain, k, level, samples);
        TSR_TRY(agree(domain, status));
    }
    TSR_TRY(wait_for_all(domain));
    return TSR_OK;
}

/* ---- plans --------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status make_parts(tsr_wavelet_domain *d)
{
    for (int32_t k = 0; k < d->count; k++) {
        part *p = &d->part[k];
        const int64_t own = part_end(d, first_part(d) + k, 0) - part_begin(d, first_part(d) + k, 0);
        if (!own) continue;
        p->room = tsr_wavelet_slab_inner(d->whole, 0, d->axis) * (d->whole->levels ? tsr_wavelet_slab_most(d->whole, 0, d->axis, own) : own);
        /* A part that is thin at a late level has more around it than it has. */
        for (int32_t level = 1; level < d->whole->levels; level++) {
            const tsr_wavelet_slab s = slab_of(d, first_part(d) + k, level);
            p->room = tsr_max64(p->room, tsr_wavelet_slab_inner(d->whole, level, d->axis) * (s.to - s.from));
        }
        TSR_TRY(tsr_device_allocate(p->context, (size_t)p->room * d->element, &p->window));
        TSR_TRY(tsr_device_allocate(p->context, (size_t)p->room * d->element, &p->result));
    }
    return TSR_OK;
}

static tsr_status check_domain(tsr_context *const *contexts, int32_t count, const tsr_communicator *c, int32_t dimensions,
                               const tsr_wavelet_options *o)
{
    if (count < 1 || count > 1024 || !contexts) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %d contexts, expected 1 to 1024", contexts ? count : 0);
    for (int32_t k = 0; k < count; k++)
        if (!contexts[k]) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: context %d is NULL", k);
    if (dimensions < 1 || dimensions > 3) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %d dimensions in parts, expected 1 to 3", dimensions);
    if (c && (c->ranks < 1 || c->rank < 0 || c->rank >= c->ranks || c->ranks > INT32_MAX / 1024 || (c->ranks > 1 && (!c->exchange || !c->agree))))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: communicator of rank %d of %d, expected 0 <= rank < ranks and both functions", c->rank, c->ranks);
    if (o->layout != TSR_WAVELET_MALLAT || o->inplace || o->batch > 1 || o->sample_stride || o->coefficient_stride || o->sample_batch ||
        o->coefficient_batch)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: layout %s, strides, batch or inplace in parts, expected mallat and none of them",
                 tsr_wavelet_layout_name(o->layout));
    return TSR_OK;
}

tsr_status tsr_wavelet_domain_create(tsr_context *const *contexts, int32_t count, const tsr_communicator *communicator, tsr_dtype dtype,
                                     int32_t dimensions, const int64_t *size, const tsr_wavelet_options *options, tsr_wavelet_domain **domain)
{
    TSR_RETURNS(domain);
    tsr_wavelet_options o;
    tsr_status status;
    TSR_TRY(tsr_options_take(&o, sizeof o, options));
    TSR_TRY(check_domain(contexts, count, communicator, dimensions, &o));
    tsr_wavelet_domain *d = (tsr_wavelet_domain *)calloc(1, sizeof *d + (size_t)count * sizeof d->part[0]);
    if (!d) TSR_FAIL(TSR_ERROR_MEMORY, "wavelet: out of memory for %d parts", count);
    d->communicator = communicator ? *communicator : (tsr_communicator){ .ranks = 1 };
    d->count = count;
    d->parts = d->communicator.ranks * count;
    d->element = tsr_dtype_size(dtype);
    for (int32_t k = 0; k < count; k++) d->part[k].context = contexts[k];
    TSR_TRY_GOTO(tsr_wavelet_plan_create(contexts[0], dtype, dimensions, size, &o, &d->whole), fail);
    d->axis = tsr_wavelet_slab_axis(d->whole);
    if (!d->axis) d->axis = 1; /* x is not cut */
    TSR_TRY_GOTO(make_parts(d), fail);
    *domain = d;
    return TSR_OK;
fail:
    tsr_wavelet_domain_destroy(&d);
    return status;
}

void tsr_wavelet_domain_destroy(tsr_wavelet_domain **domain)
{
    if (!domain || !*domain) return;
    tsr_wavelet_domain *d = *domain;
    *domain = NULL;
    for (int32_t k = 0; k < d->count; k++) {
        part *p = &d->part[k];
        const size_t bytes = (size_t)p->room * d->element;
        tsr_wavelet_plan_destroy(&p->plan);
        if (p->window) tsr_device_release(p->context, p->window, bytes);
        if (p->result) tsr_device_release(p->context, p->result, bytes);
        if (p->workspace) tsr_device_release(p->context, p->workspace, (size_t)p->workspace_bytes);
    }
    tsr_wavelet_plan_destroy(&d->whole);
    free(d->mail.message);
    free(d->mail.arrival);
    free(d);
}

tsr_status tsr_wavelet_domain_part(const tsr_wavelet_domain *d, int32_t number, tsr_wavelet_part *about)
{
    TSR_NEEDS(about);
    if (!d || number < 0 || number >= d->parts) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: part %d, expected 0 to %d", number, d ? d->parts - 1 : -1);
    const int64_t begin = part_begin(d, number, 0), end = part_end(d, number, 0);
    *about = (tsr_wavelet_part){ .axis = d->axis, .begin = begin, .end = end };
    about->elements = (end - begin) * tsr_wavelet_slab_inner(d->whole, 0, d->axis);
    about->halo = d->whole->levels && tsr_wavelet_slab_split(d->whole, 0, d->axis) ? d->whole->forward.reach : 0;
    for (int32_t level = 0; level < d->whole->levels && end > begin; level++) {
        const tsr_wavelet_slab s = slab_of(d, number, level);
        about->exchanged_bytes += (s.to - s.from - (s.end - s.begin)) * slice_bytes(d, level);
    }
    return TSR_OK;
}

tsr_status tsr_wavelet_domain_place(const tsr_wavelet_domain *domain, int32_t number, void *coefficients, void *whole, int store)
{
    TSR_NEEDS(domain);
    tsr_wavelet_part about;
    TSR_TRY(tsr_wavelet_domain_part(domain, number, &about));
    if (!about.elements) return TSR_OK;
    if (!coefficients || !whole) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %s is NULL", whole ? "coefficients" : "whole");
    int64_t local[TSR_WAVELET_DIMENSIONS];
    own_size(domain, number, 0, local);
    for (int32_t level = 0; level < domain->whole->stages; level++) {
        const tsr_wavelet_stage *stage = &domain->whole->stage[level];
        int64_t mine[TSR_WAVELET_DIMENSIONS], band[TSR_WAVELET_DIMENSIONS];
        own_size(domain, number, level, mine);
        for (uint32_t bits = level + 1 < domain->whole->levels; bits < 8; bits++) {
            if (bits & ~stage->axes) continue;
            band_extents(domain, level, bits, mine, band);
            tsr_wavelet_array here = mallat_band(mine, local, bits, (char *)coefficients, domain->element);
            tsr_wavelet_array there = mallat_band(stage->size, domain->whole->size, bits, (char *)whole, domain->element);
            const int64_t first = part_begin(domain, number, level) >> tsr_wavelet_slab_split(domain->whole, level, domain->axis);
            there.data = (char *)there.data + first * there.stride[domain->axis] * (int64_t)domain->element;
            tsr_wavelet_array *from = store ? &here : &there, *to = store ? &there : &here;
            for (int64_t z = 0; z < band[2]; z++)
                for (int64_t y = 0; y < band[1] && band[0]; y++)
                    memcpy((char *)to->data + (z * to->stride[2] + y * to->stride[1]) * (int64_t)domain->element,
                           (const char *)from->data + (z * from->stride[2] + y * from->stride[1]) * (int64_t)domain->element,
                           (size_t)band[0] * domain->element);
        }
    }
    return TSR_OK;
}
