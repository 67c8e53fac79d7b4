#include <stdio.h>
#include <string.h>

#include <tessera/tessera.h>

int main(void)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = "cpu";
    tsr_context *context = NULL;
    tsr_volume *volume = NULL, *converted = NULL;
    const tsr_size3 size = { 3, 4, 5 };
    int code = 1;
    if (strcmp(tsr_version(), "0.1.0") == 0 && tsr_context_create(&options, &context) == TSR_OK &&
        tsr_volume_create(context, TSR_I16, size, NULL, &volume) == TSR_OK &&
        tsr_volume_convert(context, volume, TSR_F32, &converted) == TSR_OK && tsr_volume_count(converted) == 60)
        code = 0;
    if (code) fprintf(stderr, "%s\n", tsr_error_trace());
    tsr_volume_destroy(&converted);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}
