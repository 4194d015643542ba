//! The components FileSystem, Files and Blocks, over files in memory.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use drystone_kortex::interfaces::blocks::{
    self, Blocks, GetLengthAnswer, ReadBlockAnswer, SetLengthAnswer, UpdateAnswer, WriteBlockAnswer,
};
use drystone_kortex::interfaces::{file_system, files};
use drystone_runtime::native::{Component, Kind, Part, Serving};
use memchr::memchr;

use crate::store::{Bytes, Refused, Store, copy, resize};

/// A client of FileSystem, with at most one open file.
pub(crate) struct FileClient {
    pub(crate) store: Rc<Store>,
    file: Option<OpenFile>,
}

struct OpenFile {
    name: Vec<u8>,
    bytes: Bytes,
    position: usize,
}

impl FileClient {
    pub(crate) fn new(store: Rc<Store>) -> FileClient {
        FileClient { store, file: None }
    }

    /// Serves a client to its end.
    pub(crate) async fn attend(mut self, mut client: file_system::Server) {
        while let Ok(request) = client.receive().await {
            match self.serve(request) {
                Ok(Some(answer)) => client.send(answer).await,
                Ok(None) => {}
                Err(error) => return client.fail(&error),
            }
        }
    }

    /// Serves a request. An error is one that the protocol has no message for.
    fn serve(&mut self, request: file_system::In<'_>) -> Result<Option<file_system::Out<'static>>, String> {
        use file_system::{In, Out};
        let (name, opened) = match request {
            In::New { name } => (name.to_vec(), self.store.create(&name)),
            In::Open { name } => (name.to_vec(), self.store.open(&name)),
            request => {
                // By the protocol, a file is open.
                let Some(file) = &mut self.file else { return Ok(None) };
                return file.serve(request).map_err(|why| {
                    format!("error: FileSystem: {}: {why}\n", String::from_utf8_lossy(&file.name))
                });
            }
        };
        let Ok(bytes) = opened else { return Ok(Some(Out::Failed)) };
        self.file = Some(OpenFile { name, bytes, position: 0 });
        Ok(Some(Out::Done))
    }
}

impl OpenFile {
    fn serve(&mut self, request: file_system::In<'_>) -> Result<Option<file_system::Out<'static>>, Refused> {
        use file_system::{In, Out};
        Ok(match request {
            In::SetPosition { position } => {
                self.position = position.max(0) as usize;
                None
            }
            In::GetPosition => Some(Out::Position { pos: self.position as i64 }),
            In::GetLength => Some(Out::Length { len: self.bytes.borrow().len() as i64 }),
            In::ReadByte => {
                let next = self.bytes.borrow().get(self.position).copied();
                self.position += usize::from(next.is_some());
                Some(next.map_or(Out::EOF, |x| Out::Byte { x }))
            }
            In::ReadLine => Some(self.read_line()?.map_or(Out::EOF, |line| Out::Line { x: line.into() })),
            In::Write { x } => {
                write(&self.bytes, &mut self.position, &[x])?;
                None
            }
            In::WriteText { x } => {
                write(&self.bytes, &mut self.position, &x[..memchr(0, &x).unwrap_or(x.len())])?;
                None
            }
            In::Update | In::Close | In::New { .. } | In::Open { .. } => None,
        })
    }

    /// Reads a line; `None`: at the end of the file.
    fn read_line(&mut self) -> Result<Option<Vec<u8>>, Refused> {
        let bytes = self.bytes.borrow();
        let ahead = bytes.get(self.position..).unwrap_or_default();
        if ahead.is_empty() {
            return Ok(None);
        }
        let end = memchr(b'\n', ahead);
        let line = &ahead[..end.unwrap_or(ahead.len())];
        self.position += line.len() + usize::from(end.is_some());
        copy(line.strip_suffix(b"\r").filter(|_| end.is_some()).unwrap_or(line)).map(Some)
    }
}

/// Writes at the position, which moves on. A gap after the file's end is filled with zeros.
fn write(file: &Bytes, position: &mut usize, bytes: &[u8]) -> Result<(), Refused> {
    let mut file = file.borrow_mut();
    let end = position.checked_add(bytes.len()).filter(|&end| end <= MOST).ok_or(TOO_LARGE)?;
    if file.len() < end {
        resize(&mut file, end)?;
    }
    file[*position..end].copy_from_slice(bytes);
    *position = end;
    Ok(())
}

/// A client of Files.
pub(crate) struct Directory {
    pub(crate) store: Rc<Store>,
    /// The kind of the component that `Opened` carries.
    pub(crate) kind: &'static Kind,
}

impl Directory {
    fn open(&self, name: &[u8], mode: &[u8]) -> Result<Bytes, Refused> {
        let existing = self.store.open(name);
        match mode {
            b"r" => existing,
            b"rw" | b"a" => existing.or_else(|_| self.store.create(name)),
            b"w" => self.store.create(name),
            b"x" if existing.is_ok() => Err("File exists"),
            b"x" => self.store.create(name),
            _ => Err(
                "Unknown mode: r (read), rw (read and write), w (write anew), x (make) or a (append) is expected",
            ),
        }
    }

