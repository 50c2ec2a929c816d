/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/quiet.c - the flag of quiet.h, in one object for the whole process.
 */
#include "base/quiet.h"

atomic_bool ptx_quiet;
