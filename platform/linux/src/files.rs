//! Files and Blocks: files by name, and their bytes at any position, for as many processes at once as like.
//!
//! Modes of `Open`: `"r"` to read what exists; `"rw"` to read and write, made if it is missing; `"w"` to read and write,
//! made or emptied; `"x"` to read and write, made, and failing if it exists. `List` gives the names in a directory,
//! sorted by bytes. `Delete` deletes a file or an empty directory. `ReadBlock` gives less than was asked for at the end
//! of the file only. `Update` comes back when everything written is on the disk.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use drystone_runtime::native::{Component, Kind, Part, Serving, Text};

use crate::file_system::{read_only, seekable};
use crate::interfaces::blocks::{
    self, Blocks, GetLengthAnswer, ReadBlockAnswer, SetLengthAnswer, UpdateAnswer, WriteBlockAnswer,
};
use crate::interfaces::files::{In, Out, Server};
use crate::names::Names;
use crate::reason::reason;
use crate::window::read_at;

/// A client of Files.
pub(crate) struct Directory {
    pub(crate) names: Rc<Names>,
    /// The kind of what `Opened` brings.
    pub(crate) kind: &'static Kind,
}

impl Directory {
    fn open(&self, name: &[u8], mode: &[u8]) -> io::Result<File> {
        let path = self.names.path(name)?;
        let existing = self.names.existing(name)?;
        if existing.exists() {
            seekable(&existing)?;
        }
        let options = |change: fn(&mut OpenOptions) -> &mut OpenOptions| {
            let mut options = OpenOptions::new();
            change(options.read(true).write(true));
            options
        };
        match mode {
            b"r" => File::open(existing),
            b"rw" => options(|options| options.create(true)).open(existing),
            b"w" => options(|options| options.create(true).truncate(true)).open(path),
            b"x" => options(|options| options.create_new(true)).open(path),
            _ => Err(io::Error::other(
                "Unknown mode: r (read), rw (read and write), w (write anew) or x (make) is expected",
            )),
        }
    }

    fn list(&self, name: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let mut path = self.names.existing(name)?;
        if path.as_os_str().is_empty() {
            path.push(".");
        }
        let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().into_vec()));
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort_unstable();
        Ok(entries)
    }

    fn delete(&self, name: &[u8]) -> io::Result<()> {
        let path = self.names.path(name)?;
        if path.symlink_metadata()?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
    }

    /// What a request is answered by, message by message.
    fn serve(&self, request: In<'_>) -> io::Result<Vec<Out<'static>>> {
        match request {
            In::Open { name, mode } => {
                let file = Rc::new(self.open(&name, &mode)?);
                let opened = Opened { file, writable: *mode != *b"r" };
                Ok(vec![Out::Opened { f: Part::new(self.kind, opened) }])
            }
            In::List { name } => {
                let entries = self.list(&name)?.into_iter().map(|name| Out::Entry { name: name.into() });
                Ok([Out::Done].into_iter().chain(entries).chain([Out::End]).collect())
            }
            In::Delete { name } => self.delete(&name).map(|()| vec![Out::Done]),
            In::Rename { name, new } => {
                fs::rename(self.names.path(&name)?, self.names.path(&new)?)?;
                Ok(vec![Out::Done])
            }
        }
    }

    /// Serves a client to its end.
    pub(crate) async fn attend(self, mut client: Server) {
        while let Ok(request) = client.receive().await {
            let failed = |error: io::Error| vec![Out::Failed { reason: reason(&error).into() }];
            for message in self.serve(request).unwrap_or_else(failed) {
                client.send(message).await;
            }
        }
    }
}

/// The component that `Opened` brings.
#[derive(Clone)]
struct Opened {
    file: Rc<File>,
    writable: bool,
}

impl Component for Opened {
    fn serve(&mut self, _: usize) -> Serving {
        blocks::serve(self.clone())
    }
}

impl Opened {
    fn must_be_writable(&self) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(read_only()) }
    }

    fn read(&self, position: u64, n: u64) -> io::Result<Vec<u8>> {
        let mut block = Vec::new();
        if n > 0 {
            // No more memory than there are bytes, however many are asked for. Devices have no length.
            let metadata = self.file.metadata()?;
            let there = if metadata.is_file() { metadata.len().saturating_sub(position) } else { 1 << 20 };
            block.resize(n.min(there) as usize, 0);
            let read = read_at(&self.file, &mut block, position)?;
            block.truncate(read);
        }
        Ok(block)
    }
}

fn natural(number: i64) -> io::Result<u64> {
    u64::try_from(number).map_err(|_| io::Error::other("Negative position or length"))
}

/// Why something failed, as an answer has it.
fn why(error: &io::Error) -> Text<'static> {
    reason(error).into()
}

impl Blocks for Opened {
    fn get_length(&mut self) -> GetLengthAnswer<'_> {
        match self.file.metadata() {
            Ok(metadata) => GetLengthAnswer::Length { n: metadata.len() as i64 },
            Err(error) => GetLengthAnswer::Failed { reason: why(&error) },
        }
    }

    fn read_block(&mut self, position: i64, n: i64) -> ReadBlockAnswer<'_> {
        match natural(position).and_then(|position| self.read(position, natural(n)?)) {
            Ok(block) => ReadBlockAnswer::Block { x: block.into() },
            Err(error) => ReadBlockAnswer::Failed { reason: why(&error) },
        }
    }

    fn write_block(&mut self, position: i64, x: &[u8]) -> WriteBlockAnswer<'_> {
        let write = |()| self.file.write_all_at(x, natural(position)?);
        match self.must_be_writable().and_then(write) {
            Ok(()) => WriteBlockAnswer::Written,
            Err(error) => WriteBlockAnswer::Failed { reason: why(&error) },
        }
    }

    fn set_length(&mut self, n: i64) -> SetLengthAnswer<'_> {
        match self.must_be_writable().and_then(|()| self.file.set_len(natural(n)?)) {
            Ok(()) => SetLengthAnswer::Done,
            Err(error) => SetLengthAnswer::Failed { reason: why(&error) },
        }
    }

    fn update(&mut self) -> UpdateAnswer<'_> {
        match self.file.sync_data() {
            Ok(()) => UpdateAnswer::Done,
            Err(error) => UpdateAnswer::Failed { reason: why(&error) },
        }
    }
}
