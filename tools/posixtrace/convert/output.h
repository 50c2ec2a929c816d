/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * output.h - where a sink writes: standard output, a new file, a pipe or device that is there, or a
 * new folder. What fails leaves nothing behind.
 */
#ifndef POSIXTRACE_CONVERT_OUTPUT_H
#define POSIXTRACE_CONVERT_OUTPUT_H

#include "base/outfile.h"
#include "convert/format.h"

enum output_state { OUTPUT_STANDARD, OUTPUT_THERE, OUTPUT_NEW, OUTPUT_SPOOLED, OUTPUT_FOLDER };

struct output {
	struct fmt_output shown; /* what the sink sees */
	enum output_state state;
	struct outfile file;
	struct out out;
	int target;              /* SPOOLED: where the file goes at the end */
	char *place;             /* SPOOLED: the file's name */
};

/* TOOL_OK, or it has said why not. */
int output_open(struct output *output, const char *path, enum fmt_output_kind kind, bool force);

/*
 * The same for a text or a page, which others may read as the umask allows. inputs are the names of
 * the files that are read, none of which it may be.
 */
int output_open_text(struct output *output, const char *path, bool force, char *const *inputs,
		     size_t count);

/* Keeps it, or drops it if the command has failed. Returns what the command exits with. */
int output_close(struct output *output, int status);

/* Writes what is left and puts it in its place. */
int output_keep(struct output *output);

void output_drop(struct output *output);

#endif
