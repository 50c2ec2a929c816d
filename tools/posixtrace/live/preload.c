/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload.c - finds the preload library, and checks families of trace points. */
#include "live/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/moved.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "functions/libraries.h"
#include "inject/inject.h"
#include "live/process.h"
#include "../../../lib/preload/types.h" /* entries of the list of families */

/* configure defines the path of the installed library. */
#ifndef PRELOAD_PATH
# define PRELOAD_PATH ""
#endif
#define BUILT "/lib/.libs/libposixtrace-preload.so"

/*
 * Returns the library in the build tree that this program belongs to, so that a build can be used
 * without installation. Returns NULL for an installed program. libtool may run the program from
 * three places.
 */
static const char *find_built(void)
{
	static const char *const programs[] = {
		"/tools/posixtrace/.libs/posixtrace", "/tools/posixtrace/.libs/lt-posixtrace",
		"/tools/posixtrace/posixtrace",
	};
	static char path[PATH_MAX + sizeof(BUILT)];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);

	/* The end of the program's path is replaced by the library's path. */
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		size_t tail = strlen(programs[i]);

		if (len < (ssize_t)tail || memcmp(path + len - tail, programs[i], tail))
			continue;
		strcpy(path + len - tail, BUILT);
		return access(path, R_OK) ? NULL : path;
	}
	return NULL;
}

const char *preload_find(void)
{
	/* The environment variable serves tests and unusual installations. */
	const char *path = getenv("POSIXTRACE_PRELOAD");
	static char moved[PATH_MAX];

	if (!path)
		path = find_built();
	if (!path)
		path = moved_find(PRELOAD_PATH, R_OK, moved) ? moved : PRELOAD_PATH;
	/* ld.so(8) separates the names in LD_PRELOAD by these characters and knows no escapes. */
	if (strpbrk(path, ": ")) {
		say("%s: cannot be preloaded: there is a space or a colon in its name", path);
		return NULL;
	}
	if (access(path, R_OK)) {
		say("%s: %s", path, say_strerror(errno));
#ifndef __GLIBC__
		say("this posixtrace was built with a C library other than glibc, for which the "
		    "library does not exist");
#endif
		say("without this library, calls of the C library cannot be traced; --trace=none "
		    "records the program's own trace points alone");
		return NULL;
	}
	return path;
}

/* Returns whether a file has a text of at most SOUGHT_BYTES bytes. */
#define SOUGHT_BYTES 64
static bool file_has(int fd, const char *text)
{
	char buffer[SOUGHT_BYTES + 65536];
	size_t kept = 0; /* bytes of the end of the previous part, where the text may begin */
	off_t at = 0;
	ssize_t len;

	while ((len = pread(fd, buffer + kept, sizeof(buffer) - kept, at)) > 0) {
		const size_t bytes = kept + (size_t)len;

		if (memmem(buffer, bytes, text, strlen(text)))
			return true;
		at += len;
		kept = bytes < SOUGHT_BYTES ? bytes : SOUGHT_BYTES;
		memmove(buffer, buffer + bytes - kept, kept);
	}
	return false;
}

bool preload_is_sought(const char *program)
{
	char path[PATH_MAX];
	struct stat st;
	bool is_sought;
	int fd;

	if (!libraries_find_program(program, path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	/*
	 * The first text is the name for dlsym(). A program that is linked with the shared library
	 * has the second text. One that is linked with the static library has the third text.
	 */
	is_sought = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    file_has(fd, "posix_trace_site_open_np") &&
		    !file_has(fd, "libposixtrace.so") && !file_has(fd, "POSIXTRACE_GUARDIAN");
	close(fd);
	return is_sought;
}

/* Returns true if "name" is a family, or a minus and a family, which excludes the family. */
static bool is_family(const char *name, size_t len)
{
	if (len && *name == '-') {
		name++;
		len--;
	}
	for (const char *word = PRELOAD_FAMILIES; *word; word += strspn(word, " ")) {
		const size_t bytes = strcspn(word, " ");

		if (bytes == len && !memcmp(word, name, len))
			return true;
		word += bytes;
	}
	return false;
}

/* The shim itself ignores unknown names, because it must not print. So they are checked here. */
bool preload_families(const char *option, const char *families)
{
	static const char known[] =
		"alloc, lock, lock-hold, io, file, stdio, net, thread, process, "
		"signal, time, ipc, dl and func, and all, default and none";

	for (const char *p = families;; p++) {
		size_t len = strcspn(p, ",");

		if (!is_family(p, len)) {
			const size_t minus = len && *p == '-';

			say("%s %s: no such family; there are %s%s", option, text_given(families),
			    known, nearest_among(p + minus, len - minus, known));
			return false;
		}
		p += len;
		if (!*p)
			return true;
	}
}

bool preload_take_families(const char **joined, const char *families)
{
	char *all = NULL;

	if (!preload_families("--trace", families))
		return false;
	if (asprintf(&all, "%s%s%s", *joined ? *joined : "", *joined ? "," : "", families) < 0) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	free((void *)*joined);
	*joined = all;
	return true;
}

bool preload_take_data(uint64_t *bytes, const char *text)
{
	size_t given;

	if (!quantity_bytes("--data", text, &given))
		return false;
	if (given > SHIM_CONTENT_MAX) {
		say("--data %s: at most %d bytes of a call are recorded", text, SHIM_CONTENT_MAX);
		return false;
	}
	*bytes = given;
	return true;
}

/*
 * The number becomes one more name of the list, such as data=64. The library then receives it
 * together with the list, whether the library is preloaded or loaded into a running process.
 */
bool preload_add_data(const char **joined, uint64_t bytes)
{
	char *all = NULL;

	if (asprintf(&all, "%s,%s%llu", *joined ? *joined : "default", SHIM_CONTENT_NAME,
		     (unsigned long long)bytes) < 0) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	free((void *)*joined);
	*joined = all;
	return true;
}

/* The traced process may have another current folder, so the path that it gets is absolute. */
const char *preload_path(void)
{
	static char path[PATH_MAX];
	const char *found = preload_find();

	if (found && !realpath(found, path)) {
		say("%s: %s", found, say_strerror(errno));
		found = NULL;
	}
	return found ? path : NULL;
}

int preload_inject(struct inject *inject, pid_t pid, const char *families, bool follows)
{
	const char *path;
	char *list = NULL;
	int failed;

	*inject = (struct inject){ .pid = pid };
	if (!inject_is_needed(pid))
		return TOOL_OK;
	if (families && !strcmp(families, "none")) {
		inject_look(pid);
		return TOOL_OK;
	}
	path = preload_path();
	if (!path)
		return TOOL_FAILURE;
	if (!families)
		families = "default";
	if (follows && asprintf(&list, "%s,%s1", families, SHIM_FOLLOW_NAME) < 0) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	failed = inject_begin(inject, pid, path, follows ? list : families);
	free(list);
	if (failed)
		return TOOL_FAILURE;
	return inject->refused ? process_say_why(pid, inject->refused) : TOOL_OK;
}
