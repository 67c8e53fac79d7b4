/* formats/xml_tags.h: the tags of an XML text one after the other, for the formats that are such: VTK's files, 3MF. Comments, declarations and texts between the
 * tags are passed over; names and values are as they stand in the file. */
#ifndef TSR_FORMATS_XML_TAGS_H
#define TSR_FORMATS_XML_TAGS_H

#include "io/text.h"

typedef struct tsr_xml_tag {
    tsr_word name;
    int closing, empty; /* </name>, <name/> */
    tsr_text attributes;
    int64_t line;
} tsr_xml_tag;

static inline int tsr_xml_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static inline void tsr_xml_step(tsr_text *t)
{
    if (*t->at == '\n') t->line++;
    t->at++;
}
/* The next tag; *more is 0 at the end of the text. */
tsr_status tsr_xml_next(const char *file, tsr_text *text, tsr_xml_tag *tag, int *more);
/* The value of an attribute; 0 if the tag has none of that name. */
int tsr_xml_attribute(const tsr_xml_tag *tag, const char *name, tsr_word *value);
/* All attributes in order: 0 behind the last. `rest` begins as tag->attributes. */
int tsr_xml_each(tsr_text *rest, tsr_word *name, tsr_word *value);

#endif
