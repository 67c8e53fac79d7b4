/* A film to a VC-2 stream and back, without leaving the device in between: stream FILM.y4m STREAM.vc2 */
#include <stdio.h>

#include <tessera/tessera.h>

/* Says what went wrong and ends the program, which frees everything. */
#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            return 1;                                     \
        }                                                 \
    } while (0)

int main(int argc, char **argv)
{
    tsr_dirac_encode_options encode = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_decode_options decode = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_profile profile = TSR_DIRAC_PROFILE;
    tsr_dirac_device_frame there = TSR_DIRAC_DEVICE_FRAME;
    tsr_context *context;
    tsr_video_reader *reader;
    tsr_video_frame frame = { 0 };
    tsr_dirac_encoder *encoder = NULL;
    tsr_dirac_decoder *decoder;
    const void *bytes;
    size_t size;
    long long frames = 0, shown = 0, stream_bytes = 0;
    double seconds = 0;
    int more = 1;

    if (argc != 3) return fprintf(stderr, "usage: %s FILM.y4m STREAM.vc2\n", argv[0]), 2;
    FILE *file = fopen(argv[2], "wb");
    if (!file) return fprintf(stderr, "%s: cannot be written\n", argv[2]), 1;
    TRY(tsr_context_create(NULL, &context)); /* a GPU if one works, else the CPU */
    TRY(tsr_video_reader_create(argv[1], NULL, &reader));
    decode.ahead = encode.ahead = 8; /* pictures that a GPU works on together */
    profile.synchronise = 1;
    decode.profile = &profile;
    TRY(tsr_dirac_decoder_create(context, &decode, &decoder));
    while (more) {
        TRY(tsr_video_reader_next_frame(reader, &frame, &more));
        if (!encoder) {
            encode.format = frame.format;
            encode.quantiser = 1 + 8; /* index 8: four times the finest step */
            TRY(tsr_dirac_encoder_create(context, &encode, &encoder));
        }
        if (more) TRY(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size)); /* none, or those of several frames */
        else TRY(tsr_dirac_encoder_end(encoder, &bytes, &size));
        frames += more;
        stream_bytes += (long long)size;
        if (size && fwrite(bytes, 1, size, file) != size) return fprintf(stderr, "%s: writing failed\n", argv[2]), 1;
        TRY(tsr_dirac_decoder_push(decoder, bytes, size));
        if (!more) TRY(tsr_dirac_decoder_end(decoder));
        for (int another = 1; another;) {
            TRY(tsr_dirac_decoder_next_on_device(decoder, &there, NULL, &another)); /* planes for whatever runs on the device next */
            shown += another;
        }
    }
    for (int stage = 0; stage < TSR_DIRAC_STAGES; stage++) seconds += profile.seconds[stage][0];
    printf("%lld frames, %lld bytes, %lld decoded frames of %d x %d that stayed on the device: %.3f ms each\n", frames, stream_bytes, shown, there.format.width,
           there.format.height, shown ? 1e3 * seconds / (double)shown : 0);
    if (fclose(file)) return fprintf(stderr, "%s: writing failed\n", argv[2]), 1;
    tsr_dirac_encoder_destroy(&encoder);
    tsr_dirac_decoder_destroy(&decoder);
    tsr_video_frame_destroy(&frame);
    tsr_video_reader_destroy(&reader);
    tsr_context_destroy(&context);
    return shown != frames;
}
