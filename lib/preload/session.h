/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/session.h - the stream with a log that POSIXTRACE_OPTIONS asks for.
 *
 * It belongs to the process that finds the variable and traces it and its children; a child that
 * already inherits such a stream makes none. It ends with that process: libposixtrace completes the
 * log at exit, its guardian after anything else.
 */
#ifndef PTX_PRELOAD_SESSION_H
#define PTX_PRELOAD_SESSION_H

#include "preload/options.h"

/* From the shim's constructor. Says why not on standard error, if the options say so. */
void shim_session_begin(const struct shim_options *options);

#endif
