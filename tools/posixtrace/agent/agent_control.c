/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent_control.c - the socket of the agent, and its client.
 *
 * A request is one message: "status", "snapshot NAME", or "last NS snapshot NAME". With "last NS",
 * the log has the events of the last NS nanoseconds. The answer is an exit status as a digit, and
 * then text. If the status is a failure, the last line of the text is a message. Only the user of
 * the agent, and root, can use the folder of the socket, so a client already has the rights of the
 * agent. The agent waits for a client only for a limited time.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/bytes.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"

#define REQUEST_BYTES 256

/*
 * Returns the address of the socket in the folder with the descriptor "dir". The length of a name
 * in an address is limited, and the path of the folder may be longer. So the name is a path in
 * /proc.
 */
static struct sockaddr_un address_in(int dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/control", dir);
	return address;
}

/*
 * If an agent that was killed has left a socket, this function replaces the socket. No other agent
 * can use the old socket, because this agent has the lock of the folder.
 */
int agent_control_open(struct agent *agent)
{
	const struct sockaddr_un address = address_in(agent->store.dir);

	/* The old socket is removed, because bind(2) fails if the name exists. */
	unlinkat(agent->store.dir, "control", 0);
	agent->control = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (agent->control >= 0 &&
	    !bind(agent->control, (const struct sockaddr *)&address, sizeof(address)) &&
	    !fchmodat(agent->store.dir, "control", 0600, 0) && !listen(agent->control, 8))
		return TOOL_OK;
	say("%s/control: the socket for the commands of users cannot be made: %s",
	    agent->store.folder, say_strerror(errno));
	agent_control_close(agent);
	return TOOL_FAILURE;
}

