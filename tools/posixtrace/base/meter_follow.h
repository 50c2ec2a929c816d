/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* meter_follow.h - control of the thread that meter_follow() started, for meter.c. */
#ifndef POSIXTRACE_BASE_METER_FOLLOW_H
#define POSIXTRACE_BASE_METER_FOLLOW_H

#include "base/meter.h"

/* Ends the thread and waits for it. The meter must have a follower. */
void meter_unfollow(struct meter *meter);

/* Between a call of meter_lock() and one of meter_unlock(), the thread draws nothing. */
void meter_lock(struct meter *meter);
void meter_unlock(struct meter *meter);

#endif
