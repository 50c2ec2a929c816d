/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outfile.h - a new log that a command writes.
 *
 * A file that is there already is refused, or stays what it is until the new one is ready to take its
 * place: so a command that fails has destroyed nothing, and whoever has the old file open keeps it. The
 * file is its owner's alone, since events may be anything.
 */
#ifndef POSIXTRACE_OUTFILE_H
#define POSIXTRACE_OUTFILE_H

enum outfile_mode { /* what becomes of a file that is there already */
	OUTFILE_REFUSE,
	OUTFILE_REPLACE,
	OUTFILE_AGE     /* it is kept as PATH.old, in place of the one before */
};

struct outfile {
	const char *path; /* as the command line has it */
	char *place;      /* what it leads to */
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

#endif
