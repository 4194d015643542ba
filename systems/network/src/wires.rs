//! Implements `Wires`: serves one client of the network.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::Shutdown;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::{Caller, Text};
use files::folder::sentence;
use socket2::SockRef;
use tokio::net::TcpStream;

use crate::allowed::Allowed;
use crate::engine::{Engine, Task};
use crate::interfaces::wires::{
    self, AllowAnswer, CloseAnswer, ConnectAnswer, FinishAnswer, ReadAnswer, WiresLater, WriteAnswer,
};

/// The most bytes of a read.
const LARGEST: i64 = 256 * 1024;

/// What all clients share.
struct Shared {
    engine: Engine,
    allowed: Allowed,
    sockets: usize,
    patience: Duration,
}

/// The session of one client.
struct Session {
    shared: Rc<OnceCell<Shared>>,
    sockets: BTreeMap<i64, Arc<TcpStream>>,
    made: i64,
    connecting: Task<TcpStream>,
    reading: Task<Vec<u8>>,
    writing: Task<()>,
}

/// Polls the pending operation, or begins it.
fn attempt<T: Send + 'static, W: Future<Output = io::Result<T>> + Send + 'static>(
    shared: &OnceCell<Shared>,
    task: &mut Task<T>,
    caller: &Caller,
    prepare: impl FnOnce(&Shared) -> io::Result<W>,
) -> Poll<io::Result<T>> {
    if task.is_under_way() {
        return task.look(caller);
    }
    let shared = shared.get().ok_or_else(|| io::Error::other("nothing is allowed yet"))?;
    let work = prepare(shared)?;
    shared.engine.begin(task, caller, shared.patience, work)
}

fn socket(sockets: &BTreeMap<i64, Arc<TcpStream>>, number: i64) -> io::Result<Arc<TcpStream>> {
    sockets.get(&number).cloned().ok_or_else(|| io::Error::other("no socket is open by this number"))
}

async fn connect(host: String, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    // Clients that send much send it in one piece, so no data is held back for more.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Retries whenever the kernel says that the socket is ready.
async fn read(stream: Arc<TcpStream>, n: usize) -> io::Result<Vec<u8>> {
    let mut data = vec![0; n];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut data) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            count => {
                data.truncate(count?);
                return Ok(data);
            }
        }
    }
}

async fn write(stream: Arc<TcpStream>, data: Vec<u8>) -> io::Result<()> {
    let mut rest = &data[..];
    while !rest.is_empty() {
        stream.writable().await?;
        match stream.try_write(rest) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            count => rest = &rest[count?..],
        }
    }
    Ok(())
}

/// The reason of an error, for people.
fn reason(error: &io::Error) -> Text<'static> {
    sentence(error).into_bytes().into()
}

impl Session {
    fn allow(&self, peers: &[u8], sockets: i64, patience: i64) -> io::Result<()> {
        let shared = Shared {
            engine: Engine::start()?,
            allowed: Allowed::read(peers)?,
            sockets: usize::try_from(sockets).unwrap_or(0),
            patience: Duration::from_millis(u64::try_from(patience).unwrap_or(0)),
        };
        self.shared.set(shared).map_err(|_| io::Error::other("that has been said already"))
    }

    fn finish(&self, number: i64) -> io::Result<()> {
        let stream = socket(&self.sockets, number)?;
        SockRef::from(&*stream).shutdown(Shutdown::Write)
    }
}

impl WiresLater for Session {
    fn allow(&mut self, _: &Caller, peers: &[u8], sockets: i64, patience: i64) -> Poll<AllowAnswer<'_>> {
        Poll::Ready(match Session::allow(self, peers, sockets, patience) {
            Ok(()) => AllowAnswer::Done,
            Err(error) => AllowAnswer::Failed { reason: reason(&error) },
        })
    }

    fn connect(&mut self, caller: &Caller, host: &[u8], port: i64) -> Poll<ConnectAnswer<'_>> {
        let Session { shared, sockets, made, connecting, .. } = self;
        let connected = attempt(shared, connecting, caller, |shared| {
            if sockets.len() >= shared.sockets {
                return Err(io::Error::other("too many sockets are open in this session"));
            }
            let (host, port) = shared.allowed.peer(host, port)?;
            Ok(connect(host, port))
        });
        connected.map(|connected| match connected {
            Ok(stream) => {
                *made += 1;
                sockets.insert(*made, Arc::new(stream));
                ConnectAnswer::Connected { socket: *made }
            }
            Err(error) => ConnectAnswer::Failed { reason: reason(&error) },
        })
    }

    fn read(&mut self, caller: &Caller, number: i64, n: i64) -> Poll<ReadAnswer<'_>> {
        let Session { shared, sockets, reading, .. } = self;
        let data = attempt(shared, reading, caller, |_| {
            let n = usize::try_from(n.clamp(1, LARGEST)).unwrap_or(1);
            Ok(read(socket(sockets, number)?, n))
        });
        data.map(|data| match data {
            Ok(data) => ReadAnswer::Data { x: caller.text(&data) },
            Err(error) => ReadAnswer::Failed { reason: reason(&error) },
        })
    }

    fn write(&mut self, caller: &Caller, number: i64, x: &[u8]) -> Poll<WriteAnswer<'_>> {
        let Session { shared, sockets, writing, .. } = self;
        let written = attempt(shared, writing, caller, |_| Ok(write(socket(sockets, number)?, x.to_vec())));
        written.map(|written| match written {
            Ok(()) => WriteAnswer::Done,
            Err(error) => WriteAnswer::Failed { reason: reason(&error) },
        })
    }

    fn finish(&mut self, _: &Caller, number: i64) -> Poll<FinishAnswer<'_>> {
        Poll::Ready(match Session::finish(self, number) {
            Ok(()) => FinishAnswer::Done,
            Err(error) => FinishAnswer::Failed { reason: reason(&error) },
        })
    }

    fn close(&mut self, _: &Caller, number: i64) -> Poll<CloseAnswer<'_>> {
        let closed = socket(&self.sockets, number);
        self.sockets.remove(&number);
        Poll::Ready(match closed {
            Ok(_) => CloseAnswer::Done,
            Err(error) => CloseAnswer::Failed { reason: reason(&error) },
        })
    }
}

/// Sets up the component.
pub fn begin(_: &'static Program) -> Result<Maker, String> {
    let shared = Rc::<OnceCell<Shared>>::default();
    Ok(Box::new(move || {
        wires::serve(Session {
            shared: shared.clone(),
            sockets: BTreeMap::new(),
            made: 0,
            connecting: Task::default(),
            reading: Task::default(),
            writing: Task::default(),
        })
    }))
}
