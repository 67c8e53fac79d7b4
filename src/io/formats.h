/* io/formats.h: the formats, in the order in which they are asked. Included with TSR_FORMAT(name) defined; see format.h. */
TSR_FORMAT(png)
TSR_FORMAT(ply)
TSR_FORMAT(stl)
TSR_FORMAT(off)
TSR_FORMAT(obj)
