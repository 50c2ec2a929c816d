/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * output.h - the output of a sink: standard output, a new file, an existing pipe or device, or a
 * new folder. If a conversion fails, the new file is removed. A new folder is removed if the sink
 * has removed its files.
 */
#ifndef POSIXTRACE_CONVERT_OUTPUT_H
#define POSIXTRACE_CONVERT_OUTPUT_H

#include "base/outfile.h"
#include "convert/format.h"

enum output_state { OUTPUT_STANDARD, OUTPUT_THERE, OUTPUT_NEW, OUTPUT_SPOOLED, OUTPUT_FOLDER };

struct output {
	struct fmt_output shown; /* the part that the sink uses */
	enum output_state state;
	struct outfile file;     /* only in the state OUTPUT_NEW */
	struct out out;
	/* OUTPUT_SPOOLED: the descriptor that gets the file's bytes at the end */
	int target;
	char *place;             /* OUTPUT_SPOOLED: the file's name */
};

/*
 * Opens the output as the sink's kind requires. Returns TOOL_OK, or prints the error and returns
 * another status; the caller then has nothing to close.
 */
int output_open(struct output *output, const char *path, enum fmt_output_kind kind, bool force);

/*
 * Like output_open(), for a text or a page. A new file gets the permissions that the umask leaves.
 * "inputs" has the names of the command's inputs; the output must not be one of them.
 */
int output_open_text(struct output *output, const char *path, bool force, char *const *inputs,
		     size_t count);

/*
 * Ends the output. If "status" says that the command has failed, drops the output; otherwise
 * completes the output. Returns the exit status of the command.
 */
int output_close(struct output *output, int status);

/*
 * Writes the buffered bytes and gives a new file its name. After an error, drops the output.
 * Returns the exit status of the command.
 */
int output_keep(struct output *output);

/* Removes a new file, or a new folder if it is empty. Closes any other output. */
void output_drop(struct output *output);

#endif
