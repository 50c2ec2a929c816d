/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_restore.h - reads an export of posixtrace as the log from which it was made. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_RESTORE_H
#define POSIXTRACE_CONVERT_ETW_ETW_RESTORE_H

#include "convert/etw/etw.h"
#include "convert/format.h"

/* Returns TOOL_OK or another status for import. */
int etw_restore(struct fmt_flow *flow, const struct etw_file *file);

#endif
