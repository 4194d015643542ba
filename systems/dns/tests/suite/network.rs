//! Server and client in network namespaces, with a pair of interfaces between them: the answers are the same by every
//! engine, and as `dig` shows them.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use drystone_dns::message::response;
use drystone_dns::ready::Table;
use drystone_dns::reload::{Handler, Watched};
use drystone_dns::serve::{Current, by_sockets, passed};
use drystone_dns::{Zone, handler};
use drystone_handlers::{Engine, Mode, Place, Service, Sockets};

use crate::namespace::{alone, in_thread, ip};
use crate::{Random, ZONE, any_query, query};

const PORT: u16 = 5353;

/// A namespace with a server, which ends with the test; `near` is in this thread's namespace.
fn server(engine: Engine, mode: Mode, current: Arc<Current>) -> Result<Handler, String> {
    let client = alone()?;
    let (say, heard) = channel();
    let is_wire = engine == Engine::Tap;
    let table = Table::new(&current.zone());
    let extent = table.extent();
    let object = handler(PORT, extent)?;
    let serve = move || {
        if !is_wire {
            alone()?;
            let pair = ip("link add far type veth peer name near")
                && ip(&format!("link set near netns {client}"))
                && ip("addr add 10.95.0.2/24 dev far")
                && ip("link set far up");
            if !pair {
                return Err("this kernel has no veth".to_string());
            }
        }
        let sockets = Sockets::open(PORT).map_err(|error| error.to_string())?;
        let interface = if is_wire { "near" } else { "far" }.to_string();
        let (service, _) = Service::open(&object, &Place { interface, queue: 0, port: PORT, engine, mode })?;
        table.give(service.region());
        by_sockets(sockets, &current);
        Ok((service, current))
    };
    thread::spawn(move || match serve() {
        Ok((mut service, current)) => {
            let _ = say.send(Ok(Handler::of(&service, extent)));
            let _ = passed(&mut service, &current);
        }
        Err(why) => drop(say.send(Err(why))),
    });
    let handler = heard.recv().map_err(|_| "the server has ended".to_string())??;
    match ip("addr add 10.95.0.1/24 dev near") && ip("link set near up") {
        true => Ok(handler),
        false => Err("there is no interface".into()),
    }
}

fn is_alike(name: &'static str, engine: Engine, mode: Mode) {
    in_thread(name, move || {
        let current = Current::new(Zone::read(ZONE.as_bytes(), None).expect("it is a zone"));
        let handler = server(engine, mode, current.clone())?;
        let zone = current.zone();
        let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a port");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be");
        socket.connect(("10.95.0.2", PORT)).expect("there is a way");
        let (mut random, mut buffer) = (Random(7), [0; 2048]);
        for number in 0..2000 {
            let query = any_query(&mut random);
            socket.send(&query).expect("it goes out");
            if let Some(wanted) = response(&zone, &query, true) {
                let length = socket.recv(&mut buffer).expect("it is answered");
                assert_eq!(buffer[..length], wanted, "{name}, {number}: {query:02x?}");
            }
        }
        let answered = handler.answered();
        assert!(answered > 200, "{name}: only {answered} were answered by the handler");
        reloads(&current, &handler, &socket);
        if engine != Engine::Tap {
            over_tcp(&current.zone());
            dig();
        }
        Ok(())
    });
}