    /// The answers to a request, message by message.
    fn serve(&self, request: files::In<'_>) -> Result<Vec<files::Out<'static>>, Refused> {
        use files::{In, Out};
        Ok(match request {
            In::Open { name, mode } => {
                let (writable, appends) = (*mode != *b"r", *mode == *b"a");
                let opened = Opened { file: self.open(&name, &mode)?, writable, appends };
                vec![Out::Opened { f: Part::new(self.kind, opened) }]
            }
            In::List { name } => {
                let names = self.store.list(&name)?;
                let entries = names.into_iter().map(|name| Out::Entry { name: name.into() });
                [Out::Done].into_iter().chain(entries).chain([Out::End]).collect()
            }
            In::Delete { name } => self.store.delete(&name).map(|()| vec![Out::Done])?,
            In::Rename { name, new } => self.store.rename(&name, &new).map(|()| vec![Out::Done])?,
        })
    }

    /// Serves a client to its end.
    pub(crate) async fn attend(self, mut client: files::Server) {
        while let Ok(request) = client.receive().await {
            let failed = |why: Refused| vec![files::Out::Failed { reason: why.into() }];
            for message in self.serve(request).unwrap_or_else(failed) {
                client.send(message).await;
            }
        }
    }
}

/// The component that `Opened` carries.
#[derive(Clone)]
struct Opened {
    file: Bytes,
    writable: bool,
    /// Writes are at the end, wherever they say.
    appends: bool,
}

impl Component for Opened {
    fn serve(&mut self, _: usize) -> Serving {
        blocks::serve(self.clone())
    }
}

impl Opened {
    fn must_be_writable(&self) -> Result<(), Refused> {
        if self.writable { Ok(()) } else { Err("The file was opened to be read only") }
    }

    fn read(&self, position: i64, n: i64) -> Result<Vec<u8>, Refused> {
        let (position, n) = (natural(position)?, natural(n)?);
        let file = self.file.borrow();
        let ahead = file.get(position..).unwrap_or_default();
        copy(&ahead[..n.min(ahead.len())])
    }
}

fn natural(number: i64) -> Result<usize, Refused> {
    usize::try_from(number).map_err(|_| "Negative position or length")
}

/// Most bytes of a file, which is in memory.
const MOST: usize = 1 << 40;
const TOO_LARGE: Refused = "File too large";

fn length(number: i64) -> Result<usize, Refused> {
    natural(number).and_then(|number| if number <= MOST { Ok(number) } else { Err(TOO_LARGE) })
}

impl Blocks for Opened {
    fn get_length(&mut self) -> GetLengthAnswer<'_> {
        GetLengthAnswer::Length { n: self.file.borrow().len() as i64 }
    }

    fn read_block(&mut self, position: i64, n: i64) -> ReadBlockAnswer<'_> {
        match self.read(position, n) {
            Ok(block) => ReadBlockAnswer::Block { x: block.into() },
            Err(why) => ReadBlockAnswer::Failed { reason: why.into() },
        }
    }

    fn write_block(&mut self, position: i64, x: &[u8]) -> WriteBlockAnswer<'_> {
        let position = self.must_be_writable().and_then(|()| length(position));
        let position = position.map(|at| if self.appends { self.file.borrow().len() } else { at });
        match position.and_then(|mut position| write(&self.file, &mut position, x)) {
            Ok(()) => WriteBlockAnswer::Written,
            Err(why) => WriteBlockAnswer::Failed { reason: why.into() },
        }
    }

    fn set_length(&mut self, n: i64) -> SetLengthAnswer<'_> {
        let length = self.must_be_writable().and_then(|()| length(n));
        match length.and_then(|length| resize(&mut self.file.borrow_mut(), length)) {
            Ok(()) => SetLengthAnswer::Done,
            Err(why) => SetLengthAnswer::Failed { reason: why.into() },
        }
    }

    fn update(&mut self) -> UpdateAnswer<'_> {
        UpdateAnswer::Done
    }
}
