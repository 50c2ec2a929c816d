/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* meter_follow.h - the end of what meter_follow() began, for meter_end(). */
#ifndef POSIXTRACE_BASE_METER_FOLLOW_H
#define POSIXTRACE_BASE_METER_FOLLOW_H

#include "base/meter.h"

void meter_unfollow(struct meter *meter);

/* Between them the thread that looks shows nothing. */
void meter_hold(struct meter *meter);
void meter_let_go(struct meter *meter);

#endif
