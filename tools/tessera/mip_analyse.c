/* tools/tessera/mip_analyse.c: `tessera mip analyse`: pyramids whose analysis keeps what is connected. */
#include <stdlib.h>
#include <string.h>

#include "mip.h"

/* One line per level: differences that are not 0, and how large they are on average. */
static void show(const struct mip *m, const tsr_filter_pyramid *p)
{
    const int json = m->cli->globals.json;
    if (json) json_open(NULL, '[');
    else printf("level  differences    below 0  mean size\n");
    for (int32_t j = 0; tsr_filter_pyramid_detail(p, j); j++) {
        const tsr_volume *detail = tsr_filter_pyramid_detail(p, j);
        const int32_t *d = (const int32_t *)tsr_volume_data_const(detail);
        const int64_t count = tsr_volume_count(detail);
        int64_t some = 0, negative = 0, sum = 0;
        for (int64_t i = 0; i < count; i++) {
            some += d[i] != 0;
            negative += d[i] < 0;
            sum += abs(d[i]);
        }
        const double mean = (double)sum / (double)count;
        if (json) {
            json_open(NULL, '{');
            json_int("level", j);
            json_int("differences", some);
            json_int("negative", negative);
            json_real("mean", mean);
            json_close('}');
        } else {
            printf("%5d %12lld %10lld %10.3f\n", j, (long long)some, (long long)negative, mean);
        }
    }
    if (json) json_close(']');
}

int mip_analyse(struct mip *m)
{
    const char *input = m->cli->input[1];
    tsr_filter_pyramid *p = NULL;
    tsr_volume *volume = NULL;
    m->analysis.levels = m->levels;
    m->analysis.element = (tsr_mip_element)m->element;
    m->analysis.filter = (tsr_pyramid_filter)m->analysis_filter;
    m->analysis.progress = cli_progress(m->cli);
    tsr_status status = tsr_filter_pyramid_create(m->volume, &m->analysis, &p);
    cli_progress_end(m->cli);
    if (status != TSR_OK) return cli_status(m->cli, status, input);
    if (!m->output || strcmp(m->output, "-")) show(m, p);
    if (m->output) {
        tsr_write_options write = cli_write_options(m->cli);
        write.stored_values = 1; /* the grey values that --range made */
        status = tsr_filter_pyramid_synthesise(p, m->render.finest, &volume);
        if (status == TSR_OK) status = tsr_volume_write(volume, m->output, &write);
    }
    tsr_volume_destroy(&volume);
    tsr_filter_pyramid_destroy(&p);
    return status == TSR_OK ? CLI_OK : cli_status(m->cli, status, m->output);
}
