//! What the kernel may take long for, where files are large: a helper thread does it, one after the other, and other
//! processes run meanwhile.

use std::collections::VecDeque;
use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
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

/// What the helper thread has to do: the files of which each deed changes the names or the length. A program that ends
/// waits for that, as it would have done it itself.
static LEFT: (Mutex<VecDeque<Vec<PathBuf>>>, Condvar) = (Mutex::new(VecDeque::new()), Condvar::new());

fn left() -> MutexGuard<'static, VecDeque<Vec<PathBuf>>> {
    LEFT.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until all is done.
pub(crate) fn finish() {
    let mut left = left();
    while !left.is_empty() {
        left = LEFT.1.wait(left).unwrap_or_else(PoisonError::into_inner);
    }
}

type Task = Box<dyn FnOnce() + Send>;

/// Has the helper thread do something, after all that it has to do already. Where there can't be a thread it is done
/// here.
fn later(files: Vec<PathBuf>, task: impl FnOnce() + Send + 'static) {
    static TASKS: OnceLock<Option<mpsc::Sender<Task>>> = OnceLock::new();
    let begin = || {
        let (tasks, all) = mpsc::channel::<Task>();
        let work = move || all.into_iter().for_each(|task| task());
        thread::Builder::new().name("files".into()).spawn(work).ok().map(|_| tasks)
    };
    let Some(tasks) = TASKS.get_or_init(begin) else { return task() };
    let task = || {
        task();
        left().pop_front();
        LEFT.1.notify_all();
    };
    // In one order in both.
    let mut left = left();
    left.push_back(files);
    tasks.send(Box::new(task)).expect("its thread never ends");
}

/// Has the helper thread do something, if that takes long, or if it has to do something with one of these files
/// already; the client's service waits. What is done with a file is done in the order in which it was asked for, also
/// by those who are no more.
pub(crate) async fn aside<P: Protocol, T: Send + 'static>(
    reactor: &Rc<Reactor>,
    client: &Server<P>,
    takes_long: bool,
    files: &[&Path],
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let is_known = |file: &PathBuf| files.contains(&file.as_path());
    if !takes_long && !left().iter().flatten().any(is_known) {
        return work();
    }
    let (errand, task) = Errand::new(reactor, work);
    later(files.iter().map(|file| file.to_path_buf()).collect(), task);
    client.until(|waiter| errand.wait(waiter)).await
}

/// An open file. File systems may begin to write what is new when it is closed, or free what was deleted, so the helper
/// thread closes it where that is much.
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
        let Some(file) = self.file.take() else { return };
        let is_deleted = || file.metadata().is_ok_and(|it| it.nlink() == 0 && it.len() > LARGE);
        if *self.written.get_mut() > LARGE || is_deleted() {
            later(Vec::new(), move || drop(file));
        }
    }
}
