//! `Disk`: a client of the folder.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::task::Poll;

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::{Caller, Text};
use drystone_runtime::platform::Bell;
use rustix::io::{ReadWriteFlags, preadv2};

use crate::beneath::{Beneath, Status, reason};
use crate::disk::{
    self, CloseAnswer, DeleteAnswer, DiskLater, ListAnswer, MakeFolderAnswer, OpenAnswer, ReadAnswer,
    RenameAnswer, RootAnswer, StatAnswer, UpdateAnswer, WriteAnswer,
};
use crate::pool::Pool;

/// Bytes that are read at a time, and names that are listed, at most.
const LARGEST: i64 = 16 * 1024 * 1024;

/// What all clients share.
struct Shared {
    folder: Arc<Beneath>,
    /// There is no disk for which anybody would wait.
    is_in_memory: bool,
    quick: Pool,
    /// For what may take long whatever the disk does, so that others needn't wait for it.
    slow: Pool,
    /// What was read last: to be written over.
    buffer: Vec<u8>,
}

/// What comes of a request.
enum Done {
    Nothing,
    Open(File),
    Data(Vec<u8>),
    Status(Status),
}

type Outcome = io::Result<Done>;

/// One client.
struct Session {
    shared: Rc<RefCell<Option<Shared>>>,
    files: BTreeMap<i64, Arc<File>>,
    made: i64,
    /// Rings when what was asked for is done; made when it is first needed.
    bell: Option<Rc<dyn Bell>>,
    /// While that is done.
    outcome: Option<Receiver<Outcome>>,
}

type Job = Box<dyn FnOnce() -> Outcome + Send>;

impl Session {
    /// Does on another thread what may wait for a disk. `prepare` takes what it needs of the request, once.
    fn apart(
        &mut self,
        caller: &Caller,
        pace: fn(&Shared) -> &Pool,
        prepare: impl FnOnce(&Session, Arc<Beneath>) -> io::Result<Job>,
    ) -> Poll<Outcome> {
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

    /// Gives what is done already, because it doesn't take long and there is no disk.
    fn begin(
        &mut self,
        caller: &Caller,
        pace: fn(&Shared) -> &Pool,
        prepare: impl FnOnce(&Session, Arc<Beneath>) -> io::Result<Job>,
    ) -> io::Result<Option<Done>> {
        let shared = self.shared.clone();
        let shared = shared.borrow();
        let shared = shared.as_ref().ok_or_else(|| io::Error::other("there is no folder yet"))?;
        let job = prepare(self, shared.folder.clone())?;
        if shared.is_in_memory && ptr::eq(pace(shared), &raw const shared.quick) {
            return job().map(Some);
        }
        self.bell = self.bell.take().or_else(|| caller.bell());
        let bell = self.bell.as_ref().ok_or_else(|| io::Error::other("there are no threads here"))?;
        self.outcome = Some(pace(shared).run(job, bell.ringer()));
        Ok(None)
    }

    fn file(&self, number: i64) -> io::Result<Arc<File>> {
        self.files.get(&number).cloned().ok_or_else(|| io::Error::other("no file is open by this number"))
    }

    /// Opens a file if no disk has to be waited for.
    fn open_now(&mut self, name: &[u8], mode: &[u8]) -> Option<i64> {
        let shared = self.shared.clone();
        let shared = shared.borrow();
        let folder = shared.as_ref().filter(|_| self.outcome.is_none() && mode == b"r")?.folder.clone();
        folder.open_now(name).map(|file| self.add(file))
    }

    fn is_in_memory(&self) -> bool {
        self.shared.borrow().as_ref().is_some_and(|shared| shared.is_in_memory)
    }

    /// A file that has been opened has a number.
    fn add(&mut self, file: File) -> i64 {
        self.made += 1;
        self.files.insert(self.made, Arc::new(file));
        self.made
    }

    /// Reads as much as was asked for, or what there is of it, if all of it is in memory.
    fn read_now(&self, caller: &Caller, file: i64, position: i64, n: i64) -> Option<Text<'static>> {
        let (at, file, n) = (place(position).ok()?, self.file(file).ok()?, wanted(n));
        let shared = &mut *self.shared.borrow_mut();
        let Shared { is_in_memory, buffer, .. } = shared.as_mut().filter(|_| self.outcome.is_none())?;
        let flags = if *is_in_memory { ReadWriteFlags::empty() } else { ReadWriteFlags::NOWAIT };
        buffer.resize(n.max(buffer.len()), 0);
        let count = preadv2(&*file, &mut [IoSliceMut::new(&mut buffer[..n])], at, flags).ok()?;
        // What is missing isn't in memory, or nowhere.
        let is_all = count == n || at + count as u64 >= file.metadata().ok()?.len();
        is_all.then(|| caller.text(&buffer[..count]))
    }
}

fn quick(shared: &Shared) -> &Pool {
    &shared.quick
}

fn slow(shared: &Shared) -> &Pool {
    &shared.slow
}

fn place(position: i64) -> io::Result<u64> {
    u64::try_from(position).map_err(|_| io::Error::other("no file has such a position"))
}

/// How many bytes, or names, are given to who asks for so many.
fn wanted(n: i64) -> usize {
    n.clamp(0, LARGEST) as usize
}

