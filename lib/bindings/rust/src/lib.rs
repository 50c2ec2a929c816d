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
//! A line with [`event!`] or [`span!`] registers its event type at the first use. While the process
//! is not traced, the line costs one load and one branch, and does not evaluate its values. Any
//! thread may record, and recording never fails. One thread at a time may use a [`Stream`] or a
//! [`Log`].

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void, CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::io::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// The C interface that this crate uses: <trace.h> and <trace_np.h>.
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

    /// struct posix_trace_payload_np
    #[repr(C)]
    pub struct Payload {
        pub len: usize,
        pub full: c_int,
        pub size: c_uint,
        pub bytes: [u8; 1024],
    }

    extern "C" {
        pub static posix_trace_active_np: *const u8;
        pub fn posix_trace_eventid_open(name: *const c_char, id: *mut c_uint) -> c_int;
        pub fn posix_trace_eventid_describe_np(id: c_uint, schema: *const c_char) -> c_int;
        pub fn posix_trace_event(id: c_uint, data: *const c_void, len: usize);
        pub fn posix_trace_attr_init(attr: *mut Attr) -> c_int;
        pub fn posix_trace_attr_destroy(attr: *mut Attr) -> c_int;
        pub fn posix_trace_attr_setlogfullpolicy(attr: *mut Attr, policy: c_int) -> c_int;
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
        pub fn posix_trace_close(id: c_ulong) -> c_int;
        pub fn posix_trace_getnext_sized_np(
            id: c_ulong, event: *mut Event, size: usize, unavailable: *mut c_int,
        ) -> c_int;
        pub fn posix_trace_eventid_get_name(id: c_ulong, event: c_uint, name: *mut c_char) -> c_int;
        pub fn posix_trace_eventid_get_schema_np(
            id: c_ulong, event: c_uint, schema: *mut c_char, size: usize,
        ) -> c_int;
        pub fn posix_trace_payload_begin_np(payload: *mut Payload, size: usize);
        pub fn posix_trace_payload_number_np(payload: *mut Payload, kind: c_int, value: u64);
        pub fn posix_trace_payload_real_np(payload: *mut Payload, kind: c_int, value: f64);
        pub fn posix_trace_payload_str_np(payload: *mut Payload, text: *const c_char, room: c_uint);
        pub fn posix_trace_payload_bytes_np(payload: *mut Payload, bytes: *const c_void, len: usize);
    }
}

/// Converts an error number of the library.
fn check(err: c_int) -> io::Result<()> {
    match err {
        0 => Ok(()),
        _ => Err(io::Error::from_raw_os_error(err)),
    }
}

fn text_of(path: &str) -> io::Result<CString> {
    CString::new(path).map_err(|_| io::Error::from_raw_os_error(22))
}

/// Returns whether a stream traces this process.
#[inline(always)]
pub fn is_active() -> bool {
    // The pointer never changes. Other threads and processes change the byte.
    unsafe { std::ptr::read_volatile(sys::posix_trace_active_np) != 0 }
}

/// The data of an event, to which [`Field::put`] appends values.
pub struct Payload(sys::Payload);

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
                unsafe {
                    sys::posix_trace_payload_number_np(&mut payload.0, $kind, *self as i64 as u64)
                }
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
        unsafe { sys::posix_trace_payload_real_np(&mut payload.0, 13, f64::from(*self)) }
    }
}

impl Field for f64 {
    const NAME: &'static str = "f64";
    fn put(&self, payload: &mut Payload) {
        unsafe { sys::posix_trace_payload_real_np(&mut payload.0, 14, *self) }
    }
}

impl Field for std::time::Duration {
    const NAME: &'static str = "ns";
    fn put(&self, payload: &mut Payload) {
        let ns = u64::try_from(self.as_nanos()).unwrap_or(u64::MAX);
        unsafe { sys::posix_trace_payload_number_np(&mut payload.0, 18, ns) }
    }
}

impl Field for &str {
    const NAME: &'static str = "str";
    fn put(&self, payload: &mut Payload) {
        // The library needs a NUL, which a str does not have. A payload has at most 1024 bytes.
        let mut text = [0u8; 1024];
        let len = self.len().min(text.len() - 1);
        text[..len].copy_from_slice(&self.as_bytes()[..len]);
        unsafe { sys::posix_trace_payload_str_np(&mut payload.0, text.as_ptr().cast(), 0) }
    }
}

impl Field for &[u8] {
    const NAME: &'static str = "bytes";
    fn put(&self, payload: &mut Payload) {
        unsafe {
            sys::posix_trace_payload_bytes_np(&mut payload.0, self.as_ptr().cast(), self.len())
        }
    }
}

