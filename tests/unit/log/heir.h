/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/log/heir.h - logs of sample.h whose writer was killed, and the process that resumes them.
 */
#ifndef PTX_TESTS_UNIT_LOG_HEIR_H
#define PTX_TESTS_UNIT_LOG_HEIR_H

#include "unit/log/sample.h"

#define HEIR_DATA_MAX 12u
#define HEIR_LIMIT    4096u /* of a LOOP log */

/*
 * Makes a log whose writer is killed. The file has this number of events, and some further events
 * were not written.
 */
int heir_killed(uint32_t policy, uint64_t number);

/*
 * Resumes the log on a duplicate of `fd`, as another process does: the names are registered again.
 * Returns the result of ptx_log_resume().
 */
int heir_resume(struct sample *sample, int fd);

/*
 * Continues the log, completes it and reads it. It must have the events 0 to `number`, except those
 * that a LOOP log has overwritten.
 */
void heir_go_on_to(struct sample *sample, int fd, uint64_t number);

#endif
