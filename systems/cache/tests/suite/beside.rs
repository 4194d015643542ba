//! The same requests to memcached and to the process: the answers are the same, byte by byte. `DRYSTONE_CASES` is their
//! number.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use drystone_cache::Cache;
use drystone_cache::session::{Client, Session};

use crate::Random;
use crate::namespace::{alone, in_thread};
use crate::requests::any_request;

struct Memcached(Child);

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Memcached {
    /// Without what it does in threads of its own, by which numbers are stored otherwise now and then.
    fn start() -> Result<Memcached, String> {
        let words =
            ["-u", "root", "-l", "127.0.0.1", "-p", "11311", "-U", "0", "-m", "512", "-o", "no_modern"];
        let child = Command::new("memcached").args(words).stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        child.map(Memcached).map_err(|error| format!("memcached: {error}"))
    }
}

fn connected() -> TcpStream {
    for _ in 0..50 {
        if let Ok(stream) = TcpStream::connect("127.0.0.1:11311") {
            stream.set_nodelay(true).expect("it can be");
            stream.set_read_timeout(Some(Duration::from_secs(2))).expect("it can be");
            return stream;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("memcached doesn't listen");
}

/// Sent after every request, so that later answers can't be taken for its own. It also shows how many versions there
/// have been.
const END: &[u8] = b"set end 0 0 1\r\n1\r\ngets end\r\nmg nobody k Oend\r\n";
const ENDED: &[u8] = b"EN knobody Oend\r\n";

/// memcached's output up to that end, or until it closes.
fn said(stream: &mut TcpStream, text: &[u8]) -> Vec<u8> {
    let _ = stream.write_all(&[text, END].concat());
    let (mut said, mut buffer) = (Vec::new(), [0; 1 << 16]);
    while !said.ends_with(ENDED) {
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => said.extend_from_slice(&buffer[..count]),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error} behind {:?}, {:?}", shown(text), shown(&said)),
        }
    }
    said
}

/// A client that takes everything.
#[derive(Default)]
pub struct Out(pub Vec<u8>);

impl Client for Out {
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    fn send(&mut self) -> bool {
        true
    }

    fn reserve(&mut self, _: usize) -> bool {
        true
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_string()
}

/// The output without each server's own counters, and without seconds that are left, which depend on the clock.
fn comparable(said: &[u8]) -> String {
    let lines = shown(said);
    let lines: String = lines.split_inclusive("\r\n").filter(|line| !line.starts_with("STAT ")).collect();
    let words = lines.replace("\r\n", " \r\n ");
    let timeless = words.split(' ').map(|word| match word.strip_prefix('t').map(str::parse::<u64>) {
        Some(Ok(_)) => "t+",
        _ => word,
    });
    timeless.collect::<Vec<_>>().join(" ")
}

#[test]
fn memcached_says_the_same() {
    in_thread("cache-beside-memcached", || {
        alone()?;
        let _memcached = Memcached::start()?;
        let variable = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
        let cases = variable("DRYSTONE_CASES").unwrap_or(20_000);
        let (cache, mut random) =
            (Mutex::new(Cache::new(1 << 29, None)), Random(variable("DRYSTONE_SEED").unwrap_or(11)));
        let (mut stream, mut closed, mut before) = (connected(), 0, Vec::new());
        let mut not_compared = 0;
        for number in 0..cases {
            let mut text = any_request(&mut random);
            // The request's key, whose item is asked for, too.
            let key = text.windows(3).position(|part| part == b"key").map(|at| text[at..].iter().copied());
            let key: Vec<u8> = key.into_iter().flatten().take_while(u8::is_ascii_alphanumeric).collect();
            text.extend([&b"mg "[..], &key, b" s f c t u\r\n"].concat());
            let (mut session, mut own) = (Session::default(), Out::default());
            let goes_on = session.hear(&cache, &[&text[..], END].concat(), &mut own);
            if goes_on && !own.0.ends_with(ENDED) {
                // It waits for the rest of a damaged value.
                not_compared += 1;
                continue;
            }
            let others = said(&mut stream, &text);
            let (own, others) = (comparable(&own.0), comparable(&others));
            if own != others {
                let is_about =
                    |text: &&Vec<u8>| !key.is_empty() && text.windows(key.len()).any(|part| part == key);
                let last = before
                    .iter()
                    .rev()
                    .filter(is_about)
                    .take(8)
                    .map(|text| &text[..text.len().min(100)])
                    .map(shown);
                let at = own.bytes().zip(others.bytes()).take_while(|(own, others)| own == others).count();
                let tail = |text: &str| text.get(at.saturating_sub(60)..).unwrap_or_default().to_string();
                let (own, others) = (tail(&own), tail(&others));
                panic!(
                    "{number}: {:?}\n own: {own:?}\n its: {others:?}\n after {:#?}",
                    shown(&text),
                    last.collect::<Vec<_>>()
                );
            }
            let others =
                others.trim_end().ends_with(ENDED.trim_ascii_end().escape_ascii().to_string().as_str());
            assert_eq!(goes_on, others, "{number}: {:?}", shown(&text));
            if !goes_on {
                closed += 1;
                stream = connected();
            }
            before.push(text);
        }
        println!(
            "beside memcached: {cases} requests, {closed} connections closed by both, {not_compared} not compared"
        );
        assert!(not_compared < cases / 20, "{not_compared} of {cases} requests were not compared");
        Ok(())
    });
}
