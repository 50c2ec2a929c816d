/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/file_walk.c - family file: functions that read whole folders or trees.
 *
 * The C library opens and reads the folders without an event. The event of a walk is recorded when
 * the walk ends. The event therefore follows the events of the program's functions that the walk
 * calls.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>

#include "preload/call.h"

/*
 * `result` is the number of entries that were found. The C library allocates the entries without
 * events.
 */
#define SCANDIR(name, entry) \
	SHIM_INT(name, FILE_SCANDIR, \
		 (const char *path, struct entry ***found, \
		  int (*select)(const struct entry *), \
		  int (*order)(const struct entry **, const struct entry **)), \
		 (path, found, select, order), (AT_FDCWD, result), (), (SHIM_IN(path)))
/*
 * An entry that the program's function refuses is not counted. The attributes of the files are not
 * read.
 */
SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

/* Like SCANDIR(), for functions with a descriptor of a folder. */
#define SCANDIRAT(name, entry) \
	SHIM_INT(name, FILE_SCANDIR, \
		 (int folder, const char *path, struct entry ***found, \
		  int (*select)(const struct entry *), \
		  int (*order)(const struct entry **, const struct entry **)), \
		 (folder, path, found, select, order), (folder, result), (), (SHIM_IN(path)))
/*
 * As with all functions whose names end in "at", the folder has no effect if the path is absolute.
 */
SCANDIRAT(scandirat, dirent)
SCANDIRAT(scandirat64, dirent64)

/*
 * `result` is the result of the program's function, which ends the walk if it is not 0. If `result`
 * is -1, the walk has failed, or the program's function has returned -1. In the second case the
 * field `error` has no meaning.
 */
SHIM_INT(ftw, FILE_FTW, (const char *path, __ftw_func_t function, int fds), (path, function, fds),
	 (result, 0), (), (SHIM_IN(path)))
/* The structs of the 64-bit forms differ on 32-bit systems only. */
SHIM_INT(ftw64, FILE_FTW, (const char *path, __ftw64_func_t function, int fds),
	 (path, function, fds), (result, 0), (), (SHIM_IN(path)))
/*
 * With FTW_CHDIR the C library changes the current folder without an event of its own. Relative
 * paths of events inside the walk begin at the folder that is visited.
 */
SHIM_INT(nftw, FILE_FTW, (const char *path, __nftw_func_t function, int fds, int flags),
	 (path, function, fds, flags), (result, flags), (), (SHIM_IN(path)))
SHIM_INT(nftw64, FILE_FTW, (const char *path, __nftw64_func_t function, int fds, int flags),
	 (path, function, fds, flags), (result, flags), (), (SHIM_IN(path)))

/* fts_open() reads the attributes of all its paths. */
#define FTS_OPEN(name, stream, entry) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPED(name, FILE_FTS_OPEN); \
	SHIM_WRAPPER stream *name(char *const *paths, int options, \
				  int (*order)(const entry **, const entry **)) \
	{ \
		/* The paths are an array that ends with NULL. */ \
		if (!shim_on(FILE_FTS_OPEN)) \
			return next(name)(paths, options, order); \
		SHIM_RECORD(sizeof(int32_t) + SHIM_TEXT) record; \
		const int32_t flags = options; \
		SHIM_CALL(FILE_FTS_OPEN, record); \
		record.error = ECANCELED; \
		shim_record_fields(&call, record.rest, &flags, sizeof flags, NULL, 0); \
		stream *result = next(name)(paths, options, order); \
		record.error = result ? 0 : errno; \
		/* After an error the array may be unreadable, and the event has no path. */ \
		call.len += shim_text_arguments((char *)record.rest + sizeof flags, SHIM_TEXT, \
						result ? paths : NULL); \
		return result; \
	}
FTS_OPEN(fts_open, FTS, FTSENT)
FTS_OPEN(fts64_open, FTS64, FTSENT64)

/* The C library sets errno to 0 at the end of the tree. */
#define FTS_READ(name, stream, entry) \
	SHIM_TRACED(entry *, name, FILE_FTS_READ, shim_no_pointer, (stream *tree), (tree), \
		    !result, (result && result != (entry *)-1 ? result->fts_info : 0), (), \
		    (SHIM_OUT(result ? result->fts_path : NULL)))
/*
 * `kind` shows how the file is visited: a folder is visited once before and once after its entries.
 */
FTS_READ(fts_read, FTS, FTSENT)
FTS_READ(fts64_read, FTS64, FTSENT64)

/*
 * fts_close() returns to the folder that was the current one before fts_open(). With FTS_NOCHDIR
 * the current folder has never changed.
 */
SHIM_INT(fts_close, FILE_FTS_CLOSE, (FTS *tree), (tree), (), (), ())
SHIM_INT(fts64_close, FILE_FTS_CLOSE, (FTS64 *tree), (tree), (), (), ())
