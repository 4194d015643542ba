//! `programs/KeyValue.dry` with real sockets: what it answers, whom it tells of changes, thousands who listen, and
//! clients that are slow, rude or gone.

mod compiled;
mod crowd;
mod server;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crowd::{Crowd, Event};
use server::{Server, until};

#[test]
fn a_key_has_the_value_that_was_set_last() {
    let Some(server) = Server::start("KeyValue") else { return };
    let (mut ann, mut bob) = (Client::new(&server), Client::new(&server));
    let conversation = [
        ("GET a", "NONE"),
        ("SET a 1", "OK"),
        ("GET a", "VALUE 1"),
        ("SET a  two words ", "OK"),
        ("GET a", "VALUE  two words "),
        ("SET b ", "OK"),
        ("GET b", "VALUE "),
        ("DEL a", "OK"),
        ("DEL a", "NONE"),
        ("GET a", "NONE"),
        ("SET \u{e9}\u{1} \u{0}\u{7f}", "OK"),
        ("GET \u{e9}\u{1}", "VALUE \u{0}\u{7f}"),
        ("UNSUBSCRIBE a", "NONE"),
    ];
    for (number, (command, answer)) in conversation.into_iter().enumerate() {
        let client = if usize::is_multiple_of(number, 2) { &mut ann } else { &mut bob };
        assert_eq!(client.ask(command), answer, "{command}");
    }
}

#[test]
fn what_is_no_command_is_refused_and_the_client_stays() {
    let Some(server) = Server::start("KeyValue") else { return };
    let mut client = Client::new(&server);
    let (longest, long) = ("x".repeat(250), "x".repeat(251));
    for command in [
        "", " ", "SET", "SET a", "SET  b", "GET", "GET ", "GET a ", "GET a b", "DEL", "get a", "QUIT now",
        "\u{0}",
    ] {
        assert!(client.ask(command).starts_with("ERROR "), "{command:?}");
    }
    assert_eq!(client.ask(&format!("SET {longest} {}", "y".repeat(60_000))), "OK");
    assert_eq!(client.ask(&format!("GET {longest}")).len(), 60_006);
    assert!(client.ask(&format!("SET {long} y")).starts_with("ERROR "));
    client.say("QUIT\nGET a\n");
    client.sees_the_end();
    // A line that never ends.
    let mut client = Client::new(&server);
    let _ = client.stream.get_mut().write_all("x".repeat(100_000).as_bytes());
    assert_eq!(client.hear(), "ERROR line too long");
    client.sees_the_end();
    assert_eq!(server.complaints(), "");
}

