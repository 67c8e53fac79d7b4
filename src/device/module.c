/* device/module.c: inside a backend module errors are recorded by the library that opened it. */
#include <stdarg.h>
#include <stdio.h>

#include "device/module.h"

static const tsr_module_host *library;

void tsr_module_attach(const tsr_module_host *host) { library = host; }

tsr_status tsr_fail_at(tsr_status status, const char *function, const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return library->fail(status, function, file, line, text);
}

tsr_status tsr_frame_at(tsr_status status, const char *function, const char *file, int line)
{
    return library->frame(status, function, file, line);
}
