/* The verbs, in the order of `tessera --help`. */
VERB(info)
VERB(convert)
VERB(make)
VERB(surface)
VERB(render)
VERB(compare)
VERB(devices)
