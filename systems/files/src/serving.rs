//! Implements `Disk`: serves one client with any [`Folder`].

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::task::Poll;

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::{Caller, Text};
use drystone_runtime::platform::Bell;

use crate::folder::{Folder, Status, reason};
use crate::interfaces::disk::{
    self, CloseAnswer, DeleteAnswer, DiskLater, ListAnswer, MakeFolderAnswer, OpenAnswer, ReadAnswer,
    RenameAnswer, RootAnswer, StatAnswer, UpdateAnswer, WriteAnswer,
};
use crate::pool::Pool;

/// Bytes that are read at a time, and names that are listed, at most.
const LARGEST: i64 = 16 * 1024 * 1024;

/// What all clients share.
struct Shared<F> {
    folder: OnceCell<Arc<F>>,
    quick: Pool,
    /// For work that always takes long, so that quick requests needn't wait for it.
    slow: Pool,
    /// The buffer of the last read, for reuse.
    buffer: RefCell<Vec<u8>>,
}

/// The result of a request.
enum Done<F: Folder> {
    Nothing,
    Folder(F),
    Open(F::File),
    Data(Vec<u8>),
    Status(Status),
}

type Outcome<F> = io::Result<Done<F>>;

type Job<F> = Box<dyn FnOnce() -> Outcome<F> + Send>;

/// The session of one client.
struct Session<F: Folder> {
    shared: Rc<Shared<F>>,
    files: BTreeMap<i64, Arc<F::File>>,
    made: i64,
    /// Rings when the pending request is done; made when it is first needed.
    bell: Option<Rc<dyn Bell>>,
    /// The result of the pending request.
    outcome: Option<Receiver<Outcome<F>>>,
}

