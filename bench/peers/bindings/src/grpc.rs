//! gRPC by tonic, over TCP or a Unix socket: calls with one reply, and streams from the client.

use std::error::Error;

use hyper_util::rt::TokioIo;
use tokio::net::{UnixListener, UnixStream};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server, Uri};
use tonic::{Request, Response, Status, Streaming};
use tower::service_fn;

use crate::address::Address;
use crate::work::{Outcome, TEXT, Work, runtime, timed};
use generated::joint_client::JointClient;
use generated::joint_server::{Joint, JointServer};

mod generated {
    include!(concat!(env!("OUT_DIR"), "/bindings.Joint.rs"));
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Number {
    #[prost(int64, tag = "1")]
    x: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Bytes {
    #[prost(bytes = "vec", tag = "1")]
    t: Vec<u8>,
}

struct Adder;

#[tonic::async_trait]
impl Joint for Adder {
    async fn ask(&self, request: Request<Number>) -> Result<Response<Number>, Status> {
        Ok(Response::new(Number { x: request.into_inner().x + 1 }))
    }

    async fn put(&self, request: Request<Streaming<Number>>) -> Result<Response<Number>, Status> {
        let (mut numbers, mut sum) = (request.into_inner(), 0);
        while let Some(number) = numbers.message().await? {
            sum += number.x;
        }
        Ok(Response::new(Number { x: sum }))
    }

    async fn text(&self, request: Request<Streaming<Bytes>>) -> Result<Response<Number>, Status> {
        let (mut texts, mut sum) = (request.into_inner(), 0);
        while let Some(text) = texts.message().await? {
            sum += text.t.len() as i64;
        }
        Ok(Response::new(Number { x: sum }))
    }
}

pub fn serve(address: Address) -> Outcome<()> {
    runtime()?.block_on(async {
        let server = Server::builder().add_service(JointServer::new(Adder));
        match address {
            Address::Tcp(address) => {
                let incoming = TcpIncoming::bind(address)?.with_nodelay(Some(true));
                println!("listening");
                server.serve_with_incoming(incoming).await?;
            }
            Address::Unix(path) => {
                let incoming = UnixListenerStream::new(UnixListener::bind(path)?);
                println!("listening");
                server.serve_with_incoming(incoming).await?;
            }
        }
        Ok(())
    })
}

async fn connect(address: Address) -> Result<Channel, Box<dyn Error>> {
    Ok(match address {
        Address::Tcp(address) => Endpoint::from_shared(format!("http://{address}"))?.connect().await?,
        Address::Unix(path) => {
            let connector = service_fn(move |_: Uri| {
                let path = path.clone();
                async { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(path).await?)) }
            });
            Endpoint::from_static("http://localhost").connect_with_connector(connector).await?
        }
    })
}

pub fn measure(work: Work, n: i64, address: Address) -> Outcome<()> {
    runtime()?.block_on(async {
        let client = JointClient::new(connect(address).await?);
        timed(n, async |n| talk(work, n, client.clone()).await).await
    })
}

async fn talk(work: Work, n: i64, mut client: JointClient<Channel>) -> Outcome<i64> {
    Ok(match work {
        Work::Ask => {
            let mut sum = 0;
            for x in 1..=n {
                sum += client.ask(Number { x }).await?.into_inner().x;
            }
            sum
        }
        Work::Put => client.put(tokio_stream::iter((1..=n).map(|x| Number { x }))).await?.into_inner().x,
        Work::Text => {
            let texts = (0..n).map(|_| Bytes { t: vec![0; TEXT] });
            client.text(tokio_stream::iter(texts)).await?.into_inner().x
        }
    })
}