/// The zone is replaced again and again during questions. Each is answered from one of the two zones, and from the new
/// one once that is reported. An invalid zone changes nothing.
fn reloads(current: &Arc<Current>, handler: &Handler, socket: &UdpSocket) {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("zone");
    let text = |address: u32| ZONE.replace("192.0.2.53", &format!("192.0.2.{address}"));
    std::fs::write(&file, text(1)).expect("it can be written");
    let (mut watched, _) = Watched::load(file.clone(), None).expect("it is a zone");
    let address = || {
        socket.send(&query(1, "ns1.example.com", 1, None)).expect("it goes out");
        let mut buffer = [0; 2048];
        let length = socket.recv(&mut buffer).expect("it is answered");
        u32::from(buffer[length - 1])
    };
    for round in 2..30 {
        let before = if round == 2 { 53 } else { round - 1 };
        std::fs::write(&file, text(round)).expect("it can be written");
        let told = thread::scope(|scope| {
            let reload = scope.spawn(|| watched.reload(current, Some(handler)));
            while !reload.is_finished() {
                let now = address();
                assert!(now == before || now == round, "{now} in round {round}");
            }
            reload.join().expect("it passes")
        });
        assert!(told.expect("it is a zone").starts_with("read again: "));
        assert_eq!(address(), round);
    }
    let answered = handler.answered();
    assert_eq!((0..20).map(|_| address()).sum::<u32>(), 20 * 29);
    assert!(handler.answered() >= answered + 20, "the process answers, not the handler");
    for broken in ["x A nowhere\n", "$ORIGIN example.org.\n@ SOA a b 1 2 3 4 5\n"] {
        std::fs::write(&file, broken).expect("it can be written");
        watched.reload(current, Some(handler)).expect_err("it is broken");
        assert_eq!(address(), 29);
    }
    std::fs::write(&file, ZONE).expect("it can be written");
    watched.reload(current, Some(handler)).expect("it is a zone");
}

fn over_tcp(zone: &Zone) {
    let query = query(9, "long.example.com", 16, None);
    let mut stream = TcpStream::connect(("10.95.0.2", PORT)).expect("it listens");
    stream.write_all(&[&(query.len() as u16).to_be_bytes()[..], &query].concat()).expect("it goes out");
    let mut length = [0; 2];
    stream.read_exact(&mut length).expect("it answers");
    let mut answer = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(Some(answer), response(zone, &query, false));
}

/// The answers as another implementation reads them.
fn dig() {
    let shown = |question: &str| {
        let mut command = Command::new("dig");
        command.args(["@10.95.0.2", "-p", &PORT.to_string(), "+short", "+tries=2", "+time=2"]);
        let output = command.args(question.split(' ')).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).to_string())
    };
    let Some(first) = shown("ns1.example.com A") else {
        return println!("skipped: dns-dig: there is no `dig`");
    };
    assert_eq!(first, "192.0.2.53\n");
    assert_eq!(
        shown("ftp.example.com AAAA").as_deref(),
        Some("www.example.com.\nexample.com.\n2001:db8::1\n")
    );
    assert_eq!(shown("any.wild.example.com TXT").as_deref(), Some("\"whoever\"\n"));
    assert_eq!(shown("nobody.example.com A").as_deref(), Some(""));
    // Truncated, and repeated over TCP.
    assert_eq!(shown("long.example.com TXT +noedns").map(|text| text.lines().count()), Some(3));
}

/// As many connections as there may be, whose clients send a byte now and then, and half a query.
#[test]
fn slow_clients_leave_the_place_to_others() {
    in_thread("dns-slow", || {
        alone()?;
        let current = Current::new(Zone::read(ZONE.as_bytes(), None).expect("it is a zone"));
        let zone = current.zone();
        by_sockets(Sockets::open(PORT).map_err(|error| error.to_string())?, &current);
        let query = query(9, "long.example.com", 16, None);
        let framed = [&(query.len() as u16).to_be_bytes()[..], &query].concat();
        let begin = Instant::now();
        let mut slow: Vec<TcpStream> = (0..300)
            .map(|_| {
                let mut stream = TcpStream::connect(("127.0.0.1", PORT)).expect("it listens");
                stream.write_all(&framed[..framed.len() / 2]).expect("it goes out");
                stream
            })
            .collect();
        for round in 0..5 {
            slow.iter_mut().for_each(|stream| drop(stream.write_all(&[0])));
            let mut stream = TcpStream::connect(("127.0.0.1", PORT)).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be");
            stream.write_all(&framed).expect("it goes out");
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap_or_else(|error| panic!("{round}: {error}"));
            let mut answer = vec![0; u16::from_be_bytes(length).into()];
            stream.read_exact(&mut answer).expect("it answers");
            assert_eq!(Some(answer), response(&zone, &query, false));
        }
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        Ok(())
    });
}

#[test]
fn linux_does_the_same() {
    is_alike("dns-xdp", Engine::Xdp, Mode::Generic);
}

#[test]
fn af_xdp_does_the_same() {
    is_alike("dns-af-xdp", Engine::AfXdp, Mode::Generic);
}

#[test]
fn a_tap_does_the_same() {
    is_alike("dns-tap", Engine::Tap, Mode::Any);
}
