#include "formats/xml_tags.h"

static int starts(const tsr_text *t, const char *with)
{
    const size_t n = strlen(with);
    return (size_t)(t->end - t->at) >= n && !memcmp(t->at, with, n);
}
/* Goes behind the next `what`; 0 if there is none. */
static int skip_behind(tsr_text *t, const char *what)
{
    for (; t->at < t->end; tsr_xml_step(t))
        if (starts(t, what)) {
            for (size_t k = 0; what[k]; k++) tsr_xml_step(t);
            return 1;
        }
    return 0;
}

/* The next tag, comments and declarations left out. *more is 0 at the end of the file. */
tsr_status tsr_xml_next(const char *file, tsr_text *t, tsr_xml_tag *found, int *more)
{
    *more = 0;
    for (;;) {
        while (t->at < t->end && *t->at != '<') tsr_xml_step(t);
        if (t->at == t->end) return TSR_OK;
        const int64_t line = t->line;
        if (starts(t, "<!--") || starts(t, "<?") || starts(t, "<!")) {
            if (!skip_behind(t, starts(t, "<!--") ? "-->" : starts(t, "<?") ? "?>" : ">"))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a comment without an end", file, (long long)line);
            continue;
        }
        tsr_xml_step(t);
        *found = (tsr_xml_tag){ .line = line };
        if (t->at < t->end && *t->at == '/') {
            found->closing = 1;
            tsr_xml_step(t);
        }
        const char *begin = t->at;
        while (t->at < t->end && !tsr_xml_space(*t->at) && *t->at != '>' && *t->at != '/') t->at++;
        found->name = (tsr_word){ begin, (size_t)(t->at - begin) };
        found->attributes = *t;
        char quote = 0;
        while (t->at < t->end && (quote || *t->at != '>')) {
            if (quote ? *t->at == quote : *t->at == '"' || *t->at == '\'') quote = quote ? 0 : *t->at;
            tsr_xml_step(t);
        }
        if (t->at == t->end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a tag without '>'", file, (long long)line);
        found->attributes.end = t->at;
        if (t->at > found->attributes.at && t->at[-1] == '/') {
            found->empty = 1;
            found->attributes.end--;
        }
        tsr_xml_step(t);
        *more = 1;
        return TSR_OK;
    }
}

int tsr_xml_each(tsr_text *t, tsr_word *name, tsr_word *value)
{
    while (t->at < t->end && tsr_xml_space(*t->at)) t->at++;
    const char *begin = t->at;
    while (t->at < t->end && *t->at != '=' && !tsr_xml_space(*t->at)) t->at++;
    *name = (tsr_word){ begin, (size_t)(t->at - begin) };
    while (t->at < t->end && *t->at != '"' && *t->at != '\'') t->at++;
    if (t->at == t->end) return 0;
    const char quote = *t->at++;
    begin = t->at;
    while (t->at < t->end && *t->at != quote) t->at++;
    if (t->at == t->end) return 0;
    *value = (tsr_word){ begin, (size_t)(t->at - begin) };
    t->at++;
    return 1;
}

int tsr_xml_attribute(const tsr_xml_tag *tag, const char *name, tsr_word *value)
{
    tsr_text rest = tag->attributes;
    tsr_word key, found;
    while (tsr_xml_each(&rest, &key, &found)) {
        if (!tsr_word_is(key, name)) continue;
        *value = found;
        return 1;
    }
    return 0;
}
