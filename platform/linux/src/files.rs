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

use drystone_runtime::native::{Component, Context, Kind, Service, Serving, Value, Values};

use crate::file_system::{read_only, seekable};
use crate::interfaces::{Blocks, Files};
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

    fn serve(&self, cx: &mut Context<'_, Files>, message: Files, values: Values<'_>) -> io::Result<()> {
        match message {
            Files::Open => {
                let mode = values.text(1);
                let file = Rc::new(self.open(values.text(0), mode)?);
                let opened = Opened { file, writable: mode != b"r" };
                cx.send(Files::Opened, [Value::Component(self.kind, Box::new(opened))]);
            }
            Files::List => {
                let entries = self.list(values.text(0))?;
                cx.send(Files::Done, []);
                for entry in entries {
                    cx.send(Files::Entry, [Value::Text(&entry)]);
                }
                cx.send(Files::End, []);
            }
            Files::Delete => {
                self.delete(values.text(0))?;
                cx.send(Files::Done, []);
            }
            Files::Rename => {
                fs::rename(self.names.path(values.text(0))?, self.names.path(values.text(1))?)?;
                cx.send(Files::Done, []);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Service for Directory {
    type Messages = Files;

    fn receive(&mut self, cx: &mut Context<'_, Files>, message: Files, values: Values<'_>) {
        if let Err(error) = self.serve(cx, message, values) {
            cx.send(Files::Failed, [Value::Text(reason(&error).as_bytes())]);
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
        Serving::new(BlockClient(self.clone()))
    }
}

struct BlockClient(Opened);

impl BlockClient {
    fn serve(&self, cx: &mut Context<'_, Blocks>, message: Blocks, values: Values<'_>) -> io::Result<()> {
        let Opened { file, writable } = &self.0;
        let natural = |index: usize| {
            u64::try_from(values.integer(index)).map_err(|_| io::Error::other("Negative position or length"))
        };
        if !writable && matches!(message, Blocks::WriteBlock | Blocks::SetLength) {
            return Err(read_only());
        }
        match message {
            Blocks::GetLength => {
                let length = file.metadata()?.len();
                cx.send(Blocks::Length, [Value::Integer(length as i64)]);
            }
            Blocks::ReadBlock => {
                let (position, n) = (natural(0)?, natural(1)?);
                let mut block = Vec::new();
                if n > 0 {
                    // No more memory than there are bytes, however many are asked for. Devices have no length.
                    let metadata = file.metadata()?;
                    let there =
                        if metadata.is_file() { metadata.len().saturating_sub(position) } else { 1 << 20 };
                    block.resize(n.min(there) as usize, 0);
                    let read = read_at(file, &mut block, position)?;
                    block.truncate(read);
                }
                cx.send(Blocks::Block, [Value::Text(&block)]);
            }
            Blocks::WriteBlock => {
                file.write_all_at(values.text(1), natural(0)?)?;
                cx.send(Blocks::Written, []);
            }
            Blocks::SetLength => {
                file.set_len(natural(0)?)?;
                cx.send(Blocks::Done, []);
            }
            Blocks::Update => {
                file.sync_data()?;
                cx.send(Blocks::Done, []);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Service for BlockClient {
    type Messages = Blocks;

    fn receive(&mut self, cx: &mut Context<'_, Blocks>, message: Blocks, values: Values<'_>) {
        if let Err(error) = self.serve(cx, message, values) {
            cx.send(Blocks::Failed, [Value::Text(reason(&error).as_bytes())]);
        }
    }
}
