/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ship.c - the command ship: sends logs to a fleet's database, to a folder of Parquet files, or to
 * a collector.
 */
#include "ship/ship.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/out.h"
#include "base/quantity.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "base/vec.h"
#include "base/when.h"
#include "query/query_account.h"
#include "ship/collector.h"
#include "ship/gzip.h"

extern const struct tool_command ship_command;

#define FOLDER_SCHEME "parquet:"

#define BATCH      200000
#define BATCH_MOST 1000000 /* the server may divide an INSERT of more rows into several parts */
#define GIVE_UP_NS INT64_C(60000000000)
#define EXPIRE_NS  INT64_C(3600000000000)
#define KEEP_MOST  36500 /* days */
#define CONFIRM_NS INT64_C(10000000000)
#define PAUSE_LEAST_NS INT64_C(1000000000)
#define PAUSE_MOST_NS  INT64_C(60000000000)
#define STUCK_PAUSE_NS INT64_C(10000000000)

static struct {
	struct ship_options options;
	const char *to;
	const char *root;        /* the folder of --to parquet:DIR; NULL: another target */
	struct collector collector;
	bool is_to_collector;
	int64_t give_up_ns, timeout_ns;
	/* the least pause of --follow between two rounds; 0: --every was not given */
	int64_t every_ns;
	bool is_replicated, follows, prints_schema;
	struct spool spool;
	unsigned seen;           /* a bit for each option that was given: BIT_OF() */
} given = { .options = { .batch = BATCH, .has_symbols = true }, .give_up_ns = -1,
	    .timeout_ns = GIVE_UP_NS };

static void stop_ship(int number)
{
	(void)number;
	ship_stopped = 1;
}

/* ------------------------------------------------------------------ the logs */

/* A log that the command line names, or that is in a folder that the command line names. */
struct candidate {
	char *path;
	off_t bytes;             /* size of the file at the last call of has_changed() */
	struct timespec changed;
	unsigned made;           /* link->made when the log was last shipped */
	bool is_named;
	bool is_ended, is_seen;
	/*
	 * the message was printed that the log cannot be shipped, or that another process ships it
	 */
	bool has_message;
};

struct candidates {
	struct candidate *candidate;
	size_t count;
	/* a log of a folder was removed, so the folder may get further logs */
	bool has_removed_logs;
};

static bool add_candidate(struct candidates *list, const char *path, bool is_named)
{
	struct candidate *more;

	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->candidate[i].path, path))
			return true;
	if (!vec_grow(&list->candidate, list->count, 1))
		return false;
	more = list->candidate;
	more[list->count] = (struct candidate){ .path = strdup(path), .is_named = is_named };
	return more[list->count++].path;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Returns whether a file of a folder can be shipped: a log or, into a database, the account of a
 * dropped log. An account is not shipped while its log exists, because the log was not dropped. But
 * it is shipped if another log has the name. If a name begins with a dot, the file is just being
 * made.
 */
static bool is_shippable(const char *path, const char *name)
{
	char *log = account_is_name(name) ? strdup(path) : NULL;
	bool good;

	if (*name == '.')
		good = false;
	else if (!log)
		good = spool_has_log(path);
	else {
		log[strlen(log) - strlen(ACCOUNT_SUFFIX)] = '\0';
		good = !given.root && !given.is_to_collector && !given.options.is_dry &&
		       (access(log, F_OK) != 0 || !account_is_of(path, log));
	}
	free(log);
	return good;
}

/* Adds the logs of a folder in the order of their names. Returns TOOL_OK or TOOL_FAILURE. */
static int add_folder(struct candidates *list, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char **name = NULL, *path;
	size_t count = 0;
	bool good = true;

	if (!dir) {
		say("%s: %s", folder, strerror(errno));
		return TOOL_FAILURE;
	}
	while (good && (entry = readdir(dir))) {
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			path = NULL;
		good = path && vec_grow(&name, count, 1);
		if (good && is_shippable(path, entry->d_name))
			name[count++] = path;
		else
			free(path);
	}
	closedir(dir);
	if (count)
		qsort(name, count, sizeof(*name), by_path);
	for (size_t i = 0; i < count; i++) {
		good = good && add_candidate(list, name[i], false);
		free(name[i]);
	}
	free(name);
	if (!good)
		say("%s", strerror(ENOMEM));
	return good ? TOOL_OK : TOOL_FAILURE;
}

