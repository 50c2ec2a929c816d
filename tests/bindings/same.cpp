/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* same.cpp - records the events of same.c, with typed events from structures. Usage: same LOG */
#include <posixtrace.hpp>

#include <limits>

struct accepted {
	std::int32_t fd;
	std::string_view peer;
};
POSIXTRACE_FIELDS(accepted, fd, peer)

struct numbers {
	std::uint8_t a;
	std::uint16_t b;
	std::uint32_t c;
	std::int64_t d;
	std::uint64_t e;
	std::string text;
	double f;
	float g;
	bool h;
};
POSIXTRACE_FIELDS(numbers, a, b, c, d, e, text, f, g, h)

struct memory {
	std::vector<unsigned char> raw;
};
POSIXTRACE_FIELDS(memory, raw)

struct took {
	std::chrono::nanoseconds time;
};
POSIXTRACE_FIELDS(took, time)

int main(int argc, char **argv)
{
	static const posixtrace::event<accepted> accept("net.accept", 4, "@counter fd;");
	static const posixtrace::event<numbers> number("numbers");
	static const posixtrace::event<memory> store("memory");
	static const posixtrace::event<took> take("took");
	static const posixtrace::span_type work("work"), outer("outer"), inner("inner");
	posixtrace::stream stream(argc > 1 ? argv[1] : "same.ptl");

	stream.start();
	accept({ 3, "localhost" });
	accept({ -1, "" });
	{
		posixtrace::span span(work);
		number({ 255, 65535, 4294967295u, std::numeric_limits<std::int64_t>::min(),
			 std::numeric_limits<std::uint64_t>::max(), "gr\xc3\xbcn", -2.5, 0.5f, true });
	}
	store({ { 0, 255, 16 } });
	take({ std::chrono::nanoseconds(1500) });
	for (int i = 0; i < 3; i++)
		accept({ i, std::string_view("turned").substr(0, 4) });
	try {
		posixtrace::span first(outer);
		posixtrace::span second(inner);
		throw 1;
	} catch (int) {
	}
	stream.shutdown();
}
