/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_look_np(): streams as who takes no part in them sees them. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/stream.h"

#define MOST 80

/* What was seen, with its pointers' contents. */
struct sight {
	struct posix_trace_stream_np stream;
	pid_t member[16];
	char filtered[256]; /* names of the event types that are filtered out */
	char names[256];    /* names of user event types */
};

struct sights {
	pid_t only; /* whose streams are wanted, 0: all */
	size_t n;
	struct sight sight[MOST];
};

static bool is_filtered(const struct posix_trace_stream_np *stream, unsigned type)
{
	int member;

	OK(posix_trace_eventset_ismember(type, &stream->filter, &member));
	return member != 0;
}

static void take(void *arg, const struct posix_trace_stream_np *stream)
{
	struct sights *into = arg;
	struct sight *sight = &into->sight[into->n];

	if (into->only && (stream->ended || stream->pid != into->only))
		return;
	ck_assert_uint_lt(into->n++, MOST);
	memset(sight, 0, sizeof(*sight));
	sight->stream = *stream;
	for (size_t i = 0; i < stream->members && i < 16; i++)
		sight->member[i] = stream->member[i];
	for (unsigned type = 1; type < stream->event_names; type++) {
		const char *name = stream->event_name[type];

		if (!name)
			continue;
		if (is_filtered(stream, type))
			strcat(strcat(sight->filtered, name), " ");
		if (type > POSIX_TRACE_UNNAMED_USEREVENT)
			strcat(strcat(sight->names, name), " ");
	}
}

static struct sights sights;

static struct sights *look(pid_t pid)
{
	sights.only = 0;
	sights.n = 0;
	OK(posix_trace_look_np(pid, take, &sights));
	return &sights;
}

/* The streams of pid; there may be any number of others on this machine. */
static struct sights *look_at_all_for(pid_t pid)
{
	sights.only = pid;
	sights.n = 0;
	OK(posix_trace_look_np(POSIX_TRACE_EVERY_PROCESS_NP, take, &sights));
	return &sights;
}

/* The only stream of pid. */
static const struct sight *look_at_one(pid_t pid)
{
	look(pid);
	ck_assert_uint_eq(sights.n, 1);
	return &sights.sight[0];
}

static trace_id_t attach_to(pid_t pid, const struct wish *wish)
{
	trace_attr_t attr;
	trace_id_t trid;

	wish_attr(&attr, wish);
	OK(posix_trace_create(pid, &attr, &trid));
	OK(posix_trace_attr_destroy(&attr));
	return trid;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return nanoseconds(&now);
}

START_TEST(a_stream_is_seen_with_its_attributes)
{
	int64_t before = now_ns();
	trace_id_t trid = STREAM(.policy = POSIX_TRACE_UNTIL_FULL, .size = 30000, .max_data = 77,
				 .inheritance = POSIX_TRACE_INHERITED, .name = "a name");
	const struct posix_trace_stream_np *stream = &look_at_one(0)->stream;

	ck_assert_int_eq(stream->pid, getpid());
	ck_assert_int_eq(stream->creator, getpid());
	ck_assert_int_eq(stream->ended, 0);
	ck_assert_int_eq(stream->waiting, 0);
	ck_assert_uint_eq(stream->members, 0);
	ck_assert_str_eq(stream->name, "a name");
	ck_assert_int_ge(stream->creation_ns, before);
	ck_assert_int_le(stream->creation_ns, now_ns());
	ck_assert_int_eq(stream->inheritance, POSIX_TRACE_INHERITED);
	ck_assert_int_eq(stream->stream_full_policy, POSIX_TRACE_UNTIL_FULL);
	ck_assert_int_eq(stream->log_full_policy, 0);
	ck_assert_uint_eq(stream->stream_size, stream_size(trid));
	ck_assert_uint_eq(stream->max_data_size, 77);
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(stream->stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_uint_eq(stream->recorded, 0);
	shut(trid);
	ck_assert_uint_eq(look(0)->n, 0);
}
END_TEST

START_TEST(a_log_is_told)
{
	char path[] = "/tmp/posixtrace-look-XXXXXX";
	int fd = mkstemp(path);
	trace_attr_t attr;
	trace_id_t trid;

	ck_assert_int_ge(fd, 0);
	unlink(path);
	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_FLUSH });
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(0, &attr, fd, &trid));
	OK(posix_trace_attr_destroy(&attr));
	close(fd);
	ck_assert_int_eq(look_at_one(0)->stream.stream_full_policy, POSIX_TRACE_FLUSH);
	ck_assert_int_eq(look_at_one(0)->stream.log_full_policy, POSIX_TRACE_APPEND);
	shut(trid);
}
END_TEST