static int add_operand(struct candidates *list, const char *path)
{
	struct stat status;

	if (strcmp(path, "-") != 0 && !stat(path, &status) && S_ISDIR(status.st_mode))
		return add_folder(list, path);
	if (add_candidate(list, path, true))
		return TOOL_OK;
	say("%s", strerror(ENOMEM));
	return TOOL_FAILURE;
}

/*
 * Adds the logs of all operands. Returns TOOL_OK or TOOL_FAILURE. After a failure the list may lack
 * logs of a spool. This process does not ship these logs, so it must not drop any, and it ends
 * without a limit of the spool.
 */
static int add_operands(struct candidates *list, char **operand, int operands)
{
	int status = TOOL_OK;

	for (int i = 0; i < operands; i++)
		status = tool_worse(status, add_operand(list, operand[i]));
	if (status == TOOL_FAILURE)
		given.spool.bytes = 0;
	return status;
}

/* Returns whether the file is unchanged since the last call of has_changed(). */
static bool is_as_before(const struct candidate *candidate, const struct stat *status)
{
	return candidate->bytes == status->st_size &&
	       candidate->changed.tv_sec == status->st_mtim.tv_sec &&
	       candidate->changed.tv_nsec == status->st_mtim.tv_nsec;
}

/*
 * Returns whether the log is complete and its file is still the same. A program that starts again
 * may write another log under this name.
 */
static bool has_ended(const struct candidate *candidate)
{
	struct stat status;

	return candidate->is_ended &&
	       (stat(candidate->path, &status) || is_as_before(candidate, &status));
}

/* Returns whether no tables were made since the log was last shipped. */
static bool is_current(const struct candidate *candidate, const struct link *link)
{
	return !link || candidate->made == link->made;
}

/* Returns true if the file has changed since the last call, or if it has not been shipped yet. */
static bool has_changed(struct candidate *candidate)
{
	struct stat status;

	if (stat(candidate->path, &status))
		return !candidate->is_seen;
	if (candidate->is_seen && is_as_before(candidate, &status))
		return false;
	candidate->bytes = status.st_size;
	candidate->changed = status.st_mtim;
	return true;
}

/* ------------------------------------------------------------------ runs */

static int ship_one(struct link *link, const char *path, bool is_last, enum shipment_state *state)
{
	if (given.is_to_collector)
		return otlp_run(&given.options, &given.collector, path, is_last, state);
	if (link && account_is_name(path))
		return dropped_run(&given.options, link, path, is_last, state);
	return given.root ? folder_run(&given.options, given.root, path, is_last, state)
			  : shipment_run(&given.options, link, path, is_last, state);
}

/* The folder of --to parquet:DIR, if it is followed. */
static struct {
	struct retry retry;   /* the reasons that were printed */
	bool is_stuck;        /* in this round, a log could not be written */
	bool is_written;      /* in this round, a log was written */
} followed = { .retry.recovered = "the folder can be written again" };

/*
 * With --follow, ships one log into the folder. If this fails, for example because a disk is full,
 * the log is tried again in each round. The other logs of the round are tried, too, because they
 * may be smaller. The messages about the first log that fails have the reason, so those about the
 * others are not printed.
 */
static int follow_folder(const char *path, enum shipment_state *state)
{
	char messages[2 * RETRY_REASON_BYTES], *more = messages, *message;
	bool is_stuck;
	int status;

	say_keep(messages, sizeof(messages));
	status = folder_run(&given.options, given.root, path, false, state);
	say_keep(NULL, 0);
	is_stuck = *state == SHIPMENT_STUCK;
	while ((message = strsep(&more, "\n")))
		if (*message && !is_stuck)
			say("%s", message);
		else if (*message && !followed.is_stuck)
			retry_failed(&followed.retry, message);
	followed.is_stuck |= is_stuck;
	followed.is_written |= *state == SHIPMENT_ENDED;
	return is_stuck ? TOOL_OK : status;
}

/*
 * Ends a round of follow_folder(). Returns the shortest time before the next round. The time
 * doubles with each round that fails, up to a limit.
 */
