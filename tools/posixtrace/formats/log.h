/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.h - the two sides of the format "log". */
#ifndef POSIXTRACE_FORMATS_LOG_H
#define POSIXTRACE_FORMATS_LOG_H

#include "formats/format.h"

bool log_detect(const struct fmt_head *head);
int log_import(struct fmt_flow *flow, struct fmt_input *input);

#endif
