//! An NFS export as a [`Folder`]. In NFS the client resolves names, a folder at a time, and follows symbolic links.
//! This client neither goes up nor follows links, so no name leaves the export, even if folders on the way are renamed
//! meanwhile.

use std::io;
use std::sync::{Mutex, PoisonError};

use files::folder::{First, Folder, Status, outside, split, strange_mode};
use nfs3_client::nfs3_types::nfs3::{
    ACCESS3_MODIFY, ACCESS3_READ, ACCESS3args, COMMIT3args, CREATE3args, FSINFO3args, GETATTR3args,
    LOOKUP3args, MKDIR3args, Nfs3Option, READ3args, READDIR3args, REMOVE3args, RENAME3args, RMDIR3args,
    SETATTR3args, WRITE3args, cookieverf3, createhow3, diropargs3, fattr3, filename3, ftype3, nfs_fh3,
    sattr3, stable_how, writeverf3,
};
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use rustix::io::Errno;

use crate::server::Server;

/// The most bytes of a read or write.
const MOST: u32 = 1024 * 1024;

/// The most bytes of names in a listing.
const LISTED: u32 = 64 * 1024;

/// The longest name in bytes: each folder in it is a request.
const LONGEST: usize = 4096;

/// See the head of this file.
#[derive(Debug)]
pub struct Export {
    server: Server,
    root: nfs_fh3,
    read: u32,
    written: u32,
}

/// An open file. The server doesn't know that it is open.
#[derive(Debug)]
pub struct File {
    handle: nfs_fh3,
    unsaved: Mutex<Unsaved>,
}

/// Writes that may be lost if the server restarts, which changes its verifier.
#[derive(Debug, Default)]
struct Unsaved {
    verifier: Option<writeverf3>,
    is_lost: bool,
}

impl Unsaved {
    fn see(&mut self, verifier: writeverf3) {
        self.is_lost |= self.verifier.replace(verifier).is_some_and(|before| before != verifier);
    }
}

/// A name, resolved.
struct Found {
    handle: nfs_fh3,
    attributes: fattr3,
}

impl Found {
    /// Checks that it is of this kind.
    fn expect(self, kind: ftype3) -> io::Result<Found> {
        match self.attributes.type_ {
            found if found == kind => Ok(self),
            ftype3::NF3LNK => Err(Errno::LOOP.into()),
            _ if kind == ftype3::NF3DIR => Err(Errno::NOTDIR.into()),
            _ => Err(io::Error::other("it is no file")),
        }
    }
}

fn entry<'n>(folder: &nfs_fh3, name: &'n [u8]) -> diropargs3<'n> {
    diropargs3 { dir: folder.clone(), name: filename3(Opaque::borrowed(name)) }
}

/// The attributes of a new file or folder. In NFS the client sets its permissions.
fn allowing(mode: u32) -> sattr3 {
    sattr3 { mode: Nfs3Option::Some(mode), ..sattr3::default() }
}

/// Checks that a name stays within. A server may end names at a 0 byte, which would change their meaning.
fn checked(name: &[u8]) -> io::Result<&[u8]> {
    if name.is_empty() {
        return Err(Errno::NOENT.into());
    }
    if name.len() > LONGEST {
        return Err(Errno::NAMETOOLONG.into());
    }
    let goes_up = name.split(is_slash).any(|part| part == b"..");
    if goes_up || name.starts_with(b"/") || name.contains(&0) { Err(outside()) } else { Ok(name) }
}

fn is_slash(letter: &u8) -> bool {
    *letter == b'/'
}

impl Export {
    fn look(&self, name: &[u8]) -> io::Result<Found> {
        let (mut folder, mut found) = (self.root.clone(), None::<Found>);
        for part in checked(name)?.split(is_slash).filter(|&part| part != b"" && part != b".") {
            if let Some(before) = found.take() {
                folder = before.expect(ftype3::NF3DIR)?.handle;
            }
            found = Some(self.look_in(&folder, part)?);
        }
        found.map_or_else(|| self.known(folder, Nfs3Option::None), Ok)
    }

    fn look_in(&self, folder: &nfs_fh3, name: &[u8]) -> io::Result<Found> {
        let what = LOOKUP3args { what: entry(folder, name) };
        let found = self.server.ask(async |nfs| nfs.lookup(&what).await)?;
        self.known(found.object, found.obj_attributes)
    }

