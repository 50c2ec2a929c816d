# SPDX-License-Identifier: LGPL-2.1-or-later
# N events of eight threads that set counters and wait for two locks, for compose.
BEGIN {
	srand(11)
	print "type queue u32 length; f64 load; @counter length, load"
	print "type lock.mutex ns time; ptr lock; errno error"; print "type lock.mutex_held ns time; ptr lock"
	for (i = 0; i < N / 4; i++) {
		want = t; lock = i % 2; thread = 100 + int(rand() * 8)
		got = free[lock] > want ? free[lock] : want
		held = 500 + int(rand() * 4000)
		t += 1500 + int(rand() * 2000)
		length_ += int(rand() * 3) - 1
		if (length_ < 0) length_ = 0
		print "queue 100", thread, want, length_ + (i % 40000 == 777 ? 5000 : 0), sin(i / 3000)
		print "lock.mutex 100", thread, got, got - want + 20, 4096 + lock, 0
		print "lock.mutex_held 100", thread, got + held, held, 4096 + lock
		print "queue 200", 200 + i % 2, want + 10, i % 1000, rand()
		free[lock] = got + held
		if (free[lock] > t + 50000) t = free[lock]
	}
}
