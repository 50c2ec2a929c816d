/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirhash - hashes every regular file below a directory in a pool of threads, and traces itself.
 *
 *	cc -pthread dirhash.c queue.c $(pkg-config --cflags --libs posixtrace) -o dirhash
 *	dirhash [-j THREADS] [-l LOGFILE] [-p] DIR
 *
 * The trace goes to LOGFILE (default: dirhash.trace), which dirhash-report reads. With -p, dirhash
 * prints the FNV-1a hash and the path of each file. The program needs only <trace.h>. If
 * <trace_np.h> exists, the program also describes its event types, so that posixtrace dump shows
 * their fields.
 */
#define _XOPEN_SOURCE 700

#include "dirhash_events.h"
#include "queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <trace.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include(<trace_np.h>)
#include <trace_np.h>
#endif
#endif

#define THREADS_MAX 256
#define STREAM_BYTES (1024 * 1024) /* room for the events between two flushes */

struct worker {
	pthread_t thread;
	struct ev_worker done;
	uint32_t errors;
};

static trace_event_id_t event_id[EV_TYPES];
static struct ev_walk walk;
static uint32_t walk_errors;
static int print_hashes;

static void die(const char *what, int error)
{
	fprintf(stderr, "dirhash: %s: %s\n", what, strerror(error));
	exit(1);
}

/* --- trace points ------------------------------------------------------------------------ */

static void trace(enum event_type type, const void *data, size_t bytes)
{
	posix_trace_event(event_id[type], data, bytes);
}

/* Records a structure and, behind it, as much of the path as fits. */
static void trace_path(enum event_type type, const void *data, size_t bytes, const char *path)
{
	unsigned char both[EV_DATA_MAX];
	size_t path_bytes = strlen(path);

	if (path_bytes > sizeof(both) - bytes)
		path_bytes = sizeof(both) - bytes;
	if (bytes > 0)
		memcpy(both, data, bytes);
	memcpy(both + bytes, path, path_bytes);
	trace(type, both, bytes + path_bytes);
}

static void trace_queue_full(uint32_t length)
{
	struct ev_queue queue = { length };

	trace(EV_QUEUE_FULL, &queue, sizeof(queue));
}

static void trace_queue_empty(uint32_t length)
{
	struct ev_queue queue = { length };

	trace(EV_QUEUE_EMPTY, &queue, sizeof(queue));
}

/* --- the trace stream -------------------------------------------------------------------- */

static void open_event_types(void)
{
	static const char *const names[EV_TYPES] = {
#define AS_NAME(symbol, name, schema) name,
		EVENT_TYPES(AS_NAME)
#undef AS_NAME
	};
#ifdef _TRACE_NP_H
	static const char *const schemas[EV_TYPES] = {
#define AS_SCHEMA(symbol, name, schema) schema,
		EVENT_TYPES(AS_SCHEMA)
#undef AS_SCHEMA
	};
#endif
	int error, type;

	for (type = 0; type < EV_TYPES; type++) {
		error = posix_trace_eventid_open(names[type], &event_id[type]);
		if (error)
			die(names[type], error);
#ifdef _TRACE_NP_H
		error = posix_trace_eventid_describe_np(event_id[type], schemas[type]);
		if (error)
			die(schemas[type], error);
#endif
	}
}

/* With the policies FLUSH and APPEND, the log has the whole run, and the stream stays small. */
static trace_id_t start_tracing(const char *logfile)
{
	trace_attr_t attr;
	trace_id_t stream;
	int error, fd;

	fd = open(logfile, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		die(logfile, errno);

	error = posix_trace_attr_init(&attr);
	if (error)
		die("posix_trace_attr_init", error);
	error = posix_trace_attr_setname(&attr, "dirhash");
	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	if (!error)
		error = posix_trace_attr_setmaxdatasize(&attr, EV_DATA_MAX);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH);
	if (!error)
		error = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (error)
		die("trace attributes", error);

	error = posix_trace_create_withlog(0, &attr, fd, &stream);
	if (error)
		die("posix_trace_create_withlog", error);
	posix_trace_attr_destroy(&attr);
	error = posix_trace_start(stream);
	if (error)
		die("posix_trace_start", error);
	return stream;
}

/* --- hashing ----------------------------------------------------------------------------- */

static uint64_t fnv1a(uint64_t hash, const unsigned char *data, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static int hash_file(const char *path, struct ev_hashed *result)
{
	unsigned char buffer[65536];
	struct ev_file opened = { result->file, result->worker };
	struct ev_chunk chunk = { result->file, 0 };
	int error = 0;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return errno;
	trace(EV_FILE_OPEN, &opened, sizeof(opened));
	result->bytes = 0;
	result->hash = UINT64_C(0xcbf29ce484222325);
	while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
		if (n < 0) {
			if (errno == EINTR)
				continue;
			error = errno;
			break;
		}
		chunk.bytes = (uint32_t)n;
		trace(EV_FILE_CHUNK, &chunk, sizeof(chunk));
		result->hash = fnv1a(result->hash, buffer, (size_t)n);
		result->bytes += (uint64_t)n;
	}
	close(fd);
	return error;
}

