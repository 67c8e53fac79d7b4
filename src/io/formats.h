/* io/formats.h: the formats, in the order in which they are asked. Included with TSR_FORMAT(name) defined; see format.h. */
TSR_FORMAT(png)
