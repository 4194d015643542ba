//! Server and client in network namespaces, with a pair of interfaces between them: the answers are the same with every
//! engine, and without a handler.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use drystone_cache::serve::{by_sockets, passed};
use drystone_cache::session::answers;
use drystone_cache::{Cache, Shadow, handler};
use drystone_handlers::{Engine, Mode, Place, Service, Sockets};

use crate::Random;
use crate::mutations::framed;
use crate::namespace::{alone, in_thread, ip};
use crate::requests::request;

const PORT: u16 = 11211;
const BYTES: usize = 1 << 20;
const ROOM: usize = 1 << 20;

/// A namespace with a server, which ends with the test; `near` is in this thread's namespace.
fn server(engine: Option<Engine>, mode: Mode, object: Vec<u8>) -> Result<(), String> {
    let client = alone()?;
    let (say, heard) = channel();
    let is_wire = engine == Some(Engine::Tap);
    let serve = move || {
        if !is_wire {
            alone()?;
            let pair = ip("link add far type veth peer name near")
                && ip(&format!("link set near netns {client}"))
                && ip("addr add 10.96.0.2/24 dev far")
                && ip("link set far up");
            if !pair {
                return Err("this kernel has no veth".to_string());
            }
        }
        let sockets = Sockets::open(PORT).map_err(|error| error.to_string())?;
        let interface = if is_wire { "near" } else { "far" }.to_string();
        let open = |engine| Service::open(&object, &Place { interface, queue: 0, port: PORT, engine, mode });
        let service = engine.map(open).transpose()?.map(|(service, _)| service);
        let shadow = service.as_ref().map(|it| Shadow::new(it.region().clone(), BYTES));
        let cache = Arc::new(Mutex::new(Cache::new(ROOM, shadow)));
        by_sockets(sockets, &cache, 1 << 22);
        Ok((service, cache))
    };
    thread::spawn(move || match serve() {
        Ok((service, cache)) => {
            let _ = say.send(Ok(()));
            let _ = service.map(|mut service| passed(&mut service, &cache));
        }
        Err(why) => drop(say.send(Err(why))),
    });
    heard.recv().map_err(|_| "the server has ended".to_string())??;
    std::fs::write("/proc/thread-self/net/../sys/net/ipv6/conf/near/disable_ipv6", "1").ok();
    if ip("addr add 10.96.0.1/24 dev near") && ip("link set near up") {
        Ok(())
    } else {
        Err("there is no interface".into())
    }
}

/// All answers, until there are as many as wanted or no more come.
fn heard(socket: &UdpSocket, wanted: usize) -> Vec<Vec<u8>> {
    let mut answers = Vec::new();
    let mut buffer = [0; 2048];
    while answers.len() < wanted {
        let Ok(length) = socket.recv(&mut buffer) else { break };
        answers.push(buffer[..length].to_vec());
    }
    answers.sort();
    answers
}

fn is_alike(name: &'static str, engine: Option<Engine>, mode: Mode) {
    let object = match handler(PORT, BYTES) {
        Ok(object) => object,
        Err(why) => return println!("skipped: {name}: {why}"),
    };
    in_thread(name, move || {
        server(engine, mode, object)?;
        let model = Mutex::new(Cache::new(ROOM, None));
        let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a port");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be");
        socket.connect(("10.96.0.2", PORT)).expect("there is a way");
        let mut random = Random(7);
        for number in 0..2000 {
            let text = request(&mut random);
            let request = framed(&mut random, &text);
            if engine == Some(Engine::Tap) && request.len() > 1472 {
                // Nothing reassembles fragments at the end of a wire.
                continue;
            }
            socket.send(&request).expect("it goes out");
            let mut wanted = answers(&model, &request);
            wanted.sort();
            if wanted.is_empty() {
                // The handler doesn't wait until the process has executed earlier requests.
                socket.send(&framed(&mut random, b"verbosity 1\r\n")).expect("it goes out");
                assert_eq!(heard(&socket, 1).len(), 1);
            }
            let text = String::from_utf8_lossy(&text);
            assert_eq!(heard(&socket, wanted.len()), wanted, "{name}, {number}: {text}");
        }
        socket.send(&framed(&mut random, b"stats\r\n")).expect("it goes out");
        let statistics = String::from_utf8_lossy(&heard(&socket, 1)[0]).to_string();
        let by_handler =
            statistics.lines().find_map(|line| line.strip_prefix("STAT handler_hits ")).map(str::parse);
        let by_handler: usize = by_handler.expect("it is told").expect("it is a number");
        match engine {
            Some(_) => assert!(by_handler > 50, "{name}: only {by_handler} were answered by the handler"),
            None => assert_eq!(by_handler, 0),
        }
        if engine != Some(Engine::Tap) {
            over_tcp();
        }
        Ok(())
    });
}

/// Other clients get what a TCP client has stored.
fn over_tcp() {
    let mut stream = TcpStream::connect(("10.96.0.2", PORT)).expect("it listens");
    stream.write_all(b"set tcp 1 0 3\r\nabc\r\nget tcp\r\nquit\r\n").expect("it goes out");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert_eq!(answer, "STORED\r\nVALUE tcp 1 3\r\nabc\r\nEND\r\n");
}

#[test]
fn the_process_alone_does_all() {
    is_alike("cache-process", None, Mode::Any);
}

#[test]
fn linux_does_the_same() {
    is_alike("cache-xdp", Some(Engine::Xdp), Mode::Generic);
}

#[test]
fn af_xdp_does_the_same() {
    is_alike("cache-af-xdp", Some(Engine::AfXdp), Mode::Generic);
    is_alike("cache-af-xdp-native", Some(Engine::AfXdp), Mode::Native);
}

#[test]
fn a_tap_does_the_same() {
    is_alike("cache-tap", Some(Engine::Tap), Mode::Any);
}