impl<F: Folder> Session<F> {
    /// Runs on another thread what may wait for a disk. `prepare` takes what it needs from the request, once.
    fn apart(
        &mut self,
        caller: &Caller,
        pace: fn(&Shared<F>) -> &Pool,
        prepare: impl FnOnce(&Session<F>) -> io::Result<Job<F>>,
    ) -> Poll<Outcome<F>> {
        if self.outcome.is_none() {
            match self.begin(caller, pace, prepare) {
                Ok(None) => {}
                Ok(Some(done)) => return Poll::Ready(Ok(done)),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        let outcome = self.outcome.as_ref().map_or(Err(TryRecvError::Disconnected), Receiver::try_recv);
        if matches!(outcome, Err(TryRecvError::Empty))
            && let Some(bell) = &self.bell
        {
            bell.wait(caller.waiter());
            return Poll::Pending;
        }
        self.outcome = None;
        Poll::Ready(outcome.unwrap_or_else(|_| Err(io::Error::other("the threads for disks have ended"))))
    }

    /// Answers at once, for a request that takes little time and needn't wait.
    fn begin(
        &mut self,
        caller: &Caller,
        pace: fn(&Shared<F>) -> &Pool,
        prepare: impl FnOnce(&Session<F>) -> io::Result<Job<F>>,
    ) -> io::Result<Option<Done<F>>> {
        let job = prepare(self)?;
        if self.is_in_memory() && ptr::eq(pace(&self.shared), &raw const self.shared.quick) {
            return job().map(Some);
        }
        self.bell = self.bell.take().or_else(|| caller.bell());
        let bell = self.bell.as_ref().ok_or_else(|| io::Error::other("there are no threads here"))?;
        self.outcome = Some(pace(&self.shared).run(job, bell.ringer()));
        Ok(None)
    }

    fn folder(&self) -> io::Result<Arc<F>> {
        self.shared.folder.get().cloned().ok_or_else(|| io::Error::other("there is no folder yet"))
    }

    fn file(&self, number: i64) -> io::Result<Arc<F::File>> {
        self.files.get(&number).cloned().ok_or_else(|| io::Error::other("no file is open by this number"))
    }

    fn is_in_memory(&self) -> bool {
        self.shared.folder.get().is_some_and(|folder| folder.is_in_memory())
    }

    /// Gives an open file its number.
    fn add(&mut self, file: F::File) -> i64 {
        self.made += 1;
        self.files.insert(self.made, Arc::new(file));
        self.made
    }

    fn open_now(&mut self, name: &[u8], mode: &[u8]) -> Option<i64> {
        let folder = self.folder().ok().filter(|_| self.outcome.is_none())?;
        folder.open_now(name, mode).map(|file| self.add(file))
    }

    fn read_now(&self, caller: &Caller, file: i64, position: i64, n: i64) -> Option<Text<'static>> {
        let folder = self.folder().ok().filter(|_| self.outcome.is_none())?;
        let (file, at, n) = (self.file(file).ok()?, place(position).ok()?, size(n));
        let buffer = &mut *self.shared.buffer.borrow_mut();
        buffer.resize(n.max(buffer.len()), 0);
        let count = folder.read_now(&file, at, &mut buffer[..n])?;
        Some(caller.text(&buffer[..count]))
    }
}

fn quick<F>(shared: &Shared<F>) -> &Pool {
    &shared.quick
}

fn slow<F>(shared: &Shared<F>) -> &Pool {
    &shared.slow
}

fn place(position: i64) -> io::Result<u64> {
    u64::try_from(position).map_err(|_| io::Error::other("no file has such a position"))
}

fn size(n: i64) -> usize {
    usize::try_from(n.clamp(0, LARGEST)).unwrap_or(0)
}

/// The answer to a request that gives `Done` or an error.
macro_rules! answer {
    ($outcome:expr, $answer:ident $(, $done:pat => $value:expr)?) => {
        $outcome.map(|outcome| match outcome {
            Err(error) => $answer::Failed { reason: reason(&error).into_bytes().into() },
            $(Ok($done) => $value,)?
            #[allow(unreachable_patterns, reason = "where nothing else is done")]
            Ok(_) => answer!(@nothing $answer $($value)?),
        })
    };
    (@nothing $answer:ident) => { $answer::Done };
    (@nothing $answer:ident $value:expr) => { unreachable!("another request has this outcome") };
}

impl<F: Folder> DiskLater for Session<F> {
    fn root(&mut self, caller: &Caller, folder: &[u8]) -> Poll<RootAnswer<'_>> {
        let found = self.apart(caller, quick, |_| {
            let name = folder.to_vec();
            Ok(Box::new(move || F::find(&name).map(Done::Folder)))
        });
        answer!(found, RootAnswer, Done::Folder(folder) => match self.shared.folder.set(Arc::new(folder)) {
            Ok(()) => RootAnswer::Done,
            Err(_) => RootAnswer::Failed { reason: b"there is a folder already".to_vec().into() },
        })
    }

