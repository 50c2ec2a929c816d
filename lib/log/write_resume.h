/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.h - continues a log whose writer was killed.
 *
 * Threads   one caller at a time for each log.
 */
#ifndef PTX_LOG_WRITE_RESUME_H
#define PTX_LOG_WRITE_RESUME_H

#include "log/format_tally.h"
#include "log/log.h"

/*
 * Reads the log in the file `fd`, and makes a struct ptx_log. Further events follow the last whole
 * block of the file. The descriptor must be open for reading and writing. After a success the log
 * owns it. *facts gets the attributes with which the log was created. The parameter `tally` must be
 * initialized and empty. It gets the counts of the log's events, including the events that a LOOP
 * log has overwritten. Returns EINVAL if the file has no log, a completed log, a sequence with
 * events behind a damaged part, or a log of slots with areas or blocks that this version does not
 * write. After an error a file with a sequence is unchanged. Other errors are ENOMEM, ENOTSUP (the
 * log is compressed, and libzstd cannot be loaded), EBADF, and the error of a failed read.
 */
int ptx_log_resume(int fd, struct ptx_log **log, struct ptx_log_facts *facts,
		   struct ptx_log_tally *tally);

/*
 * Does the same as ptx_log_resume(), also for a completed log: further events follow its last
 * event, in place of its tail.
 */
int ptx_log_reopen(int fd, struct ptx_log **log, struct ptx_log_facts *facts,
		   struct ptx_log_tally *tally);

/*
 * Returns false if the log in the file `fd` names another guardian than the process `pid`, which
 * began at `start` (clock ticks after boot; 0: unknown). Returns true if the log names this process
 * or no guardian. Also returns true if the closing area of the file is damaged or cannot be read.
 */
bool ptx_log_may_be_guarded_by(int fd, uint32_t pid, uint64_t start);

/*
 * Returns whether the file `fd` begins with the header of the log that has this uuid. If the file
 * cannot be read, the result is false.
 */
bool ptx_log_has_uuid(int fd, const uint8_t *uuid);

#endif
