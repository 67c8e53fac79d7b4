/* A volume from its large wavelet coefficients alone: wavelet VOLUME OUTPUT.nrrd keeps 5 percent of them. */
#include <stdio.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_context_options on_cpu = TSR_CONTEXT_OPTIONS;
    tsr_volume *file = NULL, *real = NULL, *coefficients = NULL, *back = NULL;
    int code = 1;
    if (argc != 3) {
        fprintf(stderr, "usage: %s VOLUME OUTPUT.nrrd\n", argv[0]);
        return 2;
    }
    on_cpu.device = "cpu";
    TRY(tsr_context_create(&on_cpu, &context));
    TRY(tsr_volume_read(argv[1], NULL, &file));
    TRY(tsr_volume_convert(context, file, TSR_F32, &real));

    tsr_wavelet_options options = TSR_WAVELET_OPTIONS;
    options.filter = TSR_WAVELET_DAUB97;
    options.normalise = 1;
    TRY(tsr_volume_dwt(context, real, &options, TSR_F32, &coefficients));

    tsr_wavelet_keep_options keep = TSR_WAVELET_KEEP_OPTIONS;
    tsr_wavelet_keep_info info = TSR_WAVELET_KEEP_INFO;
    keep.keep = 5;
    TRY(tsr_wavelet_volume_keep(context, coefficients, &keep, &info));
    printf("%lld of %lld coefficients are kept, from %g on\n", (long long)info.kept, (long long)info.coefficients, info.least);

    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    TRY(tsr_volume_idwt(context, coefficients, &back));
    TRY(tsr_volume_write(back, argv[2], &write));
    code = 0;
done:
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&coefficients);
    tsr_volume_destroy(&real);
    tsr_volume_destroy(&file);
    tsr_context_destroy(&context);
    return code;
}
