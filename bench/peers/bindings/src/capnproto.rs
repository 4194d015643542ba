//! Cap'n Proto's remote calls by capnp-rpc, over TCP: calls with a result, and streaming ones.

use std::cell::Cell;
use std::net::SocketAddr;

use capnp::capability::Rc;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, new_client, twoparty};
use futures_util::io::{BufReader, BufWriter};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::work::{Outcome, TEXT, Work, runtime, timed};
use joint_capnp::joint;

#[allow(clippy::all, unused_qualifications)]
mod joint_capnp {
    include!(concat!(env!("OUT_DIR"), "/joint_capnp.rs"));
}

type Input = BufReader<Compat<OwnedReadHalf>>;

#[derive(Default)]
struct Adder {
    sum: Cell<i64>,
}

impl Adder {
    fn add(&self, x: i64) {
        self.sum.set(self.sum.get() + x);
    }
}

impl joint::Server for Adder {
    async fn ask(
        self: Rc<Self>,
        request: joint::AskParams,
        mut reply: joint::AskResults,
    ) -> Result<(), capnp::Error> {
        reply.get().set_x(request.get()?.get_x() + 1);
        Ok(())
    }

    async fn put(self: Rc<Self>, request: joint::PutParams) -> Result<(), capnp::Error> {
        self.add(request.get()?.get_x());
        Ok(())
    }

    async fn text(self: Rc<Self>, request: joint::TextParams) -> Result<(), capnp::Error> {
        self.add(request.get()?.get_t()?.len() as i64);
        Ok(())
    }

    async fn sum(
        self: Rc<Self>,
        _: joint::SumParams,
        mut reply: joint::SumResults,
    ) -> Result<(), capnp::Error> {
        reply.get().set_x(self.sum.take());
        Ok(())
    }
}

/// Both sides of a connection are buffered, as the crate advises.
fn network(stream: TcpStream, side: Side) -> std::io::Result<Box<twoparty::VatNetwork<Input>>> {
    stream.set_nodelay(true)?;
    let (input, output) = stream.into_split();
    let (input, output) = (BufReader::new(input.compat()), BufWriter::new(output.compat_write()));
    Ok(Box::new(twoparty::VatNetwork::new(input, output, side, Default::default())))
}

pub fn serve(address: SocketAddr) -> Outcome<()> {
    LocalSet::new().block_on(&runtime()?, async {
        let listener = TcpListener::bind(address).await?;
        println!("listening");
        loop {
            let (stream, _) = listener.accept().await?;
            let adder: joint::Client = new_client(Adder::default());
            let system = RpcSystem::new(network(stream, Side::Server)?, Some(adder.client));
            // It ends with its connection.
            spawn_local(system);
        }
    })
}

pub fn measure(work: Work, n: i64, address: SocketAddr) -> Outcome<()> {
    LocalSet::new().block_on(&runtime()?, async {
        let network = network(TcpStream::connect(address).await?, Side::Client)?;
        let mut system = RpcSystem::new(network, None);
        let client: joint::Client = system.bootstrap(Side::Server);
        spawn_local(system);
        timed(n, async |n| talk(work, n, &client).await).await
    })
}

async fn talk(work: Work, n: i64, client: &joint::Client) -> Outcome<i64> {
    let mut sum = 0;
    for x in 1..=n {
        match work {
            Work::Ask => {
                let mut request = client.ask_request();
                request.get().set_x(x);
                sum += request.send().promise.await?.get()?.get_x();
            }
            Work::Put => {
                let mut request = client.put_request();
                request.get().set_x(x);
                request.send().await?;
            }
            Work::Text => {
                let mut request = client.text_request();
                request.get().set_t(&[0; TEXT]);
                request.send().await?;
            }
        }
    }
    if work != Work::Ask {
        sum = client.sum_request().send().promise.await?.get()?.get_x();
    }
    Ok(sum)
}
