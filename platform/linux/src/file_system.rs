//! FileSystem: one file for each communication, by bytes and lines.
//!
//! `New` makes a file or empties it; `Open` opens what exists, for writing too if that is allowed. `WriteText` writes a
//! text up to a 0X, as `WRITE` does. `Update` makes the changes visible to others, as `Close` does. A position before
//! the beginning counts as the beginning. The protocol has no message for a failure after `Done`: such a failure (the
//! disk is full, the file may only be read) ends the program with status 1 and says why, rather than losing data in
//! silence.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use crate::interfaces::file_system::{In, Out, Server};
use crate::names::Names;
use crate::reason::reason;
use crate::window::Window;

/// A file by its path.
struct OpenFile {
    path: PathBuf,
    window: Window,
    writable: bool,
}

/// The files of all clients, so that a program that ends at once loses nothing.
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

    /// Brings all changes into the files, else says what went wrong.
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
    names: Rc<Names>,
    files: Rc<OpenFiles>,
    file: Option<Rc<RefCell<OpenFile>>>,
}

impl FileClient {
    pub(crate) fn new(names: Rc<Names>, files: Rc<OpenFiles>) -> FileClient {
        FileClient { names, files, file: None }
    }

    /// Serves a client to its end.
    pub(crate) async fn attend(mut self, mut client: Server) {
        while let Ok(request) = client.receive().await {
            match self.serve(request) {
                Ok(Some(answer)) => client.send(answer).await,
                Ok(None) => {}
                Err(error) => return client.fail(&error),
            }
        }
    }

    /// An error is one that the protocol has no message for.
    fn serve(&mut self, request: In<'_>) -> Result<Option<Out<'static>>, String> {
        match request {
            In::New { name } => {
                let path = self.names.path(&name).map(Path::to_path_buf);
                Ok(Some(self.opened(path.and_then(|path| create(&path).map(|file| (path, file))))))
            }
            In::Open { name } => {
                let path = self.names.existing(&name);
                Ok(Some(self.opened(path.and_then(|path| open(&path).map(|file| (path, file))))))
            }
            request => {
                // The protocol has it that a file is open.
                let Some(file) = &self.file else { return Ok(None) };
                let OpenFile { path, window, writable } = &mut *file.borrow_mut();
                let writes = matches!(request, In::Write { .. } | In::WriteText { .. });
                let served = if writes && !*writable { Err(read_only()) } else { serve(window, request) };
                served.map_err(|error| format!("error: FileSystem: {}: {}\n", path.display(), reason(&error)))
            }
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

/// A file, and whether it may be written.
struct Opened {
    file: File,
    writable: bool,
}

/// Opens what exists, if it has positions; for writing too, if that is allowed.
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

/// The failure of writing a file that was opened to be read.
pub(crate) fn read_only() -> io::Error {
    io::Error::other("The file was opened to be read only")
}

/// A pipe would block the whole program already when it is opened.
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
        In::ReadLine => Some(file.read_line()?.map_or(Out::EOF, |line| Out::Line { x: line.into() })),
        In::Write { x } => {
            file.write(&[x])?;
            None
        }
        In::WriteText { x } => {
            let end = memchr::memchr(0, &x).unwrap_or(x.len());
            file.write(&x[..end])?;
            None
        }
        In::Update | In::Close => {
            file.update()?;
            None
        }
        In::New { .. } | In::Open { .. } => None,
    })
}
