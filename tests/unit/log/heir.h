/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/log/heir.h - logs of sample.h whose writer was killed, and who goes on with them.
 */
#ifndef PTX_TESTS_UNIT_LOG_HEIR_H
#define PTX_TESTS_UNIT_LOG_HEIR_H

#include "unit/log/sample.h"

#define HEIR_DATA_MAX 12u
#define HEIR_LIMIT    4096u /* of LOOP */

/* Killed with so many events in the file, and some that were not written. */
int heir_killed(uint32_t policy, uint64_t number);

/*
 * On a duplicate of fd, as another process would: the names are told anew. What ptx_log_resume()
 * says.
 */
int heir_resume(struct sample *sample, int fd);

/* Goes on, ends, and reads: events 0 to number, but for those that a LOOP log has overwritten. */
void heir_go_on_to(struct sample *sample, int fd, uint64_t number);

#endif
