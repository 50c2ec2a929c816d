/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * load.h - template files, and the templates that remain after all of them were read.
 *
 * A file may replace or remove templates of an earlier file. A wrong template is reported once and
 * skipped, and reading continues behind it.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_LOAD_H
#define POSIXTRACE_REPORT_TEMPLATE_LOAD_H

#include "report/template/program.h"

#define TEMPLATES_MAX 4096
/*
 * The greatest number of bytes of all files together. The memory for their templates may be a few
 * times larger.
 */
#define TEMPLATE_FILE_BYTES ((size_t)16 << 20)

enum level {
	LEVEL_APPL,
	LEVEL_SVC,
	LEVEL_KERN,
	LEVEL_INT
};

struct template {
	struct key key;
	uint64_t major, minor;
	enum level level;
	struct text_ref label;
	uint32_t start;                    /* index of its first instruction */
	struct diag_place place;           /* position of its key in the file */
	size_t first_function, functions;  /* the functions that it defines */
	size_t first_call, calls;
	bool removed;                      /* a later file has removed or replaced the template */
};

struct templates {
	struct program program;
	struct diags diags;
	/* all templates in the order of loading, with the removed templates */
	struct template **list;
	size_t count;
	size_t loaded;          /* the number of templates that are not removed */
	size_t bytes;           /* total length of the files */
	void *by_key, *by_name; /* tsearch(3): templates, functions */
};

/*
 * templates_init() makes an empty set. templates_fini() frees all templates and the texts of the
 * files.
 */
void templates_init(struct templates *templates);
void templates_fini(struct templates *templates);

/*
 * Reads a file. Returns 0, ENOMEM, or the error number of the file. The member "diags" gets the
 * errors in the text of the file.
 */
int templates_load(struct templates *templates, const char *path);

/*
 * Finds the templates and functions to which calls refer. This function must be called after the
 * last file. Returns false if a file has an error, if a call refers to nothing, or if memory is
 * lacking.
 */
bool templates_link(struct templates *templates);

/* Returns the template with this key, or NULL. */
const struct template *templates_find(const struct templates *templates, const struct key *key);

/*
 * Returns the first of these templates that exists: the template for the name of the event, if
 * "name" is not NULL; the template for the number of the event; the template for all other events.
 * Returns NULL if none of them exists.
 */
const struct template *templates_for_event(const struct templates *templates, const char *name,
					   uint32_t number);

/* head.c: parses one logical line that does not begin with #. */
struct logical_line {
	const char *bytes, *end;
	const char *wrong_blank; /* a backslash with a blank behind it; NULL: none */
};
void templates_line(struct templates *templates, uint32_t file, const struct logical_line *line);

/* keep.c: enters the template. If that is impossible, reports the reason and returns false. */
bool templates_keep(struct templates *templates, const struct template *template);
void templates_remove(struct templates *templates, const struct key *key);

#endif
