// SPDX-License-Identifier: LGPL-2.1-or-later
//! overlap.rs - the spans of two futures overlap, and end in another thread; then a function is a
//! span: overlap LOG
use posixtrace::{async_span, Stream};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};

struct Nothing;

impl Wake for Nothing {
    fn wake(self: Arc<Self>) {}
}

/// A future that is ready when it is polled for the second time.
struct Twice(bool);

impl Future for Twice {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn waits() {
    async_span!("overlap");
    Twice(false).await;
}

fn third() {
    async_span!("overlap");
}

fn is_ready(future: &mut Pin<Box<dyn Future<Output = ()> + Send>>) -> bool {
    let waker = Arc::new(Nothing).into();

    future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
}

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).expect("LOG");
    let mut first: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(waits());
    let mut second: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(waits());

    third(); // not traced
    let stream = Stream::with_log(&path)?;
    stream.start()?;
    assert!(!is_ready(&mut first) && !is_ready(&mut second));
    std::thread::spawn(move || assert!(is_ready(&mut first))).join().unwrap();
    drop(second); // a future that is never ready
    third();
    Ok(())
}
