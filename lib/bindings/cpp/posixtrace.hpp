/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posixtrace.hpp - libposixtrace for C++17: typed events from structures, spans, streams, and logs
 * as ranges. The header has only inline functions and templates over <trace_np.h>.
 * lib/bindings/cpp/README has a first program.
 *
 * Trace points in one line, such as POSIX_TRACE_EVENT_NP(), work in C++ as in C.
 *
 * Errors   if a call of the library or the system fails, the function throws std::system_error with
 *          the error number. entry::get() throws std::out_of_range. Recording never throws.
 * Threads  several threads may use an object of `event` or `span_type` at the same time. One thread
 *          at a time may use an object of `stream` or `log`.
 * Memory   a string_view from an entry of a log is valid until the iterator moves.
 */
#ifndef POSIXTRACE_HPP
#define POSIXTRACE_HPP

#pragma GCC system_header /* as in <trace.h> */

#ifndef __cpp_exceptions
#error "posixtrace.hpp throws exceptions; <trace_point_np.h> also works with -fno-exceptions"
#endif

#include <trace_np.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace posixtrace {

/* Throws if `err`, a result of the C interface, is not 0. */
inline void check(int err, const char *what)
{
	if (err)
		throw std::system_error(err, std::generic_category(), what);
}

/* Returns whether a stream traces this process. */
inline bool is_active() noexcept
{
	return *posix_trace_active_np;
}

