/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * objects.h - finds the objects for which calls wait: files, connections, pipes, queues, locks of
 * files, and semaphores with names. history.c calls these functions for the events in the order of
 * the log.
 */
#ifndef POSIXTRACE_WHY_OBJECTS_H
#define POSIXTRACE_WHY_OBJECTS_H

#include "why/classify.h"
#include "why/history.h"

/*
 * Notes the descriptors that a call makes, copies or closes. "path" is the path in the event of the
 * call; 0: none.
 */
void objects_follow(struct history *history, const struct plan *plan, const struct log_type *type,
		    const struct posix_trace_event_np *event, pid_t pid, uint32_t path);

/*
 * Finds the file, the connection or the pipe of a call on a descriptor, and the name of a
 * semaphore. To be called after objects_follow().
 */
void objects_find(struct history *history, pid_t pid, struct call *call);

/* Does the same for a read or write on a descriptor, after the last event of the log. */
void objects_find_past(struct history *history, pid_t pid, struct call *call);

/*
 * Returns whether a descriptor of a process, at a time, could write to the pipe or the pair of
 * sockets from which a call read. To be called after the last event of the log.
 */
bool objects_is_other_end(const struct history *history, pid_t pid, int32_t number,
			  const struct call *read, int64_t time_ns);

/*
 * Returns the time since which a descriptor is no pipe or other object, because the process closed
 * it or opened a file with this number. Returns INT64_MIN if the descriptor has an object at
 * time_ns, or if the log has no call that shows the change. To be called after the last event of
 * the log.
 */
int64_t objects_closed_ns(const struct history *history, pid_t pid, int32_t number,
			  int64_t time_ns);

/* The place in a program whose calls made the most open descriptors of a process. */
struct objects_most {
	uint64_t address;
	size_t count, all; /* of this place, and of all places */
};

/*
 * Finds this place, as of a time, among at most OBJECTS_OPEN descriptors. A descriptor does not
 * count if it was closed later, or if the log lacks the call that made it.
 */
#define OBJECTS_OPEN 65536
struct objects_most objects_most_open(const struct history *history, pid_t pid, int64_t time_ns);

/*
 * Notes that a call has set or removed a lock of a file. "is_unlock" is true if the call has
 * removed the lock. A call that failed must not be noted.
 */
void objects_lock_file(struct history *history, const struct call *call, bool is_unlock);

/*
 * Notes a descriptor that its process had open before the trace began (log/opened.h). If a call has
 * changed the descriptor since the recorder looked at it, the result of the call is kept.
 */
void objects_opened(struct history *history, const struct log_type *type,
		    const struct posix_trace_event_np *event);

/*
 * Gives the pipe of a command of popen() to the process that executes the command: a child that has
 * recorded its first event, the start of a program.
 */
void objects_start(struct history *history, pid_t pid, pid_t parent, int64_t time_ns);

/* Ends the locks of the descriptors that are closed because a process starts a program. */
void objects_execute(struct history *history, pid_t pid, int64_t time_ns);

/* Ends a process, and the locks of files that it had. The kernel may use the pid again. */
void objects_end_process(struct history *history, pid_t pid, int64_t time_ns);

/*
 * Ends each lock of a file that is still set, at the last event of its process. Then sorts all
 * locks of files.
 */
void objects_end(struct history *history);
/* Frees the memory of the objects. */
void objects_fini(struct history *history);

#endif