    /// The attributes of a handle: servers may leave them out of a reply.
    fn known(&self, handle: nfs_fh3, said: Nfs3Option<fattr3>) -> io::Result<Found> {
        let attributes = match said {
            Nfs3Option::Some(attributes) => attributes,
            Nfs3Option::None => {
                let object = GETATTR3args { object: handle.clone() };
                self.server.ask(async |nfs| nfs.getattr(&object).await)?.obj_attributes
            }
        };
        Ok(Found { handle, attributes })
    }

    /// The folder of a name, and its last component.
    fn parent<'n>(&self, name: &'n [u8]) -> io::Result<(nfs_fh3, &'n [u8])> {
        let (folder, last) = split(checked(name)?)?;
        Ok((self.look(folder)?.expect(ftype3::NF3DIR)?.handle, last))
    }

    /// An existing file, to which the user has that access.
    fn existing(&self, name: &[u8], access: u32) -> io::Result<nfs_fh3> {
        let object = self.look(name)?.expect(ftype3::NF3REG)?.handle;
        let asked = ACCESS3args { object, access };
        let allowed = self.server.ask(async |nfs| nfs.access(&asked).await)?.access;
        if allowed & access == access { Ok(asked.object) } else { Err(Errno::ACCESS.into()) }
    }

    fn make(&self, name: &[u8], how: fn(sattr3) -> createhow3) -> io::Result<nfs_fh3> {
        let (folder, last) = self.parent(name)?;
        let what = CREATE3args { where_: entry(&folder, last), how: how(allowing(0o644)) };
        let made = self.server.ask(async |nfs| nfs.create(&what).await)?;
        let found = match made.obj {
            Nfs3Option::Some(handle) => self.known(handle, made.obj_attributes)?,
            Nfs3Option::None => self.look_in(&folder, last)?,
        };
        Ok(found.expect(ftype3::NF3REG)?.handle)
    }

    fn make_empty(&self, object: nfs_fh3) -> io::Result<nfs_fh3> {
        let new_attributes = sattr3 { size: Nfs3Option::Some(0), ..sattr3::default() };
        let what = SETATTR3args { object, new_attributes, guard: Nfs3Option::None };
        self.server.ask(async |nfs| nfs.setattr(&what).await)?;
        Ok(what.object)
    }
}

impl Folder for Export {
    type File = File;

