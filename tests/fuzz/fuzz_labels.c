/* Names of labels, in the tables of several programs: what is accepted can be asked for. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/labels.h"

static void check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    char *text = (char *)malloc(size + 1);
    tsr_label_names *names = NULL;
    check(text != NULL, "memory\n");
    memcpy(text, bytes, size);
    text[size] = 0;
    const tsr_status status = tsr_label_names_parse(text, "fuzz", &names);
    free(text);
    if (status != TSR_OK) {
        check(!names && *tsr_error_message() != 0, "a failure with a list or without a message\n");
        return 0;
    }
    check(tsr_label_names_count(names) > 0, "a list of nothing was accepted\n");
    for (int64_t v = -3; v < 20; v++) {
        const char *name = tsr_label_name(names, v);
        int64_t value;
        if (name) check(*name && tsr_label_find(names, name, &value), "a name that cannot be found\n");
    }
    tsr_label_names_destroy(&names);
    return 1;
}

void fuzz_seeds(void)
{
    static const char *const seeds[] = {
        "# table\n3 left kidney\n-5: hole\r\n7,spleen\n",
        "#No. Label Name:  R G B A\n0 Unknown 0 0 0 0\n2   Left-Cerebral-White-Matter  245 245 245 0\n",
        "    0     0    0    0        0  0  0    \"Clear Label\"\n    1   255    0    0        1  1  1    \"stem, upper\"\n",
        "1 0.2 0.5 0.75 Right thalamus\n18446744073709551615 last\n",
    };
    for (int i = 0; i < 4; i++) fuzz_seed(seeds[i], strlen(seeds[i]));
}
