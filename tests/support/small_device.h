/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/small_device.h - a device that can be full, and logs that fill it.
 *
 * Every function here that can fail asserts that it does not, except the creation of the device.
 */
#ifndef PTX_TESTS_SMALL_DEVICE_H
#define PTX_TESTS_SMALL_DEVICE_H

#include "support/stream.h"

/* Makes a device with room for `bytes`, which only this process can use. Returns the folder where
 * the device is mounted, or NULL if the process cannot mount it. */
const char *small_device(size_t bytes);
void small_device_grow(const char *folder, size_t bytes);

/*
 * A device of DEVICE_BYTES has no room for a log of DEVICE_TOO_MANY events. A device that is 16
 * times as large has room for it.
 */
enum { DEVICE_BYTES = 1 << 20, DEVICE_TOO_MANY = 200000 };

/* Makes a file for a log in the folder and returns its descriptor. */
int small_device_log(const char *folder);

/*
 * Creates a stream with its log in fd, and records n events of type id with the numbers from 0 on.
 * The events are not flushed.
 */
trace_id_t stream_of_many(int fd, trace_event_id_t id, int n);

/*
 * Creates such a stream with DEVICE_TOO_MANY events and flushes it. The flush fails because the
 * device is full.
 */
trace_id_t small_device_fill(int fd, trace_event_id_t id);

/* Fails unless the log in fd has the first of these events: at least a quarter, but not all. */
void assert_log_cut(int fd, trace_event_id_t id);

#endif