    /// `HOST:/EXPORT`, as for mount.
    fn find(name: &[u8]) -> io::Result<Export> {
        let name = str::from_utf8(name).ok().and_then(|name| name.split_once(":/"));
        let (host, path) = name.ok_or_else(|| io::Error::other("no name such as HOST:/EXPORT"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let (server, root) = Server::mount(host, &format!("/{path}"))?;
        let whole = FSINFO3args { fsroot: root.clone() };
        let limits = server.ask(async |nfs| nfs.fsinfo(&whole).await)?;
        let (read, written) = (limits.rtmax.clamp(1, MOST), limits.wtmax.clamp(1, MOST));
        Ok(Export { server, root, read, written })
    }

    fn open(&self, name: &[u8], mode: &[u8]) -> io::Result<File> {
        let may_be_missing = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => self.make(name, createhow3::UNCHECKED),
            _ => Err(error),
        };
        let handle = match mode {
            b"r" => self.existing(name, ACCESS3_READ),
            b"rw" => self.existing(name, ACCESS3_READ | ACCESS3_MODIFY).or_else(may_be_missing),
            b"w" => {
                let file = self.existing(name, ACCESS3_READ | ACCESS3_MODIFY);
                file.and_then(|file| self.make_empty(file)).or_else(may_be_missing)
            }
            b"x" => self.make(name, createhow3::GUARDED),
            _ => Err(strange_mode()),
        };
        Ok(File { handle: handle?, unsaved: Mutex::default() })
    }

    fn read(&self, file: &File, position: u64, n: usize) -> io::Result<Vec<u8>> {
        let mut data = Vec::new();
        while data.len() < n {
            let count = self.read.min((n - data.len()) as u32);
            let what = READ3args { file: file.handle.clone(), offset: position + data.len() as u64, count };
            let part = self.server.ask(async |nfs| nfs.read(&what).await)?;
            data.extend_from_slice(&part.data[..part.data.len().min(count as usize)]);
            if part.eof || part.data.is_empty() {
                break;
            }
        }
        Ok(data)
    }

    fn write(&self, file: &File, position: u64, data: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < data.len() {
            let part = &data[done..data.len().min(done + self.written as usize)];
            let what = WRITE3args {
                file: file.handle.clone(),
                offset: position + done as u64,
                count: part.len() as u32,
                stable: stable_how::UNSTABLE,
                data: Opaque::borrowed(part),
            };
            let written = self.server.ask(async |nfs| nfs.write(&what).await)?;
            if written.count == 0 {
                return Err(io::Error::other("the NFS server writes nothing"));
            }
            done += part.len().min(written.count as usize);
            if written.committed != stable_how::FILE_SYNC {
                file.unsaved.lock().unwrap_or_else(PoisonError::into_inner).see(written.verf);
            }
        }
        Ok(())
    }

    fn update(&self, file: &File) -> io::Result<()> {
        let whole = COMMIT3args { file: file.handle.clone(), offset: 0, count: 0 };
        let saved = self.server.ask(async |nfs| nfs.commit(&whole).await)?;
        let mut unsaved = std::mem::take(&mut *file.unsaved.lock().unwrap_or_else(PoisonError::into_inner));
        unsaved.see(saved.verf);
        match unsaved.is_lost {
            true => Err(io::Error::other("the NFS server began anew, and what was written may be lost")),
            false => Ok(()),
        }
    }

    fn stat(&self, name: &[u8]) -> io::Result<Status> {
        let fattr3 { type_, size, mtime, .. } = self.look(name)?.attributes;
        let is_folder = match type_ {
            ftype3::NF3DIR => true,
            ftype3::NF3REG => false,
            ftype3::NF3LNK => return Err(Errno::LOOP.into()),
            _ => return Err(io::Error::other("it is neither a file nor a folder")),
        };
        let modified = i64::from(mtime.seconds) * 1000 + i64::from(mtime.nseconds / 1_000_000);
        Ok(Status { is_folder, size: i64::try_from(size).unwrap_or(i64::MAX), modified })
    }

    fn list(&self, folder: &[u8], after: &[u8], most: usize) -> io::Result<Vec<Vec<u8>>> {
        let folder = if folder.is_empty() { b"." } else { folder };
        let dir = self.look(folder)?.expect(ftype3::NF3DIR)?.handle;
        let mut first = First::new(after, most);
        let mut next = READDIR3args { dir, cookie: 0, cookieverf: cookieverf3::default(), count: LISTED };
        loop {
            let part = self.server.ask(async |nfs| nfs.readdir(&next).await)?;
            let entries = part.reply.entries.0;
            entries.iter().for_each(|entry| first.see(&entry.name.0));
            match entries.last() {
                Some(last) if !part.reply.eof => next.cookie = last.cookie,
                _ => return Ok(first.in_order()),
            }
            next.cookieverf = part.cookieverf;
        }
    }

    fn delete(&self, name: &[u8]) -> io::Result<()> {
        let (folder, last) = self.parent(name)?;
        if self.look_in(&folder, last)?.attributes.type_ == ftype3::NF3DIR {
            let what = RMDIR3args { object: entry(&folder, last) };
            self.server.ask(async |nfs| nfs.rmdir(&what).await)?;
        } else {
            let what = REMOVE3args { object: entry(&folder, last) };
            self.server.ask(async |nfs| nfs.remove(&what).await)?;
        }
        Ok(())
    }

    fn make_folder(&self, name: &[u8]) -> io::Result<()> {
        let (folder, last) = self.parent(name)?;
        let what = MKDIR3args { where_: entry(&folder, last), attributes: allowing(0o755) };
        self.server.ask(async |nfs| nfs.mkdir(&what).await).map(drop)
    }

    fn rename(&self, name: &[u8], new: &[u8]) -> io::Result<()> {
        let ((from, old), (to, new)) = (self.parent(name)?, self.parent(new)?);
        let what = RENAME3args { from: entry(&from, old), to: entry(&to, new) };
        self.server.ask(async |nfs| nfs.rename(&what).await).map(drop)
    }
}