/// Reads until nothing is left to be read, or there is no more.
fn read(file: &File, position: u64, n: usize) -> io::Result<Vec<u8>> {
    let mut data = vec![0; n];
    let mut count = 0;
    while count < n {
        match file.read_at(&mut data[count..], position + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    data.truncate(count);
    Ok(data)
}

/// What a request is answered by, if that may be `Done`, or has gone wrong.
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

impl DiskLater for Session {
    fn root(&mut self, _: &Caller, folder: &[u8]) -> Poll<RootAnswer<'_>> {
        let open = || -> Outcome {
            let shared = &mut *self.shared.borrow_mut();
            if shared.is_some() {
                return Err(io::Error::other("there is a folder already"));
            }
            let folder = Arc::new(Beneath::new(Path::new(OsStr::from_bytes(folder)))?);
            *shared = Some(Shared {
                is_in_memory: folder.is_in_memory(),
                folder,
                quick: Pool::new("quick", 4, 0)?,
                slow: Pool::new("slow", 2, 10)?,
                buffer: Vec::new(),
            });
            Ok(Done::Nothing)
        };
        answer!(Poll::Ready(open()), RootAnswer)
    }

    fn open(&mut self, caller: &Caller, name: &[u8], mode: &[u8]) -> Poll<OpenAnswer<'_>> {
        if let Some(file) = self.open_now(name, mode) {
            return Poll::Ready(OpenAnswer::Opened { file });
        }
        let opened = self.apart(caller, quick, |_, folder| {
            let (name, mode) = (name.to_vec(), mode.to_vec());
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
        let data = self.apart(caller, quick, |session, _| {
            let (file, at) = (session.file(file)?, place(position)?);
            let n = wanted(n);
            Ok(Box::new(move || read(&file, at, n).map(Done::Data)))
        });
        answer!(data, ReadAnswer, Done::Data(data) => ReadAnswer::Data { x: caller.text(&data) })
    }

    fn write(&mut self, caller: &Caller, file: i64, position: i64, x: &[u8]) -> Poll<WriteAnswer<'_>> {
        if self.is_in_memory() {
            let (file, at) = (self.file(file), place(position));
            let written = file.and_then(|file| file.write_all_at(x, at?)).map(|()| Done::Nothing);
            return answer!(Poll::Ready(written), WriteAnswer);
        }
        let written = self.apart(caller, quick, |session, _| {
            let (file, at, x) = (session.file(file)?, place(position)?, x.to_vec());
            Ok(Box::new(move || file.write_all_at(&x, at).map(|()| Done::Nothing)))
        });
        answer!(written, WriteAnswer)
    }

    fn update(&mut self, caller: &Caller, file: i64) -> Poll<UpdateAnswer<'_>> {
        let updated = self.apart(caller, slow, |session, _| {
            let file = session.file(file)?;
            Ok(Box::new(move || file.sync_all().map(|()| Done::Nothing)))
        });
        answer!(updated, UpdateAnswer)
    }

    fn close(&mut self, _: &Caller, file: i64) -> Poll<CloseAnswer<'_>> {
        let closed = self.file(file).map(|_| Done::Nothing);
        self.files.remove(&file);
        answer!(Poll::Ready(closed), CloseAnswer)
    }

    fn stat(&mut self, caller: &Caller, name: &[u8]) -> Poll<StatAnswer<'_>> {
        let status = self.apart(caller, quick, |_, folder| {
            let name = name.to_vec();
            Ok(Box::new(move || folder.stat(&name).map(Done::Status)))
        });
        answer!(status, StatAnswer, Done::Status(Status { is_folder, size, modified }) => {
            StatAnswer::Status { isFolder: is_folder, size, modified }
        })
    }

    fn list(&mut self, caller: &Caller, folder: &[u8], after: &[u8], most: i64) -> Poll<ListAnswer<'_>> {
        let names = self.apart(caller, slow, |_, beneath| {
            let (folder, after, most) = (folder.to_vec(), after.to_vec(), wanted(most));
            Ok(Box::new(move || {
                let names = beneath.list(&folder, &after, most)?;
                let lines = names.into_iter().flat_map(|name| name.into_iter().chain([b'\n']));
                Ok(Done::Data(lines.collect()))
            }))
        });
        answer!(names, ListAnswer, Done::Data(names) => ListAnswer::Names { x: caller.text(&names) })
    }

    fn delete(&mut self, caller: &Caller, name: &[u8]) -> Poll<DeleteAnswer<'_>> {
        let deleted = self.apart(caller, quick, |_, folder| {
            let name = name.to_vec();
            Ok(Box::new(move || folder.delete(&name).map(|()| Done::Nothing)))
        });
        answer!(deleted, DeleteAnswer)
    }

    fn make_folder(&mut self, caller: &Caller, name: &[u8]) -> Poll<MakeFolderAnswer<'_>> {
        let made = self.apart(caller, quick, |_, folder| {
            let name = name.to_vec();
            Ok(Box::new(move || folder.make_folder(&name).map(|()| Done::Nothing)))
        });
        answer!(made, MakeFolderAnswer)
    }

    fn rename(&mut self, caller: &Caller, name: &[u8], new: &[u8]) -> Poll<RenameAnswer<'_>> {
        let renamed = self.apart(caller, quick, |_, folder| {
            let (name, new) = (name.to_vec(), new.to_vec());
            Ok(Box::new(move || folder.rename(&name, &new).map(|()| Done::Nothing)))
        });
        answer!(renamed, RenameAnswer)
    }
}

/// Offers it.
pub fn begin(_: &'static Program) -> Result<Maker, String> {
    let shared = Rc::<RefCell<Option<Shared>>>::default();
    Ok(Box::new(move || {
        let shared = shared.clone();
        disk::serve(Session { shared, files: BTreeMap::new(), made: 0, bell: None, outcome: None })
    }))
}
