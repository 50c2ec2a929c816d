/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * interpreter.h - programs and libraries that execute another language. Their functions say little
 * about a program in this language.
 */
#ifndef POSIXTRACE_WHY_INTERPRETER_H
#define POSIXTRACE_WHY_INTERPRETER_H

#include "why/history.h"

/* Returns whether the file with this path is an interpreter. */
bool interpreter_is(const char *path);

/*
 * Returns a sentence that says how the samples get the names of the functions of the program. It
 * examines only the first samples of the log. It returns NULL unless at least half of them are in
 * one interpreter that can write the names, and none of them has the name of a compiled function.
 */
const char *interpreter_advice(const struct history *history);

#endif