static int64_t end_folder_round(void)
{
	static int64_t pause_ns;

	if (!followed.is_stuck && followed.is_written)
		retry_succeeded(&followed.retry);
	pause_ns = !followed.is_stuck ? 0 : pause_ns ? 2 * pause_ns : PAUSE_LEAST_NS;
	if (pause_ns > STUCK_PAUSE_NS)
		pause_ns = STUCK_PAUSE_NS;
	followed.is_stuck = followed.is_written = false;
	return pause_ns;
}

/*
 * With --follow, ships the present events of one log. A log in a folder may be unreadable, because
 * it is just being made or removed. Such a log is tried again when it has changed. A log that
 * another process ships is tried again each time.
 */
static int follow_one(struct candidate *candidate, struct link *link)
{
	const char *message = NULL;
	enum shipment_state state;
	int status;

	if (!has_changed(candidate))
		return TOOL_OK;
	status = given.root ? follow_folder(candidate->path, &state)
			    : ship_one(link, candidate->path, false, &state);
	candidate->is_ended = state == SHIPMENT_ENDED;
	candidate->is_seen = state != SHIPMENT_BUSY && state != SHIPMENT_STUCK;
	if (state == SHIPMENT_BUSY)
		message = "another process ships this log";
	else if (state == SHIPMENT_FAULTY && candidate->is_named)
		message = "it cannot be shipped";
	else if (state == SHIPMENT_FAULTY && !access(candidate->path, F_OK))
		message = "it cannot be shipped before it has changed";
	if (message && !candidate->has_message)
		say("%s: %s", candidate->path, message);
	candidate->has_message = message;
	return state == SHIPMENT_FAULTY && !candidate->is_named ? TOOL_OK : status;
}

/* Deletes old logs at the first call, and then once an hour. */
static int expire_logs(struct link *link)
{
	static int64_t last_ns;
	int64_t now_ns = until_now_ns();

	if (!given.options.keep_days || !link || (last_ns && now_ns - last_ns < EXPIRE_NS))
		return TOOL_OK;
	last_ns = now_ns;
	return keep_expire(link, given.options.keep_days) ? TOOL_OK : TOOL_FAILURE;
}

/* Returns whether the receiver has not answered for the time of --give-up. */
static bool has_given_up(const struct link *link)
{
	return given.collector.retry.has_given_up || (link && link->retry.has_given_up);
}

static int ship_all(struct candidates *list, struct link *link, bool is_last)
{
	enum shipment_state state;
	int status = expire_logs(link);

	for (size_t i = 0; i < list->count && !ship_stopped && !has_given_up(link); i++) {
		struct candidate *candidate = &list->candidate[i];

		/*
		 * The database may have lost a log that was shipped before its tables were made.
		 * Without --follow, any other log of the list is shipped once.
		 */
		if (!is_current(candidate, link))
			candidate->is_ended = candidate->is_seen = false;
		candidate->made = link ? link->made : 0;
		/* The spool may have dropped a log of the list while the server was absent. */
		if (has_ended(candidate) || (is_last && candidate->is_seen) ||
		    (given.spool.bytes && !candidate->is_named && access(candidate->path, F_OK)))
			continue;
		status = tool_worse(status, is_last ? ship_one(link, candidate->path, true, &state)
						    : follow_one(candidate, link));
		candidate->is_seen |= is_last;
		candidate->made = link ? link->made : 0;
	}
	return status;
}

/*
 * Looks for tables that another process has made again, unless this was done within "age_ns".
 * Returns whether the tables are those into which all logs of the list were shipped. If not, the
 * caller ships the logs again.
 */
static bool have_tables_remained(const struct candidates *list, struct link *link, int64_t age_ns)
{
	if (link && list->count && !ship_stopped && !has_given_up(link) &&
	    !link->retry.failing_ns)
		link_confirm_once(link, age_ns);
	for (size_t i = 0; i < list->count; i++)
		if (!is_current(&list->candidate[i], link))
			return false;
	return true;
}

/*
 * Removes from the list the logs that were in a folder and no longer exist. Otherwise the list
 * would grow without limit.
 */
static void forget_removed(struct candidates *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct candidate *candidate = &list->candidate[i];

		if (!candidate->is_named && access(candidate->path, F_OK) && errno == ENOENT)
			free(candidate->path);
		else
			list->candidate[kept++] = *candidate;
	}
	list->has_removed_logs |= kept < list->count;
	list->count = kept;
}

