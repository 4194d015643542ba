//! What the kernel may take long for, where files are large: a helper thread does it, and other processes run meanwhile.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use drystone_runtime::native::{Protocol, Server};

use crate::reactor::{Errand, Reactor};

/// So many bytes are read or written at once, then others may run.
pub(crate) const PART: usize = 64 << 10;

/// What the kernel does with so many bytes of a file takes less than a millisecond.
pub(crate) const LARGE: u64 = 4 << 20;

/// Whether it takes long to empty a file, to delete it, or to put another in its place.
pub(crate) fn is_large(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.len() > LARGE)
}

/// What helper threads are doing. A program that ends waits for that, as it would have done it itself.
static UNDER_WAY: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// One of these.
struct UnderWay;

impl UnderWay {
    fn count() -> MutexGuard<'static, usize> {
        UNDER_WAY.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin() -> UnderWay {
        *UnderWay::count() += 1;
        UnderWay
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *UnderWay::count() -= 1;
        UNDER_WAY.1.notify_all();
    }
}

/// Waits until all is done.
pub(crate) fn finish() {
    let mut count = UnderWay::count();
    while *count > 0 {
        count = UNDER_WAY.1.wait(count).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Has a helper thread do something, if that takes long; the client's service waits.
pub(crate) async fn aside<P: Protocol, T: Send + 'static>(
    reactor: &Rc<Reactor>,
    client: &Server<P>,
    takes_long: bool,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    if !takes_long {
        return work();
    }
    let under_way = UnderWay::begin();
    let work = move || {
        let done = work();
        drop(under_way);
        done
    };
    let errand = Errand::begin(reactor, "files", work)?;
    client.until(|waiter| errand.wait(waiter)).await
}

/// An open file. File systems may begin to write what is new when it is closed, so a thread of its own closes it after much was written.
pub(crate) struct DiskFile {
    /// Until it is dropped.
    file: Option<File>,
    written: AtomicU64,
}

impl DiskFile {
    pub(crate) fn new(file: File) -> DiskFile {
        DiskFile { file: Some(file), written: AtomicU64::new(0) }
    }

    /// So many bytes were written, or cut off.
    pub(crate) fn has_written(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Deref for DiskFile {
    type Target = File;

    fn deref(&self) -> &File {
        self.file.as_ref().expect("it is open until it is dropped")
    }
}

impl Drop for DiskFile {
    fn drop(&mut self) {
        let file = self.file.take();
        if *self.written.get_mut() > LARGE {
            // Without a thread it is closed here.
            let _ = thread::Builder::new().name("closing a file".into()).spawn(move || drop(file));
        }
    }
}
