/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Four workers empty a queue while a thread prints their events; then the log is analyzed. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <trace_np.h>
enum { WORKERS = 4, JOBS = 40 };
static trace_id_t live, kept; /* `live` is read while it runs; `kept` has a log */
static int taken, jobs[WORKERS];

static void *work(void *arg)
{
	unsigned me = (unsigned)(size_t)arg;
	POSIX_TRACE_EVENT_NP(worker.start, (u32, worker, me));
	for (int job; (job = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED)) < JOBS;) {
		POSIX_TRACE_SCOPE_NP(job, (u32, worker, me), (s32, job, job));
		thrd_sleep(&(struct timespec){ .tv_nsec = (job % 5 + 1) * 100000 }, NULL);
		POSIX_TRACE_EVENT_NP(slept, (s32, job, job), (str, size, job % 5 > 2 ? "big" : ""));
	}
	POSIX_TRACE_EVENT_NP(worker.stop, (u32, worker, me));
	return NULL;
}

static void *watch(void *arg)
{
	struct posix_trace_event_info event = { 0 };
	char data[512], line[512];
	size_t len;
	for (int none = 0; !none && event.posix_event_id != POSIX_TRACE_STOP; puts(line))
		if (posix_trace_getnext_event(live, &event, data, sizeof(data), &len, &none) ||
		    posix_trace_event_print_np(live, &event, data, len, line, sizeof(line), &len))
			break;
	return arg;
}

int main(int argc, char **argv)
{
	char name[64];
	int none, file = open(argc > 1 ? argv[1] : "queue.ptl", O_RDWR | O_CREAT | O_TRUNC, 0666);
	struct posix_trace_event_np event;
	pthread_t watcher, worker[WORKERS];
	if (posix_trace_create(0, NULL, &live) || posix_trace_start(live) ||
	    posix_trace_create_withlog(0, NULL, file, &kept) || posix_trace_start(kept))
		return 1;
	pthread_create(&watcher, NULL, watch, NULL);
	for (size_t i = 0; i < WORKERS; i++)
		pthread_create(&worker[i], NULL, work, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
	posix_trace_stop(live), pthread_join(watcher, NULL);
	if (posix_trace_shutdown(kept) || posix_trace_open(file, &kept))
		return 1;
	while (!posix_trace_getnext_np(kept, &event, &none) && !none)
		if (!posix_trace_eventid_get_name(kept, event.info.posix_event_id, name) &&
		    !strcmp(name, "job.begin"))
			jobs[*(const unsigned *)event.data % WORKERS]++;
	printf("jobs: %d %d %d %d\n", jobs[0], jobs[1], jobs[2], jobs[3]);
	return posix_trace_close(kept) || posix_trace_shutdown(live);
}
