#include "core/status.h"
#include "core/number.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024, TRACE_BYTES = 4096, REMARK_BYTES = 1001 };

static _Thread_local char message[MESSAGE_BYTES];
static _Thread_local char trace[TRACE_BYTES];
static _Thread_local char remarks[REMARK_BYTES];

static pthread_rwlock_t log_lock = PTHREAD_RWLOCK_INITIALIZER; /* taken for reading while the log is called */
static tsr_log log_to;
static void *log_user;

void tsr_log_set(tsr_log log, void *user)
{
    pthread_rwlock_wrlock(&log_lock);
    log_to = log;
    log_user = user;
    pthread_rwlock_unlock(&log_lock);
}

static void log_line(tsr_status status, const char *text)
{
    pthread_rwlock_rdlock(&log_lock);
    if (log_to) log_to(log_user, status, text);
    pthread_rwlock_unlock(&log_lock);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void trace_append(const char *arrow, const char *function, const char *file, int line)
{
    size_t used = strlen(trace);
    snprintf(trace + used, sizeof trace - used, "%s%s (%s:%d)", arrow, function, base_name(file), line);
}

/* One line, and no control characters out of a hostile file. */
static void make_printable(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
}

tsr_status tsr_fail_at(tsr_status status, const char *function, const char *file, int line, const char *format, ...)
{
    char text[MESSAGE_BYTES]; /* the arguments may point into the old message */
    va_list arguments;
    va_start(arguments, format);
    tsr_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    make_printable(text);
    memcpy(message, text, sizeof message);
    snprintf(trace, sizeof trace, "%s: ", message);
    trace_append("", function, file, line);
    log_line(status, message);
    return status;
}

tsr_status tsr_frame_at(tsr_status status, const char *function, const char *file, int line)
{
    trace_append(" <- ", function, file, line);
    return status;
}

tsr_status tsr_missing_at(int which, const char *names, const char *function, const char *file, int line)
{
    for (; which > 0; which--) names = strchr(names, ',') + 1;
    names += strspn(names, " ");
    return tsr_fail_at(TSR_ERROR_ARGUMENT, function, file, line, "%.*s is NULL, expected a pointer", (int)strcspn(names, ","), names);
}

void tsr_remark(const char *format, ...)
{
    char line[REMARK_BYTES / 2];
    const size_t used = strlen(remarks);
    va_list arguments;
    va_start(arguments, format);
    tsr_print_list(line, sizeof line, format, arguments);
    va_end(arguments);
    make_printable(line);
    if (strstr(remarks, line)) return;
    if (used + strlen(line) + 2 > sizeof remarks) return;
    snprintf(remarks + used, sizeof remarks - used, "%s%s", used ? "\n" : "", line);
    log_line(TSR_OK, line);
}

void tsr_remarks_take(char *text, size_t room)
{
    if (text && room) snprintf(text, room, "%s", remarks);
    remarks[0] = 0;
}

const char *tsr_error_message(void) { return message; }
const char *tsr_error_trace(void) { return trace; }

const char *tsr_status_name(tsr_status status)
{
    switch (status) {
    case TSR_OK: return "ok";
    case TSR_ERROR_ARGUMENT: return "argument";
    case TSR_ERROR_MEMORY: return "memory";
    case TSR_ERROR_IO: return "io";
    case TSR_ERROR_FORMAT: return "format";
    case TSR_ERROR_UNSUPPORTED: return "unsupported";
    case TSR_ERROR_DEVICE: return "device";
    case TSR_ERROR_CANCELLED: return "cancelled";
    case TSR_ERROR_STATE: return "state";
    case TSR_ERROR_CAPACITY: return "capacity";
    case TSR_ERROR_INTERNAL: return "internal";
    }
    return "unknown";
}

tsr_status tsr_options_take(void *own, size_t own_size, const void *options)
{
    memset(own, 0, own_size);
    memcpy(own, &own_size, sizeof own_size); /* so that it may be passed on */
    if (!options) return TSR_OK;
    size_t given;
    memcpy(&given, options, sizeof given);
    if (given < sizeof given || given > 65536)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "options: struct_size is %zu; begin with the macro of their type, TSR_..._OPTIONS", given);
    if (given > own_size) { /* a newer caller: the fields we do not know must be zero */
        const unsigned char *bytes = (const unsigned char *)options;
        for (size_t i = own_size; i < given; i++)
            if (bytes[i]) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "options: this library is older than the caller and lacks an option that it set");
        given = own_size;
    }
    memcpy(own, options, given);
    memcpy(own, &own_size, sizeof own_size);
    return TSR_OK;
}

tsr_status tsr_struct_begun(const void *given, const char *name)
{
    size_t size;
    if (!given) return TSR_OK;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > 65536) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: struct_size is %zu; start from the macro of its type", name, size);
    return TSR_OK;
}

tsr_status tsr_struct_give(void *given, const void *own, size_t own_size, const char *name)
{
    TSR_TRY(tsr_struct_begun(given, name));
    if (!given) return TSR_OK;
    size_t size;
    memcpy(&size, given, sizeof size);
    const size_t known = size < own_size ? size : own_size;
    memcpy((unsigned char *)given + sizeof size, (const unsigned char *)own + sizeof size, known - sizeof size);
    memset((unsigned char *)given + known, 0, size - known);
    return TSR_OK;
}
