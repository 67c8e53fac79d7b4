/* The program of a room's tests: runs the suite that its first argument names. */
#include <stdio.h>
#include <string.h>

struct suite {
    const char *name;
    int (*run)(void);
};
#include "suites.h"

int main(int count, char **arguments)
{
    for (size_t k = 0; count > 1 && k < sizeof suites / sizeof *suites; k++)
        if (!strcmp(arguments[1], suites[k].name)) return suites[k].run();
    fprintf(stderr, "usage: %s SUITE, one of\n", arguments[0]);
    for (size_t k = 0; k < sizeof suites / sizeof *suites; k++) fprintf(stderr, "  %s\n", suites[k].name);
    return 2;
}
