//! A client of NFS version 3, over this library's TCP. The protocol's messages are those of `nfs3_client`, which is
//! asynchronous. Here the streams block, so its futures are always ready when they are polled.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use drystone_handlers::Device;
use nfs3_client::io::{AsyncRead, AsyncWrite};
use nfs3_client::net::Connector;
use nfs3_client::nfs3_types::nfs3::{
    CREATE3args, GETATTR3args, LOOKUP3args, Nfs3Option, Nfs3Result, READ3args, WRITE3args, createhow3,
    diropargs3, filename3, nfs_fh3, sattr3, stable_how,
};
use nfs3_client::nfs3_types::rpc::{auth_unix, opaque_auth};
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::{Nfs3Connection, Nfs3ConnectionBuilder};

use crate::host::Host;
use crate::tcp::Stream;

/// Most bytes of one read or write call.
const MOST: usize = 1 << 16;

/// A mounted export.
pub struct Nfs<D: Device + Send>(Nfs3Connection<Stream<D>>);

impl<D: Device + Send> Host<D> {
    /// Mounts an export of a server, as the user `nobody`.
    ///
    /// # Errors
    /// The server has no such export, or doesn't answer.
    pub fn mount(&self, server: Ipv4Addr, export: &str) -> Result<Nfs<D>> {
        const NOBODY: u32 = 65534;
        let who = auth_unix {
            stamp: 0,
            machinename: Opaque::borrowed(b"drystone"),
            uid: NOBODY,
            gid: NOBODY,
            gids: Vec::new(),
        };
        let builder = Nfs3ConnectionBuilder::new(Connects(self.clone()), server.to_string(), export);
        let mounted = now(builder.credential(opaque_auth::auth_unix(&who)).mount());
        let said = |error| Error::other(format!("can't mount {server}:{export}: {error}"));
        mounted.map(Nfs).map_err(said)
    }
}

impl<D: Device + Send> Nfs<D> {
    /// The size of a file in bytes.
    ///
    /// # Errors
    /// There is no such file, or the server doesn't answer.
    pub fn size(&mut self, path: &str) -> Result<u64> {
        let object = self.look_up(path)?;
        let answer = now(self.0.getattr(&GETATTR3args { object }));
        Ok(done(path, answer)?.obj_attributes.size)
    }

    /// Reads `count` bytes of a file from an offset on; fewer at its end.
    ///
    /// # Errors
    /// As for [`Nfs::size`].
    pub fn read(&mut self, path: &str, from: u64, count: usize) -> Result<Vec<u8>> {
        let (file, mut bytes) = (self.look_up(path)?, Vec::new());
        while bytes.len() < count {
            let part = (count - bytes.len()).min(MOST) as u32;
            let what = READ3args { file: file.clone(), offset: from + bytes.len() as u64, count: part };
            let answer = done(path, now(self.0.read(&what)))?;
            let come = answer.data.as_ref();
            bytes.extend_from_slice(&come[..come.len().min(part as usize)]);
            if answer.eof || come.is_empty() {
                break;
            }
        }
        Ok(bytes)
    }

    /// Writes bytes to a file from an offset on. Afterwards they are on the server's disk.
    ///
    /// # Errors
    /// As for [`Nfs::size`], or there is no room or no permission.
    pub fn write(&mut self, path: &str, from: u64, bytes: &[u8]) -> Result<()> {
        let (file, mut at) = (self.look_up(path)?, 0);
        while at < bytes.len() {
            let part = &bytes[at..bytes.len().min(at + MOST)];
            let what = WRITE3args {
                file: file.clone(),
                offset: from + at as u64,
                count: part.len() as u32,
                stable: stable_how::FILE_SYNC,
                data: Opaque::borrowed(part),
            };
            match done(path, now(self.0.write(&what)))?.count as usize {
                0 => return Err(ErrorKind::WriteZero.into()),
                count => at += count.min(part.len()),
            }
        }
        Ok(())
    }

    /// Creates a new file.
    ///
    /// # Errors
    /// The file exists, its directory doesn't, or there is no permission.
    pub fn create(&mut self, path: &str) -> Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let dir = self.look_up(folder)?;
        let mode = sattr3 { mode: Nfs3Option::Some(0o644), ..sattr3::default() };
        let what = CREATE3args { where_: entry(&dir, name), how: createhow3::GUARDED(mode) };
        done(path, now(self.0.create(&what))).map(drop)
    }

    /// Resolves a path, directory by directory.
    fn look_up(&mut self, path: &str) -> Result<nfs_fh3> {
        let mut found = self.0.root_nfs_fh3();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let what = LOOKUP3args { what: entry(&found, name) };
            found = done(path, now(self.0.lookup(&what)))?.object;
        }
        Ok(found)
    }
}

fn entry<'a>(folder: &nfs_fh3, name: &'a str) -> diropargs3<'a> {
    diropargs3 { dir: folder.clone(), name: filename3(Opaque::borrowed(name.as_bytes())) }
}

fn done<T, E>(
    path: &str,
    answer: std::result::Result<Nfs3Result<T, E>, impl std::fmt::Display>,
) -> Result<T> {
    match answer {
        Ok(Nfs3Result::Ok(value)) => Ok(value),
        Ok(Nfs3Result::Err((status, _))) => {
            Err(Error::other(format!("`{path}`: the server says {status:?}")))
        }
        Err(error) => Err(Error::other(format!("`{path}`: {error}"))),
    }
}

/// The result of a future that blocks only in its streams.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

struct Connects<D>(Host<D>);

impl<D: Device + Send> Connects<D> {
    fn to(address: SocketAddr) -> Result<SocketAddrV4> {
        match address.ip() {
            IpAddr::V4(ip) => Ok(SocketAddrV4::new(ip, address.port())),
            IpAddr::V6(_) => Err(ErrorKind::AddrNotAvailable.into()),
        }
    }
}

impl<D: Device + Send> Connector for Connects<D> {
    type Connection = Stream<D>;

    async fn connect(&self, address: SocketAddr) -> Result<Stream<D>> {
        self.0.connect(Connects::<D>::to(address)?)
    }

    async fn connect_with_port(&self, address: SocketAddr, port: u16) -> Result<Stream<D>> {
        self.0.connect_from(port, Connects::<D>::to(address)?)
    }
}

impl<D: Device + Send> AsyncRead for Stream<D> {
    async fn async_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self.read(buffer)? {
            0 if !buffer.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

impl<D: Device + Send> AsyncWrite for Stream<D> {
    async fn async_write(&mut self, bytes: &[u8]) -> Result<usize> {
        Write::write(self, bytes)
    }
}
