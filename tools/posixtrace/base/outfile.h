/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outfile.h - a new file that a command writes.
 *
 * A name that is there already is refused. With --force, or of record, the file stays what it is
 * until the new one is ready to take its place: a command that fails has destroyed nothing, and a
 * process that has the old file open keeps it. A symbolic link is a name like any other: it is
 * refused, replaced or renamed itself, and the file that it leads to is never written. The new file
 * is readable by its owner alone, since events may hold anything.
 */
#ifndef POSIXTRACE_BASE_OUTFILE_H
#define POSIXTRACE_BASE_OUTFILE_H

#include <stdbool.h>

enum outfile_mode { /* what becomes of a file that is there already */
	OUTFILE_REFUSE,
	OUTFILE_REPLACE, /* --force */
	OUTFILE_AGE     /* it is kept as PATH.old, in place of the one before */
};

struct outfile {
	const char *path; /* as the command line has it */
	char *place;      /* a copy of it */
	char *made;       /* the file's name until outfile_keep(); may be place */
	enum outfile_mode mode;
	int fd;
};

/* TOOL_OK, or it has said why not. */
int outfile_create(struct outfile *file, const char *path, enum outfile_mode mode);

/* Puts it in its place. TOOL_OK, or it has said why not; then it must be dropped. */
int outfile_keep(struct outfile *file);

/* As if it had never been made. */
void outfile_drop(struct outfile *file);
void outfile_close(struct outfile *file);

/* Such as /dev/stdout: a link that names an open file, and no name of a file's own. */
bool outfile_is_descriptor(const char *path);

#endif
