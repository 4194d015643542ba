//! Files and Blocks: files by name, and their bytes at any position, for any number of processes at once.
//!
//! Modes of `Open`: `"r"` reads an existing file; `"rw"` reads and writes, and makes a missing file; `"w"` reads
//! and writes, and makes or empties the file; `"x"` reads and writes a new file, and fails if it exists; `"a"`
//! reads, writes at the end, and makes a missing file. `List` gives the names in a directory, sorted by bytes.
//! `Delete` deletes a file or an empty directory. `ReadBlock` gives less than was asked for only at the end of the
//! file. `Update` returns when everything written is on the disk. Other processes run meanwhile, and between the
//! parts of long operations.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use drystone_runtime::native::{Component, Kind, Part, Serving, Text};

use crate::disk::{DiskFile, LARGE, PART, aside, is_large};
use crate::file_system::{read_only, seekable};
use crate::interfaces::blocks;
use crate::interfaces::files::{In, Out, Server};
use crate::names::Names;
use crate::window::read_at;
use drystone_reactor::Reactor;
use drystone_reactor::reason;

/// A client of Files.
pub(crate) struct Directory {
    pub(crate) reactor: Rc<Reactor>,
    pub(crate) names: Rc<Names>,
    /// The kind of the component that `Opened` carries.
    pub(crate) kind: &'static Kind,
}

