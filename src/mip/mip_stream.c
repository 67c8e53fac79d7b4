/* mip/mip_stream.c: pictures of pyramid files that are read piece by piece. */
#include "mip/mip_pieces.h"
#include "mip/mip_view.h"

struct tsr_mip_stream {
    tsr_mip_pieces pieces;
    tsr_progress progress;
    int64_t count;         /* coefficients that `bar` is for; -1: none yet */
    tsr_detail_choice bar; /* its bin is found */
    int ties;              /* some of those equal to the bar are drawn */
};

tsr_status tsr_mip_stream_create(tsr_context *context, const char *path, const tsr_mip_stream_options *options, tsr_mip_stream **stream)
{
    TSR_RETURNS(stream);
    TSR_NEEDS(context, path);
    tsr_mip_stream_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: memory_limit is %lld, expected 0 or more bytes", (long long)own.memory_limit);
    TSR_TRY(tsr_host_allocate(NULL, sizeof **stream, (void **)stream));
    **stream = (tsr_mip_stream){ .progress = own.progress, .count = -1 };
    const tsr_status status =
        tsr_mip_pieces_open(context, path, own.memory_limit ? own.memory_limit : (int64_t)256 << 20, &own.progress, &(*stream)->pieces);
    if (status != TSR_OK) tsr_mip_stream_destroy(stream);
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_mip_stream_destroy(tsr_mip_stream **stream)
{
    if (!stream || !*stream) return;
    tsr_mip_pieces_close(&(*stream)->pieces);
    tsr_host_release(NULL, *stream, sizeof **stream);
    *stream = NULL;
}

const tsr_mip_info *tsr_mip_stream_describe(const tsr_mip_stream *stream) { return tsr_mip_describe(stream ? stream->pieces.part : NULL); }

/* The bin that the first `count` end in: all pieces are asked how many of theirs are equal to the bar. */
static tsr_status find_bar(tsr_mip_stream *s, int64_t count)
{
    tsr_mip *part = s->pieces.part;
    const int64_t bins = tsr_mip_bins(part);
    uint64_t *ties;
    tsr_status status = TSR_OK;
    if (s->count == count) return TSR_OK;
    s->count = -1;
    tsr_mip_bar_of(part, count, &s->bar);
    s->ties = s->bar.rest > 0;
    if (s->ties) {
        TSR_TRY(tsr_host_allocate(NULL, (size_t)bins * 8, (void **)&ties));
        memset(ties, 0, (size_t)bins * 8);
        for (int64_t k = 0; k < s->pieces.count && status == TSR_OK; k++) {
            status = tsr_progress_report(&s->progress, 0.5 * (double)k / (double)s->pieces.count, "order")
                         ? TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled while the coefficients were chosen")
                         : tsr_mip_pieces_load(&s->pieces, k);
            if (status == TSR_OK) status = tsr_mip_bar_choose(part, &s->bar, ties);
        }
        if (status == TSR_OK) tsr_mip_bar_bin(part, ties, &s->bar);
        tsr_host_release(NULL, ties, (size_t)bins * 8);
        TSR_TRY(status);
    }
    s->count = count;
    return TSR_OK;
}

static tsr_status draw_piece(tsr_mip_stream *s, int64_t k, tsr_detail_choice *bar, tsr_mip_picture *p)
{
    tsr_mip *part = s->pieces.part;
    TSR_PROGRESS(&s->progress, 0.5 + 0.5 * (double)k / (double)s->pieces.count, "picture");
    TSR_TRY(tsr_mip_pieces_load(&s->pieces, k));
    TSR_TRY(tsr_mip_bar_choose(part, bar, NULL));
    if (s->ties) TSR_TRY(tsr_mip_bar_ties(&part, 1, bar));
    part->selected = s->count;
    TSR_TRY(tsr_mip_list(part));
    TSR_TRY(tsr_mip_picture_draw(p, part, 0));
    TSR_TRY(part->context->backend->synchronize(part->context->queue)); /* the next piece takes its place */
    return TSR_OK;
}

tsr_status tsr_mip_stream_render(tsr_mip_stream *stream, const tsr_mip_view *view, const tsr_mip_render_options *options, tsr_mip_frame *frame,
                                 tsr_mip_statistics *statistics)
{
    TSR_NEEDS(stream, frame);
    tsr_mip_picture p;
    int64_t count = 0;
    TSR_TRY(TSR_STRUCT_BEGUN(statistics));
    TSR_TRY(tsr_mip_picture_begin(&p, stream->pieces.part, &view, options, frame, &count));
    if (p.options.refine) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: refine is for pyramids in memory");
    TSR_TRY(find_bar(stream, count));
    const double begin = tsr_seconds_now();
    tsr_detail_choice bar = stream->bar;
    TSR_TRY(tsr_mip_picture_room(&p));
    if (stream->pieces.part->details.runs)
        for (int64_t k = 0; k < stream->pieces.count; k++) TSR_TRY(draw_piece(stream, k, &bar, &p));
    for (int32_t j = p.options.mode == TSR_MIP_CASCADE ? p.mip->info.levels - 1 : -1; j >= 0; j--) TSR_TRY(tsr_mip_picture_expand(&p, j));
    TSR_TRY(tsr_mip_picture_end(&p, view, count, begin, statistics));
    TSR_TRY(frame->context->backend->synchronize(frame->context->queue));
    return TSR_OK;
}