START_TEST(counts_are_those_of_the_ledger)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 8192);
	const struct posix_trace_stream_np *stream;
	struct posix_trace_ledger_np ledger;

	trace_number(u, 1);
	stream = &look_at_one(0)->stream;
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_RUNNING);
	ck_assert_uint_eq(stream->recorded, 2);
	ck_assert_uint_lt(stream->chunks_taken, stream->chunks);
	fill(trid, u, 100, 2);
	for (int i = 0; i < 50; i++)
		trace_number(u, i);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	stream = &look_at_one(0)->stream;
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(stream->stream_full_status, POSIX_TRACE_FULL);
	ck_assert_uint_eq(stream->chunks_taken, stream->chunks);
	ck_assert_uint_ge(stream->lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 50);
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		ck_assert_uint_eq(stream->lost[cause], ledger.lost[cause]);
	ck_assert_uint_eq(stream->recorded, ledger.unread);
	shut(trid);
}
END_TEST

START_TEST(a_loop_is_full_for_good)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 8192);
	const struct posix_trace_stream_np *stream;
	struct posix_trace_ledger_np ledger;

	overrun(trid, u, 100, 1);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	stream = &look_at_one(0)->stream;
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_RUNNING);
	ck_assert_int_eq(stream->stream_full_status, POSIX_TRACE_FULL);
	ck_assert_uint_gt(stream->lost[POSIX_TRACE_LOST_OVERWRITTEN_NP], 0);
	/* The creator leaves out more, so that what it reports has no gap. */
	ck_assert_uint_le(stream->lost[POSIX_TRACE_LOST_OVERWRITTEN_NP],
			  ledger.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP]);
	shut(trid);
}
END_TEST

START_TEST(the_filter_is_told_by_names)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t trid = STARTED();
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(b, &set));
	OK(posix_trace_eventset_add(POSIX_TRACE_OVERFLOW, &set));
	ck_assert_str_eq(look_at_one(0)->filtered, "");
	ck_assert_str_eq(look_at_one(0)->names, "a b ");
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	ck_assert_str_eq(look_at_one(0)->filtered, "posix_trace_overflow b ");
	trace_number(a, 1);
	shut(trid);
}
END_TEST

START_TEST(each_stream_of_a_process_is_seen)
{
	trace_id_t trid[20];
	bool seen[20] = { false };
	char name[8];

	for (int i = 0; i < 20; i++) {
		name[0] = (char)('a' + i);
		name[1] = '\0';
		trid[i] = STREAM(.name = name);
	}
	look(0);
	ck_assert_uint_eq(sights.n, 20);
	for (size_t i = 0; i < 20; i++) {
		int which = sights.sight[i].stream.name[0] - 'a';

		ck_assert(which >= 0 && which < 20 && !seen[which]);
		seen[which] = true;
	}
	for (int i = 0; i < 20; i += 2)
		shut(trid[i]);
	ck_assert_uint_eq(look(0)->n, 10);
	for (int i = 1; i < 20; i += 2)
		shut(trid[i]);
}
END_TEST

START_TEST(another_process_is_seen_and_who_traces_it)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ .name = "mine" });
	const struct sight *sight;

	start(trid);
	puppet_tell(&puppet, PUPPET_MANY);
	sight = look_at_one(puppet.pid);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->stream.creator, getpid());
	ck_assert_str_eq(sight->stream.name, "mine");
	ck_assert_uint_eq(sight->stream.recorded, PUPPET_MANY_EVENTS + 1);
	ck_assert_str_eq(sight->names, "u ");
	ck_assert_uint_eq(look(0)->n, 0);
	shut(trid);
	ck_assert_uint_eq(look(puppet.pid)->n, 0);
	puppet_end(&puppet);
}
END_TEST

