//! The same requests to memcached and to the process: the same answers.

use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use drystone_cache::Cache;
use drystone_cache::session::answers;

use crate::mutations::framed;
use crate::network::{alone, in_thread};
use crate::{Random, request};

struct Memcached(Child);

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Memcached {
    fn start() -> Result<Memcached, String> {
        let words = ["-u", "root", "-l", "127.0.0.1", "-p", "11311", "-U", "11311", "-m", "64"];
        let child = Command::new("memcached").args(words).stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        child.map(Memcached).map_err(|error| format!("memcached: {error}"))
    }
}

/// All datagrams of an answer, in order.
fn asked(socket: &UdpSocket, request: &[u8]) -> Option<Vec<u8>> {
    socket.send(request).ok()?;
    let (mut parts, mut buffer) = (Vec::new(), [0; 2048]);
    loop {
        let length = socket.recv(&mut buffer).ok()?;
        parts.push(buffer[..length].to_vec());
        if parts.len() == usize::from(buffer[5]) {
            parts.sort();
            return Some(parts.iter().flat_map(|part| part[8..].to_vec()).collect());
        }
    }
}

#[test]
fn memcached_says_the_same() {
    in_thread("cache-beside-memcached", || {
        alone()?;
        let _memcached = Memcached::start()?;
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
        socket.set_read_timeout(Some(Duration::from_millis(100))).expect("it can be");
        socket.connect("127.0.0.1:11311").expect("there is a way");
        let is_there = (0..50).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            asked(&socket, b"\0\0\0\0\0\x01\0\0version\r\n").is_some()
        });
        if !is_there {
            return Err("memcached doesn't answer".into());
        }
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be");
        let (cache, mut random) = (Mutex::new(Cache::new(1 << 26, None)), Random(11));
        for number in 0..5000 {
            let text = request(&mut random);
            let request = framed(&mut random, &text);
            let own: Vec<u8> = answers(&cache, &request).iter().flat_map(|part| part[8..].to_vec()).collect();
            if own.is_empty() {
                socket.send(&request).expect("it goes out");
                continue;
            }
            let others = asked(&socket, &request).expect("it answers");
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_string();
            assert_eq!(shown(&own), shown(&others), "{number}: {}", shown(&text));
        }
        Ok(())
    });
}
