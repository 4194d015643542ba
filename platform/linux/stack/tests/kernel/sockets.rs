//! ICMP echo, UDP sockets and TCP connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::Duration;

use drystone_handlers::Device;
use drystone_stack::Host;

use crate::{KERNEL, OWN, beside, beside_the_kernel, in_its_place};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn who_asks_for_an_echo_gets_it() {
    // The kernel first looks up the hardware address by ARP, and builds the packet itself.
    const PING: &str = "
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
s.settimeout(3)
def total(b): x = sum(struct.unpack('>%dH' % (len(b) // 2), b)); x = (x >> 16) + (x & 0xffff); \
  return ~(x + (x >> 16)) & 0xffff
m = struct.pack('>BBHHH', 8, 0, 0, 7, 1) + b'drystone'
s.sendto(m[:2] + struct.pack('>H', total(m)) + m[4:], ('10.9.0.2', 0))
a = s.recv(100)
print(a[20], a[28:].decode())
";
    beside_the_kernel("echo", || {
        let host = beside();
        let mut command = Command::new("python3");
        let Ok(mut child) = command.args(["-c", PING]).stdout(std::process::Stdio::piped()).spawn() else {
            return println!("skipped: echo: there is no python3");
        };
        while child.try_wait().expect("it runs").is_none() {
            host.turn().expect("it is there");
            host.wait(Duration::from_millis(5)).expect("it can");
        }
        let output = child.wait_with_output().expect("it has ended");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0 drystone\n");
        let neighbours = Command::new("ip").args(["neigh", "show", "dev", "near"]).output().expect("ip");
        let text = String::from_utf8_lossy(&neighbours.stdout).into_owned();
        assert!(text.contains("10.9.0.2 lladdr 02:00:00:00:09:02"), "{text}");
    });
}

fn datagrams<D: Device>(host: &Host<D>) {
    let kernel = UdpSocket::bind((KERNEL, 0)).expect("it can");
    kernel.set_read_timeout(Some(SECOND)).expect("it can");
    let SocketAddr::V4(kernels) = kernel.local_addr().expect("it is bound") else { panic!("IPv4") };
    let own = host.udp(7).expect("it is free");
    assert_eq!(host.udp(7).err().map(|error| error.kind()), Some(ErrorKind::AddrInUse));
    let mut buffer = [0; 2000];
    for length in [1, 0, 100, 1472] {
        let message: Vec<u8> = (0..length).map(|at| (at * 7) as u8).collect();
        own.send_to(&message, kernels).expect("it is reached");
        let come = kernel.recv_from(&mut buffer);
        let (count, from) = come.unwrap_or_else(|error| panic!("{length} bytes: {error}"));
        assert_eq!((&buffer[..count], from), (&message[..], SocketAddrV4::new(OWN, 7).into()));
        kernel.send_to(&message, from).expect("it is reached");
        let (count, from) = own.receive_from(&mut buffer, SECOND).expect("it comes");
        assert_eq!((&buffer[..count], from), (&message[..], kernels));
    }
    assert!(own.send_to(&[0; 1473], kernels).is_err(), "no frame is so long");
    let none = own.receive_from(&mut buffer, SECOND / 50);
    assert_eq!(none.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
}

#[test]
fn datagrams_go_both_ways() {
    beside_the_kernel("datagrams", || {
        datagrams(&beside());
        if let Some(host) = in_its_place("datagrams") {
            datagrams(&host);
        }
    });
}

/// Echoes all that arrives, until the end.
pub fn gives_back(stream: &mut (impl Read + Write)) {
    let mut buffer = [0; 5000];
    loop {
        match stream.read(&mut buffer).expect("it comes") {
            0 => return,
            count => stream.write_all(&buffer[..count]).expect("it goes"),
        }
    }
}

pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| ((at * at) >> 3) as u8).collect()
}

fn connects<D: Device>(host: &Host<D>) {
    let listener = TcpListener::bind((KERNEL, 0)).expect("it can");
    let SocketAddr::V4(address) = listener.local_addr().expect("it is bound") else { panic!("IPv4") };
    let echo = thread::spawn(move || gives_back(&mut listener.accept().expect("it comes").0));
    let mut stream = host.connect(address).expect("somebody listens");
    for part in pattern(200_000).chunks(20_000) {
        stream.write_all(part).expect("it goes");
        let mut back = vec![0; part.len()];
        stream.read_exact(&mut back).expect("it comes back");
        assert!(back == part, "as it was");
    }
    drop(stream);
    while !echo.is_finished() {
        host.turn().expect("it is there");
    }
    echo.join().expect("the kernel has seen the end");
    // A process that another test is starting may hold the listener a little longer.
    let refused = (0..100).find_map(|_| {
        thread::sleep(SECOND / 100);
        host.connect(address).err()
    });
    assert_eq!(refused.map(|error| error.kind()), Some(ErrorKind::ConnectionRefused));
}

#[test]
fn the_library_connects() {
    beside_the_kernel("connects", || {
        connects(&beside());
        if let Some(host) = in_its_place("connects") {
            connects(&host);
        }
    });
}

#[test]
fn the_library_is_connected_to() {
    beside_the_kernel("accepts", || {
        let host = beside();
        let mut listener = host.listen(8, 2).expect("it can");
        let client = thread::spawn(move || {
            for round in 1..=5 {
                let mut stream = TcpStream::connect((OWN, 8)).expect("it listens");
                let message = pattern(round * 10_000);
                stream.write_all(&message).expect("it goes");
                let mut back = vec![0; message.len()];
                stream.read_exact(&mut back).expect("it comes back");
                assert!(back == message, "as it was");
            }
        });
        for _ in 0..5 {
            gives_back(&mut listener.accept(5 * SECOND).expect("it comes"));
        }
        while !client.is_finished() {
            host.turn().expect("it is there");
        }
        client.join().expect("it passes");
        assert!(listener.accept(SECOND / 50).is_err(), "nobody else comes");
    });
}

#[test]
fn who_is_not_there_is_not_reached() {
    beside_the_kernel("nobody", || {
        let host = beside();
        let nobody = SocketAddrV4::new(std::net::Ipv4Addr::new(10, 9, 0, 99), 9);
        let error = host.udp(0).expect("one is free").send_to(b"hello", nobody).expect_err("nobody is there");
        assert_eq!(error.to_string(), "5 bytes can't be sent to 10.9.0.99:9: nobody has that address");
    });
}
