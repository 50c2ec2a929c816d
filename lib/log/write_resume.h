/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.h - going on with a log that another process wrote until it was killed.
 */
#ifndef PTX_LOG_WRITE_RESUME_H
#define PTX_LOG_WRITE_RESUME_H

#include "log/format_tally.h"
#include "log/log.h"

/*
 * The log in the file behind fd, which can be read and written and is the log's from then on, ready
 * for the event after the last whole block. facts: what it was created with. tally, an initialised
 * one: the events that it held, those overwritten in it too. EINVAL: no log, one that was
 * completed, or one with events behind what is damaged; ENOMEM, EIO. The file is as it was then.
 */
int ptx_log_resume(int fd, struct ptx_log **log, struct ptx_log_facts *facts,
		   struct ptx_log_tally *tally);

#endif
