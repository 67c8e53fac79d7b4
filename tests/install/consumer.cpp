#include <cstdio>
#include <memory>

#include <tessera/tessera.h>

struct destroy_volume { void operator()(tsr_volume *volume) const { tsr_volume_destroy(&volume); } };

int main()
{
    tsr_volume *raw = nullptr;
    if (tsr_volume_create(nullptr, TSR_U8, tsr_size3{ 2, 2, 2 }, nullptr, &raw) != TSR_OK) {
        std::fprintf(stderr, "%s\n", tsr_error_message());
        return 1;
    }
    std::unique_ptr<tsr_volume, destroy_volume> volume(raw);
    tsr_volume *none = nullptr;
    if (tsr_volume_create(nullptr, TSR_U8, tsr_size3{ 0, 2, 2 }, nullptr, &none) != TSR_ERROR_ARGUMENT || none) return 1;
    return tsr_volume_count(volume.get()) == 8 ? 0 : 1;
}
