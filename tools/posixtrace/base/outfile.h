/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outfile.h - a new file that a command writes.
 *
 * By default a command refuses to write a file that exists. With --force, and in the command
 * record, the new file replaces the old file when the new one is complete. So a command that fails
 * destroys nothing, and a process that has the old file open can still read it. If the name is a
 * symbolic link, the link itself is refused, replaced or renamed; its target is never written. Only
 * the owner can read the new file, since events may contain secrets.
 */
#ifndef POSIXTRACE_BASE_OUTFILE_H
#define POSIXTRACE_BASE_OUTFILE_H

#include <stdbool.h>

enum outfile_mode { /* the treatment of an existing file */
	OUTFILE_REFUSE,
	OUTFILE_REPLACE, /* --force */
	/* it is renamed to PATH.old and replaces an older PATH.old, see may_age() below */
	OUTFILE_AGE
};

struct outfile {
	const char *path; /* as given on the command line */
	char *place;      /* a copy of path */
	/*
	 * the name of the file until outfile_keep(); the same pointer as "place" if the name is
	 * final
	 */
	char *made;
	enum outfile_mode mode;
	int fd;
	/*
	 * With OUTFILE_AGE, outfile_keep() calls this function immediately before it renames the
	 * file "place" to PATH.old. Another process may have made "place" and PATH.old since
	 * outfile_create(). The function returns false after it printed why PATH.old must not be
	 * replaced. NULL: PATH.old may always be replaced.
	 */
	bool (*may_age)(const char *place);
};

/*
 * Stores the path that an option -o gives for a log. Returns false after it printed an error: "-"
 * is standard output in other commands, but a log is written at many places of a file.
 */
bool outfile_take_log(const char **path, const char *value);

/*
 * Creates the file, open for reading and writing in file->fd. "path" must exist as long as the
 * struct. Returns TOOL_OK, or TOOL_FAILURE after it printed the error; the struct is then empty.
 */
int outfile_create(struct outfile *file, const char *path, enum outfile_mode mode);

/*
 * Gives the file its final name. Returns TOOL_OK, or TOOL_FAILURE after it printed the error. After
 * TOOL_FAILURE the caller must call outfile_drop().
 */
int outfile_keep(struct outfile *file);

/*
 * Removes the file and closes it. An old file with the final name remains unless outfile_keep() has
 * already replaced it.
 */
void outfile_drop(struct outfile *file);
/* Closes the descriptor and frees the memory; the file remains. */
void outfile_close(struct outfile *file);

/*
 * Returns true if path is a symbolic link in /dev or in a folder below /dev or /proc. Such a link
 * leads to an open file of a process, as /dev/stdout does, or to a device.
 */
bool outfile_is_descriptor(const char *path);

#endif
