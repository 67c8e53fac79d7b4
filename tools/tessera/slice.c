#include "slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_slice_parse(const cli_call *cli, cli_slice *slice)
{
    static const char axes[] = "xyz";
    const char *text = slice->text;
    char *end = NULL;
    if (!text) return CLI_OK;
    const char *axis = *text ? strchr(axes, *text) : NULL;
    errno = 0;
    if (axis && text[1] == '=' && text[2] >= '0' && text[2] <= '9') slice->at = strtoll(text + 2, &end, 10);
    if (!end || *end || errno) return cli_usage(cli, "--slice: '%s' given, expected x=N, y=N or z=N, counted from 0", text);
    slice->axis = (int)(axis - axes);
    return CLI_OK;
}

int cli_slice_cut(const cli_call *cli, tsr_context *context, const cli_slice *slice, tsr_volume **volume)
{
    const tsr_size3 size = tsr_volume_size(*volume);
    const int64_t n[3] = { size.x, size.y, size.z };
    const int a = slice->axis;
    const int32_t axes[3] = { a == 0, a == 2 ? 1 : 2, a };
    tsr_volume *one = NULL, *turned = NULL;
    tsr_size3 from = { 0, 0, 0 }, to = size;
    if (slice->at >= n[a])
        return cli_usage(cli, "--slice: '%s' given, expected %c=0 to %c=%lld: the volume has %lld x %lld x %lld voxels", slice->text, "xyz"[a],
                         "xyz"[a], (long long)n[a] - 1, (long long)n[0], (long long)n[1], (long long)n[2]);
    *(a == 0 ? &from.x : a == 1 ? &from.y : &from.z) = slice->at;
    *(a == 0 ? &to.x : a == 1 ? &to.y : &to.z) = slice->at + 1;
    tsr_status status = tsr_volume_crop(context, *volume, from, to, &one);
    if (status == TSR_OK) status = tsr_volume_permute(context, one, axes, NULL, &turned);
    tsr_volume_destroy(&one);
    if (status != TSR_OK) return cli_status(cli, status, cli->input[0]);
    tsr_volume_destroy(volume);
    *volume = turned;
    return CLI_OK;
}