/// The static data of a line with [`event!`] or [`span!`]: its event type, 0 if not registered.
pub struct Site(AtomicU32);

impl Site {
    /// Makes the data of a line whose event type is not registered.
    pub const fn new() -> Site {
        Site(AtomicU32::new(0))
    }

    /// Returns the event type. The first call registers the type.
    fn id(&self, name: &str, schema: &str) -> c_uint {
        let id = self.0.load(Ordering::Acquire);
        if id != 0 {
            return id;
        }
        // 63 is the unnamed user event, for a name or schema that cannot be registered.
        let id = register(name, schema).unwrap_or(63);
        self.0.store(id, Ordering::Release);
        id
    }

    /// Records an event. The closure `put` appends its fields.
    #[cold]
    #[inline(never)]
    pub fn record(&self, name: &str, schema: impl FnOnce() -> String,
                  put: impl FnOnce(&mut Payload)) {
        let known = self.0.load(Ordering::Acquire);
        let id = if known != 0 { known } else { self.id(name, &schema()) };
        let mut payload = std::mem::MaybeUninit::<Payload>::uninit();
        unsafe {
            // This call initializes all members but `bytes`. Only the first `len` bytes are read.
            sys::posix_trace_payload_begin_np(
                payload.as_mut_ptr().cast(), std::mem::size_of::<sys::Payload>());
            let payload = &mut *payload.as_mut_ptr();
            put(payload);
            sys::posix_trace_event(id, payload.0.bytes.as_ptr().cast(), payload.0.len);
        }
    }
}

impl Default for Site {
    fn default() -> Site {
        Site::new()
    }
}

fn register(name: &str, schema: &str) -> io::Result<c_uint> {
    let (name, schema) = (text_of(name)?, text_of(schema)?);
    let mut id = 0;
    unsafe {
        check(sys::posix_trace_eventid_open(name.as_ptr(), &mut id))?;
        if !schema.as_bytes().is_empty() && id != 63 {
            // This call fails if the type has another schema: readers would misread the fields.
            check(sys::posix_trace_eventid_describe_np(id, schema.as_ptr()))?;
        }
    }
    Ok(id)
}

/// Records an event: `event!("net.accept", fd: i32 = 3, peer: &str = name; "@level 4")`.
///
/// The name is a literal. Each field has a name, a type that implements [`Field`], and a value. The
/// last item, behind a semicolon, has further attributes of the schema.
#[macro_export]
macro_rules! event {
    ($name:expr $(, $field:ident : $kind:ty = $value:expr)* $(; $attributes:expr)?) => {
        if $crate::is_active() {
            static SITE: $crate::Site = $crate::Site::new();
            SITE.record($name, || {
                #[allow(unused_mut)]
                let mut schema = String::new();
                $(
                    schema.push_str(<$kind as $crate::Field>::NAME);
                    schema.push_str(concat!(" ", stringify!($field), ";"));
                )*
                $( schema.push_str($attributes); )?
                schema
            }, |_payload| {
                $( $crate::Field::put(&{ let value: $kind = $value; value }, _payload); )*
            });
        }
    };
}

/// Records the end of a span when it is dropped.
pub struct SpanEnd(Option<(&'static Site, &'static str, fn() -> String)>);

impl SpanEnd {
    /// For [`span!`]. `end` is None if the begin was not recorded.
    pub fn new(end: Option<(&'static Site, &'static str, fn() -> String)>) -> SpanEnd {
        SpanEnd(end)
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
/// block.
#[macro_export]
macro_rules! span {
    ($name:literal $(, $field:ident : $kind:ty = $value:expr)*) => {
        let _posixtrace_span = $crate::SpanEnd::new(if $crate::is_active() {
            static END: $crate::Site = $crate::Site::new();
            $crate::event!(concat!($name, ".begin") $(, $field : $kind = $value)*;
                           concat!("@begin ", $name));
            Some((&END, concat!($name, ".end"), || String::from(concat!("@end ", $name))))
        } else {
            None
        });
    };
}

/// An active stream that traces this process. Its drop shuts the stream down.
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

    /// Makes a stream with a log in a new file. The log grows without a limit.
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

    /// Excludes event types whose level, 1 to 5, is greater than `max`. 0 admits all types.
    pub fn level(&self, max: i32) -> io::Result<()> {
        check(unsafe { sys::posix_trace_set_level_np(self.id, max) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        unsafe { sys::posix_trace_shutdown(self.id) };
    }
}

mod read;
pub use read::{Log, Record, Value};
