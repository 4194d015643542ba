//! The chat server `programs/Chat.dry` with real sockets: ten thousand clients, slow ones, rude ones, faulty ones.
//! With `--nocapture` it tells times, latencies and memory.

mod compiled;
mod crowd;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crowd::{Crowd, Event};

/// How many clients there are at a time in the great test.
const CLIENTS: usize = 10_000;

/// How many connections may wait for their welcome.
const BURST: usize = 500;

#[test]
fn ten_thousand_guests_hear_everything_in_order() {
    let Some(server) = Server::start() else { return };
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
    // Those who come then find the memory that these have left.
    arrive(&server, &mut crowd);
    let again = server.memory();
    println!("{} MB with {CLIENTS}, {} MB with {CLIENTS} others", full >> 20, again >> 20);
    leave(&server, &mut crowd);
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
    let mut last = server.client();
    while !last.ask("/who").starts_with("* 1 here") {
        thread::sleep(Duration::from_millis(10));
    }
    println!("all gone after {:?}, {} MB", begin.elapsed(), server.memory() >> 20);
}

/// The server, at a port of its own.
struct Server {
    child: Child,
    address: SocketAddr,
    errors: Arc<Mutex<String>>,
}

impl Server {
    /// `None` if there is no binary.
    fn start() -> Option<Server> {
        let Some(drystone) = compiled::Drystone::find() else {
            eprintln!("skipped: no drystone binary (set DRYSTONE_BIN)");
            return None;
        };
        // The system chooses a port; it stays free for a while.
        let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/Chat.dry");
        let mut command = drystone.command();
        command.arg("run").arg(program).arg(address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the drystone binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("text");
        assert_eq!(line, format!("listening on {address}\n"));
        let errors = Arc::new(Mutex::new(String::new()));
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let collected = errors.clone();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                eprintln!("{line}");
                *collected.lock().unwrap() += &(line + "\n");
            }
        });
        Some(Server { child, address, errors })
    }

    /// Bytes of memory that it uses now.
    fn memory(&self) -> usize {
        let status = self.file("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it lives");
        line.trim_end_matches("kB").trim().parse::<usize>().expect("a number") * 1024
    }

    /// Processor time that it has used, in ticks of 10 ms.
    fn ticks(&self) -> u64 {
        let stat = self.file("stat");
        let fields: Vec<_> = stat[stat.rfind(')').expect("a name")..].split(' ').collect();
        fields[12].parse::<u64>().expect("user time") + fields[13].parse::<u64>().expect("system time")
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).expect("it lives")
    }

    fn client(&self) -> Person {
        Person::new(self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
}
