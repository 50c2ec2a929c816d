/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list.h - the formats, in the order in which an input is asked what it is. */
FORMAT(log)
FORMAT(tracex)
FORMAT(etw)
FORMAT(jsonl)
FORMAT(csv)
FORMAT(ctf)
FORMAT(evt)
FORMAT(rkh)
FORMAT(listing)
FORMAT(perfetto)
FORMAT(chrome)
FORMAT(speedscope)
#ifdef HAVE_SQLITE
FORMAT(sqlite)
#endif
