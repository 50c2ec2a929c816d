/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.h - continues a log whose writer was killed.
 */
#ifndef PTX_LOG_WRITE_RESUME_H
#define PTX_LOG_WRITE_RESUME_H

#include "log/format_tally.h"
#include "log/log.h"

/*
 * Reads the log in the file behind `fd` and prepares it for the event after its last whole block.
 * The descriptor `fd` can be read and written; on success the log owns it. *facts gets the
 * attributes with which the log was created. The parameter `tally` is initialized and empty; it
 * gets the log's events, including those that a LOOP log has overwritten. EINVAL: the file has no
 * log, a completed log, or a log with events behind a damaged part; the file is then unchanged.
 * ENOMEM, EBADF, EIO.
 */
int ptx_log_resume(int fd, struct ptx_log **log, struct ptx_log_facts *facts,
		   struct ptx_log_tally *tally);

#endif
