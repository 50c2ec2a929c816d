// SPDX-License-Identifier: LGPL-2.1-or-later
//! Tracing with libposixtrace.
//!
//! ```no_run
//! use posixtrace::{event, span, Log, Stream};
//!
//! fn main() -> std::io::Result<()> {
//!     {
//!         let stream = Stream::with_log("first.ptl")?;
//!         stream.start()?;
//!         span!("work");
//!         event!("net.accept", fd: i32 = 3, peer: &str = "localhost", ok: bool = true);
//!     }
//!     for record in Log::open("first.ptl")? {
//!         println!("{} {:?}", record.name, record.fields);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A line with [`event!`], [`span!`] or [`async_span!`] registers its event type at the first use.
//! While the process is not traced, the line costs one load and one branch, and does not evaluate its
//! values. Any thread may record, and recording never fails. Threads may share a [`Stream`].

use std::ffi::{c_void, CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::raw::{c_char, c_int, c_uint, c_ulong};
use std::os::unix::io::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The C interface: the parts of <trace.h> and <trace_np.h> that this crate uses. read.rs declares
/// the functions that only it uses.
#[allow(non_camel_case_types, missing_docs)]
mod sys {
    use super::*;

    /// struct posix_trace_event_info
    #[repr(C)]
    pub struct Info {
        pub event_id: c_uint,
        pub pid: c_int,
        pub prog_address: *mut c_void,
        pub thread_id: c_ulong,
        pub seconds: i64,
        pub nanoseconds: i64,
        pub truncation_status: c_int,
    }

    /// struct posix_trace_event_np
    #[repr(C)]
    pub struct Event {
        pub info: Info,
        pub tid: c_int,
        pub flags: c_uint,
        pub time_ns: i64,
        pub data: *const c_void,
        pub data_len: usize,
    }

    /// trace_attr_t
    #[repr(C)]
    pub struct Attr(pub [c_ulong; 48]);

    /// struct posix_trace_arg_np
    #[repr(C)]
    pub struct Arg {
        pub kind: c_uint,
        pub room: c_uint,
        pub number: u64,
        pub real: f64,
        pub data: *const c_void,
        pub len: usize,
    }

    /// struct posix_trace_site_np
    #[repr(C)]
    pub struct Site {
        pub name: *const c_char,
        pub schema: *const c_char,
        pub size: c_uint,
        pub kind: u16,
        pub level: u16,
        pub line: c_uint,
        pub event_id: c_uint,
        pub end_id: c_uint,
        pub arguments: u8,
        pub argument: [u8; 32],
    }

    extern "C" {
        pub static posix_trace_active_np: *const u8;
        pub fn posix_trace_site_open_np(site: *mut Site) -> c_uint;
        pub fn posix_trace_event(id: c_uint, data: *const c_void, len: usize);
        pub fn posix_trace_attr_init(attr: *mut Attr) -> c_int;
        pub fn posix_trace_attr_destroy(attr: *mut Attr) -> c_int;
        pub fn posix_trace_attr_setlogfullpolicy(attr: *mut Attr, policy: c_int) -> c_int;
        pub fn posix_trace_attr_setstreamsize(attr: *mut Attr, size: usize) -> c_int;
        pub fn posix_trace_create(pid: c_int, attr: *const Attr, id: *mut c_ulong) -> c_int;
        pub fn posix_trace_create_withlog(
            pid: c_int, attr: *const Attr, fd: c_int, id: *mut c_ulong,
        ) -> c_int;
        pub fn posix_trace_start(id: c_ulong) -> c_int;
        pub fn posix_trace_stop(id: c_ulong) -> c_int;
        pub fn posix_trace_flush(id: c_ulong) -> c_int;
        pub fn posix_trace_shutdown(id: c_ulong) -> c_int;
        pub fn posix_trace_set_level_np(id: c_ulong, level: c_int) -> c_int;
        pub fn posix_trace_open_np(fd: c_int, flags: c_uint, id: *mut c_ulong) -> c_int;
        pub fn posix_trace_open_fault_np(fd: c_int) -> *const c_char;
        pub fn posix_trace_close(id: c_ulong) -> c_int;
        pub fn posix_trace_getnext_sized_np(
            id: c_ulong, event: *mut Event, size: usize, unavailable: *mut c_int,
        ) -> c_int;
        pub fn posix_trace_eventid_get_name(id: c_ulong, event: c_uint, name: *mut c_char) -> c_int;
        pub fn posix_trace_eventid_get_schema_np(
            id: c_ulong, event: c_uint, schema: *mut c_char, size: usize,
        ) -> c_int;
        pub fn posix_trace_fields_pack_sized_np(
            payload: *mut c_void, room: usize, arg: *const Arg, args: usize, arg_size: usize,
        ) -> usize;
    }
}

/// Converts an error number of the library.
fn check(err: c_int) -> io::Result<()> {
    match err {
        0 => Ok(()),
        _ => Err(io::Error::from_raw_os_error(err)),
    }
}

/// Returns whether a stream traces this process.
#[inline(always)]
pub fn is_active() -> bool {
    // The pointer never changes. Other threads and processes change the byte.
    unsafe { std::ptr::read_volatile(sys::posix_trace_active_np) != 0 }
}

/// The most bytes and fields of an event: POSIX_TRACE_FIELDS_BYTES_NP, POSIX_TRACE_FIELDS_MAX_NP.
const BYTES: usize = 1024;
const FIELDS: usize = 32;

/// Numbers of enum posix_trace_type_np.
const STR_TYPE: c_uint = 21;
const BYTES_TYPE: c_uint = 22;

/// The fields of an event, to which [`Field::put`] appends values.
///
/// The library gets all fields at once, so that a long text does not displace the fields behind it.
pub struct Payload {
    arg: [MaybeUninit<sys::Arg>; FIELDS],
    args: usize,
    /// Copies of texts and bytes, because a value may be a temporary. Each has a NUL behind it. An
    /// event has no room for more than BYTES, so the library would also shorten each text that
    /// add_copy() shortens.
    copies: [MaybeUninit<u8>; BYTES + FIELDS],
    used: usize,
}

impl Payload {
    #[inline]
    fn new() -> Payload {
        // An array of MaybeUninit needs no values.
        let (arg, copies) = unsafe {
            (MaybeUninit::uninit().assume_init(), MaybeUninit::uninit().assume_init())
        };
        Payload { arg, args: 0, copies, used: 0 }
    }

    /// Appends a field. `kind` is a number of enum posix_trace_type_np.
    #[inline]
    fn add(&mut self, kind: c_uint, number: u64, real: f64, len: usize) {
        if self.args < FIELDS {
            let data = std::ptr::null();
            self.arg[self.args].write(sys::Arg { kind, room: 0, number, real, data, len });
            self.args += 1;
        }
    }

    /// Appends a text or bytes. `number` is the position of the copy, and record() makes it a
    /// pointer: before, the payload may be moved.
    fn add_copy(&mut self, kind: c_uint, bytes: &[u8]) {
        if self.args < FIELDS {
            let len = bytes.len().min(BYTES.saturating_sub(self.used));
            let end = self.used + len;
            for (to, from) in self.copies[self.used..end].iter_mut().zip(bytes) {
                to.write(*from);
            }
            self.copies[end].write(0);
            self.add(kind, self.used as u64, 0.0, len);
            self.used = end + 1;
        }
    }

    /// Records the fields as an event.
    fn record(&mut self, id: c_uint) {
        let mut bytes = MaybeUninit::<[u8; BYTES]>::uninit();
        for arg in &mut self.arg[..self.args] {
            // add() has initialized these elements.
            let arg = unsafe { arg.assume_init_mut() };
            if arg.kind == STR_TYPE || arg.kind == BYTES_TYPE {
                arg.data = self.copies[arg.number as usize..].as_ptr().cast();
            }
        }
        unsafe {
            let len = sys::posix_trace_fields_pack_sized_np(
                bytes.as_mut_ptr().cast(), BYTES, self.arg.as_ptr().cast(), self.args,
                std::mem::size_of::<sys::Arg>());
            sys::posix_trace_event(id, bytes.as_ptr().cast(), len);
        }
    }
}

/// A type of Rust that a field can have.
pub trait Field {
    /// The name of the type in the schema.
    const NAME: &'static str;
    /// Appends the value to the payload.
    fn put(&self, payload: &mut Payload);
}

macro_rules! numbers {
    ($($rust:ty, $name:literal, $kind:literal;)*) => { $(
        impl Field for $rust {
            const NAME: &'static str = $name;
            fn put(&self, payload: &mut Payload) {
                payload.add($kind, *self as i64 as u64, 0.0, 0)
            }
        }
    )* };
}

// The last column has the numbers of enum posix_trace_type_np.
numbers! {
    u8, "u8", 1; u16, "u16", 2; u32, "u32", 3; u64, "u64", 4; usize, "u64", 4;
    i8, "s8", 5; i16, "s16", 6; i32, "s32", 7; i64, "s64", 8; isize, "s64", 8;
    bool, "bool", 15;
}

impl Field for f32 {
    const NAME: &'static str = "f32";
    fn put(&self, payload: &mut Payload) {
        payload.add(13, 0, f64::from(*self), 0)
    }
}

impl Field for f64 {
    const NAME: &'static str = "f64";
    fn put(&self, payload: &mut Payload) {
        payload.add(14, 0, *self, 0)
    }
}

impl Field for std::time::Duration {
    const NAME: &'static str = "ns";
    fn put(&self, payload: &mut Payload) {
        let ns = u64::try_from(self.as_nanos()).unwrap_or(u64::MAX);
        payload.add(18, ns, 0.0, 0)
    }
}

impl Field for &str {
    const NAME: &'static str = "str";
    fn put(&self, payload: &mut Payload) {
        // A text in an event ends at its first NUL, so the bytes behind it need no room.
        payload.add_copy(STR_TYPE, self.split('\0').next().unwrap_or("").as_bytes())
    }
}

impl Field for &[u8] {
    const NAME: &'static str = "bytes";
    fn put(&self, payload: &mut Payload) {
        payload.add_copy(BYTES_TYPE, self)
    }
}

/// The static data of a line with [`event!`] or [`span!`].
///
/// The lower half of the number is the event type, 0 if it is not registered. The upper half is the
/// signature of its fields: all instances of a generic function share the static data of their
/// lines, but the fields of these instances may have different types.
pub struct Site(AtomicU64);

impl Site {
    /// Makes the data of a line whose event type is not registered.
    pub const fn new() -> Site {
        Site(AtomicU64::new(0))
    }

    /// Records an event. The closure `put` appends the fields. Their types are the same in each
    /// call.
    pub fn record(&self, name: &str, schema: impl FnOnce() -> String,
                  put: impl FnOnce(&mut Payload)) {
        self.record_signed(0, name, schema, put)
    }

    /// As `record()`, for a line whose fields may have other types in a later call. Calls with the
    /// same types have the same signature.
    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    pub fn record_signed(&self, signature: u32, name: &str, schema: impl FnOnce() -> String,
                         put: impl FnOnce(&mut Payload)) {
        let known = self.0.load(Ordering::Acquire);
        let mut id = known as u32;
        if id == 0 || (known >> 32) as u32 != signature {
            id = register(name, &schema());
            self.0.store(u64::from(signature) << 32 | u64::from(id), Ordering::Release);
        }
        let mut payload = Payload::new();
        put(&mut payload);
        payload.record(id);
    }
}

/// Returns a number for the types of the fields of a line.
#[doc(hidden)]
#[inline]
pub fn signature_of(types: &[&str]) -> u32 {
    // FNV-1a, with a zero behind each name.
    types.iter().flat_map(|name| name.bytes().chain([0]))
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Appends a field to a schema. The name of a field such as `r#type` is `type`.
#[doc(hidden)]
pub fn push_field(schema: &mut String, kind: &str, name: &str) {
    schema.push_str(kind);
    schema.push(' ');
    schema.push_str(name.strip_prefix("r#").unwrap_or(name));
    schema.push(';');
}

impl Default for Site {
    fn default() -> Site {
        Site::new()
    }
}

/// Returns an event type as for a trace point of C: if the name has another schema already, the
/// type is NAME.2, NAME.3 and so on. The unnamed user event, 63, is returned if the name or the
/// schema has a NUL, or if the process has no more names.
fn register(name: &str, schema: &str) -> c_uint {
    let (name, schema) = match (CString::new(name), CString::new(schema)) {
        (Ok(name), Ok(schema)) => (name, schema),
        _ => return 63,
    };
    let mut site = sys::Site {
        name: name.as_ptr(),
        schema: schema.as_ptr(),
        size: std::mem::size_of::<sys::Site>() as c_uint,
        kind: 0, // POSIX_TRACE_SITE_EVENT_NP
        level: 0,
        line: 0,
        event_id: 0,
        end_id: 0,
        arguments: 0,
        argument: [0; 32],
    };
    unsafe { sys::posix_trace_site_open_np(&mut site) }
}

/// Records an event: `event!("net.accept", fd: i32 = 3, peer: &str = name; "@level 4")`.
///
/// The name is a literal. Each field has a name, a type that implements [`Field`], and a value. The
/// last item, behind a semicolon, has further attributes of the schema. Lines with one name and
/// different fields have the event types NAME, NAME.2 and so on.
#[macro_export]
macro_rules! event {
    ($name:expr $(, $field:ident : $kind:ty = $value:expr)* $(; $attributes:expr)?) => {
        if $crate::is_active() {
            static SITE: $crate::Site = $crate::Site::new();
            let signature = $crate::signature_of(&[$( <$kind as $crate::Field>::NAME ),*]);
            SITE.record_signed(signature, $name, || {
                #[allow(unused_mut)]
                let mut schema = ::std::string::String::new();
                $(
                    $crate::push_field(
                        &mut schema, <$kind as $crate::Field>::NAME, stringify!($field));
                )*
                $( schema.push_str($attributes); )?
                schema
            }, |_payload| {
                // A temporary of the value, such as that of &format!(), lives as long as `match`.
                $( match $value {
                    value => {
                        let value: $kind = value;
                        $crate::Field::put(&value, _payload);
                    }
                } )*
            });
        }
    };
}

/// Traces the rest of the block as a span that may overlap with others of its name in one thread, and
/// may end in another thread: `async_span!("request", path: &str = path)`. Use it instead of
/// [`span!`] in an `async fn` or `async` block that awaits something. Each span has a number, the
/// first field `id` of NAME.begin and NAME.end, so no other field may have the name `id`. By this
/// key, readers find the end of a span. The span of a future that is dropped ends then.
#[macro_export]
macro_rules! async_span {
    ($name:literal $(, $field:ident : $kind:ty = $value:expr)*) => {
        let _posixtrace_span = $crate::AsyncSpanEnd::new(if $crate::is_active() {
            static END: $crate::Site = $crate::Site::new();
            let id = $crate::next_span();
            $crate::event!(concat!($name, ".begin"), id: u64 = id $(, $field : $kind = $value)*;
                           concat!("@begin ", $name, ";@key id"));
            Some((&END, concat!($name, ".end"), || ::std::string::String::from(
                concat!("u64 id;@end ", $name, ";@key id")), id))
        } else {
            None
        });
    };
}

/// Returns the number of the next span of [`async_span!`].
#[doc(hidden)]
pub fn next_span() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Records the end of a span of [`async_span!`] when it is dropped.
pub struct AsyncSpanEnd(Option<(&'static Site, &'static str, fn() -> String, u64)>);

impl AsyncSpanEnd {
    /// For [`async_span!`]. `end` is None if the begin was not recorded.
    pub fn new(end: Option<(&'static Site, &'static str, fn() -> String, u64)>) -> AsyncSpanEnd {
        AsyncSpanEnd(end)
    }
}

impl Drop for AsyncSpanEnd {
    fn drop(&mut self) {
        if let Some((site, name, schema, id)) = self.0 {
            site.record(name, schema, |payload| id.put(payload));
        }
    }
}

/// Records the end of a span when it is dropped, in the thread of its begin: it is not `Send`. So the
/// compiler refuses a future with [`span!`] around an `await` where the future must be `Send`.
pub struct SpanEnd(Option<(&'static Site, &'static str, fn() -> String)>, PhantomData<*const ()>);

impl SpanEnd {
    /// For [`span!`]. `end` is None if the begin was not recorded.
    pub fn new(end: Option<(&'static Site, &'static str, fn() -> String)>) -> SpanEnd {
        SpanEnd(end, PhantomData)
    }
}

impl Drop for SpanEnd {
    fn drop(&mut self) {
        if let Some((site, name, schema)) = self.0 {
            site.record(name, schema, |_| {});
        }
    }
}

/// Traces the rest of the block as a span: `span!("request", id: u64 = 7)`. The events are
/// NAME.begin, which has the fields, and NAME.end. NAME.end is also recorded if a panic unwinds the
/// block. A block that awaits something needs [`async_span!`].
#[macro_export]
macro_rules! span {
    ($name:literal $(, $field:ident : $kind:ty = $value:expr)*) => {
        let _posixtrace_span = $crate::SpanEnd::new(if $crate::is_active() {
            static END: $crate::Site = $crate::Site::new();
            $crate::event!(concat!($name, ".begin") $(, $field : $kind = $value)*;
                           concat!("@begin ", $name));
            Some((&END, concat!($name, ".end"), || ::std::string::String::from(concat!("@end ", $name))))
        } else {
            None
        });
    };
}

/// An active stream that traces this process. Its drop shuts the stream down and ignores errors.
#[derive(Debug)]
pub struct Stream {
    id: c_ulong,
    _file: Option<File>,
}

impl Stream {
    /// Makes a stream without a log. The stream keeps the last events in memory.
    pub fn new() -> io::Result<Stream> {
        let mut id = 0;
        check(unsafe { sys::posix_trace_create(0, std::ptr::null(), &mut id) })?;
        Ok(Stream { id, _file: None })
    }

    /// Makes a stream with a log in the file `path`, whose former content is removed. The log grows
    /// without a limit.
    pub fn with_log(path: impl AsRef<Path>) -> io::Result<Stream> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        let mut attr = sys::Attr([0; 48]);
        let mut id = 0;
        unsafe {
            check(sys::posix_trace_attr_init(&mut attr))?;
            // POSIX_TRACE_APPEND
            let mut err = sys::posix_trace_attr_setlogfullpolicy(&mut attr, 0x14);
            if err == 0 {
                // Room for some 100,000 events until the library's thread writes them to the log.
                err = sys::posix_trace_attr_setstreamsize(&mut attr, 4 << 20);
            }
            if err == 0 {
                err = sys::posix_trace_create_withlog(0, &attr, file.as_raw_fd(), &mut id);
            }
            sys::posix_trace_attr_destroy(&mut attr);
            check(err)?;
        }
        Ok(Stream { id, _file: Some(file) })
    }

    /// Starts the stream.
    pub fn start(&self) -> io::Result<()> {
        check(unsafe { sys::posix_trace_start(self.id) })
    }

    /// Stops the stream.
    pub fn stop(&self) -> io::Result<()> {
        check(unsafe { sys::posix_trace_stop(self.id) })
    }

    /// Writes the unread events to the log.
    pub fn flush(&self) -> io::Result<()> {
        check(unsafe { sys::posix_trace_flush(self.id) })
    }

    /// Excludes event types whose level, 1 to 5, is greater than `max`. 0 admits the types of all
    /// levels.
    pub fn level(&self, max: i32) -> io::Result<()> {
        check(unsafe { sys::posix_trace_set_level_np(self.id, max) })
    }

    /// Shuts the stream down and completes its log. An error says that the log is not complete.
    pub fn shutdown(mut self) -> io::Result<()> {
        // The drop finds no stream with the id 0.
        check(unsafe { sys::posix_trace_shutdown(std::mem::take(&mut self.id)) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        unsafe { sys::posix_trace_shutdown(self.id) };
    }
}

mod read;
pub use read::{Log, Record, Value};
