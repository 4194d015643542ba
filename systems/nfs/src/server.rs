//! An NFS server with one of its exports.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use files::folder::reason;
use nfs3_client::nfs3_types::mount::mountstat3;
use nfs3_client::nfs3_types::nfs3::{Nfs3Result, nfs_fh3, nfsstat3};
use nfs3_client::nfs3_types::rpc::{auth_unix, opaque_auth};
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::{ConnectError, MountError, Nfs3Client, Nfs3ConnectionBuilder, PortmapError, RpcError};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgroups};
use rustix::system::uname;

use crate::records::Records;
use crate::stream::Stream;
use crate::wire::{Wire, now};

/// The NFS library's client on a connection.
pub type Client = Nfs3Client<Records>;

/// Pauses before a request is repeated for which the server wasn't ready.
const PAUSES: [u64; 5] = [50, 150, 500, 1000, 2000];

/// The most groups in AUTH_SYS.
const GROUPS: usize = 16;

/// It has as many connections as threads that send requests at the same time.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    credential: opaque_auth<'static>,
    idle: Mutex<Vec<(Stream, Client)>>,
}

impl Server {
    /// Connects to a server, and mounts one of its exports.
    ///
    /// # Errors
    /// It can't be reached, or refuses.
    pub fn mount(host: &str, export: &str) -> io::Result<(Server, nfs_fh3)> {
        let host = address_of(host)?;
        let credential = credential();
        // `Stream` binds a privileged port itself if it can, and otherwise any port.
        let mount = Nfs3ConnectionBuilder::new(Wire, host.to_string(), export)
            .connect_from_privileged_port(false)
            .credential(credential.clone())
            .mount();
        let mounted = now(mount).map_err(unmounted)?;
        let server = Server::at(SocketAddr::new(host, mounted.nfs3_port), credential);
        Ok((server, mounted.root_nfs_fh3()))
    }

    /// A server that is connected to at the first request.
    #[must_use]
    pub fn at(address: SocketAddr, credential: opaque_auth<'static>) -> Server {
        Server { address, credential, idle: Mutex::default() }
    }

    /// Sends a request, over a connection that no other request uses meanwhile.
    ///
    /// # Errors
    /// The server's error, or that the connection is lost.
    pub fn ask<T, E>(
        &self,
        what: impl AsyncFn(&mut Client) -> Result<Nfs3Result<T, E>, RpcError>,
    ) -> io::Result<T> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let (stream, mut client) = self.connection()?;
            let answer = now(what(&mut client)).map_err(lost)?;
            self.idle().push((stream, client));
            match (answer, pauses.next()) {
                (Nfs3Result::Ok(value), _) => return Ok(value),
                (Nfs3Result::Err((nfsstat3::NFS3ERR_JUKEBOX, _)), Some(pause)) => {
                    thread::sleep(Duration::from_millis(pause));
                }
                (Nfs3Result::Err((status, _)), _) => return Err(failure(status)),
            }
        }
    }

    fn connection(&self) -> io::Result<(Stream, Client)> {
        // A server closes connections when it restarts or after long silence.
        self.idle().retain(|(stream, _)| stream.is_fresh());
        if let Some(connection) = self.idle().pop() {
            return Ok(connection);
        }
        let stream = Stream::to(self.address).map_err(unreachable)?;
        let records = Records::new(stream.clone());
        let client = Client::new_with_auth(records, self.credential.clone(), opaque_auth::default());
        Ok((stream, client))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(Stream, Client)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn address_of(host: &str) -> io::Result<IpAddr> {
    let unknown = |_| io::Error::other("no machine of this name is known");
    let mut addresses = (host, 0).to_socket_addrs().map_err(unknown)?;
    addresses.next().map(|address| address.ip()).ok_or_else(|| unknown(io::ErrorKind::NotFound.into()))
}

/// The user and groups of this program.
fn credential() -> opaque_auth<'static> {
    let groups = getgroups().unwrap_or_default();
    opaque_auth::auth_unix(&auth_unix {
        stamp: 0,
        machinename: Opaque::owned(uname().nodename().to_bytes().to_vec()),
        uid: geteuid().as_raw(),
        gid: getegid().as_raw(),
        gids: groups.iter().take(GROUPS).map(|group| group.as_raw()).collect(),
    })
}

fn unreachable(error: io::Error) -> io::Error {
    io::Error::other(format!("the NFS server can't be reached: {}", reason(&error)))
}

fn strange(what: impl Display) -> io::Error {
    io::Error::other(format!("the NFS server can't be understood: {what}"))
}

fn lost(error: RpcError) -> io::Error {
    match error {
        RpcError::Io(error) => io::Error::other(format!("the NFS server is lost: {}", reason(&error))),
        RpcError::Auth(why) => io::Error::other(format!("the NFS server refuses who asks: {why}")),
        error => strange(error),
    }
}

fn unmounted(error: ConnectError) -> io::Error {
    match error {
        ConnectError::Io(error) => unreachable(error),
        ConnectError::Portmap(PortmapError::ProgramUnavailable) => {
            io::Error::other("the server has no NFS of version 3 by TCP")
        }
        ConnectError::Portmap(PortmapError::Rpc(error)) | ConnectError::Mount(MountError::Rpc(error)) => {
            lost(error)
        }
        ConnectError::Portmap(error) => strange(error),
        ConnectError::Mount(MountError::Denied(mountstat3::MNT3ERR_NOENT)) => {
            io::Error::other("the NFS server has no such export")
        }
        ConnectError::Mount(MountError::Denied(mountstat3::MNT3ERR_ACCES | mountstat3::MNT3ERR_PERM)) => {
            io::Error::other("the NFS server doesn't export that to this machine")
        }
        ConnectError::Mount(MountError::Denied(status)) => strange(status),
    }
}

/// A status as an error of this system.
fn failure(status: nfsstat3) -> io::Error {
    match status {
        nfsstat3::NFS3ERR_XDEV => io::Error::other("it would go from one file system to another"),
        nfsstat3::NFS3ERR_NAMETOOLONG => Errno::NAMETOOLONG.into(),
        nfsstat3::NFS3ERR_NOTEMPTY => Errno::NOTEMPTY.into(),
        nfsstat3::NFS3ERR_DQUOT => Errno::DQUOT.into(),
        nfsstat3::NFS3ERR_STALE | nfsstat3::NFS3ERR_BADHANDLE => io::Error::other("it isn't there any more"),
        nfsstat3::NFS3ERR_JUKEBOX => io::Error::other("the NFS server isn't ready for that yet"),
        nfsstat3::NFS3ERR_BAD_COOKIE => io::Error::other("the folder was changed meanwhile"),
        nfsstat3::NFS3ERR_NOTSUPP => io::Error::other("the NFS server can't do that"),
        // These numbers are the same as Linux's.
        status if (status as i32) < 32 => io::Error::from_raw_os_error(status as i32),
        status => strange(format_args!("{status:?}")),
    }
}
