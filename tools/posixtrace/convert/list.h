/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list.h - the formats, in the order in which their functions detect() examine an input. */
FORMAT(log)
#ifdef ENABLE_TRACEX
FORMAT(tracex)
#endif
#ifdef ENABLE_ETW
FORMAT(etw)
#endif
FORMAT(jsonl)
FORMAT(csv)
FORMAT(ctf)
FORMAT(evt)
#ifdef ENABLE_RKH
FORMAT(rkh)
#endif
FORMAT(listing)
FORMAT(perfetto)
FORMAT(chrome)
FORMAT(speedscope)
FORMAT(folded)
FORMAT(otlp)
#ifdef HAVE_SQLITE
FORMAT(sqlite)
#endif
#ifdef HAVE_SQLITE_QUERY
FORMAT(parquet)
#endif
