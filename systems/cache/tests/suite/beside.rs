//! The same requests to memcached and to the process: the same answers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use drystone_cache::Cache;
use drystone_cache::session::Session;

use crate::namespace::{alone, in_thread};
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

fn connected() -> Result<TcpStream, String> {
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(50));
        if let Ok(stream) = TcpStream::connect("127.0.0.1:11311") {
            stream.set_nodelay(true).expect("it can be");
            stream.set_read_timeout(Some(Duration::from_secs(2))).expect("it can be");
            return Ok(stream);
        }
    }
    Err("memcached doesn't listen".into())
}

#[test]
fn memcached_says_the_same() {
    in_thread("cache-beside-memcached", || {
        alone()?;
        let _memcached = Memcached::start()?;
        let mut stream = connected()?;
        let (cache, mut random) = (Mutex::new(Cache::new(1 << 26, None)), Random(11));
        for number in 0..5000 {
            let text = request(&mut random);
            let (mut session, mut own) = (Session::default(), Vec::new());
            session.hear(&cache, &text, &mut own);
            stream.write_all(&text).expect("it goes out");
            let (mut others, mut length) = (vec![0; own.len()], 0);
            while length < own.len() {
                match stream.read(&mut others[length..]) {
                    Ok(more @ 1..) => length += more,
                    _ => break,
                }
            }
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_string();
            assert_eq!(shown(&own), shown(&others[..length]), "{number}: {}", shown(&text));
        }
        Ok(())
    });
}
