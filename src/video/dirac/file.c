/* video/dirac/file.c: an encoder and the file that its stream goes to. */
#include <stdlib.h>

#include "core/core.h"
#include "tessera/dirac.h"

struct tsr_dirac_writer {
    tsr_dirac_encoder *encoder;
    tsr_dirac_sink *sink;
    int64_t frames;
    int ended;
};

tsr_status tsr_dirac_writer_create(tsr_context *context, const char *path, const tsr_dirac_encode_options *options, const tsr_write_options *write,
                                   tsr_dirac_writer **writer)
{
    TSR_RETURNS(writer);
    TSR_NEEDS(context, path);
    tsr_status status;
    tsr_dirac_writer *w = (tsr_dirac_writer *)calloc(1, sizeof *w);
    if (!w) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    TSR_TRY_GOTO(tsr_dirac_encoder_create(context, options, &w->encoder), fail);
    TSR_TRY_GOTO(tsr_dirac_sink_create(path, write, &w->sink), fail);
    *writer = w;
    return TSR_OK;
fail:
    tsr_dirac_writer_destroy(&w);
    return status;
}

tsr_status tsr_dirac_writer_append(tsr_dirac_writer *writer, const tsr_video_frame *frame)
{
    TSR_NEEDS(writer, frame);
    const void *bytes = NULL;
    size_t size = 0;
    if (writer->ended) TSR_FAIL(TSR_ERROR_STATE, "the stream has ended");
    TSR_TRY(tsr_dirac_encoder_frame(writer->encoder, frame, &bytes, &size));
    writer->frames++;
    return tsr_dirac_sink_write(writer->sink, bytes, size);
}

tsr_status tsr_dirac_writer_end(tsr_dirac_writer *writer)
{
    TSR_NEEDS(writer);
    const void *bytes = NULL;
    size_t size = 0;
    if (!writer->frames) TSR_FAIL(TSR_ERROR_STATE, "a stream without pictures");
    if (writer->ended) return TSR_OK;
    writer->ended = 1;
    TSR_TRY(tsr_dirac_encoder_end(writer->encoder, &bytes, &size));
    return tsr_dirac_sink_write(writer->sink, bytes, size);
}

int64_t tsr_dirac_writer_bytes(const tsr_dirac_writer *w) { return w ? tsr_dirac_sink_bytes(w->sink) : 0; }

tsr_status tsr_dirac_writer_finish(tsr_dirac_writer **writer)
{
    tsr_dirac_writer *w = writer ? *writer : NULL;
    if (!w) TSR_FAIL(TSR_ERROR_ARGUMENT, "writer is NULL");
    tsr_status status = tsr_dirac_writer_end(w);
    if (status == TSR_OK) status = tsr_dirac_sink_finish(&w->sink, w->frames);
    tsr_dirac_writer_destroy(writer);
    return status;
}

void tsr_dirac_writer_destroy(tsr_dirac_writer **writer)
{
    tsr_dirac_writer *w = writer ? *writer : NULL;
    if (!w) return;
    *writer = NULL;
    tsr_dirac_sink_destroy(&w->sink);
    tsr_dirac_encoder_destroy(&w->encoder);
    free(w);
}