static void *work(void *arg)
{
	struct worker *self = arg;
	struct job job;
	struct ev_queue queue;

	trace(EV_WORKER_START, &self->done, sizeof(self->done));
	while (queue_take(&job, &queue.length, trace_queue_empty)) {
		struct ev_hashed hashed = { job.file, self->done.worker, 0, 0 };
		struct ev_error failed = { job.file, 0 };

		trace(EV_QUEUE_LENGTH, &queue, sizeof(queue));
		failed.error = hash_file(job.path, &hashed);
		if (failed.error) {
			trace_path(EV_FILE_ERROR, &failed, sizeof(failed), job.path);
			fprintf(stderr, "dirhash: %s: %s\n", job.path, strerror(failed.error));
			self->errors++;
		} else {
			trace(EV_FILE_HASHED, &hashed, sizeof(hashed));
			self->done.files++;
			self->done.bytes += hashed.bytes;
			if (print_hashes)
				printf("%016llx  %s\n", (unsigned long long)hashed.hash, job.path);
		}
		free(job.path);
	}
	trace(EV_WORKER_STOP, &self->done, sizeof(self->done));
	return NULL;
}

/* --- the walk ---------------------------------------------------------------------------- */

static char *join(const char *dir, const char *name)
{
	size_t dir_bytes = strlen(dir), name_bytes = strlen(name);
	char *path = malloc(dir_bytes + name_bytes + 2);

	if (!path)
		die("out of memory", ENOMEM);
	memcpy(path, dir, dir_bytes);
	path[dir_bytes] = '/';
	memcpy(path + dir_bytes + 1, name, name_bytes + 1);
	return path;
}

static void dir_failed(const char *path, int error)
{
	struct ev_error failed = { 0, error };

	trace_path(EV_DIR_ERROR, &failed, sizeof(failed), path);
	fprintf(stderr, "dirhash: %s: %s\n", path, strerror(error));
	walk_errors++;
}

static void enqueue(char *path)
{
	struct ev_file queued = { walk.files, 0 };
	struct job job = { walk.files++, path };

	/* Before queue_put(): a worker may hash the file before this thread continues. */
	trace_path(EV_FILE_QUEUED, &queued, sizeof(queued), path);
	queue_put(job, trace_queue_full);
}

/* Symbolic links are not followed, so the walk ends. */
static void walk_dir(const char *path)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	dir = opendir(path);
	if (!dir) {
		dir_failed(path, errno);
		return;
	}
	walk.dirs++;
	trace_path(EV_DIR_BEGIN, NULL, 0, path);
	while ((entry = readdir(dir))) {
		char *child;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		child = join(path, entry->d_name);
		if (lstat(child, &st)) {
			dir_failed(child, errno);
		} else if (S_ISREG(st.st_mode)) {
			enqueue(child); /* the queue owns `child` now */
			continue;
		} else if (S_ISDIR(st.st_mode)) {
			walk_dir(child);
		}
		free(child);
	}
	trace_path(EV_DIR_END, NULL, 0, path);
	closedir(dir);
}

/* --- main -------------------------------------------------------------------------------- */

static void usage(void)
{
	fprintf(stderr, "usage: dirhash [-j THREADS] [-l LOGFILE] [-p] DIR\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static struct worker pool[THREADS_MAX];
	const char *logfile = "dirhash.trace";
	unsigned long long bytes = 0;
	unsigned long files = 0, errors;
	long threads = 4, i;
	trace_id_t stream;
	int error, option;

	while ((option = getopt(argc, argv, "j:l:p")) != -1) {
		if (option == 'j')
			threads = strtol(optarg, NULL, 10);
		else if (option == 'l')
			logfile = optarg;
		else if (option == 'p')
			print_hashes = 1;
		else
			usage();
	}
	if (optind != argc - 1 || threads < 1 || threads > THREADS_MAX)
		usage();

	open_event_types();
	stream = start_tracing(logfile);

	for (i = 0; i < threads; i++) {
		pool[i].done.worker = (uint32_t)i;
		error = pthread_create(&pool[i].thread, NULL, work, &pool[i]);
		if (error)
			die("pthread_create", error);
	}
	walk_dir(argv[optind]);
	trace(EV_WALK_DONE, &walk, sizeof(walk));
	queue_close();
	errors = walk_errors;
	for (i = 0; i < threads; i++) {
		pthread_join(pool[i].thread, NULL);
		files += pool[i].done.files;
		bytes += pool[i].done.bytes;
		errors += pool[i].errors;
	}

	/* posix_trace_shutdown() does the last flush. When it returns, the log is complete. */
	error = posix_trace_shutdown(stream);
	if (error)
		die("posix_trace_shutdown", error);
	fprintf(stderr,
		"dirhash: %lu files, %llu bytes, %lu directories, %ld threads, %lu errors\n", files,
		bytes, (unsigned long)walk.dirs, threads, errors);
	return errors > 0;
}
