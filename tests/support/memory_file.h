/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/memory_file.h - files in memory, also for programs that do not link the other code of
 * support.
 */
#ifndef SUPPORT_MEMORY_FILE_H
#define SUPPORT_MEMORY_FILE_H

#include "../../lib/base/memory_file.h"

#define memory_file ptx_memory_file

#endif
