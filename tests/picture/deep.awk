# SPDX-License-Identifier: LGPL-2.1-or-later
# N events of eight threads that serve requests, for compose.
BEGIN {
	srand(7)
	print "type io.read ns time; s32 fd"; print "type io.write ns time; s32 fd"; print "type lock.take ns time"
	print "type req.begin u32 id; @begin request; @key id"; print "type req.end u32 id; @end request; @key id"
	for (i = 0; i < N / 5; i++) {
		t += 200 + int(rand() * 1800)
		thread = 100 + int(rand() * 8)
		if (i % 50000 == 20000) { print "posix_trace_overflow 0 0", t; t += 4000000; print "posix_trace_resume 0 0", t }
		if (i == int(N / 5 * 0.7)) { print "posix_trace_stop 0 0", t; t += 9000000; print "posix_trace_start 0 0", t }
		print "req.begin 100", thread, t, i
		print "io.read 100", thread, t + 300, 40 + int(exp(rand() * 8)), 3
		print "lock.take 100", thread, t + 400, int(exp(rand() * 6))
		print "io.write 100", thread, t + 700, 30 + int(exp(rand() * 7)), 4
		print "req.end 100", thread, t + 900 + int(rand() * 100), i
	}
}