namespace detail {

/* Throws if the C interface would cut `text`, which belongs to `name`, at a NUL. */
inline void check_text(const std::string &text, const std::string &name)
{
	if (text.find('\0') != text.npos)
		throw std::system_error(EINVAL, std::generic_category(),
					std::string(name.c_str()) + " has a NUL");
}

template <class> inline constexpr bool never = false;

template <class> inline constexpr bool is_vector = false;
template <class T> inline constexpr bool is_vector<std::vector<T>> = true;

/* The element and the number of elements of an array of C or a std::array; 0 for another type. */
template <class T> struct array_of {
	using element = T;
	static constexpr std::size_t size = 0;
};
template <class T, std::size_t N> struct array_of<T[N]> {
	using element = T;
	static constexpr std::size_t size = N;
};
template <class T, std::size_t N> struct array_of<std::array<T, N>> : array_of<T[N]> {};

/* Whether T is char[N], whose member is a text that may fill the array without a NUL. */
template <class T> inline constexpr bool is_text_array = false;
template <std::size_t N> inline constexpr bool is_text_array<char[N]> = true;

/* Returns the word of a schema for the type of a member, or for an element of an array. */
template <class T> constexpr const char *type_name()
{
	using U = std::decay_t<T>;

	if constexpr (std::is_same_v<U, bool>)
		return "bool";
	else if constexpr (std::is_same_v<U, char>)
		return "char";
	else if constexpr (std::is_enum_v<U>)
		return type_name<std::underlying_type_t<U>>();
	else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
		return sizeof(U) == 1 ? "s8" : sizeof(U) == 2 ? "s16" : sizeof(U) == 4 ? "s32" : "s64";
	else if constexpr (std::is_integral_v<U>)
		return sizeof(U) == 1 ? "u8" : sizeof(U) == 2 ? "u16" : sizeof(U) == 4 ? "u32" : "u64";
	else if constexpr (std::is_same_v<U, float>)
		return "f32";
	else if constexpr (std::is_floating_point_v<U>)
		return "f64";
	else if constexpr (std::is_same_v<U, std::chrono::nanoseconds>)
		return "ns";
	else if constexpr (std::is_same_v<U, std::chrono::system_clock::time_point>)
		return "time";
	else if constexpr (std::is_convertible_v<U, std::string_view>)
		return "str";
	else if constexpr (std::is_same_v<U, std::vector<unsigned char>>)
		return "bytes";
	else if constexpr (std::is_pointer_v<U>)
		return "ptr";
	else
		static_assert(never<T>, "a member has a type that no field has");
}

/* Returns the type of a field in a schema, such as "s32", or "s32[4]" for an array. */
template <class Member> std::string type_of()
{
	using T = std::remove_const_t<std::remove_reference_t<Member>>;
	using array = array_of<T>;
	using E = std::remove_const_t<typename array::element>;

	if constexpr (is_text_array<T>)
		return "str";
	else if constexpr (array::size == 0)
		return type_name<T>();
	else {
		static_assert((std::is_arithmetic_v<E> || std::is_enum_v<E>) && sizeof(E) <= 8 &&
				      !std::is_volatile_v<E>,
			      "the elements of an array are numbers of at most 64 bits");
		return std::string(type_name<E>()) + '[' + std::to_string(array::size) + ']';
	}
}

/*
 * Copies of the texts of an event. They are on the stack, because an allocation could throw. An
 * event has no room for more bytes than this object, so a text that is shortened here would be
 * shortened in the event, too.
 */
class texts {
public:
	/*
	 * Returns a copy with a NUL, which a string_view may lack. A text in an event ends at its
	 * first NUL, so bytes behind that NUL are not copied: further texts need the room.
	 */
	const char *copy(std::string_view text) noexcept
	{
		text = text.substr(0, text.find('\0'));

		char *const to = bytes_ + used_;
		const std::size_t room = sizeof(bytes_) - used_;
		const std::size_t length = text.size() < room ? text.size() : room ? room - 1 : 0;

		if (!room)
			return "";
		if (length)
			std::memcpy(to, text.data(), length);
		to[length] = '\0';
		used_ += length + 1;
		return to;
	}

private:
	std::size_t used_ = 0;
	char bytes_[POSIX_TRACE_FIELDS_BYTES_NP];
};

/*
 * Converts a value to an argument of posix_trace_fields_pack_np(). The text of a string_view is
 * copied into `copies`. The elements of an array are bytes of a constant number.
 */
template <class T> posix_trace_arg_np argument(const T &value, texts &copies)
{
	using U = std::decay_t<T>;

	if constexpr (is_text_array<T>)
		return POSIX_TRACE_STR_NP(copies.copy({ value, sizeof(value) }));
	else if constexpr (array_of<T>::size != 0) {
		posix_trace_arg_np all = POSIX_TRACE_BYTES_NP(&value, sizeof(value));

		all.room = sizeof(value);
		return all;
	} else if constexpr (std::is_same_v<U, bool>)
		return POSIX_TRACE_BOOL_NP(value);
	else if constexpr (std::is_same_v<U, char>)
		return POSIX_TRACE_CHAR_NP(value);
	else if constexpr (std::is_enum_v<U>)
		return argument(static_cast<std::underlying_type_t<U>>(value), copies);
	else if constexpr (std::is_integral_v<U> && sizeof(U) == 1)
		return POSIX_TRACE_U8_NP(value);
	else if constexpr (std::is_integral_v<U> && sizeof(U) == 2)
		return POSIX_TRACE_U16_NP(value);
	else if constexpr (std::is_integral_v<U> && sizeof(U) == 4)
		return POSIX_TRACE_U32_NP(value);
	else if constexpr (std::is_integral_v<U>)
		return POSIX_TRACE_U64_NP(value);
	else if constexpr (std::is_same_v<U, float>)
		return POSIX_TRACE_F32_NP(value);
	else if constexpr (std::is_floating_point_v<U>)
		return POSIX_TRACE_F64_NP(value);
	else if constexpr (std::is_same_v<U, std::chrono::nanoseconds>)
		return POSIX_TRACE_NS_NP(value.count());
	else if constexpr (std::is_same_v<U, std::chrono::system_clock::time_point>)
		return POSIX_TRACE_TIME_NP(std::chrono::duration_cast<std::chrono::nanoseconds>(
						   value.time_since_epoch()).count());
	else if constexpr (std::is_same_v<U, std::string>)
		return POSIX_TRACE_STR_NP(value.c_str());
	else if constexpr (std::is_same_v<U, const char *> || std::is_same_v<U, char *>)
		return POSIX_TRACE_STR_NP(value);
	else if constexpr (std::is_convertible_v<U, std::string_view>) {
		return POSIX_TRACE_STR_NP(copies.copy(value));
	}
	else if constexpr (std::is_same_v<U, std::vector<unsigned char>>)
		return POSIX_TRACE_BYTES_NP(value.data(), value.size());
	else
		return POSIX_TRACE_PTR_NP(value);
}

/* Splits "a, b, c" at its commas. */
inline std::vector<std::string> split(const char *names)
{
	std::vector<std::string> parts(1);

	for (; *names; names++)
		if (*names == ',')
			parts.emplace_back();
		else if (*names != ' ')
			parts.back() += *names;
	return parts;
}

} /* namespace detail */

