/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path.h - the parts of a path. */
#ifndef POSIXTRACE_BASE_PATH_H
#define POSIXTRACE_BASE_PATH_H

#include <string.h>

/*
 * Returns the last part of a path, which is the text behind the last slash. If there is no slash,
 * or nothing behind it, returns the whole path.
 */
static inline const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
