/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * input.c - reads the bytes of a source from a file, a pipe, an endpoint or a serial line.
 *
 * input_peek() reads the head to detect the format, and fmt_read() returns the bytes of the head
 * again. A source that needs random access calls fmt_file(), which copies a pipe to a file. The
 * functions print their errors, except those that return an error number.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endpoint.h"
#include "base/say.h"
#include "base/spool.h"
#include "base/text.h"
#include "base/until.h"
#include "base/whole.h"
#include "convert/flow.h"

/*
 * input_peek() reads at most this number of bytes of a pipe. From a regular file it fills the head.
 */
#define DETECT_BYTES 4096

static int print_error(const struct fmt_input *input, int err)
{
	say("%s: %s", input->name, strerror(err));
	return TOOL_FAILURE;
}

int input_open(struct fmt_input *input, const char *path)
{
	bool standard = !strcmp(path, "-");
	struct stat st;

	memset(input, 0, sizeof(*input));
	input->signals = -1;
	input->hole_bytes = FMT_HOLE_BYTES;
	input->name = standard ? "standard input" : path;
	if (endpoint_is(path)) {
		int status = endpoint_open(path, &input->fd);

		/*
		 * A connection may stay open forever. Therefore a signal ends the input, and the
		 * sink completes its output.
		 */
		if (!status)
			input_end_at_signals(input);
		return status;
	}
	input->is_named = !standard;
	/* O_NOCTTY: a serial line must not become the controlling terminal of the tool. */
	input->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (input->fd < 0)
		return print_error(input, errno);
	if (fstat(input->fd, &st) || S_ISDIR(st.st_mode)) {
		int err = print_error(input, S_ISDIR(st.st_mode) ? EISDIR : errno);

		close(input->fd);
		return err;
	}
	return TOOL_OK;
}

void input_close(struct fmt_input *input)
{
	input_leave_line(input);
	close(input->fd);
	if (input->signals >= 0)
		close(input->signals);
}

/* The signals that end an input. */
static void fill_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void input_end_at_signals(struct fmt_input *input)
{
	/* until_signals() blocks the signals and returns a signalfd for them. */
	struct until until = { .signals = -1 };
	sigset_t set;

	fill_signals(&set);
	if (input->signals < 0 && !until_signals(&until, &set))
		input->signals = until.signals;
}

const char *fmt_input_name(const struct fmt_input *input)
{
	return input->name;
}

/*
 * Waits until bytes can be read. Returns false if a signal arrives before; the input then counts as
 * ended. If signals do not end this input, returns true at once, and read() waits.
 */
static bool wait_for_bytes(const struct fmt_input *input)
{
	struct pollfd poller[2] = {
		{ .fd = input->fd, .events = POLLIN },
		{ .fd = input->signals, .events = POLLIN },
	};

	if (input->signals < 0)
		return true;
	while (poll(poller, 2, -1) < 0 && errno == EINTR)
		;
	return !poller[1].revents;
}

/*
 * Reads as read(2) does, but repeats the call after EINTR. Returns 0 at the end of the input, or
 * after a signal that ends the input.
 */
static ssize_t read_fd(struct fmt_input *input, void *buffer, size_t len)
{
	ssize_t n;

	do
		n = wait_for_bytes(input) ? read(input->fd, buffer, len) : 0;
	while (n < 0 && errno == EINTR);
	/* A serial line returns EIO when the other side has closed it. */
	if (n < 0 && errno == EIO && input->is_line)
		return 0;
	return n;
}

/*
 * The function continues after a read that returned fewer bytes than requested, because a pipe
 * delivers only the bytes that its writer has written so far.
 */
int input_peek(struct fmt_input *input, struct fmt_head *head)
{
	struct stat st;
	bool regular = !fstat(input->fd, &st) && S_ISREG(st.st_mode);
	size_t want = regular ? sizeof(input->head) : DETECT_BYTES;

	while (input->head_len < want && !input->ended) {
		ssize_t n = read_fd(input, input->head + input->head_len, want - input->head_len);

		if (n < 0)
			return print_error(input, errno);
		input->head_len += (size_t)n;
		input->ended = !n;
	}
	head->bytes = input->head;
	head->len = input->head_len;
	head->whole = input->ended || (regular && (uint64_t)st.st_size <= input->head_len);
	head->file_bytes = regular ? (uint64_t)st.st_size : UINT64_MAX;
	return TOOL_OK;
}

