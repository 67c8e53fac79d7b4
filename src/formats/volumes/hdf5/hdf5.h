/* formats/volumes/hdf5/hdf5.h: HDF5 through its C library, which is not asked by two threads at once (tsr_hdf5_lock) and reads the bytes of the input alone. */
#ifndef TSR_FORMATS_HDF5_H
#define TSR_FORMATS_HDF5_H

#include "formats/stored.h"

#ifdef TSR_HAVE_HDF5
#define H5_USE_110_API /* the same calls whatever the version */
#include <hdf5.h>

/* Every use of the library stands between the two; its own messages are off there. */
void tsr_hdf5_lock(void);
void tsr_hdf5_unlock(void);
/* Keeps the reason of a failure, which the next call of the library forgets; gives back what it was given. */
herr_t tsr_hdf5_note(herr_t failed);
/* The library's reason for the failure that was noted first, or for that of the last call. */
const char *tsr_hdf5_reason(char text[200]);

/* The file in the input's bytes, -1 on failure. Links to other files fail. */
hid_t tsr_hdf5_open(tsr_input *input);

/* Filters that the library does not bring (hdf5_filters.c); bytes that a chunk must unpack to, 0: any. */
void tsr_hdf5_filters(void);
void tsr_hdf5_expect(size_t chunk_bytes);

/* Attributes of an object: numbers (as float64; how many there are, `most` of them at most) and text (0: there is none, or it is no text). */
int tsr_hdf5_numbers(hid_t object, const char *name, double *numbers, int most);
int tsr_hdf5_text(hid_t object, const char *name, char *text, size_t room);
#endif

tsr_status tsr_hdf5_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume);
tsr_status tsr_hdf5_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents);
tsr_status tsr_hdf5_write(const tsr_volume *volume, const char *path, const tsr_write_options *options);

#endif
