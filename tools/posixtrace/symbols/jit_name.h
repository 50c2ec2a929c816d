/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jit_name.h - splits the name that a just-in-time compiler gives a function. */
#ifndef POSIXTRACE_SYMBOLS_JIT_NAME_H
#define POSIXTRACE_SYMBOLS_JIT_NAME_H

/* The members point into the text that was split, or to a constant. */
struct jit_name {
	const char *function;
	const char *file; /* NULL: unknown */
	unsigned line;    /* 0: unknown */
};

/*
 * Splits a name of the form of V8 ("JS:*name /file.js:12:34") or of Python ("py::name:file"). If it
 * has another form, the whole name is the name of the function. jit_name_split() changes the text,
 * which must exist as long as the result is used.
 */
void jit_name_split(char *text, struct jit_name *name);

#endif
