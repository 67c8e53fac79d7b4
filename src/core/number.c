#define _GNU_SOURCE /* strtod_l, uselocale */
#include "core/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* Made once, for the life of the process. NULL where memory ended: then the locale of the host program stays. */
static locale_t plain_locale(void)
{
    static locale_t made; /* accessed atomically */
    locale_t plain = __atomic_load_n(&made, __ATOMIC_ACQUIRE), none = (locale_t)0;
    if (plain) return plain;
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain && !__atomic_compare_exchange_n(&made, &none, plain, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        freelocale(plain); /* another thread was first */
        plain = none;
    }
    return plain;
}

double tsr_number_parse(const char *text, char **end)
{
    const locale_t plain = plain_locale();
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}

int tsr_print_list(char *text, size_t room, const char *format, va_list list)
{
    const locale_t plain = plain_locale(), own = plain ? uselocale(plain) : (locale_t)0;
    const int length = vsnprintf(text, room, format, list);
    if (plain) uselocale(own);
    return length;
}

int tsr_print(char *text, size_t room, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = tsr_print_list(text, room, format, list);
    va_end(list);
    return length;
}