/*
 * Returns the pause before the next round. A round reads growing logs from their beginning, so a
 * pause is ten times the processor time of the round, within limits. The time of a round itself
 * does not count, because it includes the time during which the server was absent. Each round sends
 * an INSERT for each log that has grown, and a part of a table costs the server much more than a
 * row. So --every makes the pause longer, also beyond the upper limit.
 */
static int64_t pause_after(int64_t used_ns)
{
	const int64_t least_ns = given.every_ns ? given.every_ns : PAUSE_LEAST_NS;
	int64_t pause_ns = 10 * used_ns;

	if (pause_ns > PAUSE_MOST_NS)
		pause_ns = PAUSE_MOST_NS;
	return pause_ns < least_ns ? least_ns : pause_ns;
}

/* Returns the processor time of this process. */
static int64_t used_now(void)
{
	struct timespec used = { .tv_sec = 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return when_timespec(&used);
}

/*
 * Limits the spool after a round, or when the server cannot be reached. The function is not called
 * before the first round if the server can be reached: it would drop logs that this round ships.
 * After a signal the function does nothing, because the next run ships the logs.
 */
static void limit_spool(void)
{
	if (!ship_stopped)
		spool_limit(&given.spool);
}

/*
 * With --follow, ships all logs again and again, with the pauses of pause_after(). A signal or a
 * failure ends the loop. The loop also ends when all logs are complete and there are as many logs
 * as operands. It continues if a folder has or had several logs, or has an account, since this
 * folder may get more logs. The output of each round is written at its end.
 */
static int follow_all(struct candidates *list, struct link *link, char **operand, int operands)
{
	int status = TOOL_OK;

	while (!ship_stopped) {
		int64_t begin_ns = used_now(), pause_ns, stuck_ns;
		bool is_over = true;

		forget_removed(list);
		status = tool_worse(status, add_operands(list, operand, operands));
		status = tool_worse(status, ship_all(list, link, false));
		limit_spool();
		for (size_t i = 0; i < list->count; i++) {
			const struct candidate *candidate = &list->candidate[i];

			is_over = is_over && candidate->is_ended && is_current(candidate, link) &&
				  (candidate->is_named || !account_is_name(candidate->path));
		}
		if (list->count != (size_t)operands || list->has_removed_logs)
			is_over = false;
		if (!have_tables_remained(list, link, is_over ? 0 : CONFIRM_NS))
			is_over = false;
		stuck_ns = end_folder_round();
		if (is_over || status == TOOL_FAILURE)
			break;
		out_flush(&out_stdout);
		pause_ns = pause_after(used_now() - begin_ns);
		ship_pause(pause_ns > stuck_ns ? pause_ns : stuck_ns);
	}
	/* A signal has ended the command although logs remain to be written. */
	return followed.retry.failing_ns ? TOOL_FAILURE : status;
}

/*
 * Shipment into a folder or to a collector reads a log twice. Therefore the function copies a pipe
 * to a temporary file, which becomes the standard input. Returns an exit status.
 */
static int keep_standard_input(void)
{
	struct logfile log;
	int status = logfile_open_fd(&log, "-");

	if (status)
		return status;
	if (dup2(log.fd, STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET)) {
		say("standard input: %s", strerror(errno));
		status = TOOL_FAILURE;
	}
	close(log.fd);
	return status;
}

/* Ships all logs once, and limits the spool. */
static int ship_once(struct candidates *list, struct link *link, char **operand, int operands)
{
	int status = add_operands(list, operand, operands);

	if (status == TOOL_FAILURE)
		return status;
	do
		status = tool_worse(status, ship_all(list, link, true));
	while (status != TOOL_FAILURE && !ship_stopped && !have_tables_remained(list, link, 0));
	limit_spool();
	return status;
}

static int run_ship(struct link *link, char **operand, int operands)
{
	struct sigaction action = { .sa_handler = stop_ship };
	struct candidates list = { .count = 0 };
	int status = TOOL_OK;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (int i = 0; i < operands; i++)
		if (!strcmp(operand[i], "-") && keep_standard_input())
			return TOOL_FAILURE;
	/* While the server is absent, no log is locked here, so the oldest one is dropped first. */
	if (given.spool.bytes && !link_reach(link)) {
		status = TOOL_FAILURE;
		limit_spool();
	} else if (given.follows) {
		status = follow_all(&list, link, operand, operands);
	} else {
		status = ship_once(&list, link, operand, operands);
	}
	for (size_t i = 0; i < list.count; i++)
		free(list.candidate[i].path);
	free(list.candidate);
	return status;
}

/* Prints the statements that make the tables, for users who want to make the tables themselves. */
static int print_schema(const struct address *address)
{
	const char *replica = given.is_replicated ? FLEET_REPLICA : NULL;
	struct bytes sql = { .at = NULL };
	struct sqlfields none = { NULL, 0 };

	for (unsigned i = 0;; i++) {
		sql.used = 0;
		if (!fleet_create_sql(i, FLEET_LEAN, address->database, replica, &sql))
			break;
		bytes_str(&sql, ";\n");
		out_bytes(&out_stdout, sql.at, sql.used);
	}
	sql.used = 0;
	bytes_printf(&sql, "CREATE VIEW %s.events AS ", address->database);
	fleet_events_view(FLEET_LEAN, address->database, &none, NULL, 0, &sql);
	bytes_str(&sql, ";\n");
	out_bytes(&out_stdout, sql.at, sql.used);
	bytes_free(&sql);
	return out_flush(&out_stdout) ? TOOL_FAILURE : TOOL_OK;
}

/*
 * Sets the folder for positions: the folder of --state, or a folder below the user's folder for the
 * state of programs. Returns false if neither exists.
 */
static bool choose_folder(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *folder = NULL;
	int made = -1;

	if (given.options.folder)
		return true;
	if (state && *state == '/')
		made = asprintf(&folder, "%s/posixtrace/ship", state);
	else if (home && *home == '/')
		made = asprintf(&folder, "%s/.local/state/posixtrace/ship", home);
	given.options.folder = made < 0 ? NULL : folder;
	if (!given.options.folder)
		say("ship: there is no HOME; give a folder with --state");
	return given.options.folder;
}

/* ------------------------------------------------------------------ the command line */

enum {
	OPT_TO = 256,
	OPT_FOLLOW,
	OPT_STATE,
	OPT_HOST,
	OPT_REPLICATED,
	OPT_BATCH,
	OPT_GIVE_UP,
	OPT_TIMEOUT,
	OPT_NO_SYMBOLS,
	OPT_DRY_RUN,
	OPT_SCHEMA,
	OPT_HEADER,
	OPT_KEEP,
	OPT_SPOOL,
	OPT_GZIP,
	OPT_EVERY,
};

/* The options that are valid for each target. */
#define BIT_OF(option)    (1u << ((option) - OPT_TO))
#define FOR_FOLDER        (BIT_OF(OPT_TO) | BIT_OF(OPT_FOLLOW) | BIT_OF(OPT_EVERY) | \
			   BIT_OF(OPT_HOST))
