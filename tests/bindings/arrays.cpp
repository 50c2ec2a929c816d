/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arrays.cpp - reads all elements of an array from a log of the program itself, records texts of
 * different types, and traces a child. Usage: arrays LOG
 */
#include <posixtrace.hpp>

#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

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

int main(int, char **argv)
{
	const posixtrace::event<texts> text("texts");
	const std::uint16_t three[] = { 7, 8, 65535 };
	trace_event_id_t id;

	posixtrace::check(posix_trace_eventid_open("sizes", &id), "open");
	{
		posixtrace::stream stream(argv[1], 0, true);

		posixtrace::check(posix_trace_eventid_describe_np(id, "u16[3] size"), "schema");
		stream.start();
		posix_trace_event(id, three, sizeof(three));
		posix_trace_event(id, three, 4); /* the last element is missing */
		text({ {}, nullptr, "room", std::string_view("parts").substr(0, 4) });
		if (const pid_t child = fork()) {
			waitpid(child, nullptr, 0);
		} else {
			text({ {}, nullptr, "of", "child" });
			_exit(0);
		}
		stream.shutdown();
	}
	for (const auto &event : posixtrace::log(argv[1])) {
		if (event.name() == "texts")
			std::cout << event.get<std::string>("own") << event.get<std::string>("none")
				  << event.get<std::string>("room") << event.get<std::string>("part")
				  << '\n';
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