impl Directory {
    /// The options and the path to open a file with this mode.
    fn way(&self, name: &[u8], mode: &[u8]) -> io::Result<(OpenOptions, PathBuf)> {
        let path = self.names.path(name)?;
        let existing = self.names.existing(name)?;
        if existing.exists() {
            seekable(&existing)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(mode != b"r");
        let path = match mode {
            b"r" => existing,
            b"rw" => {
                options.create(true);
                existing
            }
            b"a" => {
                options.append(true).create(true);
                existing
            }
            b"w" => {
                options.create(true).truncate(true);
                path.to_path_buf()
            }
            b"x" => {
                options.create_new(true);
                path.to_path_buf()
            }
            _ => {
                return Err(io::Error::other(
                    "Unknown mode: r (read), rw (read and write), w (write anew), x (make) or a (append) is expected",
                ));
            }
        };
        Ok((options, path))
    }

    async fn open(&self, client: &Server, name: &[u8], mode: &[u8]) -> io::Result<Opened> {
        let (options, path) = self.way(name, mode)?;
        let empties = mode == b"w" && is_large(&path);
        let opened = path.clone();
        let file = aside(&self.reactor, client, empties, &[&path], move || options.open(opened)).await?;
        let file = Arc::new(DiskFile::new(file));
        Ok(Opened { reactor: self.reactor.clone(), file, writable: mode != b"r" })
    }

    /// Sends the answers to a request, except the last, which is returned.
    async fn serve(&self, client: &mut Server, request: In<'_>) -> io::Result<Out<'static>> {
        match request {
            In::Open { name, mode } => {
                let opened = self.open(client, &name, &mode).await?;
                Ok(Out::Opened { f: Part::new(self.kind, opened) })
            }
            In::List { name } => {
                let path = self.names.existing(&name)?;
                let entries = aside(&self.reactor, client, true, &[], move || list(path)).await?;
                client.send(Out::Done).await;
                for name in entries {
                    client.send(Out::Entry { name: name.into() }).await;
                }
                Ok(Out::End)
            }
            In::Delete { name } => {
                let path = self.names.path(&name)?;
                let deleted = path.to_path_buf();
                aside(&self.reactor, client, is_large(path), &[path], move || delete(&deleted)).await?;
                Ok(Out::Done)
            }
            In::Rename { name, new } => {
                let (path, new) = (self.names.path(&name)?, self.names.path(&new)?);
                let (from, to) = (path.to_path_buf(), new.to_path_buf());
                let rename = move || fs::rename(from, to);
                aside(&self.reactor, client, is_large(new), &[path, new], rename).await?;
                Ok(Out::Done)
            }
        }
    }

    /// Serves a client to its end.
    pub(crate) async fn attend(self, mut client: Server) {
        while let Ok(request) = client.receive().await {
            let answer = self.serve(&mut client, request).await;
            let failed = |error| Out::Failed { reason: reason(&error).into() };
            client.send(answer.unwrap_or_else(failed)).await;
        }
    }
}

fn list(mut path: PathBuf) -> io::Result<Vec<Vec<u8>>> {
    if path.as_os_str().is_empty() {
        path.push(".");
    }
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().into_vec()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable();
    Ok(entries)
}

fn delete(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}

/// The component that `Opened` carries.
#[derive(Clone)]
struct Opened {
    reactor: Rc<Reactor>,
    file: Arc<DiskFile>,
    writable: bool,
}

impl Component for Opened {
    fn serve(&mut self, _: usize) -> Serving {
        let opened = self.clone();
        blocks::session(|client| opened.attend(client))
    }
}

impl Opened {
    /// Serves a client to its end.
    async fn attend(self, mut client: blocks::Server) {
        while let Ok(request) = client.receive().await {
            let answer = self.answer(&client, request).await;
            let failed = |error| blocks::Out::Failed { reason: reason(&error).into() };
            client.send(answer.unwrap_or_else(failed)).await;
        }
    }

    async fn answer(
        &self,
        client: &blocks::Server,
        request: blocks::In<'_>,
    ) -> io::Result<blocks::Out<'static>> {
        use blocks::{In, Out};
        match request {
            In::GetLength => Ok(Out::Length { n: self.file.metadata()?.len() as i64 }),
            In::ReadBlock { position, n } => {
                let x = self.read(client, natural(position)?, natural(n)?).await?;
                Ok(Out::Block { x })
            }
            In::WriteBlock { position, x } => {
                self.must_be_writable()?;
                self.write(client, natural(position)?, &x).await?;
                Ok(Out::Written)
            }
            In::SetLength { n } => {
                self.must_be_writable()?;
                self.set_length(client, natural(n)?).await?;
                Ok(Out::Done)
            }
            In::Update => {
                let file = self.file.clone();
                aside(&self.reactor, client, true, &[], move || file.sync_data()).await?;
                Ok(Out::Done)
            }
        }
    }

    fn must_be_writable(&self) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(read_only()) }
    }

    async fn read(&self, client: &blocks::Server, position: u64, n: u64) -> io::Result<Text<'static>> {
        if n == 0 {
            return Ok(Vec::new().into());
        }
        // Allocates no more than the file has, however many bytes are requested. Devices have no length.
        let metadata = self.file.metadata()?;
        let there = if metadata.is_file() { metadata.len().saturating_sub(position) } else { 1 << 20 };
        let n = n.min(there) as usize;
        let mut part = vec![0; n.min(PART)];
        let mut read = read_at(&self.file, &mut part, position)?;
        part.truncate(read);
        if n <= PART {
            return Ok(part.into());
        }
        // The block becomes a text of the program part by part.
        let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let mut whole = client.text(&part).ok_or_else(no_memory)?;
        while part.len() == PART && read < n {
            client.give_way().await;
            let count = read_at(&self.file, &mut part[..PART.min(n - read)], position + read as u64)?;
            part.truncate(count);
            if !whole.append(&part) {
                return Err(no_memory());
            }
            read += count;
        }
        Ok(whole.into())
    }

    async fn write(&self, client: &blocks::Server, position: u64, bytes: &[u8]) -> io::Result<()> {
        for (number, part) in bytes.chunks(PART).enumerate() {
            if number > 0 {
                client.give_way().await;
            }
            self.file.write_all_at(part, position + (number * PART) as u64)?;
            self.file.has_written(part.len() as u64);
        }
        Ok(())
    }

    async fn set_length(&self, client: &blocks::Server, length: u64) -> io::Result<()> {
        let cut_off = self.file.metadata()?.len().saturating_sub(length);
        self.file.has_written(cut_off);
        let file = self.file.clone();
        aside(&self.reactor, client, cut_off > LARGE, &[], move || file.set_len(length)).await
    }
}

fn natural(number: i64) -> io::Result<u64> {
    u64::try_from(number).map_err(|_| io::Error::other("Negative position or length"))
}