#define FOR_COLLECTOR     (FOR_FOLDER | BIT_OF(OPT_STATE) | BIT_OF(OPT_GIVE_UP) | \
			   BIT_OF(OPT_TIMEOUT) | BIT_OF(OPT_DRY_RUN) | FOR_COLLECTOR_ONLY)
#define FOR_COLLECTOR_ONLY (BIT_OF(OPT_HEADER) | BIT_OF(OPT_GZIP))

static const struct option_row option_rows[] = {
	{ "to", OPT_TO, "URL", "the database: clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE; "
		"several hosts with commas between them are replicas; or parquet:DIR, a folder; or "
		"otlp://HOST[:PORT][/PATH], a collector of OpenTelemetry" },
	{ "follow", OPT_FOLLOW, NULL, "continue while logs grow, and with new logs of a folder" },
	{ "every", OPT_EVERY, "TIME",
		"the pause of --follow; longer pauses cost the server less; the default is 1s" },
	{ "state", OPT_STATE, "DIR",
		"where the positions are kept; the default is ~/.local/state/posixtrace/ship",
		OPTION_FOLDER },
	{ "host", OPT_HOST, "NAME", "the host of the logs, instead of the one in them" },
	{ "replicated", OPT_REPLICATED, NULL,
		"make replicated tables, by the macros {shard} and {replica} of the server" },
	{ "batch", OPT_BATCH, "N", "the most events in one INSERT; the default is 200000" },
	{ "keep", OPT_KEEP, "DAYS",
		"delete logs that were begun more than DAYS days ago from the database" },
	{ "spool", OPT_SPOOL, "SIZE",
		"remove logs of the folders, the oldest first, so that they have SIZE bytes at "
		"most; events that were not shipped are counted as lost" },
	{ "give-up", OPT_GIVE_UP, "TIME",
		"end after this time without an answer; 1m, or never with --follow" },
	{ "timeout", OPT_TIMEOUT, "TIME", "the longest wait for an answer; the default is 1m" },
	{ "header", OPT_HEADER, "HEADER",
		"send a header with each request to a collector; 'NAME: VALUE'; may be repeated" },
	{ "gzip", OPT_GZIP, NULL, "compress the requests to a collector" },
	{ "no-symbols", OPT_NO_SYMBOLS, NULL, "send no functions, files and lines of addresses" },
	{ "dry-run", OPT_DRY_RUN, NULL, "send nothing; print how much there is to ship" },
	{ "schema", OPT_SCHEMA, NULL, "only print the statements that make the tables" },
	OPTION_HELP,
	OPTION_END
};