/*
 * Makes the members of a structure, up to 31, the fields of an event. Use the macro behind the
 * definition of the structure, in the same namespace:
 *
 *	struct request { std::uint32_t id; std::string peer; };
 *	POSIXTRACE_FIELDS(request, id, peer)
 *
 * A member is a bool, an integer, an enumeration, a floating-point number, a pointer, a string
 * (const char *, char[N], or a type that converts to std::string_view), std::vector<unsigned char>,
 * std::chrono::nanoseconds, std::chrono::system_clock::time_point, or an array of numbers (T[N] or
 * std::array<T, N>).
 */
#define POSIXTRACE_FIELDS(type, ...) \
	[[maybe_unused]] inline auto posixtrace_fields(const type *posixtrace_object_) \
	{ \
		return posixtrace::detail::fields<type>( \
			#__VA_ARGS__, [](const type &posixtrace_of_, auto &&posixtrace_use_) { \
				POSIXTRACE_MEMBERS_(posixtrace_of_, posixtrace_use_, __VA_ARGS__) \
			}, posixtrace_object_); \
	}
/* Applies `use` to each member. Members have no parentheses, unlike the words of a trace point. */
#define POSIXTRACE_MEMBERS_(of, use, ...) \
	const auto &posixtrace_ref_ = of; \
	POSIX_TRACE_CAT_(POSIXTRACE_M, POSIX_TRACE_COUNT_(__VA_ARGS__, ))(use, __VA_ARGS__)
#define POSIXTRACE_M1(use, a)        use(posixtrace_ref_.a);
#define POSIXTRACE_M2(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M1(use, __VA_ARGS__)
#define POSIXTRACE_M3(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M2(use, __VA_ARGS__)
#define POSIXTRACE_M4(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M3(use, __VA_ARGS__)
#define POSIXTRACE_M5(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M4(use, __VA_ARGS__)
#define POSIXTRACE_M6(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M5(use, __VA_ARGS__)
#define POSIXTRACE_M7(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M6(use, __VA_ARGS__)
#define POSIXTRACE_M8(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M7(use, __VA_ARGS__)
#define POSIXTRACE_M9(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M8(use, __VA_ARGS__)
#define POSIXTRACE_M10(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M9(use, __VA_ARGS__)
#define POSIXTRACE_M11(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M10(use, __VA_ARGS__)
#define POSIXTRACE_M12(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M11(use, __VA_ARGS__)
#define POSIXTRACE_M13(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M12(use, __VA_ARGS__)
#define POSIXTRACE_M14(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M13(use, __VA_ARGS__)
#define POSIXTRACE_M15(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M14(use, __VA_ARGS__)
#define POSIXTRACE_M16(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M15(use, __VA_ARGS__)
#define POSIXTRACE_M17(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M16(use, __VA_ARGS__)
#define POSIXTRACE_M18(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M17(use, __VA_ARGS__)
#define POSIXTRACE_M19(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M18(use, __VA_ARGS__)
#define POSIXTRACE_M20(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M19(use, __VA_ARGS__)
#define POSIXTRACE_M21(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M20(use, __VA_ARGS__)
#define POSIXTRACE_M22(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M21(use, __VA_ARGS__)
#define POSIXTRACE_M23(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M22(use, __VA_ARGS__)
#define POSIXTRACE_M24(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M23(use, __VA_ARGS__)
#define POSIXTRACE_M25(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M24(use, __VA_ARGS__)
#define POSIXTRACE_M26(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M25(use, __VA_ARGS__)
#define POSIXTRACE_M27(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M26(use, __VA_ARGS__)
#define POSIXTRACE_M28(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M27(use, __VA_ARGS__)
#define POSIXTRACE_M29(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M28(use, __VA_ARGS__)
#define POSIXTRACE_M30(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M29(use, __VA_ARGS__)
#define POSIXTRACE_M31(use, a, ...) \
	POSIXTRACE_M1(use, a) POSIXTRACE_M30(use, __VA_ARGS__)

namespace detail {

template <class T, class Visit> struct fields_t {
	const char *names;
	Visit visit;
};

template <class T, class Visit> fields_t<T, Visit> fields(const char *names, Visit visit, const T *)
{
	return { names, visit };
}

} /* namespace detail */

