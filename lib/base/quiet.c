/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/quiet.c - the flags of quiet.h, in one object for the whole process.
 */
#include "base/quiet.h"
#include "base/compiler.h"

ptx_start_data atomic_bool ptx_quiet;
_Thread_local bool ptx_quiet_lent __attribute__((tls_model("initial-exec")));
