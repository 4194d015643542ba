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

use drystone_runtime::native::{Context, Service, Value, Values};

use crate::interfaces::FileSystem;
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

    fn opened(&mut self, cx: &mut Context<'_, FileSystem>, opened: io::Result<(PathBuf, Opened)>) {
        match opened {
            Ok((path, file)) => {
                self.file = Some(self.files.add(path, file));
                cx.send(FileSystem::Done, []);
            }
            Err(_) => cx.send(FileSystem::Failed, []),
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

impl Service for FileClient {
    type Messages = FileSystem;

    fn receive(&mut self, cx: &mut Context<'_, FileSystem>, message: FileSystem, values: Values<'_>) {
        match message {
            FileSystem::New => {
                let path = self.names.path(values.text(0)).map(Path::to_path_buf);
                return self.opened(cx, path.and_then(|path| create(&path).map(|file| (path, file))));
            }
            FileSystem::Open => {
                let path = self.names.existing(values.text(0));
                return self.opened(cx, path.and_then(|path| open(&path).map(|file| (path, file))));
            }
            _ => {}
        }
        // The protocol has it that a file is open.
        let Some(file) = &self.file else { return };
        let OpenFile { path, window, writable } = &mut *file.borrow_mut();
        let writes = matches!(message, FileSystem::Write | FileSystem::WriteText);
        let served = if writes && !*writable { Err(read_only()) } else { serve(window, cx, message, values) };
        if let Err(error) = served {
            cx.fail(&format!("error: FileSystem: {}: {}\n", path.display(), reason(&error)));
        }
    }
}

fn serve(
    file: &mut Window,
    cx: &mut Context<'_, FileSystem>,
    message: FileSystem,
    values: Values<'_>,
) -> io::Result<()> {
    match message {
        FileSystem::SetPosition => file.set_position(values.integer(0).max(0) as u64),
        FileSystem::GetPosition => cx.send(FileSystem::Position, [Value::Integer(file.position() as i64)]),
        FileSystem::GetLength => cx.send(FileSystem::Length, [Value::Integer(file.length()? as i64)]),
        FileSystem::ReadByte => match file.read_byte()? {
            Some(byte) => cx.send(FileSystem::Byte, [Value::Byte(byte)]),
            None => cx.send(FileSystem::EOF, []),
        },
        FileSystem::ReadLine => match file.read_line()? {
            Some(line) => cx.send(FileSystem::Line, [Value::Text(&line)]),
            None => cx.send(FileSystem::EOF, []),
        },
        FileSystem::Write => file.write(&[values.byte(0)])?,
        FileSystem::WriteText => {
            let text = values.text(0);
            let end = memchr::memchr(0, text).unwrap_or(text.len());
            file.write(&text[..end])?;
        }
        FileSystem::Update | FileSystem::Close => file.update()?,
        _ => {}
    }
    Ok(())
}