/*
 * An event type whose fields are the members of a structure. Make it static, once for each name:
 *
 *	static const posixtrace::event<request> received("request.received");
 *	received({ 7, "localhost" });
 *
 * `level` is 1 (critical) to 5 (verbose), or 0 for a type without a level. `attributes` are further
 * attributes of the schema, such as "@begin request; @key id".
 */
template <class T> class event {
public:
	explicit event(const std::string &name, int level = 0, const std::string &attributes = {})
	{
		const auto names = detail::split(posixtrace_fields(static_cast<const T *>(nullptr)).names);
		std::string schema;
		std::size_t i = 0;
		const T value{};

		posixtrace_fields(&value).visit(value, [&](const auto &member) {
			schema += detail::type_of<decltype(member)>() + ' ' + names[i++] + ';';
		});
		if (level)
			schema += "@level " + std::to_string(level) + ';';
		schema += attributes;
		detail::check_text(name, name);
		detail::check_text(schema, name);
		if (const char *fault = posix_trace_schema_fault_np(schema.c_str(),
								    POSIX_TRACE_FIELDS_BYTES_NP))
			throw std::system_error(EINVAL, std::generic_category(),
						name + ": " + fault + ": " + schema);
		check(posix_trace_eventid_open(name.c_str(), &id_), name.c_str());
		if (id_ != POSIX_TRACE_UNNAMED_USEREVENT)
			check(posix_trace_eventid_describe_np(id_, schema.c_str()), name.c_str());
	}

	/* Records an event. While the process is not traced, a call costs a load and a branch. */
	void operator()(const T &value) const noexcept
	{
		if (__builtin_expect(is_active(), 0))
			record(value);
	}

	trace_event_id_t id() const noexcept { return id_; }

private:
	void __attribute__((noinline)) record(const T &value) const noexcept
	{
		posix_trace_arg_np arg[POSIX_TRACE_FIELDS_MAX_NP];
		unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];
		detail::texts copies;
		std::size_t args = 0;

		posixtrace_fields(&value).visit(value, [&](const auto &member) {
			arg[args] = detail::argument(member, copies);
			args++;
		});
		posix_trace_event_at_np(id_, payload,
					posix_trace_fields_pack_np(payload, sizeof(payload), arg, args),
					__builtin_return_address(0));
	}

	trace_event_id_t id_ = 0;
};

/* A kind of span. Its name need not be a literal. Make the object static. */
class span_type {
public:
	explicit span_type(std::string name) : name_(std::move(name))
	{
		detail::check_text(name_, name_);
		site_.name = name_.c_str();
		site_.schema = "";
		site_.size = sizeof(site_);
		site_.kind = POSIX_TRACE_SITE_SCOPE_NP;
		posix_trace_site_open_np(&site_);
	}
	span_type(const span_type &) = delete;
	span_type &operator=(const span_type &) = delete;

private:
	friend class span;
	std::string name_;
	posix_trace_site_np site_{};
};

/* A span. The constructor begins it, and the destructor ends it, also after an exception. */
class span {
public:
	explicit span(const span_type &type) noexcept : end_(0)
	{
		if (__builtin_expect(is_active(), 0)) {
			posix_trace_event_at_np(type.site_.event_id, nullptr, 0,
						__builtin_return_address(0));
			end_ = type.site_.end_id;
		}
	}
	~span()
	{
		if (end_)
			posix_trace_event_at_np(end_, nullptr, 0, __builtin_return_address(0));
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;

private:
	trace_event_id_t end_;
};

/*
 * An open file. The destructor closes its descriptor. The constructor refuses a path with a NUL,
 * because open() would open the file whose name is the part before the NUL.
 */
class file {
public:
	file(const std::string &path, int flags)
	{
		detail::check_text(path, path);
		fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
		if (fd_ < 0)
			throw std::system_error(errno, std::generic_category(), path);
	}
	~file()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	file(file &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	file &operator=(file &&) = delete;
	int fd() const noexcept { return fd_; }

private:
	int fd_ = -1;
};

/* An active stream of the process `pid`, 0 for this process. The destructor shuts it down. */
class stream {
public:
	explicit stream(pid_t pid = 0) { check(posix_trace_create(pid, nullptr, &trid_), "create"); }

