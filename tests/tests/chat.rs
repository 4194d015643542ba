//! The chat server `programs/Chat.dry` with real sockets: ten thousand clients, slow ones, rude ones, faulty ones.
//! With `--nocapture` it tells times, latencies and memory.

mod compiled;
mod crowd;
mod server;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use crowd::{Crowd, Event};
use server::{Server, until};

/// How many clients there are at a time in the great test.
const CLIENTS: usize = 10_000;

/// How many connections may wait for their welcome.
const BURST: usize = 500;

#[test]
fn ten_thousand_guests_hear_everything_in_order() {
    let Some(server) = Server::start("Chat") else { return };
    let mut crowd = Crowd::new();
    let empty = server.memory();

    arrive(&server, &mut crowd);
    let full = server.memory();
    println!("{} bytes for each, {} MB with nobody", (full - empty) / CLIENTS, empty >> 20);

    let (ticks, seconds) = (server.ticks(), 3);
    thread::sleep(Duration::from_secs(seconds));
    let ticks = server.ticks() - ticks;
    println!("{ticks} ticks of processor time in {seconds} s of silence");
    assert!(ticks <= 3, "silence costs {ticks} ticks");

    let (speakers, lines) = (4, 5);
    let mut heard = vec![Vec::new(); CLIENTS];
    let mut left = CLIENTS * speakers * lines;
    let begin = Instant::now();
    for line in 0..lines {
        for speaker in 0..speakers {
            crowd.send(speaker * 1000, &format!("{line}\n"));
        }
    }
    crowd.serve("all lines", |client, event| {
        let Event::Line(line) = event else { panic!("{client} was thrown out") };
        heard[client].push(line.to_string());
        left -= 1;
        left == 0
    });
    println!("{} lines delivered in {:?}", CLIENTS * speakers * lines, begin.elapsed());
    assert!(heard.iter().all(|one| *one == heard[0]), "all hear the same in the same order");
    for speaker in 0..speakers {
        let prefix = format!("c{}: ", speaker * 1000);
        let said: Vec<_> = heard[0].iter().filter_map(|line| line.strip_prefix(&prefix)).collect();
        assert_eq!(said, ["0", "1", "2", "3", "4"]);
    }

    let mut latencies = Vec::new();
    for line in 0..10 {
        let begin = Instant::now();
        let mut left = CLIENTS;
        crowd.send(line * 7, "one line\n");
        crowd.serve("a line", |_, _| {
            left -= 1;
            left == 0
        });
        latencies.push(begin.elapsed());
    }
    latencies.sort();
    println!("a line has reached all after {:?} to {:?}", latencies[0], latencies[9]);

    leave(&server, &mut crowd);
    let less = empty + (full - empty) / 2;
    let left = server.memory_when(Duration::from_secs(20), |bytes| bytes < less);
    println!("{} MB when they have left", left >> 20);
    assert!(left < less, "{left} bytes stay of {full}, {empty} with nobody");

    arrive(&server, &mut crowd);
    let again = server.memory();
    println!("{} MB with {CLIENTS}, {} MB with {CLIENTS} others", full >> 20, again >> 20);
    assert!(again < full + full / 4, "{again} bytes instead of {full}");
    leave(&server, &mut crowd);
}

