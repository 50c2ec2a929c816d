/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/small_device.h - a device that can be full, and logs that fill it.
 *
 * Every function here that can fail asserts that it does not, except the creation of the device.
 */
#ifndef PTX_TESTS_SMALL_DEVICE_H
#define PTX_TESTS_SMALL_DEVICE_H

#include "support/stream.h"

/* A folder on a device of so many bytes, visible to this process only; NULL if that is
 * impossible. */
const char *small_device(size_t bytes);
void small_device_grow(const char *folder, size_t bytes);

/*
 * A device of so many bytes has no room for the log of so many events; one of 16 times as many has.
 */
enum { DEVICE_BYTES = 1 << 20, DEVICE_TOO_MANY = 200000 };

/* A file for a log there. */
int small_device_log(const char *folder);

/*
 * A stream with its log in fd in which the first n numbers wait to be flushed, as events of type
 * id.
 */
trace_id_t stream_of_many(int fd, trace_event_id_t id, int n);

/* One with DEVICE_TOO_MANY events whose flush has found the device full. */
trace_id_t small_device_fill(int fd, trace_event_id_t id);

/* Fails unless the log in fd has the first of them, at least a quarter, and not all. */
void assert_log_cut(int fd, trace_event_id_t id);

#endif