static bool ship_option(int option)
{
	given.seen |= BIT_OF(option);
	switch (option) {
	case OPT_TO:
		given.to = optarg;
		given.is_to_collector = collector_is(optarg);
		given.root = strncmp(optarg, FOLDER_SCHEME, strlen(FOLDER_SCHEME)) != 0
				     ? NULL
				     : optarg + strlen(FOLDER_SCHEME);
		if (!given.root || *given.root)
			return true;
		say("--to %s: the name of a folder is missing", optarg);
		return false;
	case OPT_FOLLOW:
		return given.follows = true;
	case OPT_EVERY:
		return quantity_span("--every", optarg, &given.every_ns);
	case OPT_STATE:
		given.options.folder = optarg;
		if (*optarg)
			return true;
		say("--state: the name of a folder is missing");
		return false;
	case OPT_HOST:
		given.options.host = optarg;
		if (*optarg && strlen(optarg) < 64)
			return true;
		say("--host: a name has 1 to 63 bytes");
		return false;
	case OPT_REPLICATED:
		return given.is_replicated = true;
	case OPT_BATCH:
		return tool_number_within("--batch", optarg, 1, BATCH_MOST, &given.options.batch);
	case OPT_GIVE_UP:
		return quantity_span("--give-up", optarg, &given.give_up_ns);
	case OPT_TIMEOUT:
		return quantity_span("--timeout", optarg, &given.timeout_ns);
	case OPT_NO_SYMBOLS:
		given.options.has_symbols = false;
		return true;
	case OPT_DRY_RUN:
		return given.options.is_dry = true;
	case OPT_SCHEMA:
		return given.prints_schema = true;
	case OPT_KEEP:
		return tool_number_within("--keep", optarg, 1, KEEP_MOST, &given.options.keep_days);
	case OPT_GZIP:
		return given.collector.is_gzip = true;
	case OPT_SPOOL:
		return quantity_bytes("--spool", optarg, &given.spool.bytes);
	case OPT_HEADER:
		return collector_header(&given.collector, "--header", optarg);
	}
	return false;
}

/*
 * Checks whether the options and the operands can be combined. Returns false after it printed an
 * error.
 */
static bool is_possible(int operands)
{
	if (!given.to && (!given.options.is_dry || given.prints_schema))
		say("ship: give the database with --to");
	else if (given.prints_schema && operands)
		say("ship: --schema reads no log");
	else if (!given.prints_schema && !operands)
		say("ship: the name of a log or folder is missing");
	else if (given.root && given.seen & ~FOR_FOLDER)
		say("ship: --to parquet:DIR permits only the options --follow, --every "
		    "and --host");
	else if (given.is_to_collector && given.seen & ~FOR_COLLECTOR)
		say("ship: --replicated, --batch, --keep, --spool, --no-symbols and --schema have "
		    "no meaning for a collector");
	else if (!given.is_to_collector && given.seen & FOR_COLLECTOR_ONLY)
		say("ship: %s is for a collector: --to otlp://HOST",
		    given.seen & BIT_OF(OPT_GZIP) ? "--gzip" : "--header");
	else if (given.every_ns && !given.follows)
		say("ship: --every has no meaning without --follow");
	else if (given.options.is_dry && given.follows)
		say("ship: --dry-run and --follow cannot be combined");
	else if (given.options.is_dry && given.spool.bytes)
		say("ship: --dry-run removes no logs, so --spool has no meaning");
	else
		return true;
	return false;
}

