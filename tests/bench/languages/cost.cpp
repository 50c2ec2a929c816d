/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <posixtrace.hpp>

#include <cstdio>
#include <fstream>

struct cost {
	std::int32_t fd;
	const char *peer;
};
POSIXTRACE_FIELDS(cost, fd, peer)

template <class Call> static double measure(Call call)
{
	double least = 1e9;

	for (int round = 0; round < 1000; round++) {
		const auto begin = std::chrono::steady_clock::now();

		for (int i = 0; i < 1000; i++)
			call(i);
		const std::chrono::duration<double, std::nano> took =
			std::chrono::steady_clock::now() - begin;
		if (took.count() / 1000 < least)
			least = took.count() / 1000;
	}
	return least;
}

int main()
{
	static const posixtrace::event<cost> event("cost");
	const auto trace = [](int i) { event({ i, "localhost" }); };
	std::ofstream null("/dev/null");
	const double off = measure(trace);
	posixtrace::stream stream;

	stream.start();
	const double on = measure(trace);
	stream.shutdown();
	std::printf("C++|%.1f|%.0f|std::ofstream|%.0f\n", off, on, measure([&](int i) {
		null << "cost fd=" << i << " peer=" << "localhost" << '\n';
	}));
}
