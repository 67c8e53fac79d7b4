/* The verbs, in the order of `tessera --help`. */
VERB(devices)
