//! Has a helper thread do what may take the kernel long, as with large files: one task after the other, while the
//! program's other processes run.

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

use drystone_reactor::{Errand, Reactor};

/// Bytes that are read or written at once. Between such parts other processes may run.
pub(crate) const PART: usize = 64 << 10;

/// With files up to this size, the kernel's work takes less than a millisecond.
pub(crate) const LARGE: u64 = 4 << 20;

/// Whether emptying, deleting or replacing this file takes long.
pub(crate) fn is_large(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.len() > LARGE)
}

/// The helper thread's tasks: for each, the files whose names or lengths it changes. A program that ends waits for all
/// tasks.
static LEFT: (Mutex<VecDeque<Vec<PathBuf>>>, Condvar) = (Mutex::new(VecDeque::new()), Condvar::new());

fn left() -> MutexGuard<'static, VecDeque<Vec<PathBuf>>> {
    LEFT.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until all tasks are done.
pub(crate) fn finish() {
    let mut left = left();
    while !left.is_empty() {
        left = LEFT.1.wait(left).unwrap_or_else(PoisonError::into_inner);
    }
}

type Task = Box<dyn FnOnce() + Send>;

/// Gives the helper thread a task, after all earlier ones. If there can't be a thread, the task is done at once.
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
    // Both queues have the same order, because `left` is locked.
    let mut left = left();
    left.push_back(files);
    tasks.send(Box::new(task)).expect("its thread never ends");
}

/// Has the helper thread do `work`, if that takes long, or if an earlier task involves one of these files; the client's
/// service waits. Work on a file is done in the order of the requests, even for clients that have gone.
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

/// An open file. Closing it may make the file system write new data, or free a deleted file. If that is much, the
/// helper thread closes it.
pub(crate) struct DiskFile {
    /// `Some` until it is dropped.
    file: Option<File>,
    written: AtomicU64,
}

impl DiskFile {
    pub(crate) fn new(file: File) -> DiskFile {
        DiskFile { file: Some(file), written: AtomicU64::new(0) }
    }

    /// Counts bytes that were written, or cut off.
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
