#include "make_field.h"

#include <string.h>

int make_field_is(const char *name)
{
    return !strncmp(name, "field-", 6);
}

void make_field_list(const cli_call *cli)
{
    const tsr_field_shape *shape = NULL;
    for (int32_t k = 0; (shape = tsr_field_shape_at(k)); k++) {
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", shape->name);
            json_text("kind", "vectors");
            json_text("description", shape->description);
            json_close('}');
        } else
            printf("%-18s %-9s %4lld x %4lld x %4lld  %s\n", shape->name, "vectors", (long long)shape->size.x, (long long)shape->size.y, (long long)shape->size.z,
                   shape->description);
    }
}

int make_field(const cli_call *cli, tsr_size3 size, double time, const char *output, const tsr_write_options *write)
{
    const tsr_field_options options = { .struct_size = sizeof options, .size = size, .time = time, .threads = cli->globals.threads, .progress = write->progress };
    tsr_volume *components[3] = { NULL, NULL, NULL };
    int code = cli_check_output(cli, output);
    if (code) return code;
    tsr_status status = tsr_field_make(cli->input[0], &options, components);
    if (status == TSR_OK) status = tsr_field_write((const tsr_volume *const *)components, output, write);
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, NULL);
}
