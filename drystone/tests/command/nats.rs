//! `nats:` names, with a real nats-server for each test: the tests of all factories, servers that share their clients,
//! and the loss of a server or of NATS, or nonsense from others. Without a nats-server the tests are skipped, and say
//! so.

mod blocks;
mod faults;

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::bindings::{Server, conform_apart};
use crate::certificates::{authority, certify};
use crate::peer::{Peer, Running};
use crate::{DRYSTONE, complaint, drystone, printed, status};
use drystone_golden::free_port;

/// A nats-server of the test's own, on this machine only.
pub struct Nats {
    process: Child,
    folder: TempDir,
    pub port: u16,
    arguments: Vec<String>,
}

impl Nats {
    /// With or without JetStream; `None`: there is no nats-server here.
    pub fn start(streams: bool) -> Option<Nats> {
        let arguments: &[&str] = if streams { &["-js", "-sd", "."] } else { &[] };
        Nats::start_with(arguments)
    }

    fn start_with(arguments: &[&str]) -> Option<Nats> {
        let program = nats_server()?;
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
        let port = free_port();
        let process = run(&program, folder.path(), port, &arguments);
        Some(Nats { process, folder, port, arguments })
    }

    pub fn name(&self, subject: &str) -> String {
        format!("nats://127.0.0.1:{}/{subject}", self.port)
    }

    fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts it again after it was stopped.
    fn restart(&mut self) {
        let program = nats_server().expect("there was one");
        self.process = run(&program, self.folder.path(), self.port, &self.arguments);
    }

    /// The entry of a name in its key-value store.
    fn entry(&self, name: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let ask =
            format!("PUB $JS.API.DIRECT.GET.KV_drystone-names.$KV.drystone-names.{name} back 0\r\n\r\n");
        let connect = "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB back 1\r\n";
        stream.write_all((connect.to_string() + &ask).as_bytes()).expect("it reads");
        stream.set_read_timeout(Some(Duration::from_millis(500))).expect("it may be set");
        let mut answer = Vec::new();
        // The timeout ends it.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether clients can make a key-value store with it: 2.10 or newer.
fn is_new_enough(server: &Path) -> bool {
    let Ok(output) = Command::new(server).arg("--version").output() else { return false };
    let version = String::from_utf8_lossy(&output.stdout);
    let minor = version.split_once("v2.").and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
    minor.is_some_and(|minor| minor >= 10)
}

fn nats_server() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let bin = std::env::var_os("GOPATH").map_or_else(|| home.join("go"), PathBuf::from).join("bin");
    let found = [PathBuf::from("nats-server"), bin.join("nats-server")]
        .into_iter()
        .find(|server| is_new_enough(server));
    if found.is_none() {
        drystone_golden::skipped("there is no nats-server of 2.10 or newer");
    }
    found
}

fn run(program: &Path, folder: &Path, port: u16, arguments: &[String]) -> Child {
    let mut command = Command::new(program);
    command.args(["-a", "127.0.0.1", "-p", &port.to_string()]).args(arguments).current_dir(folder);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = command.spawn().expect("nats-server runs");
    let deadline = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "nats-server doesn't listen");
        thread::sleep(Duration::from_millis(10));
    }
    process
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bindings")
}

/// A program in the background.
fn begin(arguments: &[&str]) -> Running {
    Running::start(&folder(), arguments)
}

#[test]
fn nats_joins_two_programs() {
    let Some(nats) = Nats::start(true) else { return };
    conform_apart(&nats.name("shapes."), "", "");
    let entry = nats.entry("shapes.echo");
    assert!(entry.contains("HMSG") && !entry.contains("subject"), "it is listed no more: {entry}");
}

