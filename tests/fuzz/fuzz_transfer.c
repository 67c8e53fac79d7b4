/* Transfer functions in text files: what is accepted can be evaluated anywhere. */
#include "fuzz/fuzz.h"

#include <string.h>
#include <unistd.h>
#include <stdlib.h>

#include "tessera/render.h"

static void check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    static const double at[5] = { -1e30, -1, 0, 0.5, 1e30 };
    tsr_transfer t;
    if (tsr_transfer_read_text((const char *)bytes, size, "fuzz", &t) != TSR_OK) {
        check(*tsr_error_message() != 0, "a failure without a message\n");
        return 0;
    }
    for (int i = 0; i < 125; i++) {
        double alpha = -1;
        tsr_color c;
        check(tsr_transfer_sample(&t, at[i % 5], at[i / 5 % 5], at[i / 25], &alpha, &c) == TSR_OK,
              "a function that cannot be evaluated was accepted\n");
        check(alpha >= 0 && alpha <= 1, "opacity out of range\n");
    }
    return 1;
}

void fuzz_seeds(void)
{
    static const char *const seeds[] = {
        "tessera-transfer 1\npoint -1000 alpha 0 color #000000\npoint 40.5 alpha 0.25 color 1 0.5 0 # fat\n",
        "tessera-transfer 1\ngaussian 3 2 color #ff8000 alpha 0.5 gradient 10 4 level -2 1 beyond gradient level\nbox 1 2 alpha 1 color 0 0 1\n",
        "# sheared\ntessera-transfer 1\ntriangle 1 2 alpha 0.1 color 0 1 1 shear 0.5 -1 2\n",
    };
    for (int i = 0; i < 3; i++) fuzz_seed(seeds[i], strlen(seeds[i]));
}
