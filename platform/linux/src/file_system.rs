//! FileSystem: one file for each communication, by bytes and lines.
//!
//! `New` makes a file or empties it; `Open` opens an existing file, for writing too if that is allowed. `WriteText`
//! writes a text up to a 0X, as `WRITE` does. `Update` and `Close` make the changes visible to other programs. A
//! position before the beginning counts as the beginning. The protocol has no message for a failure after `Done`. Such
//! a failure (the disk is full, the file is read-only) ends the program with status 1 and a message, so that no data is
//! lost silently.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use drystone_runtime::native::{Held, Text};

use crate::disk::{PART, aside, is_large};
use crate::interfaces::file_system::{In, Out, Server};
use crate::names::Names;
use crate::window::{Ended, Window};
use drystone_reactor::Reactor;
use drystone_reactor::reason;

/// A file and its path.
struct OpenFile {
    path: PathBuf,
    window: Window,
    writable: bool,
}

impl OpenFile {
    fn act<T>(&mut self, act: impl FnOnce(&mut Window) -> io::Result<T>) -> Result<T, String> {
        let told = |error| format!("error: FileSystem: {}: {}\n", self.path.display(), reason(&error));
        act(&mut self.window).map_err(told)
    }

    /// Checks that the file may be written.
    fn is_written(&mut self) -> Result<(), String> {
        let writable = self.writable;
        self.act(|_| if writable { Ok(()) } else { Err(read_only()) })
    }
}

/// A line that is being read, without `\r` at its end. A long one becomes a text of the program part by part.
#[derive(Default)]
struct Line {
    short: Vec<u8>,
    long: Option<Held>,
    has_return: bool,
}

impl Line {
    fn add(&mut self, client: &Server, mut part: &[u8]) -> io::Result<()> {
        if self.has_return && !part.is_empty() {
            self.has_return = false;
            self.put(client, b"\r")?;
        }
        if let [rest @ .., b'\r'] = part {
            (part, self.has_return) = (rest, true);
        }
        self.put(client, part)
    }

    fn put(&mut self, client: &Server, bytes: &[u8]) -> io::Result<()> {
        if self.long.is_none() && self.short.len() + bytes.len() <= PART {
            self.short.extend_from_slice(bytes);
            return Ok(());
        }
        if self.long.is_none() {
            self.long = client.text(&std::mem::take(&mut self.short));
        }
        let added = self.long.as_mut().is_some_and(|long| long.append(bytes));
        if added { Ok(()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
    }

    /// Returns the whole line; `None`: the file was at its end.
    fn end(&mut self, client: &Server, ended: Ended) -> io::Result<Option<Text<'static>>> {
        if ended == Ended::File {
            if self.has_return {
                self.put(client, b"\r")?;
            }
            if self.short.is_empty() && self.long.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(match self.long.take() {
            Some(long) => long.into(),
            None => std::mem::take(&mut self.short).into(),
        }))
    }
}

/// The files of all clients, so that no changes are lost when a program ends at once.
#[derive(Default)]
pub(crate) struct OpenFiles(RefCell<Vec<Weak<RefCell<OpenFile>>>>);

impl OpenFiles {
    fn add(&self, path: PathBuf, Opened { file, writable }: Opened) -> Rc<RefCell<OpenFile>> {
        let mut files = self.0.borrow_mut();
        if files.len() == files.capacity() {
            files.retain(|file| file.strong_count() > 0);
        }
        let file = Rc::new(RefCell::new(OpenFile { path, window: Window::new(file), writable }));
        files.push(Rc::downgrade(&file));
        file
    }

    /// Writes all changes to the files. An error says what went wrong.
    pub(crate) fn update(&self) -> Result<(), String> {
        for file in self.0.borrow().iter().filter_map(Weak::upgrade) {
            let OpenFile { path, window, .. } = &mut *file.borrow_mut();
            window.update().map_err(|error| format!("{}: {}", path.display(), reason(&error)))?;
        }
        Ok(())
    }
}

/// A client with at most one open file.
pub(crate) struct FileClient {
    reactor: Rc<Reactor>,
    names: Rc<Names>,
    files: Rc<OpenFiles>,
    file: Option<Rc<RefCell<OpenFile>>>,
}

impl FileClient {
    pub(crate) fn new(reactor: Rc<Reactor>, names: Rc<Names>, files: Rc<OpenFiles>) -> FileClient {
        FileClient { reactor, names, files, file: None }
    }