#[test]
fn commands_may_be_sent_ahead_and_in_pieces() {
    const COMMANDS: usize = 50_000;
    let Some(server) = Server::start("KeyValue") else { return };
    let mut client = Client::new(&server);
    let mut writer = client.stream.get_ref().try_clone().unwrap();
    let sender = thread::spawn(move || {
        let commands: String =
            (0..COMMANDS).map(|n| format!("SET k{} {n}\r\nGET k{}\n", n % 7, n % 7)).collect();
        writer.write_all(commands.as_bytes()).unwrap();
    });
    for n in 0..COMMANDS {
        assert_eq!(client.hear(), "OK");
        assert_eq!(client.hear(), format!("VALUE {n}"));
    }
    sender.join().unwrap();
    for byte in "GET k0\r\n".bytes() {
        client.stream.get_mut().write_all(&[byte]).unwrap();
        thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(client.hear(), format!("VALUE {}", (COMMANDS - 1) / 7 * 7));
    // Who ends sending gets what is due, also for a last line without an end.
    client.say("SET k0 x\nGET k0");
    client.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    assert_eq!([client.hear(), client.hear()], ["OK", "VALUE x"]);
    client.sees_the_end();
}

#[test]
fn subscribers_hear_of_their_keys_only() {
    let Some(server) = Server::start("KeyValue") else { return };
    let (mut ann, mut bob) = (Client::new(&server), Client::new(&server));
    assert_eq!([ann.ask("SUBSCRIBE a"), ann.ask("SUBSCRIBE b"), ann.ask("SUBSCRIBE a")], ["OK", "OK", "OK"]);
    assert_eq!(bob.ask("SUBSCRIBE b"), "OK");
    bob.asks(&[("SET c 1", "OK"), ("SET a 1", "OK")]);
    assert_eq!(ann.hear(), "CHANGED a 1");
    bob.asks(&[("DEL a", "OK")]);
    assert_eq!(ann.hear(), "REMOVED a");
    bob.asks(&[("DEL a", "NONE")]);
    // Who changes what it listens to hears of it too.
    bob.say("SET b 2\n");
    let mut heard = [bob.hear(), bob.hear()];
    heard.sort();
    assert_eq!(heard, ["CHANGED b 2", "OK"]);
    assert_eq!(ann.hear(), "CHANGED b 2");
    // After the answer nothing more comes.
    assert_eq!([ann.ask("UNSUBSCRIBE b"), ann.ask("UNSUBSCRIBE b")], ["OK", "NONE"]);
    bob.say("SET b 3\n");
    heard = [bob.hear(), bob.hear()];
    heard.sort();
    assert_eq!(heard, ["CHANGED b 3", "OK"]);
    bob.asks(&[("UNSUBSCRIBE b", "OK"), ("SET b 4", "OK"), ("SET a 5", "OK"), ("GET b", "VALUE 4")]);
    assert_eq!(ann.hear(), "CHANGED a 5");
}

#[test]
fn thousands_listen_and_some_never_hear() {
    const CLIENTS: usize = 3000;
    const KEYS: usize = 10;
    let Some(server) = Server::start("KeyValue") else { return };
    let before = server.memory();
    let mut crowd = Crowd::new();
    let mut answers = 0;
    for client in 0..CLIENTS {
        crowd.connect(server.address);
        crowd.send(client, &format!("SUBSCRIBE k{}\n", client % KEYS));
        if client % 100 == 99 {
            crowd.serve("subscribed", |_, _| {
                answers += 1;
                answers == client + 1
            });
        }
    }
    println!("{} bytes for each subscriber", (server.memory() - before) / CLIENTS);
    // Some listen to a key that changes all the time, and read nothing.
    let mut deaf: Vec<_> = (0..10).map(|_| Client::new(&server)).collect();
    deaf.iter_mut().for_each(|client| assert_eq!(client.ask("SUBSCRIBE long"), "OK"));
    let mut speaker = Client::new(&server);
    let (rounds, long) = (10, "x".repeat(10_000));
    let begin = Instant::now();
    for round in 0..rounds {
        for key in 0..KEYS {
            assert_eq!(speaker.ask(&format!("SET k{key} {round}")), "OK");
        }
        (0..20).for_each(|n| assert_eq!(speaker.ask(&format!("SET long {n}{long}")), "OK"));
        let mut left = CLIENTS;
        crowd.serve("a change", |client, event| {
            let Event::Line(line) = event else { panic!("{client} was thrown out") };
            assert_eq!(line, format!("CHANGED k{} {round}", client % KEYS));
            left -= 1;
            left == 0
        });
    }
    println!("{} changes told in {:?}", rounds * CLIENTS, begin.elapsed());
    let more = server.memory().saturating_sub(before);
    assert!(more < CLIENTS * 20_000 + (16 << 20), "{more} bytes");
    assert_eq!(speaker.ask("SET long end"), "OK");
    for client in &mut deaf {
        let mut last = String::new();
        while last != "CHANGED long end" {
            last = client.hear();
        }
    }
    crowd.leave();
    // Their seats and watches are free again.
    until("seats for others", || {
        let mut clients: Vec<_> = (0..100).map(|_| Client::new(&server)).collect();
        clients.iter_mut().all(|client| client.ask("SUBSCRIBE k0") == "OK")
    });
    assert_eq!(server.complaints(), "");
}

#[test]
fn whoever_goes_is_gone() {
    let Some(server) = Server::start("KeyValue") else { return };
    let mut ann = Client::new(&server);
    for part in [
        "",
        "SET",
        "SUBSCRIBE a\nSUBSCRIBE b\n",
        "SUBSCRIBE a\nSET a 1\nSET a 2\nUNSUBSCRIBE a",
        "GET a\nQUIT\n",
    ] {
        for _ in 0..20 {
            Client::new(&server).say(part);
        }
    }
    for n in 0..100 {
        assert_eq!(ann.ask(&format!("SET a {n}")), "OK");
    }
    assert_eq!(ann.ask("SUBSCRIBE a"), "OK");
    until("nobody else says anything", || {
        ann.say("SET a last\n");
        let mut heard = [ann.hear(), ann.hear()];
        heard.sort();
        heard == ["CHANGED a last", "OK"]
    });
    assert_eq!(server.complaints(), "");
}

/// A client that does one thing after the other.
struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn new(server: &Server) -> Client {
        Client { stream: BufReader::new(server.connect()) }
    }

    fn say(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).expect("the server reads");
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line comes in time");
        line.strip_suffix('\n').expect("a whole line").to_string()
    }

    fn ask(&mut self, command: &str) -> String {
        self.say(&format!("{command}\n"));
        self.hear()
    }

    fn asks(&mut self, conversation: &[(&str, &str)]) {
        for (command, answer) in conversation {
            assert_eq!(self.ask(command), *answer, "{command}");
        }
    }

    fn sees_the_end(&mut self) {
        let mut rest = Vec::new();
        if let Err(error) = self.stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }
}