#[test]
fn a_slow_reader_stalls_nobody_and_costs_little() {
    let Some(server) = Server::start("Chat") else { return };
    let mut slow = server.client();
    let mut crowd = Crowd::new();
    for _ in 0..20 {
        crowd.connect(server.address);
    }
    let mut welcome = 0;
    crowd.serve("welcome", |_, _| {
        welcome += 1;
        welcome == 20
    });

    // One talks, never more than 100 lines ahead of the others, so that only the slow one falls behind.
    let (lines, ahead, text) = (20_000, 100, "x".repeat(900));
    let before = server.memory();
    let (mut most, mut latency) = (before, Duration::ZERO);
    let (mut said, mut heard) = (Vec::with_capacity(lines), vec![0; 20]);
    while heard.iter().any(|&count| count < lines) {
        let slowest = *heard.iter().min().unwrap();
        while said.len() < lines.min(slowest + ahead) {
            crowd.send(0, &format!("{} {text}\n", said.len()));
            said.push(Instant::now());
        }
        crowd.serve("talk", |client, event| {
            let Event::Line(line) = event else { panic!("{client} was thrown out") };
            let number = line.split(' ').nth(1).and_then(|number| number.parse().ok());
            assert_eq!(number, Some(heard[client]), "{line}");
            latency = latency.max(said[heard[client]].elapsed());
            heard[client] += 1;
            heard[client] % 50 == 0
        });
        most = most.max(server.memory());
    }
    println!("{lines} lines for 20 in {:?}, none later than {latency:?}", said[0].elapsed());
    println!("beside a slow reader the server grew from {} MB to {} MB at most", before >> 20, most >> 20);
    assert!(latency < Duration::from_secs(2), "{latency:?}");
    assert!(most - before < 16 << 20, "{most} bytes");

    // It finds the oldest lines, which were on their way, how many it missed, and the newest.
    let (mut next, mut missed, mut gaps) = (0, 0, 0);
    while next < lines {
        let line = slow.hear();
        if let Some(rest) = line.strip_prefix("* you missed ") {
            let count: usize = rest.strip_suffix(" lines").and_then(|n| n.parse().ok()).expect("a number");
            (next, missed, gaps) = (next + count, missed + count, gaps + 1);
        } else {
            let number = line.split(' ').nth(1).and_then(|number| number.parse().ok());
            assert_eq!(number, Some(next), "after {missed} missed");
            next += 1;
        }
    }
    println!("the slow reader was told {gaps} times of {missed} missed lines");
    assert!(missed > lines / 2, "{missed}");
    assert!(slow.ask("/who").starts_with("* 21 here"));
}

#[test]
fn an_error_ends_one_guest_only() {
    let Some(server) = Server::start("Chat") else { return };
    let (mut ann, mut bob, mut eve) = (server.client(), server.client(), server.client());
    eve.say("/crash\n");
    eve.sees_the_end();
    server.reports("division by zero");
    server.reports("Chat.dry:");
    // A line that is too long; one that never ends.
    for rude in ["x".repeat(1500) + "\n", "x".repeat(100_000)] {
        let mut eve = server.client();
        let _ = eve.stream.get_mut().write_all(rude.as_bytes());
        eve.sees_the_end();
    }
    server.reports("assertion");
    assert_eq!(ann.ask("still here"), "guest1: still here");
    assert_eq!(bob.hear(), "guest1: still here");
    server.counts(2);
    // Whoever comes then gets a seat.
    assert!(server.client().ask("hello").ends_with(": hello"));
}

#[test]
fn lines_come_whole_however_they_are_sent() {
    let Some(server) = Server::start("Chat") else { return };
    let (mut ann, mut bob) = (server.client(), server.client());
    for byte in "split \u{e9}\r\n".bytes() {
        ann.stream.get_mut().write_all(&[byte]).unwrap();
        thread::sleep(Duration::from_millis(2));
    }
    let longest = "x".repeat(1000);
    ann.say(&format!("one\ntwo\r\n\n\r\n/nick Ann\nthree\n{longest}\n"));
    let said =
        ["guest1: split \u{e9}", "guest1: one", "guest1: two", "Ann: three", &format!("Ann: {longest}")];
    said.iter().for_each(|line| assert_eq!(bob.hear(), *line));
    // An answer may come before or after what was said at that time.
    let mut heard: Vec<_> = (0..6).map(|_| ann.hear()).collect();
    let answer = heard.iter().position(|line| line == "* you are Ann").expect("an answer");
    heard.remove(answer);
    assert_eq!(heard, said);
}

#[test]
fn whoever_goes_is_gone() {
    let Some(server) = Server::start("Chat") else { return };
    let mut ann = server.client();
    // By a reset, at once or with lines on their way.
    for lines in [0, 1, 200] {
        let mut bob = server.client();
        bob.say(&"going\n".repeat(lines));
        bob.reset();
    }
    server.counts(1);
    // By ending to send: everything that is due comes before the end.
    let mut bob = server.client();
    bob.say("/nick Bob\nlast words\n/who\n");
    bob.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    let mut rest = String::new();
    bob.stream.read_to_string(&mut rest).unwrap();
    for line in ["* you are Bob\n", "Bob: last words\n", "* 2 here: guest1 Bob\n"] {
        assert!(rest.contains(line), "{rest}");
    }
    // By ending to send within a line, which is not said then.
    let mut bob = server.client();
    bob.say("half a li");
    bob.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    bob.sees_the_end();
    // By /quit: what comes behind it is not said.
    let mut bob = server.client();
    bob.say("/nick Bob\n/quit\nmore\n");
    assert_eq!(bob.hear(), "* you are Bob");
    bob.sees_the_end();
    server.counts(1);
    ann.say("end\n");
    let heard: Vec<_> =
        std::iter::repeat_with(|| ann.hear()).take_while(|line| line != "guest1: end").collect();
    let (last, going) = heard.split_last().expect("last words");
    assert_eq!(last, "Bob: last words");
    assert!(going.iter().all(|line| line.ends_with(": going")), "{going:?}");
    assert_eq!(server.complaints(), "", "going is no error");
}