    fn open(&mut self, caller: &Caller, name: &[u8], mode: &[u8]) -> Poll<OpenAnswer<'_>> {
        if let Some(file) = self.open_now(name, mode) {
            return Poll::Ready(OpenAnswer::Opened { file });
        }
        let opened = self.apart(caller, quick, |session| {
            let (folder, name, mode) = (session.folder()?, name.to_vec(), mode.to_vec());
            Ok(Box::new(move || folder.open(&name, &mode).map(Done::Open)))
        });
        answer!(opened, OpenAnswer, Done::Open(file) => {
            OpenAnswer::Opened { file: self.add(file) }
        })
    }

    fn read(&mut self, caller: &Caller, file: i64, position: i64, n: i64) -> Poll<ReadAnswer<'_>> {
        if let Some(x) = self.read_now(caller, file, position, n) {
            return Poll::Ready(ReadAnswer::Data { x });
        }
        let data = self.apart(caller, quick, |session| {
            let (folder, file, at) = (session.folder()?, session.file(file)?, place(position)?);
            Ok(Box::new(move || folder.read(&file, at, size(n)).map(Done::Data)))
        });
        answer!(data, ReadAnswer, Done::Data(data) => ReadAnswer::Data { x: caller.text(&data) })
    }

    fn write(&mut self, caller: &Caller, file: i64, position: i64, x: &[u8]) -> Poll<WriteAnswer<'_>> {
        if self.is_in_memory() {
            let write = || self.folder()?.write(&*self.file(file)?, place(position)?, x);
            return answer!(Poll::Ready(write().map(|()| Done::<F>::Nothing)), WriteAnswer);
        }
        let written = self.apart(caller, quick, |session| {
            let (folder, file) = (session.folder()?, session.file(file)?);
            let (at, x) = (place(position)?, x.to_vec());
            Ok(Box::new(move || folder.write(&file, at, &x).map(|()| Done::Nothing)))
        });
        answer!(written, WriteAnswer)
    }

    fn update(&mut self, caller: &Caller, file: i64) -> Poll<UpdateAnswer<'_>> {
        let updated = self.apart(caller, slow, |session| {
            let (folder, file) = (session.folder()?, session.file(file)?);
            Ok(Box::new(move || folder.update(&file).map(|()| Done::Nothing)))
        });
        answer!(updated, UpdateAnswer)
    }

    fn close(&mut self, _: &Caller, file: i64) -> Poll<CloseAnswer<'_>> {
        let closed = self.file(file).map(|_| Done::<F>::Nothing);
        self.files.remove(&file);
        answer!(Poll::Ready(closed), CloseAnswer)
    }

    fn stat(&mut self, caller: &Caller, name: &[u8]) -> Poll<StatAnswer<'_>> {
        let status = self.apart(caller, quick, |session| {
            let (folder, name) = (session.folder()?, name.to_vec());
            Ok(Box::new(move || folder.stat(&name).map(Done::Status)))
        });
        answer!(status, StatAnswer, Done::Status(Status { is_folder, size, modified }) => {
            StatAnswer::Status { isFolder: is_folder, size, modified }
        })
    }

    fn list(&mut self, caller: &Caller, folder: &[u8], after: &[u8], most: i64) -> Poll<ListAnswer<'_>> {
        let names = self.apart(caller, slow, |session| {
            let (shelf, folder, after) = (session.folder()?, folder.to_vec(), after.to_vec());
            Ok(Box::new(move || {
                let names = shelf.list(&folder, &after, size(most))?;
                let lines = names.into_iter().flat_map(|name| name.into_iter().chain([b'\n']));
                Ok(Done::Data(lines.collect()))
            }))
        });
        answer!(names, ListAnswer, Done::Data(names) => ListAnswer::Names { x: caller.text(&names) })
    }

    fn delete(&mut self, caller: &Caller, name: &[u8]) -> Poll<DeleteAnswer<'_>> {
        let deleted = self.apart(caller, quick, |session| {
            let (folder, name) = (session.folder()?, name.to_vec());
            Ok(Box::new(move || folder.delete(&name).map(|()| Done::Nothing)))
        });
        answer!(deleted, DeleteAnswer)
    }

    fn make_folder(&mut self, caller: &Caller, name: &[u8]) -> Poll<MakeFolderAnswer<'_>> {
        let made = self.apart(caller, quick, |session| {
            let (folder, name) = (session.folder()?, name.to_vec());
            Ok(Box::new(move || folder.make_folder(&name).map(|()| Done::Nothing)))
        });
        answer!(made, MakeFolderAnswer)
    }

    fn rename(&mut self, caller: &Caller, name: &[u8], new: &[u8]) -> Poll<RenameAnswer<'_>> {
        let renamed = self.apart(caller, quick, |session| {
            let (folder, name, new) = (session.folder()?, name.to_vec(), new.to_vec());
            Ok(Box::new(move || folder.rename(&name, &new).map(|()| Done::Nothing)))
        });
        answer!(renamed, RenameAnswer)
    }
}

/// Sets up the component.
///
/// # Errors
/// The system has no more threads.
pub fn begin<F: Folder>(_: &'static Program) -> Result<Maker, String> {
    let pool = |name, threads, nice| {
        Pool::new(name, threads, nice).map_err(|error| format!("threads for disks: {}", reason(&error)))
    };
    let shared = Rc::new(Shared::<F> {
        folder: OnceCell::new(),
        quick: pool("quick", 4, 0)?,
        slow: pool("slow", 2, 10)?,
        buffer: RefCell::default(),
    });
    Ok(Box::new(move || {
        let shared = shared.clone();
        disk::serve(Session { shared, files: BTreeMap::new(), made: 0, bell: None, outcome: None })
    }))
}
