/* io/crc32c.h: the checksum CRC-32C (RFC 3720, appendix B.4), as Zarr and E57 have it. */
#ifndef TSR_IO_CRC32C_H
#define TSR_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t tsr_crc32c(const uint8_t *bytes, size_t size);

#endif
