#include <string.h>

#include "cli.h"

/* Which device "auto" (or --device, or TESSERA_DEVICE) chooses here, and why the others do or do not work. */
static int run(cli_call *cli, int argc, char **argv)
{
    const cli_option options[] = { { 0 } };
    int code = cli_parse(cli, options, 0, 0, argc, argv);
    if (code >= 0) return code;
    tsr_context *context;
    code = cli_context(cli, &context);
    if (code) return code;
    tsr_device chosen = tsr_context_device(context);
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_open("devices", '[');
    }
    for (int kind = 0; kind < TSR_DEVICE_KINDS; kind++) {
        const char *name = tsr_device_kind_name((tsr_device_kind)kind);
        tsr_device_info info = TSR_DEVICE_INFO;
        int32_t count = tsr_device_count((tsr_device_kind)kind, &info);
        for (int32_t index = 0; index < (count ? count : 1); index++) {
            if (count && tsr_device_describe((tsr_device){ (tsr_device_kind)kind, index }, &info) != TSR_OK)
                memset(&info, 0, sizeof info);
            int is_chosen = count && (int)chosen.kind == kind && chosen.index == index;
            if (cli->globals.json) {
                json_open(NULL, '{');
                json_text("kind", name);
                json_int("index", index);
                json_bool("available", count > 0);
                json_bool("chosen", is_chosen);
                json_text("name", info.name);
                json_text("detail", info.detail);
                json_int("memory_bytes", info.memory_bytes);
                json_int("processors", info.processors);
                json_close('}');
            } else if (count) {
                printf("%c %s:%d  %s, %d processors, %.1f GB, %s\n", is_chosen ? '*' : ' ', name, index, info.name, info.processors,
                       (double)info.memory_bytes * 1e-9, info.detail);
            } else {
                printf("  %s    none: %s\n", name, info.detail);
            }
        }
    }
    if (cli->globals.json) {
        json_close(']');
        json_int("threads", tsr_context_threads(context));
        json_close('}');
    } else {
        printf("* is used; %d CPU threads\n", tsr_context_threads(context));
    }
    tsr_context_destroy(&context);
    return CLI_OK;
}

const cli_verb verb_devices = { "devices", "[options]", "List the devices, the one chosen (*), and why others are not available",
                                "  tessera devices\n  tessera devices --device cpu --json\n", run };
