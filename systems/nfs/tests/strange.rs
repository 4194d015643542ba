//! A server with arbitrary answers makes requests fail, and does no other harm.

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

/// A server that answers each call with `answer`, which gets its number, until that returns `None`.
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

/// The head of an accepted reply with this number, up to its results.
fn accepted(number: [u8; 4]) -> Vec<u8> {
    [number.as_slice(), &[0, 0, 0, 1], &[0; 4], &[0; 8], &[0; 4]].concat()
}

fn handle() -> nfs_fh3 {
    nfs_fh3 { data: Opaque::owned(vec![7; 32]) }
}

/// The outcomes of calls with all kinds of results.
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
        // It closes the connection afterwards.
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
        // Until the end of the connection is noticed here.
        thread::sleep(Duration::from_millis(100));
    }
}

/// A record in fragments of these lengths, and one more for the rest.
fn fragments(body: &[u8], lengths: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let (mut record, mut rest) = (Vec::new(), body);
    for length in lengths {
        let (part, more) = rest.split_at(length.min(rest.len()));
        record.extend((part.len() as u32).to_be_bytes());
        record.extend(part);
        rest = more;
    }
    record.extend((rest.len() as u32 | 0x8000_0000).to_be_bytes());
    record.extend(rest);
    record
}

#[test]
fn replies_come_in_any_number_of_fragments() {
    // No such file; without the attributes of its folder.
    let body = |number| [accepted(number), vec![0, 0, 0, 2, 0, 0, 0, 0]].concat();
    type Split = fn([u8; 4], Vec<u8>) -> Vec<u8>;
    let splits: [Split; 6] = [
        |_, body| fragments(&body, [body.len() / 2]),
        |_, body| fragments(&body, [4, 0, 7]),
        |_, body| fragments(&body, [body.len()]),
        |_, body| fragments(&body, vec![1; body.len()]),
        |_, body| fragments(&body, vec![0; 1000]),
        |number, body| fragments(&body, (0..9).map(|at| usize::from(number[3]) * at % 5)),
    ];
    for split in splits {
        let server = answering(move |stream, number| {
            // The stream is split at other places than the record.
            for part in split(number, body(number)).chunks(5 + usize::from(number[3]) % 60) {
                stream.write_all(part).ok()?;
            }
            Some(())
        });
        let what = LOOKUP3args { what: diropargs3 { dir: handle(), name: b"x".as_slice().into() } };
        for _ in 0..20 {
            let error = server.ask(async |nfs| nfs.lookup(&what).await).expect_err("there is none");
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        }
    }
}

#[test]
fn data_comes_whole_out_of_fragments() {
    let server = answering(|stream, number| {
        let data: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
        let results = [0, 0, 100_000, 1, 100_000].into_iter().flat_map(u32::to_be_bytes);
        let body: Vec<u8> = accepted(number).into_iter().chain(results).chain(data).collect();
        stream.write_all(&fragments(&body, [30_000, 1, 0, 50_000])).ok()
    });
    let read = READ3args { file: handle(), offset: 0, count: 100_000 };
    let part = server.ask(async |nfs| nfs.read(&read).await).expect("it is there");
    assert!(part.data.iter().enumerate().all(|(at, byte)| *byte == (at % 251) as u8));
    assert_eq!(part.data.len(), 100_000);
}

#[test]
fn replies_without_end_are_refused() {
    // A fragment of 2 GiB, alone and behind another; empty ones, and full ones, for ever.
    let replies: [&[u8]; 4] = [
        &[0xff; 4],
        &[0, 0, 0, 1, 7, 0xff, 0xff, 0xff, 0xff],
        &[0; 4],
        &[&[0, 0, 1, 0][..], &[7; 256]].concat(),
    ];
    for (at, reply) in replies.map(<[u8]>::to_vec).into_iter().enumerate() {
        let server = answering(move |stream, _| {
            while stream.write_all(&reply.repeat(100)).is_ok() {}
            None
        });
        let what = GETATTR3args { object: handle() };
        let error = server.ask(async |nfs| nfs.getattr(&what).await).expect_err("it has no end").to_string();
        assert!(error.ends_with("its reply is longer than any that was asked for"), "{at}: {error}");
    }
}
