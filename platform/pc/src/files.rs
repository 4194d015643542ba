//! FileSystem, Files and Blocks, over files in memory.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use drystone_kortex::interfaces::blocks::{
    self, Blocks, GetLengthAnswer, ReadBlockAnswer, SetLengthAnswer, UpdateAnswer, WriteBlockAnswer,
};
use drystone_kortex::interfaces::{file_system, files};
use drystone_runtime::native::{Component, Kind, Part, Serving};
use memchr::memchr;

use crate::store::{Bytes, Refused, Store};

/// A client of FileSystem, with at most one open file.
pub(crate) struct FileClient {
    pub(crate) store: Rc<Store>,
    file: Option<(Bytes, usize)>,
}

impl FileClient {
    pub(crate) fn new(store: Rc<Store>) -> FileClient {
        FileClient { store, file: None }
    }

    /// Serves a client to its end.
    pub(crate) async fn attend(mut self, mut client: file_system::Server) {
        while let Ok(request) = client.receive().await {
            if let Some(answer) = self.serve(request) {
                client.send(answer).await;
            }
        }
    }

    fn serve(&mut self, request: file_system::In<'_>) -> Option<file_system::Out<'static>> {
        use file_system::{In, Out};
        let opened = match request {
            In::New { name } => self.store.create(&name),
            In::Open { name } => self.store.open(&name),
            // The protocol has it that a file is open.
            request => {
                let (file, position) = self.file.as_mut()?;
                return on_file(file, position, request);
            }
        };
        let Ok(file) = opened else { return Some(Out::Failed) };
        self.file = Some((file, 0));
        Some(Out::Done)
    }
}

fn on_file(
    file: &Bytes,
    position: &mut usize,
    request: file_system::In<'_>,
) -> Option<file_system::Out<'static>> {
    use file_system::{In, Out};
    let bytes = file.borrow();
    let ahead = bytes.get(*position..).unwrap_or_default();
    match request {
        In::SetPosition { position: wanted } => *position = wanted.max(0) as usize,
        In::GetPosition => return Some(Out::Position { pos: *position as i64 }),
        In::GetLength => return Some(Out::Length { len: bytes.len() as i64 }),
        In::ReadByte => {
            let Some(&x) = ahead.first() else { return Some(Out::EOF) };
            *position += 1;
            return Some(Out::Byte { x });
        }
        In::ReadLine if ahead.is_empty() => return Some(Out::EOF),
        In::ReadLine => {
            let end = memchr(b'\n', ahead);
            let line = &ahead[..end.unwrap_or(ahead.len())];
            *position += line.len() + usize::from(end.is_some());
            let line = line.strip_suffix(b"\r").filter(|_| end.is_some()).unwrap_or(line);
            return Some(Out::Line { x: line.to_vec().into() });
        }
        In::Write { x } => {
            drop(bytes);
            write(file, position, &[x]);
        }
        In::WriteText { x } => {
            drop(bytes);
            write(file, position, &x[..memchr(0, &x).unwrap_or(x.len())]);
        }
        In::Update | In::Close | In::New { .. } | In::Open { .. } => {}
    }
    None
}

/// Writes at the position, which moves on; what lies between the end and it becomes zeros.
fn write(file: &Bytes, position: &mut usize, bytes: &[u8]) {
    let mut file = file.borrow_mut();
    let end = *position + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[*position..end].copy_from_slice(bytes);
    *position = end;
}

/// A client of Files.
pub(crate) struct Directory {
    pub(crate) store: Rc<Store>,
    /// The kind of what `Opened` brings.
    pub(crate) kind: &'static Kind,
}

impl Directory {
    fn open(&self, name: &[u8], mode: &[u8]) -> Result<Bytes, Refused> {
        let existing = self.store.open(name);
        match mode {
            b"r" => existing,
            b"rw" => existing.or_else(|_| self.store.create(name)),
            b"w" => self.store.create(name),
            b"x" if existing.is_ok() => Err("File exists"),
            b"x" => self.store.create(name),
            _ => Err("Unknown mode: r (read), rw (read and write), w (write anew) or x (make) is expected"),
        }
    }

    /// What a request is answered by, message by message.
    fn serve(&self, request: files::In<'_>) -> Result<Vec<files::Out<'static>>, Refused> {
        use files::{In, Out};
        Ok(match request {
            In::Open { name, mode } => {
                let opened = Opened { file: self.open(&name, &mode)?, writable: *mode != *b"r" };
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

/// The component that `Opened` brings.
#[derive(Clone)]
struct Opened {
    file: Bytes,
    writable: bool,
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
}

fn natural(number: i64) -> Result<usize, Refused> {
    usize::try_from(number).map_err(|_| "Negative position or length")
}

/// Files are in memory: no more than a machine may have.
const MOST: usize = 1 << 40;

fn length(number: i64) -> Result<usize, Refused> {
    natural(number).and_then(|number| if number <= MOST { Ok(number) } else { Err("File too large") })
}

impl Blocks for Opened {
    fn get_length(&mut self) -> GetLengthAnswer<'_> {
        GetLengthAnswer::Length { n: self.file.borrow().len() as i64 }
    }

    fn read_block(&mut self, position: i64, n: i64) -> ReadBlockAnswer<'_> {
        match natural(position).and_then(|position| Ok((position, natural(n)?))) {
            Ok((position, n)) => {
                let file = self.file.borrow();
                let ahead = file.get(position..).unwrap_or_default();
                ReadBlockAnswer::Block { x: ahead[..n.min(ahead.len())].to_vec().into() }
            }
            Err(why) => ReadBlockAnswer::Failed { reason: why.into() },
        }
    }

    fn write_block(&mut self, position: i64, x: &[u8]) -> WriteBlockAnswer<'_> {
        match self.must_be_writable().and_then(|()| length(position)) {
            Ok(mut position) => {
                write(&self.file, &mut position, x);
                WriteBlockAnswer::Written
            }
            Err(why) => WriteBlockAnswer::Failed { reason: why.into() },
        }
    }

    fn set_length(&mut self, n: i64) -> SetLengthAnswer<'_> {
        match self.must_be_writable().and_then(|()| length(n)) {
            Ok(length) => {
                self.file.borrow_mut().resize(length, 0);
                SetLengthAnswer::Done
            }
            Err(why) => SetLengthAnswer::Failed { reason: why.into() },
        }
    }

    fn update(&mut self) -> UpdateAnswer<'_> {
        UpdateAnswer::Done
    }
}
