/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/session.h - the stream with a log that POSIXTRACE_OPTIONS requests.
 *
 * The process that finds the variable owns the stream, which traces this process and its children.
 * A child that inherits such a stream does not create another stream. The stream ends with the
 * process that owns it: libposixtrace completes the log at exit, and its guardian completes the log
 * after any other end.
 *
 * Threads   only the shim's constructor calls the function.
 */
#ifndef PTX_PRELOAD_SESSION_H
#define PTX_PRELOAD_SESSION_H

#include "preload/options.h"

/*
 * Creates the stream. The shim's constructor calls it. Reports an error on standard error if the
 * options request that. errno is preserved.
 */
void shim_session_begin(const struct shim_options *options);

#endif
