/* formats/contents.h: the list that tsr_file_contents returns, as formats fill it. */
#ifndef TSR_FORMATS_CONTENTS_H
#define TSR_FORMATS_CONTENTS_H

#include "tessera/io.h"

/* COPIES the texts. */
tsr_status tsr_contents_add(tsr_contents *contents, const tsr_contents_entry *entry);
/* "series 0: 5 x 10 x 20 u16; series 1: ..." for messages that ask for a choice; the end is cut off. */
const char *tsr_contents_show(const tsr_contents *contents, const char *kind, char *text, size_t room);
/* The array that is meant where none is named: the only one of 3 axes or more, else the only one of two, else of one; NULL, and how many there are. */
const char *tsr_contents_only(const tsr_contents *contents, const char *kind, int *count);
/* Puts that array in front, where whoever shows one of several finds the one that is read. */
void tsr_contents_only_first(tsr_contents *contents, const char *kind);
int32_t tsr_contents_count(const tsr_contents *contents, const char *kind);
tsr_status tsr_contents_create(tsr_contents **contents);

#endif