static int64_t give_up_ns(void)
{
	return given.give_up_ns >= 0 ? given.give_up_ns : given.follows ? 0 : GIVE_UP_NS;
}

static unsigned timeout_s(void)
{
	return (unsigned)((given.timeout_ns + 999999999) / 1000000000);
}

static int to_collector(char **operand, int operands)
{
	struct collector *collector = &given.collector;
	int status;

	collector->retry.give_up_ns = give_up_ns();
	collector->timeout_s = timeout_s();
	if (!collector_parse(collector, "--to", given.to) || !collector_environment(collector))
		status = tool_usage(&ship_command);
	else if (collector->is_gzip && !gzip_load())
		status = TOOL_FAILURE;
	else if (!given.options.is_dry && (!choose_folder() || !collector_open(collector)))
		status = TOOL_FAILURE;
	else
		status = run_ship(NULL, operand, operands);
	collector_free(collector);
	return status;
}

static int ship_run(int argc, char **argv)
{
	struct address address = { .text = NULL };
	struct link link = { .is_replicated = false };
	int option, status;

	while ((option = tool_option(argc, argv, &ship_command)) != -1) {
		if (option == 'h')
			return tool_help(&ship_command);
		if (!ship_option(option))
			return tool_usage(&ship_command);
	}
	if (!is_possible(argc - optind) ||
	    (given.to && !given.root && !given.is_to_collector &&
	     !address_parse(&address, "--to", given.to)))
		return tool_usage(&ship_command);
	if (given.is_to_collector)
		return to_collector(argv + optind, argc - optind);
	if (given.root)
		return folder_begin(given.root) ? TOOL_FAILURE
						: run_ship(NULL, argv + optind, argc - optind);
	if (given.prints_schema || given.options.is_dry) {
		status = given.prints_schema ? print_schema(&address)
					     : run_ship(NULL, argv + optind, argc - optind);
		address_free(&address);
		return status;
	}
	if (!choose_folder()) {
		address_free(&address);
		return TOOL_FAILURE;
	}
	if (!server_init(&link.server, &address))
		return TOOL_FAILURE;
	link.server.stop = &ship_stopped;
	/* Each shipper begins with a random replica, so that shippers use all replicas. */
	link.server.host = (unsigned)(link_attempt() % link.server.address.hosts);
	link.is_replicated = given.is_replicated;
	link.retry.give_up_ns = give_up_ns();
	link.server.timeout_s = timeout_s();
	given.spool.options = &given.options;
	given.spool.link = &link;
	given.spool.operand = argv + optind;
	given.spool.operands = argc - optind;
	if (given.spool.bytes) {
		link.retry.work = spool_limit;
		link.retry.arg = &given.spool;
	}
	status = run_ship(&link, argv + optind, argc - optind);
	free(link.checked);
	free(link.field);
	server_free(&link.server);
	return status;
}

const struct tool_command ship_command = {
	.name = "ship",
	.usage = "[OPTION]... --to URL LOG...\n"
		"--schema --to URL",
	.about =
		"Sends each LOG, or the logs of a folder, to a database of ClickHouse, in the "
		"tables of posixtrace query. Each event arrives exactly once, whatever is killed, "
		"disconnected or full: the position of each log is on the disk, and the next run "
		"goes on from there. Only files are read, so the traced programs do not wait. With "
		"--to parquet:DIR the tables are files of Apache Parquet. With --to otlp://HOST a "
		"collector of OpenTelemetry gets each log as traces and log records.",
	.options = option_rows,
	.notes =
		"  posixtrace ship --to clickhouse://db1/fleet server.ptl\n"
		"  posixtrace ship --to clickhouse://db1,db2/fleet --replicated --follow "
		"/var/log/traces\n"
		"  posixtrace ship --to parquet:/srv/traces server.ptl\n"
		"  posixtrace ship --to otlp://collector:4318 server.ptl\n"
		"\n"
		"Exit status: 0 ok, 1 failure, 2 usage, 3 a log is damaged or never closed, 4 a "
		"collector has rejected records.",
	.operands = OPTION_LOG,
	.run = ship_run,
};