void fmt_hole(struct fmt_input *input, uint64_t bytes)
{
	input->hole_bytes = bytes;
}

/*
 * fmt_read() calls this function at a place where a hole may begin. If a hole there is longer than
 * hole_bytes, moves the file offset behind the hole and reports it as damage. Sets data_until to
 * the next hole, so that fmt_read() does not seek for every piece. An input that cannot seek has no
 * holes.
 */
static void pass_hole(struct fmt_flow *flow, struct fmt_input *input)
{
	off_t here = lseek(input->fd, 0, SEEK_CUR), data, hole;
	uint64_t bytes;

	input->data_until = UINT64_MAX;
	if (here < 0)
		return;
	data = lseek(input->fd, here, SEEK_DATA);
	/* ENXIO: no data follows, so the hole reaches to the end of the file. */
	if (data < 0)
		data = errno == ENXIO ? lseek(input->fd, 0, SEEK_END) : here;
	hole = lseek(input->fd, data, SEEK_HOLE);
	bytes = data > here ? (uint64_t)(data - here) : 0;
	/* A short hole is read as zeros. */
	if (bytes <= input->hole_bytes)
		data = here;
	lseek(input->fd, data, SEEK_SET);
	if (hole >= 0)
		input->data_until = input->at + (uint64_t)(hole - here);
	if (data == here)
		return;
	fmt_fault(flow, FMT_DAMAGED, input->at, NULL,
		  "a hole of %llu byte%s, to which no data was written", (unsigned long long)bytes,
		  text_plural(bytes));
	input->at += bytes;
}

ssize_t fmt_read(struct fmt_flow *flow, struct fmt_input *input, void *buffer, size_t len)
{
	size_t rest = input->head_len - input->head_at;
	ssize_t n;

	input->is_read = true;
	if (rest) {
		n = (ssize_t)(len < rest ? len : rest);
		memcpy(buffer, input->head + input->head_at, (size_t)n);
		input->head_at += (size_t)n;
	} else {
		if (!input->ended && input->at >= input->data_until)
			pass_hole(flow, input);
		n = input->ended ? 0 : read_fd(input, buffer, len);
	}
	/*
	 * The sender has ended without closing the connection. The function reports damage, but
	 * keeps all bytes that arrived before.
	 */
	if (n < 0 && errno == ECONNRESET) {
		fmt_fault(flow, FMT_DAMAGED, input->at, NULL, "%s", strerror(errno));
		n = 0;
	}
	if (n < 0) {
		fmt_fault(flow, FMT_REFUSE, input->at, NULL, "%s", strerror(errno));
		return -1;
	}
	input->at += (uint64_t)n;
	return n;
}