    /// Serves a client to its end.
    pub(crate) async fn attend(mut self, mut client: Server) {
        while let Ok(request) = client.receive().await {
            let served = match request {
                In::WriteText { x } => self.write(&client, &x).await.map(|()| None),
                In::ReadLine => self.read_line(&client).await,
                In::New { name } => {
                    let made = self.make(&client, &name).await;
                    Ok(Some(self.opened(made)))
                }
                In::Open { name } => {
                    let opened = self.open(&client, &name).await;
                    Ok(Some(self.opened(opened)))
                }
                request => self.serve(request),
            };
            match served {
                Ok(Some(answer)) => client.send(answer).await,
                Ok(None) => {}
                Err(error) => return client.fail(&error),
            }
        }
    }

    /// Serves a request. An error is one that the protocol has no message for.
    fn serve(&mut self, request: In<'_>) -> Result<Option<Out<'static>>, String> {
        // By the protocol, a file is open.
        let Some(file) = &self.file else { return Ok(None) };
        let mut file = file.borrow_mut();
        if matches!(request, In::Write { .. }) {
            file.is_written()?;
        }
        file.act(|window| serve(window, request))
    }

    /// Makes a file, or empties it.
    async fn make(&self, client: &Server, name: &[u8]) -> io::Result<(PathBuf, Opened)> {
        let path = self.names.path(name)?.to_path_buf();
        let (large, made) = (is_large(&path), path.clone());
        let file = aside(&self.reactor, client, large, &[&path], move || create(&made)).await?;
        Ok((path, file))
    }

    /// Opens an existing file.
    async fn open(&self, client: &Server, name: &[u8]) -> io::Result<(PathBuf, Opened)> {
        let path = self.names.existing(name)?;
        let opened = path.clone();
        let file = aside(&self.reactor, client, false, &[&path], move || open(&opened)).await?;
        Ok((path, file))
    }

    /// Writes a text up to a 0X. Other processes run in between.
    async fn write(&self, client: &Server, text: &[u8]) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        file.borrow_mut().is_written()?;
        for part in text.chunks(PART) {
            let end = memchr::memchr(0, part);
            file.borrow_mut().act(|window| window.write(&part[..end.unwrap_or(part.len())]))?;
            if end.is_some() {
                break;
            }
            client.give_way().await;
        }
        Ok(())
    }

    /// Reads a line. Other processes run in between.
    async fn read_line(&self, client: &Server) -> Result<Option<Out<'static>>, String> {
        let Some(file) = &self.file else { return Ok(None) };
        let mut line = Line::default();
        loop {
            let read = |window: &mut Window| window.read_part(|part| line.add(client, part));
            let ended = file.borrow_mut().act(read)?;
            if let Some(ended) = ended {
                let whole = file.borrow_mut().act(|_| line.end(client, ended))?;
                return Ok(Some(whole.map_or(Out::EOF, |x| Out::Line { x })));
            }
            client.give_way().await;
        }
    }

    fn opened(&mut self, opened: io::Result<(PathBuf, Opened)>) -> Out<'static> {
        match opened {
            Ok((path, file)) => {
                self.file = Some(self.files.add(path, file));
                Out::Done
            }
            Err(_) => Out::Failed,
        }
    }
}

/// An open file, and whether it may be written.
struct Opened {
    file: File,
    writable: bool,
}

/// Opens an existing file, if it has positions; for writing too, if that is allowed.
fn open(path: &Path) -> io::Result<Opened> {
    seekable(path)?;
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => Ok(Opened { file, writable: true }),
        Err(error) => match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Ok(Opened { file: File::open(path)?, writable: false })
            }
            _ => Err(error),
        },
    }
}

/// Makes a file, or empties it.
fn create(path: &Path) -> io::Result<Opened> {
    if path.exists() {
        seekable(path)?;
    }
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
    Ok(Opened { file, writable: true })
}

/// The error of writing to a file that was opened for reading.
pub(crate) fn read_only() -> io::Error {
    io::Error::other("The file was opened to be read only")
}

/// Refuses files without positions: opening a pipe could block the whole program.
pub(crate) fn seekable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let kind = path.metadata()?.file_type();
    if kind.is_file() || kind.is_char_device() || kind.is_block_device() {
        return Ok(());
    }
    Err(io::Error::other(if kind.is_dir() { "Is a directory" } else { "Is no file" }))
}

fn serve(file: &mut Window, request: In<'_>) -> io::Result<Option<Out<'static>>> {
    Ok(match request {
        In::SetPosition { position } => {
            file.set_position(position.max(0) as u64);
            None
        }
        In::GetPosition => Some(Out::Position { pos: file.position() as i64 }),
        In::GetLength => Some(Out::Length { len: file.length()? as i64 }),
        In::ReadByte => Some(file.read_byte()?.map_or(Out::EOF, |x| Out::Byte { x })),
        In::Write { x } => {
            file.write(&[x])?;
            None
        }
        In::Update | In::Close => {
            file.update()?;
            None
        }
        In::New { .. } | In::Open { .. } | In::ReadLine | In::WriteText { .. } => None,
    })
}
