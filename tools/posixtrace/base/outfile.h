/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outfile.h - a new file that a command writes.
 *
 * By default an existing name is refused. With --force, or in the command record, the old file
 * remains until the new one is complete. A command that fails has therefore destroyed nothing, and
 * a process that has the old file open keeps it. A symbolic link is a name like any other: the link
 * itself is refused, replaced or renamed, and its target is never written. Only the owner can read
 * the new file, since events may contain anything.
 */
#ifndef POSIXTRACE_BASE_OUTFILE_H
#define POSIXTRACE_BASE_OUTFILE_H

#include <stdbool.h>

enum outfile_mode { /* what happens to an existing file */
	OUTFILE_REFUSE,
	OUTFILE_REPLACE, /* --force */
	OUTFILE_AGE     /* it is renamed to PATH.old, which replaces an older PATH.old */
};

struct outfile {
	const char *path; /* as given on the command line */
	char *place;      /* a copy of it */
	char *made;       /* the file's name until outfile_keep(); it may be the same as place */
	enum outfile_mode mode;
	int fd;
};

/*
 * Creates the file, open for reading and writing in file->fd. path must exist as long as the
 * struct. Returns TOOL_OK, or TOOL_FAILURE after it printed the error; the struct is then empty.
 */
int outfile_create(struct outfile *file, const char *path, enum outfile_mode mode);

/*
 * Gives the file its final name. Returns TOOL_OK, or TOOL_FAILURE after it printed the error. The
 * caller must then drop the file.
 */
int outfile_keep(struct outfile *file);

/*
 * Removes the file and closes it. A replaced file is not affected unless outfile_keep() succeeded.
 */
void outfile_drop(struct outfile *file);
/* Closes the descriptor and frees the memory; the file remains. */
void outfile_close(struct outfile *file);

/* Returns true if path is a link such as /dev/stdout that names an open file of a process. */
bool outfile_is_descriptor(const char *path);

#endif
