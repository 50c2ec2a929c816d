/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diag.h - faults of templates: FILE:LINE:COLUMN: error: [E09] text.
 *
 * Messages are kept and printed together: warnings first, then errors, each in order of position.
 * The first DIAG_ERRORS errors are printed, and further errors are only counted. A position is a
 * byte of a file; line and column are computed for the message.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_DIAG_H
#define POSIXTRACE_REPORT_TEMPLATE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIAG_ERRORS   20
#define DIAG_WARNINGS 100

struct diag_file {
	const char *name; /* the name that the command line has */
	const char *bytes;
	size_t len;
};

struct diag_place {
	uint32_t file;
	uint32_t offset;
};

struct diag {
	struct diag_place place;
	char code[4];
	const char *text; /* valid as long as the program */
};

struct diags {
	struct diag_file *file;
	size_t files;
	struct diag error[DIAG_ERRORS], warning[DIAG_WARNINGS];
	size_t errors, warnings; /* including messages that were not kept */
};

/*
 * Keeps a message. Messages beyond the limit are not kept. So the caller adds messages in the order
 * of their positions, or at least of their files.
 */
void diag_add(struct diags *diags, struct diag_place place, const char *code, const char *text);

/* Prints all messages on standard error. */
void diag_report(struct diags *diags);

/* Frees the texts of the files, in which messages find their lines. */
void diag_fini(struct diags *diags);

#endif