ssize_t fmt_read_all(struct fmt_flow *flow, struct fmt_input *input, void *buffer, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = fmt_read(flow, input, (char *)buffer + have, len - have);

		if (n < 0)
			return -1;
		if (!n)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/*
 * Copies the rest of the input up to its end or a signal. The copy has the limit of spool_fill().
 * Returns 0 or an error number.
 */
static int read_rest(struct fmt_input *input, int file)
{
	const uint64_t limit = spool_most(file);
	uint64_t copied = 0;
	char bytes[65536];

	for (;;) {
		ssize_t n = input->ended ? 0 : read_fd(input, bytes, sizeof(bytes));
		int err;

		if (n <= 0)
			return n ? errno : 0;
		copied += (uint64_t)n;
		if (copied > limit)
			return EFBIG;
		err = whole_write(file, bytes, (size_t)n);
		if (err)
			return err;
	}
}

/*
 * Lets signals end the process again, after the input was copied to a file, which has an end. A
 * signal that ended the input is still pending, because wait_for_bytes() does not read it. The
 * function discards that signal, so that the process can convert what was copied. If a later input
 * waits for signals, they remain blocked, and the pending signal ends that input too.
 */
static void release_signals(struct fmt_input *input)
{
	struct until until = { .signals = input->signals };
	const struct fmt_input *later = input->next;
	sigset_t set;
	int signal;
	bool sent;

	if (input->signals < 0)
		return;
	input->signals = -1;
	while (later && later->signals < 0)
		later = later->next;
	if (!later) {
		while (until_signal(&until, &signal, &sent))
			;
		fill_signals(&set);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	close(until.signals);
}

/*
 * Makes a temporary file of an input that cannot seek. First the head, which detection has read, is
 * copied, then the rest. The descriptor of the file replaces the descriptor of the input. Returns 0
 * or an error number.
 */
static int spool_whole(struct fmt_input *input)
{
	int file, err = spool_create(&file);

	if (err)
		return err;
	err = whole_write(file, input->head, input->head_len);
	if (!err)
		err = input->signals >= 0 ? read_rest(input, file) : spool_fill(input->fd, file);
	if (err) {
		close(file);
		return err;
	}
	close(input->fd);
	input->fd = file;
	release_signals(input);
	return 0;
}

/*
 * Moves the position of an input to its beginning. Returns 0 or an error number. The head becomes
 * empty, because fmt_read() will read its bytes from the file again.
 */
static int begin_again(struct fmt_input *input)
{
	if (lseek(input->fd, 0, SEEK_SET) < 0)
		return errno;
	input->head_len = input->head_at = 0;
	input->at = input->data_until = 0;
	input->is_read = input->ended = false;
	return 0;
}

int input_again(struct fmt_input *input)
{
	int err = 0;

	for (; !err && input; input = input->next)
		err = begin_again(input);
	return err;
}

/*
 * Prepares one input for a second reading. A file needs no copy if its offset is the number of
 * bytes that input_peek() has read. With another offset, the input does not begin at offset 0 of
 * the file, or another process that shares the descriptor has moved the offset; such an input is
 * copied. For a terminal, the function returns ENOTTY and reads nothing, because with a copy the
 * user would have to end the input before the first result appears. After any other error, a part
 * of the input is lost.
 */
static int keep_one(struct fmt_input *input)
{
	struct stat st;
	int err;

	if (fstat(input->fd, &st))
		return errno;
	if (isatty(input->fd))
		return ENOTTY;
	if ((S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) &&
	    lseek(input->fd, 0, SEEK_CUR) == (off_t)input->head_len)
		return 0;
	err = spool_whole(input);
	return err ? err : begin_again(input);
}

int input_keep(struct fmt_input *input)
{
	int err = 0;

	for (; !err && input; input = input->next)
		err = keep_one(input);
	return err;
}

int fmt_file(struct fmt_flow *flow, struct fmt_input *input, uint64_t *size)
{
	struct stat st;
	int err = 0;

	if (fstat(input->fd, &st))
		err = errno;
	/*
	 * An input that does not begin at offset 0 of its file is copied too, so that offsets in
	 * the copy count from the input's beginning.
	 */
	else if (!(S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) ||
		 lseek(input->fd, 0, SEEK_CUR) != (off_t)input->head_len)
		err = spool_whole(input);
	if (!err && size) {
		off_t end = lseek(input->fd, 0, SEEK_END);

		*size = (uint64_t)end;
		err = end < 0 ? errno : 0;
	}
	if (!err && lseek(input->fd, 0, SEEK_SET) < 0)
		err = errno;
	/* fmt_read() now reads the file from its beginning. */
	input->head_len = input->head_at = 0;
	input->ended = false;
	if (!err)
		return input->fd;
	/* The message for EFBIG explains how to raise the limit. */
	if (err == EFBIG) {
		spool_say_why(input->name, err);
		flow->status = tool_worse(flow->status, TOOL_FAILURE);
		return -1;
	}
	fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(err));
	return -1;
}