/* A child of this process that traces another process; it ends when its life descriptor closes. */
static pid_t trace_in_child(pid_t target, int *life)
{
	int ready[2], end[2];
	pid_t child;
	char c = 0;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	if (child == 0) {
		trace_id_t trid;

		close(end[1]);
		if (posix_trace_create(target, NULL, &trid) || posix_trace_start(trid) ||
		    write(ready[1], &c, 1) != 1)
			_exit(1);
		_exit(read(end[0], &c, 1) != 0);
	}
	close(ready[1]);
	close(end[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	*life = end[1];
	return child;
}

/* Whoever looks opens and closes files on which others, and it itself, have locks. */
START_TEST(looking_takes_nothing_from_anybody)
{
	struct puppet puppet = puppet_start();
	trace_id_t mine = attach_to(puppet.pid, &(struct wish){ .name = "mine" });
	int life, status;
	pid_t child = trace_in_child(puppet.pid, &life);

	start(mine);
	for (int i = 0; i < 5; i++) {
		look(puppet.pid);
		ck_assert_uint_eq(sights.n, 2);
		ck_assert_int_eq(sights.sight[0].stream.creator, getpid());
		ck_assert_int_eq(sights.sight[1].stream.creator, child);
		ck_assert_uint_eq(look_at_all_for(puppet.pid)->n, 2);
		/* Its trace points look now and then whether who traces it is still there. */
		puppet_tell(&puppet, PUPPET_MANY);
	}
	/* The kernel tells another process of our lock, but not ourselves. */
	if (fork() == 0) {
		look(puppet.pid);
		_exit(sights.n == 2 && sights.sight[0].stream.creator == getppid() ? 0 : 1);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(life);
	ck_assert_int_eq(look(puppet.pid)->sight[1].stream.creator, POSIX_TRACE_CREATOR_GONE_NP);
	stop(mine);
	ck_assert_uint_eq(look(puppet.pid)->sight[0].stream.recorded, 5 * PUPPET_MANY_EVENTS + 2);
	shut(mine);
	puppet_end(&puppet);
}
END_TEST

START_TEST(who_inherited_a_stream_is_seen)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = attach_to(puppet.pid,
				    &(struct wish){ .inheritance = POSIX_TRACE_INHERITED });
	trace_id_t other = attach_to(puppet.pid, &(struct wish){ .name = "not inherited" });
	const struct sight *sight;
	pid_t child;

	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_ONE);
	look(puppet.pid);
	ck_assert_uint_eq(sights.n, 2);
	ck_assert_uint_eq(sights.sight[0].stream.members, 1);
	child = sights.sight[0].member[0];
	ck_assert_int_ne(child, puppet.pid);
	ck_assert_uint_eq(sights.sight[1].stream.members, 0);
	/* The child has the one stream that it inherited, and it is its parent's. */
	sight = look_at_one(child);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->member[0], child);
	ck_assert_int_eq(sight->stream.ended, 0);
	/* The parent ends, the child goes on. */
	kill(puppet.pid, SIGKILL);
	ck_assert_int_eq(waitpid(puppet.pid, NULL, 0), puppet.pid);
	puppet_tell(&puppet, PUPPET_ONE);
	sight = look_at_one(child);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->stream.ended, 1);
	ck_assert_uint_eq(sight->stream.members, 1);
	shut(trid);
	shut(other);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

START_TEST(a_process_that_does_not_know_the_library_waits)
{
	struct puppet puppet = puppet_start_plain();
	const struct sight *sight;
	trace_id_t trid;
	char name[32] = "";

	/* Until it is a shell: this program's own arena is closed then. */
	while (strcmp(name, "sh\n") != 0) {
		char path[40];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/comm", (int)puppet.pid);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(name, sizeof(name), file));
		fclose(file);
	}
	trid = attach_to(puppet.pid, &(struct wish){ 0 });
	start(trid);
	sight = look_at_one(puppet.pid);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->stream.waiting, 1);
	ck_assert_int_eq(sight->stream.ended, 0);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	sight = look_at_one(puppet.pid);
	ck_assert_int_eq(sight->stream.waiting, 0);
	ck_assert_uint_eq(sight->stream.recorded, 2);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

