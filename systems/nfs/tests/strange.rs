//! A server that answers whatever it likes makes what was asked fail, and nothing else.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use nfs::server::Server;
use nfs3_client::nfs3_types::nfs3::{
    GETATTR3args, LOOKUP3args, READ3args, READDIR3args, diropargs3, nfs_fh3,
};
use nfs3_client::nfs3_types::rpc::opaque_auth;
use nfs3_client::nfs3_types::xdr_codec::Opaque;

/// Answers each call of a connection by what `answer` makes of its number, until that is nothing.
fn answering(answer: impl Fn(&mut TcpStream, [u8; 4]) -> Option<()> + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let address = listener.local_addr().expect("it has one");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("somebody came");
            while let Some(number) = call(&mut stream)
                && answer(&mut stream, number).is_some()
            {}
        }
    });
    Server::at(address, opaque_auth::default())
}

fn call(stream: &mut TcpStream) -> Option<[u8; 4]> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).ok()?;
    let mut body = vec![0; (u32::from_be_bytes(head) & 0x7fff_ffff) as usize];
    stream.read_exact(&mut body).ok()?;
    body.first_chunk().copied()
}

/// A record of one fragment.
fn record(body: &[u8]) -> Vec<u8> {
    let head = body.len() as u32 | 0x8000_0000;
    [&head.to_be_bytes(), body].concat()
}

/// A reply that is accepted, of this number, up to where the results begin.
fn accepted(number: [u8; 4]) -> Vec<u8> {
    [number.as_slice(), &[0, 0, 0, 1], &[0; 4], &[0; 8], &[0; 4]].concat()
}

fn handle() -> nfs_fh3 {
    nfs_fh3 { data: Opaque::owned(vec![7; 32]) }
}

/// What becomes of calls whose results are of all kinds.
fn asked(server: &Server) -> [Result<(), String>; 3] {
    let what = diropargs3 { dir: handle(), name: b"x".as_slice().into() };
    let (look, read) = (LOOKUP3args { what }, READ3args { file: handle(), offset: 0, count: 9 });
    let list = READDIR3args { dir: handle(), cookie: 0, cookieverf: Default::default(), count: 999 };
    [
        server.ask(async |nfs| nfs.lookup(&look).await).map(drop),
        server.ask(async |nfs| nfs.read(&read).await).map(drop),
        server.ask(async |nfs| nfs.readdir(&list).await).map(drop),
    ]
    .map(|result| result.map_err(|error| error.to_string()))
}

#[test]
fn random_results_are_results_or_refused() {
    let server = answering(|stream, number| {
        let mut state = u32::from_be_bytes(number) | 1;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Small numbers are lengths and kinds that exist.
            if state & 0x1000 == 0 { state >> 29 } else { state }
        };
        let words = (0..random() % 60).flat_map(|_| random().to_be_bytes());
        let body: Vec<u8> = accepted(number).into_iter().chain(words).collect();
        stream.write_all(&record(&body)).ok()
    });
    let refused = (0..200).flat_map(|_| asked(&server)).filter(Result::is_err).count();
    assert!(refused > 100, "{refused}");
}

#[test]
fn what_is_no_reply_is_refused() {
    let replies: [fn([u8; 4]) -> Vec<u8>; 5] = [
        |_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        |_| record(b""),
        |number| record(&[number.as_slice(), &[0; 40]].concat()),
        |_| record(&accepted([0; 4])),
        |number| record(&accepted(number))[..9].to_vec(),
    ];
    for reply in replies {
        // It ends the connection behind it.
        let server = answering(move |stream, number| stream.write_all(&reply(number)).ok().and(None));
        for result in asked(&server) {
            let reason = result.expect_err("it is none");
            assert!(reason.starts_with("the NFS server "), "{reason}");
        }
    }
}

#[test]
fn a_server_that_ends_connections_is_asked_by_another() {
    // A status without results: no such file.
    let server = answering(|stream, number| {
        let body = [accepted(number), vec![0, 0, 0, 2]].concat();
        stream.write_all(&record(&body)).ok().and(None)
    });
    let what = GETATTR3args { object: handle() };
    for _ in 0..10 {
        let error = server.ask(async |nfs| nfs.getattr(&what).await).expect_err("there is none");
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        // Until the end is known here.
        thread::sleep(Duration::from_millis(100));
    }
}
