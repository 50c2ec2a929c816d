/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex_export.h - the state of an export to a trace buffer of ThreadX. */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_EXPORT_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_EXPORT_H

#include "base/outfile.h"
#include "convert/format.h"
#include "convert/tracex/tracex.h"
#include "convert/tracex/tracex_pairs.h"
#include "convert/tracex/tracex_sink.h"

struct tracex_sink {
	struct fmt_flow *flow;
	const struct fmt_output *output;
	struct outfile names;   /* the side file, OUT.trxc */
	char *names_path;       /* NULL: there is no side file */
	struct out spool;       /* entries of 32 bytes */
	uint64_t events;        /* number of entries in the spool */
	bool with_len;
	int64_t first_ns, last_ns;
	uint64_t backward;
	struct tracex_pairs pairs;

	/* for a log that was imported from a dump: the data of the dump */
	bool rebuild;
	unsigned char header[TRACEX_HEADER_BYTES];
	unsigned char *slots;   /* the registry */
	size_t slot_bytes, slot_count;
	uint64_t foreign;       /* events whose data is not an entry */
};

/* The functions that return int return 0, an error number, or -1 after they printed an error. */
int tracex_sink_spool(struct tracex_sink *sink, const unsigned char *entry);

/*
 * Returns whether the export writes an imported dump back (a rebuild). The rebuild begins if the
 * first event has the header of a dump. If the function returns true, the caller must pass the
 * event to tracex_rebuild_event().
 */
bool tracex_rebuild_wants(struct tracex_sink *sink, const struct fmt_event *event);
int tracex_rebuild_event(struct tracex_sink *sink, const struct fmt_event *event);
int tracex_rebuild_end(struct tracex_sink *sink);

#endif