static void count(void *arg, const struct posix_trace_stream_np *stream)
{
	++*(int *)arg;
	ck_assert_ptr_nonnull(stream);
}

START_TEST(what_cannot_be_looked_at_is_told)
{
	pid_t child = fork();
	int status, calls = 0;

	if (child == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	FAILS(ESRCH, posix_trace_look_np(child, count, &calls));
	FAILS(ESRCH, posix_trace_look_np(-2, count, &calls));
	FAILS(EINVAL, posix_trace_look_np(0, NULL, NULL));
	ck_assert_int_eq(calls, 0);
}
END_TEST

/* PRIV-01: as for tracing */
START_TEST(others_may_not_look)
{
	struct puppet puppet;
	trace_id_t trid;
	pid_t child;
	int status;

	if (geteuid() != 0)
		return; /* only root can become somebody else */
	puppet = puppet_start();
	trid = attach_to(puppet.pid, &(struct wish){ 0 });
	child = fork();
	if (child == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(250);
		if (posix_trace_look_np(puppet.pid, take, NULL) != EPERM)
			_exit(1);
		_exit(look_at_all_for(puppet.pid)->n == 0 ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

static void shut_it(void *arg, const struct posix_trace_stream_np *stream)
{
	trace_id_t *trid = arg;

	ck_assert_str_eq(stream->name, "mine");
	shut(*trid);
	OK(posix_trace_create(0, NULL, trid));
}

START_TEST(a_visitor_may_do_what_it_likes)
{
	trace_id_t trid = STREAM(.name = "mine");

	OK(posix_trace_look_np(0, shut_it, &trid));
	ck_assert_str_eq(look_at_one(0)->stream.name, "");
	shut(trid);
}
END_TEST

static _Atomic bool enough;
static _Atomic unsigned long called; /* rather too early than too late */

static void *come_and_go(void *arg)
{
	trace_event_id_t u = type_of("u");

	while (!enough) {
		trace_id_t trid = STARTED(.size = 16384, .name = "comes and goes");

		called += 2; /* START and STOP */
		for (int i = 0; i < 200; i++) {
			called++;
			trace_number(u, i);
		}
		shut(trid);
	}
	return arg;
}

START_TEST(streams_come_and_go_meanwhile)
{
	struct puppet puppet = puppet_start();
	pthread_t thread[3];
	size_t seen = 0;

	for (int i = 0; i < 3; i++)
		thread[i] = spawn(come_and_go, NULL);
	for (int n = 0; n < 300 || seen == 0; n++) {
		if (n % 2)
			look(0);
		else
			look_at_all_for(getpid());
		for (size_t i = 0; i < sights.n; i++) {
			const struct posix_trace_stream_np *stream = &sights.sight[i].stream;

			seen++;
			ck_assert_str_eq(stream->name, "comes and goes");
			ck_assert_uint_le(stream->recorded, called + 3); /* a START is not counted yet */
			ck_assert_uint_le(stream->chunks_taken, stream->chunks);
			ck_assert_uint_eq(stream->lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 0);
		}
	}
	enough = true;
	for (int i = 0; i < 3; i++)
		join(thread[i]);
	puppet_end(&puppet);
}
END_TEST

SUITE_MAIN("posix_trace_look_np", a_stream_is_seen_with_its_attributes, a_log_is_told,
	   counts_are_those_of_the_ledger, a_loop_is_full_for_good, the_filter_is_told_by_names,
	   each_stream_of_a_process_is_seen, another_process_is_seen_and_who_traces_it,
	   looking_takes_nothing_from_anybody, who_inherited_a_stream_is_seen,
	   a_process_that_does_not_know_the_library_waits, what_cannot_be_looked_at_is_told,
	   others_may_not_look, a_visitor_may_do_what_it_likes, streams_come_and_go_meanwhile)
