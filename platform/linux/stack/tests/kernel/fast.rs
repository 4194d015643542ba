//! Connections whose predicted segments are processed by a handler, with Linux's stack at the other end.

use std::fs;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

use drystone_extension::handler::{Frame, Image, Machine};
use drystone_handlers::{Decision, Device, Line, Mode, Xdp};
use drystone_stack::{Counts, FastStream, Host, Place};

use crate::objects::compiled_in;
use crate::sockets::{gives_back, pattern};
use crate::{KERNEL, OWN, beside, beside_the_kernel, host, in_its_place};

const SECOND: Duration = Duration::from_secs(1);

/// Links IP, TCP and, if given, an application's fragment.
fn composed(machine: Machine, application: Option<&str>) -> Option<Image> {
    let names = ["ip", "tcp"].into_iter().chain(application);
    let objects: Vec<Vec<u8>> = names.map(|name| compiled_in("fragments", name)).collect::<Option<_>>()?;
    let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    Some(Image::composed(&objects, None, machine).expect("they fit"))
}

fn listens() -> (TcpListener, SocketAddrV4) {
    let listener = TcpListener::bind((KERNEL, 0)).expect("it can");
    let SocketAddr::V4(address) = listener.local_addr().expect("it is bound") else { panic!("IPv4") };
    (listener, address)
}

/// Sends `length` bytes to a kernel that echoes them, in parts, and closes. Returns the counts of segments.
fn there_and_back<D: Device>(host: &Host<D>, place: Place<'_>, length: usize) -> Counts {
    let (listener, address) = listens();
    let echo = thread::spawn(move || gives_back(&mut listener.accept().expect("it comes").0));
    let mut stream = host.connect_fast(address, place).expect("somebody listens");
    for part in pattern(length).chunks(20_000) {
        stream.write_all(part).expect("it goes");
        let mut back = vec![0; part.len()];
        stream.read_exact(&mut back).expect("it comes back");
        assert!(back == part, "as it was");
    }
    stream.flush().expect("all of it is there");
    let counts = stream.counts();
    drop(stream);
    finish(host, echo);
    let refused = host.connect_fast(address, Place::Library).err().map(|error| error.kind());
    assert_eq!(refused, Some(ErrorKind::ConnectionRefused));
    counts
}

/// Has the host work until the other side has ended.
fn finish<D: Device>(host: &Host<D>, other: thread::JoinHandle<()>) {
    while !other.is_finished() {
        host.turn().expect("it is there");
    }
    other.join().expect("the kernel has seen the end");
}

#[test]
fn without_a_handler_the_library_does_it_all() {
    beside_the_kernel("fast library", || {
        let counts = there_and_back(&beside(), Place::Library, 200_000);
        assert_eq!(counts, Counts::default());
    });
}

#[test]
fn the_engine_does_what_is_predicted() {
    let Some(image) = composed(Machine::Drystone, None) else { return };
    beside_the_kernel("fast engine", move || {
        let counts = there_and_back(&beside(), Place::Engine(&image), 1_000_000);
        assert!(counts.handled > 700 && counts.aborted() < 0.002, "{counts:?}");
        if let Some(host) = in_its_place("fast engine") {
            let counts = there_and_back(&host, Place::Engine(&image), 1_000_000);
            assert!(counts.handled > 700 && counts.aborted() < 0.002, "{counts:?}");
        }
    });
}

#[test]
fn linux_does_what_is_predicted() {
    let Some(image) = composed(Machine::Linux, None) else { return };
    beside_the_kernel("fast kernel", move || {
        let xdp = Xdp::load(&image).expect("it is accepted");
        let _attached = xdp.attach("far", Mode::Generic).expect("it can be");
        let region = xdp.region().expect("it has one").clone();
        let host = beside();
        // On a busy machine a process may be preempted while it holds the control block. Then the library processes
        // what arrives.
        let aborted = (0..3).map(|_| {
            let counts = there_and_back(
                &host,
                Place::Elsewhere(region.clone(), xdp.ring("events").expect("it has one")),
                500_000,
            );
            assert!(counts.handled > 350, "{counts:?}");
            counts.aborted()
        });
        let least = aborted.fold(f64::INFINITY, f64::min);
        assert!(least < 0.002, "{least}");
    });
}

#[test]
fn the_kernel_connects() {
    let Some(image) = composed(Machine::Drystone, None) else { return };
    beside_the_kernel("fast accepts", move || {
        let host = beside();
        let none = host.accept_fast(8, Place::Library, SECOND / 20).err().map(|error| error.kind());
        assert_eq!(none, Some(ErrorKind::TimedOut));
        for round in 1..=3 {
            let client = thread::spawn(move || {
                let mut stream = TcpStream::connect((OWN, 8)).expect("it listens");
                let message = pattern(round * 30_000);
                let mut sends = stream.try_clone().expect("it can");
                let sent = message.clone();
                let sender = thread::spawn(move || sends.write_all(&sent).expect("it goes"));
                let mut back = vec![0; message.len()];
                stream.read_exact(&mut back).expect("it comes back");
                assert!(back == message, "as it was");
                sender.join().expect("it passes");
            });
            let mut stream = host.accept_fast(8, Place::Engine(&image), 5 * SECOND).expect("it comes");
            gives_back(&mut stream);
            assert!(stream.counts().handled > 0);
            drop(stream);
            finish(&host, client);
        }
    });
}