	/*
	 * A stream with a log in the file `path`, whose former content is removed. The log grows
	 * without a limit (POSIX_TRACE_APPEND). If `inherited`, the stream also traces the children
	 * that the traced process creates after that.
	 */
	explicit stream(const std::string &path, pid_t pid = 0, bool inherited = false)
		: file_(file(path, O_RDWR | O_CREAT | O_TRUNC))
	{
		trace_attr_t attr;
		int err = posix_trace_attr_init(&attr);

		if (!err)
			err = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
		/* Room for some 100,000 events until the library's thread writes them to the log. */
		if (!err)
			err = posix_trace_attr_setstreamsize(&attr, 4 << 20);
		if (!err && inherited)
			err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
		if (!err)
			err = posix_trace_create_withlog(pid, &attr, file_->fd(), &trid_);
		posix_trace_attr_destroy(&attr);
		check(err, path.c_str());
	}
	stream(stream &&other) noexcept
		: file_(std::move(other.file_)), trid_(std::exchange(other.trid_, 0))
	{
	}
	stream &operator=(stream &&) = delete;
	~stream()
	{
		if (trid_)
			posix_trace_shutdown(trid_);
	}

	void start() { check(posix_trace_start(trid_), "start"); }
	void stop() { check(posix_trace_stop(trid_), "stop"); }
	void flush() { check(posix_trace_flush(trid_), "flush"); }
	void level(int max) { check(posix_trace_set_level_np(trid_, max), "level"); }
	/* Excludes event types: see posix_trace_set_filter_names_np(3). */
	void filter(const char *list)
	{
		check(posix_trace_set_filter_names_np(trid_, list, POSIX_TRACE_SET_EVENTSET), list);
	}
	/* Ends the stream and completes its log. The destructor does the same and ignores errors. */
	void shutdown() { check(posix_trace_shutdown(std::exchange(trid_, 0)), "shutdown"); }
	trace_id_t id() const noexcept { return trid_; }

private:
	std::optional<file> file_;
	trace_id_t trid_ = 0;
};

/* The value of a field. The value of an array field is the first element of the array. */
using value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string_view>;

class log;

/* An event of a log. */
class entry {
public:
	std::string_view name() const noexcept { return *name_; }
	std::chrono::system_clock::time_point time() const
	{
		return std::chrono::system_clock::time_point(
			std::chrono::duration_cast<std::chrono::system_clock::duration>(
				std::chrono::nanoseconds(event_.time_ns)));
	}
	std::int64_t time_ns() const noexcept { return event_.time_ns; }
	pid_t pid() const noexcept { return event_.info.posix_pid; }
	pid_t tid() const noexcept { return event_.tid; }
	std::string_view data() const noexcept
	{
		return { static_cast<const char *>(event_.data), event_.data_len };
	}

	/*
	 * Returns the value of a field, or monostate if the event does not have the field. For an
	 * array, returns the first element.
	 */
	value operator[](std::string_view field) const { return at(field, 0); }

	/*
	 * Returns an element of an array, or monostate if the element does not exist. A field that is
	 * not an array has its value at index 0.
	 */
	value at(std::string_view field, unsigned index) const
	{
		posix_trace_value_np found;

		for (unsigned i = 0; schema_ && i < schema_->fields; i++)
			if (field == schema_->field[i].name)
				return posix_trace_field_get_np(schema_, i, index, event_.data,
								event_.data_len, 0, &found) ?
					       make(found) : value();
		return {};
	}

	/*
	 * Returns the value of a field, converted to T. If T is a vector, returns all elements of an
	 * array. Throws std::out_of_range if the field does not exist or has no such conversion.
	 */
	template <class T> T get(std::string_view field) const
	{
		if constexpr (detail::is_vector<T>) {
			T all;

			for (value is = at(field, 0); !std::holds_alternative<std::monostate>(is);
			     is = at(field, static_cast<unsigned>(all.size())))
				all.push_back(convert<typename T::value_type>(is, field));
			return all.empty() ? throw std::out_of_range("no such field: " + std::string(field))
					   : all;
		} else {
			return convert<T>(at(field, 0), field);
		}
	}

	/* Returns the text of an event whose schema has a @format, or "" for another event. */
	std::string message() const
	{
		std::string text;

		if (schema_ && schema_->format) {
			text.resize(posix_trace_message_print_np(schema_, event_.data, event_.data_len, 0,
								 nullptr, 0));
			posix_trace_message_print_np(schema_, event_.data, event_.data_len, 0, text.data(),
						     text.size() + 1);
		}
		return text;
	}

private:
	friend class log;