#[test]
fn tls_and_a_token_keep_others_out() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    certify(folder.path(), "nats", &authority());
    let file = |name: &str| folder.path().join(name).to_str().expect("plain names").to_string();
    let (certificate, key, authority) = (file("nats.pem"), file("nats.key"), file("nats-ca.pem"));
    let arguments = ["--tls", "--tlscert", &certificate, "--tlskey", &key, "--auth", "secret"];
    let Some(nats) = Nats::start_with(&arguments) else { return };
    let by = |token: &str| format!("BY Nats(authority: \"{authority}\", token: \"{token}\")");
    conform_apart(&nats.name("shapes."), &by("secret"), &by("secret"));
    let text = EXPORTS.replace("NAME", &nats.name("x"));
    for (by, expected) in [(by("guess"), "authorization violation"), (String::new(), "certificate")] {
        let folder = crate::folder_with(&text.replace("BY", &by));
        let said = complaint(&drystone(folder.path(), &["run", "program.dry"])).to_lowercase();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn nats_joins_two_programs_without_a_register() {
    let Some(nats) = Nats::start(false) else { return };
    conform_apart(&nats.name("shapes/"), "BY Monitored(), Nats(capacity: 2)", "BY Nats(capacity: 3)");
}

#[test]
fn what_one_says_comes_to_all_who_listen_at_that_nats() {
    let Some(nats) = Nats::start(false) else { return };
    let name = format!("//127.0.0.1:{}/", nats.port);
    let mut speaker = Server::start(&folder(), &["run", "Hearing.dry", "say", &name]);
    let heard = drystone(&folder(), &["run", "Hearing.dry", "hear", &name]);
    let told = (printed(&heard), status(&heard));
    assert_eq!(told, ("heard 500\nheard 500\nheard 500\n".into(), 0), "{}", complaint(&heard));
    assert!(speaker.ended().success(), "the speaker ends in good order");
}

/// Servers, each with a file of the numbers that it has acknowledged.
struct Keepers {
    folder: TempDir,
    servers: Vec<Server>,
}

impl Keepers {
    fn start(count: usize, name: &str) -> Keepers {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let start = |i| {
            let file = folder.path().join(format!("kept{i}"));
            let file = file.to_str().expect("temporary folders have plain names");
            Server::start(&self::folder(), &["run", "Keeping.dry", "serve", name, file])
        };
        let servers = (0..count).map(start).collect();
        Keepers { folder, servers }
    }

    /// The numbers that a server has kept.
    fn kept(&self, server: usize) -> HashSet<String> {
        let text = fs::read_to_string(self.folder.path().join(format!("kept{server}"))).unwrap_or_default();
        text.lines().map(str::to_string).collect()
    }
}

/// Waits for a condition.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The output of clients: the acknowledged numbers, and how many were lost.
fn acknowledged(output: &Output) -> (Vec<String>, u64) {
    assert_eq!(status(output), 0, "{}", complaint(output));
    let text = printed(output);
    let (numbers, last) = text.trim_end().rsplit_once('\n').expect("there are lines");
    let lost = last.strip_prefix("lost ").and_then(|lost| lost.parse().ok()).expect("it says how many");
    (numbers.lines().map(str::to_string).collect(), lost)
}

#[test]
fn one_of_three_servers_is_killed_and_nothing_acknowledged_is_lost() {
    let Some(nats) = Nats::start(true) else { return };
    let name = nats.name("keep");
    let mut keepers = Keepers::start(3, &name);
    let clients = begin(&["run", "Keeping.dry", "use", &name, "30", "400"]);
    until("every server has clients", || (0..3).all(|i| keepers.kept(i).len() > 200));
    drop(keepers.servers.remove(0));
    let at_death = keepers.kept(0).len();
    let (numbers, lost) = acknowledged(&clients.output());
    assert_eq!(numbers.len(), 30 * 400);
    let kept: HashSet<String> = (0..3).flat_map(|i| keepers.kept(i)).collect();
    let missing: Vec<_> = numbers.iter().filter(|number| !kept.contains(*number)).collect();
    assert!(missing.is_empty(), "acknowledged, and kept by nobody: {missing:?}");
    assert!(lost > 0 && lost < 30 * 3, "{lost} requests were lost with the server that had {at_death}");
    assert_eq!(keepers.kept(0).len(), at_death, "it was dead");
}

#[test]
fn nats_is_killed_and_started_again() {
    let Some(mut nats) = Nats::start(true) else { return };
    let name = nats.name("keep");
    let keepers = Keepers::start(2, &name);
    let clients = begin(&["run", "Keeping.dry", "use", &name, "20", "300"]);
    until("the servers have clients", || keepers.kept(0).len() + keepers.kept(1).len() > 500);
    nats.stop();
    thread::sleep(Duration::from_millis(300));
    nats.restart();
    let (numbers, lost) = acknowledged(&clients.output());
    assert_eq!(numbers.len(), 20 * 300);
    let kept: HashSet<String> = (0..2).flat_map(|i| keepers.kept(i)).collect();
    assert!(numbers.iter().all(|number| kept.contains(number)));
    assert!(lost > 0, "nothing was lost when everything was cut");
}

const ASKS: &str = "
COMPONENT Main;
INTERFACE Keep;  { IN Put(x: INTEGER) OUT Kept }  END Keep;
COMPONENT Client REQUIRES Keep;
BEGIN
  Keep!Put(1); IF Keep?Kept THEN Keep?Kept; WRITE(\"kept\") ELSE WRITE(\"lost\") END; WRITELINE
END Client;
COMPONENT {ISOLATED} Box;
VARIABLE client: Client;
BEGIN NEW(client); CONNECT(Keep(client), \"NAME\"); DELETE(client) END Box;
VARIABLE box: Box;
BEGIN NEW(box); DELETE(box) END Main;
";

/// A client's output and errors, and how long it took.
fn asks(name: &str) -> (String, String, Duration) {
    let folder = crate::folder_with(&ASKS.replace("NAME", name));
    let start = Instant::now();
    let output = drystone(folder.path(), &["run", "program.dry"]);
    (printed(&output), complaint(&output), start.elapsed())
}

#[test]
fn who_is_not_there_is_missed_at_once() {
    let Some(mut nats) = Nats::start(true) else { return };
    let (said, _, time) = asks(&nats.name("nobody"));
    assert_eq!(said, "lost\n");
    assert!(time < Duration::from_secs(4), "{time:?}");
    let keepers = Keepers::start(1, &nats.name("keep"));
    let entry = nats.entry("keep");
    assert!(entry.contains("\"subject\":\"keep\"") && entry.contains("\"interface\":\"Keep\""), "{entry}");
    assert_eq!(asks(&nats.name("keep")).0, "kept\n");
    drop(keepers);
    assert_eq!(asks(&nats.name("keep")).0, "lost\n");
    nats.stop();
    let (said, _, time) = asks(&nats.name("keep"));
    assert_eq!(said, "lost\n");
    assert!(time < Duration::from_secs(12), "{time:?}");
}

const EXPORTS: &str = "
COMPONENT Main;
INTERFACE I;  IN A  END I;
COMPONENT S OFFERS I;  IMPLEMENTATION I;  BEGIN ?A END I;  END S;
VARIABLE s: S;
BEGIN NEW(s); EXPORT(I(s), \"NAME\") BY END Main;
";

#[test]
fn a_name_needs_nats_and_a_place_in_it() {
    let said = |name: &str| {
        let folder = crate::folder_with(&EXPORTS.replace("NAME", name).replace("BY", ""));
        complaint(&drystone(folder.path(), &["run", "program.dry"]))
    };
    let absent = said(&format!("nats://127.0.0.1:{}/x", free_port()));
    assert!(absent.contains("Connection refused") || absent.contains("connection refused"), "{absent}");
    let foreign = said("nats://192.0.2.1/x");
    assert!(foreign.contains("192.0.2.1 is not this machine, and there is no TLS"), "{foreign}");
    let odd = said("nats://127.0.0.1/a..b");
    assert!(odd.contains("a subject is needed behind the server"), "{odd}");
}

/// Listens to all of NATS' subjects, and sends nonsense to each.
fn disturb(port: u16, times: usize) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    stream.write_all(b"CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB > 1\r\n")?;
    let (mut line, mut seed) = (String::new(), 1_u64);
    for _ in 0..times {
        line.clear();
        reader.read_line(&mut line)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (subject, length) = match words[..] {
            ["MSG", subject, _, .., length] => (subject, length),
            ["PING"] => {
                stream.write_all(b"PONG\r\n")?;
                continue;
            }
            _ => continue,
        };
        let mut payload = vec![0; length.parse::<usize>().expect("a length") + 2];
        reader.read_exact(&mut payload)?;
        // Unless this one has sent it.
        if subject.contains("$JS") || payload.starts_with(b"nonsense") {
            continue;
        }
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        payload.truncate(payload.len() - 2);
        match seed >> 60 {
            0..4 => payload = b"nonsense".to_vec(),
            4..8 => payload.truncate((seed >> 32) as usize % (payload.len() + 1)),
            _ => {
                let place = (seed >> 32) as usize % payload.len().max(1);
                payload.iter_mut().skip(place).step_by(7).for_each(|byte| *byte ^= seed as u8);
            }
        }
        write!(stream, "PUB {subject} nonsense.back {}\r\n", payload.len())?;
        stream.write_all(&payload)?;
        stream.write_all(b"\r\n")?;
    }
    stream.shutdown(Shutdown::Both)
}

#[test]
fn nonsense_disturbs_nobody() {
    let Some(nats) = Nats::start(true) else { return };
    let name = nats.name("keep");
    let keepers = Keepers::start(1, &name);
    let clients = begin(&["run", "Keeping.dry", "use", &name, "10", "300"]);
    let port = nats.port;
    let noise = thread::spawn(move || disturb(port, 100_000));
    let (numbers, _) = acknowledged(&clients.output());
    assert_eq!(numbers.len(), 10 * 300);
    assert_eq!(asks(&name).0, "kept\n");
    drop((keepers, nats));
    // It ends with NATS.
    let _ = noise.join();
}