#[test]
fn an_application_answers_at_arrival() {
    let Some(image) = composed(Machine::Drystone, Some("increment")) else { return };
    beside_the_kernel("fast answers", move || {
        let host = beside();
        let client = thread::spawn(move || {
            let mut stream = TcpStream::connect((OWN, 8)).expect("it listens");
            stream.set_nodelay(true).expect("it can");
            for number in 0..500u32 {
                stream.write_all(&(3 * number).to_le_bytes()).expect("it goes");
                let mut answer = [0; 4];
                stream.read_exact(&mut answer).expect("it comes");
                assert_eq!(u32::from_le_bytes(answer), 3 * number + 1);
            }
        });
        let mut stream = host.accept_fast(8, Place::Engine(&image), 5 * SECOND).expect("it comes");
        // The first number may arrive with the segment that establishes the connection, which isn't predicted.
        let (mut number, mut left) = ([0; 4], 0);
        while stream.read(&mut number).expect("it comes") > 0 {
            stream.write_all(&(u32::from_le_bytes(number) + 1).to_le_bytes()).expect("it goes");
            left += 1;
        }
        assert_eq!(stream.counts().answers, 500 - left);
        assert!(left < 5, "{left} were left to the process");
        drop(stream);
        finish(&host, client);
    });
}

/// Mappings below 4 GiB, where only regions are.
fn regions() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").expect("it is there");
    let begins = maps.lines().filter_map(|line| u64::from_str_radix(line.split('-').next()?, 16).ok());
    begins.filter(|&begin| begin < 1 << 32).count()
}

/// A connection's region is freed, whichever side ends it, and even if there never was a connection.
#[test]
fn what_a_connection_maps_is_given_back() {
    const CONNECTIONS: usize = 60;
    let Some(image) = composed(Machine::Drystone, None) else { return };
    beside_the_kernel("fast many", move || {
        let host = beside();
        let (listener, address) = listens();
        let before = regions();
        let echoes = thread::spawn(move || {
            for _ in 0..CONNECTIONS {
                gives_back(&mut listener.accept().expect("it comes").0);
            }
        });
        let begun = Instant::now();
        for round in 0..CONNECTIONS {
            let mut stream = host.connect_fast(address, Place::Engine(&image)).expect("somebody listens");
            assert!(regions() > 0, "what is counted is where they are");
            stream.write_all(&pattern(1 + round)).expect("it goes");
            let mut back = vec![0; 1 + round];
            stream.read_exact(&mut back).expect("it comes back");
        }
        // An answer that is there at once must be seen at once, and not when a timer expires.
        let took = begun.elapsed();
        assert!(took < SECOND * CONNECTIONS as u32 / 20, "{took:?} for {CONNECTIONS} connections");
        finish(&host, echoes);
        let mut refused = 0;
        let ended = Instant::now();
        while refused < CONNECTIONS {
            // A process that another test has just forked holds the listener until it runs its program.
            refused += usize::from(host.connect_fast(address, Place::Engine(&image)).is_err());
            assert!(ended.elapsed() < 10 * SECOND, "nobody listens any more, and {refused} were refused");
        }
        host.turn().expect("it is there");
        // Tests that run beside this one have regions of their own.
        let after = regions();
        assert!(after < before + CONNECTIONS / 2, "{before} mappings before, {after} after");
    });
}

/// A wire that loses one in eleven frames.
struct Lossy(Line, usize);

impl Lossy {
    fn is_lost(&mut self) -> bool {
        self.1 += 1;
        self.1.is_multiple_of(11)
    }
}

impl AsFd for Lossy {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Device for Lossy {
    fn interface(&self) -> u32 {
        self.0.interface()
    }

    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize> {
        let count = &mut self.1;
        self.0.receive(&mut |frame| {
            *count += 1;
            if count.is_multiple_of(11) { Decision::Done } else { take(frame) }
        })
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        if self.is_lost() { Ok(()) } else { self.0.send(message) }
    }
}

#[test]
fn what_is_lost_is_sent_again() {
    let Some(image) = composed(Machine::Drystone, None) else { return };
    beside_the_kernel("fast loss", move || {
        let host = host(Lossy(Line::beside("far").expect("it is there"), 0));
        let (listener, address) = listens();
        let echo = thread::spawn(move || gives_back(&mut listener.accept().expect("it comes").0));
        let mut stream = host.connect_fast(address, Place::Engine(&image)).expect("somebody listens");
        for part in pattern(40_000).chunks(5000) {
            stream.write_all(part).expect("it goes");
            let mut back = vec![0; part.len()];
            stream.read_exact(&mut back).expect("it comes back");
            assert!(back == part, "as it was");
        }
        assert!(stream.counts().unexpected > 0, "something was lost");
        drop(stream);
        finish(&host, echo);
    });
}

#[test]
fn who_reads_late_stops_who_sends() {
    let Some(image) = composed(Machine::Drystone, None) else { return };
    beside_the_kernel("fast behind", move || {
        let host = beside();
        let client = thread::spawn(move || {
            let mut stream = TcpStream::connect((OWN, 8)).expect("it listens");
            stream.write_all(&pattern(300_000)).expect("it goes");
        });
        let mut stream = host.accept_fast(8, Place::Engine(&image), 5 * SECOND).expect("it comes");
        reads_late(&host, &mut stream);
        drop(stream);
        finish(&host, client);
    });
}

fn reads_late<D: Device>(host: &Host<D>, stream: &mut FastStream<D>) {
    for _ in 0..20 {
        host.turn().expect("it is there");
        host.wait(SECOND / 50).expect("it can");
    }
    let (mut all, mut buffer) = (Vec::new(), [0; 3000]);
    loop {
        match stream.read(&mut buffer).expect("it comes") {
            0 => break,
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
    assert!(all == pattern(300_000), "as it was");
}