#[test]
fn names_are_unique() {
    let Some(server) = Server::start("Chat") else { return };
    let (mut ann, mut bob) = (server.client(), server.client());
    assert_eq!(ann.ask("/who"), "* 2 here: guest1 guest2");
    assert_eq!(ann.ask("/nick Ann"), "* you are Ann");
    assert_eq!(bob.ask("/nick Ann"), "* Ann is taken");
    assert_eq!(bob.ask("/nick guest4"), "* you are guest4");
    let wrong = "* a name has 1 to 20 characters and no space";
    for name in ["", "A n n", &"x".repeat(21)] {
        assert_eq!(bob.ask(&format!("/nick {name}")), wrong);
    }
    assert_eq!(ann.ask("/who"), "* 2 here: Ann guest4");
    let (_third, _fifth) = (server.client(), server.client());
    assert_eq!(ann.ask("/who"), "* 4 here: Ann guest4 guest3 guest5");
    ann.say("/quit\n");
    ann.sees_the_end();
    server.counts(3);
    assert_eq!(bob.ask("/nick Ann"), "* you are Ann");
}

#[test]
fn a_signal_ends_the_server() {
    let Some(mut server) = Server::start("Chat") else { return };
    let mut ann = server.client();
    // SAFETY: the child was not waited for yet.
    unsafe { libc::kill(server.child.id() as i32, libc::SIGTERM) };
    let status = server.child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGTERM));
    ann.sees_the_end();
}

/// Lets all come, and be called c0, c1 and so on.
fn arrive(server: &Server, crowd: &mut Crowd) {
    let begin = Instant::now();
    let (mut welcome, mut named) = (0, 0);
    while welcome < CLIENTS || named < CLIENTS {
        while crowd.len() < CLIENTS && crowd.len() - welcome < BURST {
            let client = crowd.connect(server.address);
            crowd.send(client, &format!("/nick c{client}\n"));
        }
        crowd.serve("welcome", |client, event| {
            let Event::Line(line) = event else { panic!("{client} was thrown out") };
            if line.starts_with("* welcome") {
                welcome += 1;
            } else {
                assert_eq!(line, format!("* you are c{client}"));
                named += 1;
            }
            true
        });
    }
    println!("{CLIENTS} guests welcomed and named in {:?}", begin.elapsed());
}

/// Lets all go.
fn leave(server: &Server, crowd: &mut Crowd) {
    let begin = Instant::now();
    crowd.leave();
    server.counts(0);
    println!("all gone after {:?}, {} MB", begin.elapsed(), server.memory() >> 20);
}

/// Who can be a guest of the server.
trait Guests {
    fn client(&self) -> Person;

    /// Waits until so many guests are there.
    fn counts(&self, guests: usize);
}

impl Guests for Server {
    fn client(&self) -> Person {
        Person::new(self.address)
    }

    fn counts(&self, guests: usize) {
        let answer = format!("* {} here", guests + 1);
        until(&answer, || self.client().ask("/who").starts_with(&answer));
    }
}

/// A client that does one thing after the other.
struct Person {
    stream: BufReader<TcpStream>,
}

impl Person {
    fn new(address: SocketAddr) -> Person {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        let mut person = Person { stream: BufReader::new(stream) };
        assert!(person.hear().starts_with("* welcome"));
        person
    }

    fn say(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).expect("the server reads");
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line comes in time");
        line.trim_end_matches('\n').to_string()
    }

    fn ask(&mut self, text: &str) -> String {
        self.say(&format!("{text}\n"));
        self.hear()
    }

    /// Nothing more comes but lines that were on their way.
    fn sees_the_end(&mut self) {
        let mut rest = Vec::new();
        if let Err(error) = self.stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
    }

    /// Goes without a farewell, as one whose machine fails.
    fn reset(self) {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let (socket, size) = (self.stream.get_ref().as_raw_fd(), size_of_val(&linger) as u32);
        // SAFETY: the value is what the option takes, and of that size.
        let result = unsafe {
            libc::setsockopt(socket, libc::SOL_SOCKET, libc::SO_LINGER, (&raw const linger).cast(), size)
        };
        assert_eq!(result, 0);
    }
}
