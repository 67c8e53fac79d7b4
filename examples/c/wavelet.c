/* A volume from its large wavelet coefficients alone: wavelet VOLUME OUTPUT.nrrd clears those below a tenth of the standard deviation. */
#include <math.h>
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

    tsr_statistics all;
    TRY(tsr_volume_statistics(context, real, &all));
    float *c = (float *)tsr_volume_data(coefficients), threshold = (float)(0.1 * sqrt(all.variance));
    int64_t count = tsr_volume_count(coefficients), cleared = 0;
    for (int64_t i = 0; i < count; i++)
        if (fabsf(c[i]) < threshold) {
            c[i] = 0;
            cleared++;
        }
    printf("%.1f %% of the coefficients are small\n", 100.0 * (double)cleared / (double)count);

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
