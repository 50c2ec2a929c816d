/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_restore.h - logs of ours that were exported to ETW, made what they were. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_RESTORE_H
#define POSIXTRACE_CONVERT_ETW_ETW_RESTORE_H

#include "convert/etw/etw.h"
#include "convert/format.h"

/* TOOL_OK, or what import returns. */
int etw_restore(struct fmt_flow *flow, const struct etw_file *file);

#endif
