/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* same.c - the events that the programs of all languages record. Usage: same LOG */
#include <fcntl.h>
#include <trace_np.h>

static void accept_one(int fd, const char *peer)
{
	POSIX_TRACE_EVENT_NP(net.accept, (s32, fd, fd), (str, peer, peer), (level, 4),
			     (counter, fd));
}

static void work(void)
{
	POSIX_TRACE_SCOPE_NP(work);
	POSIX_TRACE_EVENT_NP(numbers, (u8, a, 255), (u16, b, 65535), (u32, c, 4294967295u),
			     (s64, d, INT64_MIN), (u64, e, UINT64_MAX), (str, text, "gr\xc3\xbcn"),
			     (f64, f, -2.5), (f32, g, 0.5f), (bool, h, 1));
}

static void nested(void)
{
	POSIX_TRACE_SCOPE_NP(outer);
	POSIX_TRACE_SCOPE_NP(inner);
}

int main(int argc, char **argv)
{
	const int log = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	const unsigned char raw[] = { 0, 255, 16 };
	trace_id_t trid;

	if (posix_trace_create_withlog(0, NULL, log, &trid) || posix_trace_start(trid))
		return 1;
	accept_one(3, "localhost");
	accept_one(-1, "");
	work();
	POSIX_TRACE_EVENT_NP(memory, (bytes, raw, raw, sizeof(raw)));
	POSIX_TRACE_EVENT_NP(took, (ns, time, 1500));
	for (int i = 0; i < 3; i++)
		accept_one(i, "turn");
	nested();
	return posix_trace_shutdown(trid);
}
