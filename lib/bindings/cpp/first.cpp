#include <posixtrace.hpp>
#include <iostream>
struct request { std::uint32_t id; std::string peer; double took; bool ok; };
POSIXTRACE_FIELDS(request, id, peer, took, ok)
int main(int argc, char **argv)
{
	const std::string path = argc > 1 ? argv[1] : "first.ptl";
	{
		posixtrace::stream stream(path);
		static const posixtrace::event<request> received("request.received", 4);
		static const posixtrace::span_type work("work");
		stream.start();
		for (unsigned i = 0; i < 3; i++) {
			posixtrace::span span(work);
			received({ i, "localhost", 0.5 * i, true });
			POSIX_TRACE_LOG_NP("request %u", i);
		}
	}
	posixtrace::log log(path);
	for (const auto &event : log)
		if (event.name() == "request.received")
			std::cout << event.get<unsigned>("id") << " from " << event.get<std::string>("peer") << " in " << event.get<double>("took") << '\n';
		else if (auto m = event.message(); !m.empty()) std::cout << m << '\n';
}
