/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arrays.cpp - reads all elements of an array from a log of the program itself, records arrays and
 * texts of different types, also without memory, and traces a child. Usage: arrays LOG
 */
#include <posixtrace.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

static bool has_memory = true;

void *operator new(std::size_t size)
{
	void *memory = has_memory ? std::malloc(size) : nullptr;

	if (!memory)
		throw std::bad_alloc();
	return memory;
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

/* A type of a program that converts to a text, as those of some libraries do. */
class label {
public:
	operator std::string_view() const noexcept { return "label"; }
};

struct texts {
	label own;
	const char *none;
	char room[8];
	std::string_view part;
};
POSIXTRACE_FIELDS(texts, own, none, room, part)

/* Texts that are longer than the room of an event. */
struct longs {
	std::string_view first, second;
	int behind;
	std::string_view third;
};
POSIXTRACE_FIELDS(longs, first, second, behind, third)

/* Arrays of a structure. The texts fill their arrays, so they have no NUL. */
enum class side : std::uint8_t { left, right };
struct arrays {
	int pair[2];
	std::array<double, 2> point;
	side sides[3];
	char full[4];
	char alone[1];
};
POSIXTRACE_FIELDS(arrays, pair, point, sides, full, alone)

/* Prints the error of a constructor. */
template <class Make> static void refuses(Make make)
{
	try {
		make();
		std::cout << "no error\n";
	} catch (const std::system_error &error) {
		std::cout << "refused: " << error.what() << '\n';
	}
}

int main(int, char **argv)
{
	const posixtrace::event<texts> text("texts");
	const posixtrace::event<longs> many("longs");
	const std::string full(900, 'f'), last(40, 'l'), padded("p" + std::string(900, '\0'));
	const std::uint16_t three[] = { 7, 8, 65535 };
	const posixtrace::event<arrays> array("arrays");
	arrays filled = { { -1, 2 }, { { 0.5, -2 } }, { side::right, side::left, side::right }, {}, {} };
	trace_event_id_t id;

	std::memcpy(filled.full, "full", 4);
	std::memcpy(filled.alone, "x", 1);
	posixtrace::check(posix_trace_eventid_open("sizes", &id), "open");
	{
		posixtrace::stream stream(argv[1], 0, true);

		posixtrace::check(posix_trace_eventid_describe_np(id, "u16[3] size"), "schema");
		stream.start();
		posix_trace_event(id, three, sizeof(three));
		posix_trace_event(id, three, 4); /* the last element is missing */
		text({ {}, nullptr, "room", std::string_view("parts").substr(0, 4) });
		array(filled);
		has_memory = false;
		many({ last, last, 1, last });
		many({ full, full, 2, full });
		many({ padded, padded, 3, last });
		has_memory = true;
		if (const pid_t child = fork()) {
			waitpid(child, nullptr, 0);
		} else {
			text({ {}, nullptr, "of", "child" });
			_exit(0);
		}
		stream.shutdown();
	}
	try {
		posixtrace::stream cut(argv[1] + std::string("\0", 1));
	} catch (const std::system_error &error) {
		std::cout << "the path is refused: " << (error.code() == std::errc::invalid_argument) << '\n';
	}
	const std::string cut("cut\0off", 7);
	refuses([&] { posixtrace::event<texts> named(cut); });
	refuses([&] { posixtrace::event<texts> described("cut", 0, cut); });
	refuses([&] { posixtrace::event<texts> described("cut", 0, "int x"); });
	refuses([&] { posixtrace::span_type span(cut); });
	refuses([&] { posixtrace::log read(argv[0]); });
	for (const auto &event : posixtrace::log(argv[1])) {
		if (event.name() == "texts")
			std::cout << event.get<std::string>("own") << event.get<std::string>("none")
				  << event.get<std::string>("room") << event.get<std::string>("part")
				  << '\n';
		if (event.name() == "longs")
			std::cout << event.get<std::string>("first").size() << ' '
				  << event.get<std::string>("second").size() << ' '
				  << event.get<int>("behind") << ' '
				  << event.get<std::string>("third").size() << '\n';
		if (event.name() != "sizes")
			continue;
		for (std::uint32_t size : event.get<std::vector<std::uint32_t>>("size"))
			std::cout << size << ' ';
		std::cout << event.get<int>("size") << ' '
			  << std::holds_alternative<std::monostate>(event.at("size", 2)) << ' ';
		try {
			event.get<std::vector<int>>("other");
		} catch (const std::out_of_range &e) {
			std::cout << e.what() << '\n';
		}
	}
}