bool agent_control_is_lost(const struct agent *agent)
{
	struct stat st;

	return fstatat(agent->store.dir, "control", &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

/*
 * Afterwards connect(2) fails with ECONNREFUSED or ENOENT, and a client prints that there is no
 * agent.
 */
void agent_control_close(struct agent *agent)
{
	if (agent->control < 0)
		return;
	close(agent->control);
	agent->control = -1;
	unlinkat(agent->store.dir, "control", 0);
}

/*
 * Writes a text that another process determines. Unsafe characters are escaped, so that the text
 * remains in its line and cannot harm a terminal.
 */
static void put_safe(FILE *to, const char *text)
{
	struct out *out = malloc(sizeof(*out));

	if (!out)
		return;
	out->used = 0;
	/* The buffer has room for the longest path with each byte escaped, so it is not flushed. */
	text_safe(out, text, strnlen(text, PATH_MAX));
	fwrite(out->bytes, 1, out->used, to);
	free(out);
}

/* Begins the line of a process without recorder or of a recorder without watch. */
static void put_process(FILE *answer, const char *what, pid_t pid, const char *executable,
			const char *record)
{
	fprintf(answer, "%s: process %d (", what, (int)pid);
	put_safe(answer, executable);
	fprintf(answer, ") of record %s: ", record);
}

/*
 * Writes the reason, and when the agent tries again. The line names the process already, so the
 * function omits the lead "process N: " of the reason.
 */
static void put_reason(FILE *answer, pid_t process, const char *reason, int64_t again_ns)
{
	int64_t wait_ns = again_ns - until_now_ns();
	int pid, len = 0;

	if (sscanf(reason, "process %d: %n", &pid, &len) == 1 && pid == (int)process)
		reason += len;
	put_safe(answer, reason);
	if (wait_ns > 0)
		fprintf(answer, "; tried again in %lld s\n",
			(long long)(wait_ns + 999999999) / 1000000000);
	else
		fprintf(answer, "; tried again at the next search\n");
}

/* Writes the processes without a recorder, and the recorders without their watch. */
static void put_lacks(const struct agent *agent, FILE *answer)
{
	for (size_t i = 0; i < agent->recorders; i++) {
		const struct recorder *recorder = agent->recorder[i];

		if (!*recorder->unwatched)
			continue;
		put_process(answer, "not watched", recorder->pid, recorder->executable,
			    recorder->record->name);
		fprintf(answer, "durations and triggers on events do not apply: ");
		put_reason(answer, recorder->pid, recorder->unwatched, recorder->again_ns);
	}
	for (size_t i = 0; i < agent->refuseds; i++) {
		const struct agent_refused *refused = &agent->refused[i];

		put_process(answer, "not recorded", refused->pid, refused->executable,
			    refused->record);
		put_reason(answer, refused->pid, refused->reason, refused->again_ns);
	}
}

/* Writes the counts of a trigger that has fired for the section. */
static void put_fired(FILE *answer, const struct agent_fired *fired)
{
	if (!fired->logs && !fired->held_off && !fired->failed)
		return;
	fprintf(answer, "trigger %s: record %s: %llu written, %llu held off", fired->trigger,
		fired->record, (unsigned long long)fired->logs,
		(unsigned long long)fired->held_off);
	if (fired->failed)
		fprintf(answer, ", %llu not written; the agent's messages have the reasons",
			(unsigned long long)fired->failed);
	fprintf(answer, "\n");
}

/*
 * Writes a line for each recorder with its section, process, program and the account of its stream.
 * Lines for the processes that are not recorded or watched, the triggers and the logs follow.
 */
static int answer_status(struct agent *agent, FILE *answer)
{
	recorder_count_all(agent->recorder, agent->recorders);
	for (size_t i = 0; i < agent->recorders; i++) {
		const struct recorder *recorder = agent->recorder[i];
		const struct metrics_record *seen = &recorder->seen;
		uint64_t lost = 0;

		for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
			if (cause != POSIX_TRACE_LOST_OVERWRITTEN_NP)
				lost += seen->lost[cause];
		fprintf(answer, "record %s: process %d (", recorder->record->name,
			(int)recorder->pid);
		put_safe(answer, recorder->executable);
		fprintf(answer, "): %llu event%s, %llu overwritten, %llu lost\n",
			(unsigned long long)seen->events, text_plural(seen->events),
			(unsigned long long)seen->lost[POSIX_TRACE_LOST_OVERWRITTEN_NP],
			(unsigned long long)lost);
	}
	put_lacks(agent, answer);
	if (agent->hidden)
		fprintf(answer, "not examined: %zu process%s, because the agent lacks the "
			"capability CAP_SYS_PTRACE over %s\n",
			agent->hidden, agent->hidden == 1 ? "" : "es",
			agent->hidden == 1 ? "it" : "them");
	for (size_t i = 0; i < agent->fireds; i++)
		put_fired(answer, &agent->fired[i]);
	fprintf(answer,
		"logs: %llu of %llu bytes, %llu removed for the quota, %llu expired, "
		"%llu refused\n",
		(unsigned long long)agent->store.count, (unsigned long long)agent->store.bytes,
		(unsigned long long)agent->store.removed, (unsigned long long)agent->store.expired,
		(unsigned long long)agent->store.refused);
	return TOOL_OK;
}

/*
 * Writes logs and answers with their paths. If no recorder is selected, or if a log could not be
 * written, the status is TOOL_FAILURE, so that a script notices it. The last line of the answer is
 * then a message.
 */
static int answer_snapshot(struct agent *agent, const char *name, int64_t last_ns, FILE *answer)
{
	size_t matched, logs = agent_snapshot(agent, name, "command", "agent --snapshot", last_ns,
					      answer, &matched);

	if (!matched) {
		put_safe(answer, name);
		fprintf(answer, ": no process that is recorded now has this section or number\n");
	} else if (logs < matched) {
		fprintf(answer,
			"%zu of %zu logs were not written; the agent's messages have the "
			"reasons\n",
			matched - logs, matched);
	}
	return logs && logs == matched ? TOOL_OK : TOOL_FAILURE;
}

/* Reads the request of one client and answers it. */
static void answer_client(struct agent *agent, int client)
{
	static const char snapshot[] = "snapshot ";
	const struct timeval limit = { .tv_sec = 1 };
	/*
	 * The requests of the command agent fit. If another program sends a longer request, the
	 * kernel drops its end, and the agent answers the shortened request.
	 */
	char request[REQUEST_BYTES], *text = NULL;
	size_t len = 0;
	int64_t last_ns;
	int name = 0;
	FILE *answer;
	ssize_t n;
	int status = TOOL_USAGE;

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	n = recv(client, request, sizeof(request) - 1, 0);
	answer = n > 0 ? open_memstream(&text, &len) : NULL;
	if (!answer)
		return;
	request[n] = '\0';
	if (!strcmp(request, "status"))
		status = answer_status(agent, answer);
	else if (!strncmp(request, snapshot, strlen(snapshot)))
		status = answer_snapshot(agent, request + strlen(snapshot), 0, answer);
	else if (sscanf(request, "last %" SCNd64 " snapshot %n", &last_ns, &name) == 1 && name &&
		 last_ns > 0)
		status = answer_snapshot(agent, request + name, last_ns, answer);
	else
		fprintf(answer, "the agent that runs does not know this request; if it has another "
			"version, restart it\n");
	/*
	 * If the client has closed the connection or does not read, send() fails, and the answer is
	 * dropped.
	 */
	if (!fclose(answer)) {
		const char digit = (char)('0' + status);

		send(client, &digit, 1, MSG_NOSIGNAL);
		for (size_t at = 0; at < len;) {
			size_t piece = len - at < 4096 ? len - at : 4096;

			if (send(client, text + at, piece, MSG_NOSIGNAL) != (ssize_t)piece)
				break;
			at += piece;
		}
	}
	free(text);
}

/*
 * If no descriptor is free, the connection remains in the backlog of the socket, and poll(2) would
 * return again and again. So the function sets keeps_waiting, and clients wait until the next
 * search.
 */
int agent_accept(struct agent *agent, int listener)
{
	int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (client < 0 &&
	    (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
		if (!agent->has_said_waiting)
			say("a client waits until the agent has a free descriptor and memory: %s",
			    say_strerror(errno));
		agent->has_said_waiting = agent->keeps_waiting = true;
	} else if (client >= 0) {
		agent->has_said_waiting = false;
	}
	return client;
}

/*
 * Serves one client. Other clients wait in the backlog of the socket. The time limit for each
 * client bounds this wait.
 */
void agent_control_serve(struct agent *agent)
{
	int client = agent_accept(agent, agent->control);

	if (client < 0)
		return;
	answer_client(agent, client);
	close(client);
}

/* Connects to the running agent. Returns a socket, or -1 after it printed an error. */
static int connect_agent(const char *folder)
{
	int dir = store_open_client(folder), fd;
	struct sockaddr_un address;

	if (dir < 0)
		return -1;
	address = address_in(dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(dir);
		return fd;
	}
	if (errno == ENOENT || errno == ECONNREFUSED)
		say("%s: no agent uses this folder now; start one with 'posixtrace agent'", folder);
	else
		say("%s/control: %s", folder, say_strerror(errno));
	if (fd >= 0)
		close(fd);
	close(dir);
	return -1;
}

/*
 * Receives the whole answer: the status, and the text with a NUL at its end. Returns false if the
 * agent has ended without an answer, or if memory is lacking.
 */
static bool receive_answer(int fd, int *status, struct bytes *text)
{
	char piece[4096], digit;
	ssize_t n;

	if (recv(fd, &digit, 1, 0) != 1)
		return false;
	*status = digit - '0';
	while ((n = recv(fd, piece, sizeof(piece), 0)) > 0)
		bytes_add(text, piece, (size_t)n);
	bytes_add(text, "", 1);
	return !text->failed;
}

/*
 * Prints an answer on standard output. If the status is a failure, the last line of the text is a
 * message, which is printed on standard error.
 */
static void print_answer(int status, char *text)
{
	char *message = text + strlen(text);

	if (status && message > text) {
		*--message = '\0';
		while (message > text && message[-1] != '\n')
			message--;
	}
	out_bytes(&out_stdout, text, (size_t)(message - text));
	if (*message)
		say("%s", message);
}

int agent_control_request(const char *path, const char *request)
{
	struct config *config = config_read_client(path);
	struct bytes text = { .at = NULL };
	int fd, status = TOOL_FAILURE;

	if (!config)
		return TOOL_FAILURE;
	fd = connect_agent(config->folder);
	if (fd >= 0) {
		if (send(fd, request, strlen(request), MSG_NOSIGNAL) >= 0 &&
		    receive_answer(fd, &status, &text))
			print_answer(status, text.at);
		else
			say("%s: the agent has ended without an answer; its messages say why",
			    config->folder);
		close(fd);
	}
	bytes_free(&text);
	config_drop(config);
	return out_flush(&out_stdout) ? TOOL_FAILURE : status;
}
