// SPDX-License-Identifier: LGPL-2.1-or-later
// Events and spans of the crate tracing in every form: tracing subscriber|layer LOG [backwards]. With
// backwards, lines whose names are similar are used in the other order.
use posixtrace::Stream;
use posixtrace_tracing::{Layer, Subscriber};
use tracing::field::Empty;
use tracing::{debug, error, info, info_span, trace, warn, Span};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::Registry;

/// A value whose text enters a span and records an event.
struct Nested;

impl std::fmt::Debug for Nested {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let _span = info_span!("formatting").entered();
        info!("inside");
        f.write_str("nested")
    }
}

fn optional(number: Option<u64>) {
    info!(target: "optional", number, "first without or with a value");
}

/// Lines whose names differ only in characters that a log does not keep.
fn similar() {
    let lines: [fn(); 2] = [
        || {
            info_span!("look alike").in_scope(|| ());
            info_span!("look_alike").in_scope(|| ());
            info_span!("long_long_long_long_long_long_long_long_long_long_long_long_long_1")
                .in_scope(|| ());
        },
        || {
            info_span!("look=alike").in_scope(|| ());
            info_span!("long_long_long_long_long_long_long_long_long_long_long_long_long_2")
                .in_scope(|| ());
        },
    ];
    let mut order = [0, 1];
    if std::env::args().nth(3).is_some() {
        order.reverse();
    }
    for i in order {
        if i == 0 { info!(target: "same::line", "0") } else { info!(target: "same.line", "1") }
        lines[i]();
    }
}

fn all() {
    error!(target: "types", signed = -5, unsigned = 7u64, real = 2.5, is = true, text = "blank ;",
           debug = ?[1, 2], http.method = %"GET", "type" = "x",
           http_method = 3);
    warn!(target: "a::b", "{} of {}", 1, 2);
    info!(target: "levels", "info");
    debug!(target: "levels", "debug");
    trace!(target: "levels", "trace");
    similar();
    info_span!("gr\u{fc}n=\"{x}\"", value = 1).in_scope(|| ());
    info_span!("with\0zero", value = 1).in_scope(|| ());
    info_span!("").in_scope(|| ());
    info!(target: "long::long::long::long::long::long::long::long::long::long::long::long::end",
          first = 0, "a_name_of_a_field_that_has_more_characters_than_a_field_can_have_1" = 1,
          "a_name_of_a_field_that_has_more_characters_than_a_field_can_have_2" = 2);
    optional(Some(3));
    optional(None);
    let span = info_span!("late value", known = 1, late = Empty);
    span.record("late", "now");
    span.in_scope(|| {
        info_span!("inner").in_scope(|| {
            Span::current().record("nothing", 1);
        });
    });
    span.record("known", 2);
    let copy = span.clone();
    drop(span);
    copy.in_scope(|| ());
    info!(target: "nested", value = ?Nested);
    info_span!("of value", value = ?Nested).in_scope(|| ());
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let (span, dispatch) = (copy.clone(), tracing::dispatcher::get_default(|d| d.clone()));
            std::thread::spawn(move || {
                tracing::dispatcher::with_default(&dispatch, || {
                    for _ in 0..40 {
                        let _entered = span.enter();
                        info!(target: "thread", i);
                    }
                })
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let _ = std::panic::catch_unwind(|| {
        let _span = info_span!("unwound").entered();
        std::panic::panic_any(1);
    });
}

fn main() -> std::io::Result<()> {
    let words: Vec<_> = std::env::args().collect();
    let stream = Stream::with_log(&words[2])?;
    std::panic::set_hook(Box::new(|_| ()));
    let run = || {
        info!(target: "not::recorded", value = ?Nested);
        stream.start().unwrap();
        all();
        stream.stop().unwrap();
        all();
    };
    match words[1].as_str() {
        "layer" => tracing::subscriber::with_default(Registry::default().with(Layer::new()), run),
        _ => tracing::subscriber::with_default(Subscriber::new(), run),
    }
    Ok(())
}