	template <class T> static T convert(const value &from, std::string_view field)
	{
		return std::visit([&](const auto &is) -> T {
			using U = std::decay_t<decltype(is)>;

			if constexpr (std::is_same_v<U, std::string_view>) {
				if constexpr (std::is_constructible_v<T, std::string_view>)
					return T(is);
			} else if constexpr (!std::is_same_v<U, std::monostate>) {
				if constexpr (std::is_arithmetic_v<T>)
					return static_cast<T>(is);
			}
			throw std::out_of_range("no such field: " + std::string(field));
		}, from);
	}

	static value make(const posix_trace_value_np &found)
	{
		switch (found.field->form) {
		case POSIX_TRACE_FORM_SIGNED_NP:
			return found.s64;
		case POSIX_TRACE_FORM_FLOAT_NP:
			return found.f64;
		case POSIX_TRACE_FORM_BYTES_NP:
			return std::string_view(static_cast<const char *>(found.data), found.len);
		default:
			if (found.field->type == POSIX_TRACE_TYPE_BOOL_NP)
				return found.u64 != 0;
			return found.u64;
		}
	}

	posix_trace_event_np event_{};
	const std::string *name_ = nullptr;
	const posix_trace_schema_np *schema_ = nullptr;
};

/*
 * An opened log as a range of events: for (const auto &event : log("x.ptl")). In C++20 it is a
 * std::ranges::input_range. Each call of begin() starts with the first event again. All iterators of
 * the object share one position.
 */
class log {
public:
	explicit log(const std::string &path) : file_(path, O_RDONLY)
	{
		const int err = posix_trace_open_np(file_.fd(), POSIX_TRACE_OPEN_SALVAGE_NP, &trid_);
		const char *why = err ? posix_trace_open_fault_np(file_.fd()) : nullptr;

		check(err, (why ? path + ": " + why : path).c_str());
	}
	log(const log &) = delete;
	log &operator=(const log &) = delete;
	~log() { posix_trace_close(trid_); }

	class iterator {
	public:
		using iterator_category = std::input_iterator_tag;
		using value_type = entry;
		using difference_type = std::ptrdiff_t;
		using pointer = const entry *;
		using reference = const entry &;

		iterator() = default;
		reference operator*() const { return log_->entry_; }
		pointer operator->() const { return &log_->entry_; }
		iterator &operator++()
		{
			if (!log_->next())
				log_ = nullptr;
			return *this;
		}
		/* Returns nothing: the former event does not remain. */
		void operator++(int) { ++*this; }
		bool operator==(const iterator &other) const { return log_ == other.log_; }
		bool operator!=(const iterator &other) const { return log_ != other.log_; }

	private:
		friend class log;
		explicit iterator(log *of) : log_(of) {}
		log *log_ = nullptr;
	};

	iterator begin()
	{
		iterator first(this);

		check(posix_trace_rewind(trid_), "rewind");
		return ++first;
	}
	iterator end() { return iterator(nullptr); }
	trace_id_t id() const noexcept { return trid_; }

private:
	struct type {
		std::string name;
		std::unique_ptr<posix_trace_schema_np> schema;
	};

	/* Returns the name and the schema of a type and keeps both. In a log they do not change. */
	const type &type_of(trace_event_id_t id)
	{
		const auto found = types_.find(id);
		char name[TRACE_EVENT_NAME_MAX + 1], text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
		type made;

		if (found != types_.end())
			return found->second;
		if (!posix_trace_eventid_get_name(trid_, id, name))
			made.name = name;
		if (!posix_trace_eventid_get_schema_np(trid_, id, text, sizeof(text))) {
			made.schema = std::make_unique<posix_trace_schema_np>();
			/* The text of a file may be no schema. The type then has no schema. */
			if (posix_trace_schema_parse_np(text, made.schema.get()))
				made.schema.reset();
		}
		return types_.emplace(id, std::move(made)).first->second;
	}

	bool next()
	{
		int none = 0;

		check(posix_trace_getnext_np(trid_, &entry_.event_, &none), "next event");
		if (none)
			return false;
		const type &is = type_of(entry_.event_.info.posix_event_id);
		entry_.name_ = &is.name;
		entry_.schema_ = is.schema.get();
		return true;
	}

	file file_;
	trace_id_t trid_ = 0;
	entry entry_;
	std::unordered_map<trace_event_id_t, type> types_;
};

} /* namespace posixtrace */

#endif
