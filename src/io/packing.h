/* io/packing.h: bytes packed by a general coder, or as they are. */
#ifndef TSR_IO_PACKING_H
#define TSR_IO_PACKING_H

#include <stdint.h>

enum { TSR_CODEC_NONE = 0, TSR_CODEC_ZSTD = 1 };

int tsr_codec_known(int codec);
int64_t tsr_pack_bound(int codec, int64_t plain);
/* Stored bytes: codec as asked for, or none where that is not smaller. `room` from tsr_pack_bound. 0 on failure. */
int64_t tsr_pack(int *codec, int level, const uint8_t *plain, int64_t size, uint8_t *stored, int64_t room);
/* 1 if exactly `size` bytes came out. */
int tsr_unpack(int codec, const uint8_t *stored, int64_t stored_size, uint8_t *plain, int64_t size);

#endif
