/* core/number.h: numbers as text, with a point, whatever the locale of the host program. Those of the C library read and write "0,45" under a German one. */
#ifndef TSR_CORE_NUMBER_H
#define TSR_CORE_NUMBER_H

#include <stdarg.h>
#include <stddef.h>

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

double tsr_number_parse(const char *text, char **end);                            /* as strtod */
int tsr_print(char *text, size_t room, const char *format, ...) TSR_PRINTF(3, 4); /* as snprintf */
int tsr_print_list(char *text, size_t room, const char *format, va_list list);

#ifdef __cplusplus
}
#endif

#endif
