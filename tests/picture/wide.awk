# SPDX-License-Identifier: LGPL-2.1-or-later
# N events of 64 threads, for compose; with SPANS most have a duration of up to 9 ms.
BEGIN {
	srand(9)
	for (i = 0; i < 8; i++) print "type ev" i, (SPANS && i > 1 ? "ns time" : "u32 n")
	for (i = 0; i < N; i++) {
		t += 500 + int(rand() * 1000)
		type = int(rand() * 8)
		print "ev" type, 100, 100 + int(rand() * 64), t, (SPANS && type > 1 ? int(exp(rand() * 16)) : i)
	}
}
