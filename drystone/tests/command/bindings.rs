//! Binding factories: one program with all shapes of conversations (`drystone/tests/bindings/Shapes.dry`), over each of
//! them. Its output is the same over all of them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use drystone_golden::free_port;
use tempfile::TempDir;

use crate::certificates::{authority, certify};
use crate::nats::Nats;
use crate::places::{places, platforms, writes_everywhere};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

fn shapes() -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bindings");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it is there");
    (read("Shapes.dry"), read("Shapes.expected"))
}

/// The shapes without those of ten thousand sessions at once, which would take too long; and their output.
const FEW: &str = "echo,sink,source,store,chat,large,greeting,guests";

fn few() -> String {
    shapes().1.replace("guests 10000\n", "")
}

/// The program, with a BY at each CONNECT to one of its names and at each EXPORT.
fn shapes_by(connect: &str, export: &str) -> (TempDir, PathBuf) {
    let with = |text: &str, statement: &str, by: &str| {
        let parts = text.split(&format!("{statement}(")).collect::<Vec<_>>();
        let rest = parts[1..].iter().map(|part| {
            let end = part.find("\")").expect("the name ends the statement") + 2;
            format!("{statement}({} {by}{}", &part[..end], &part[end..])
        });
        parts[0].to_string() + &rest.collect::<String>()
    };
    let (program, _) = shapes();
    let program = with(&with(&program, "CONNECT", connect), "EXPORT", export);
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let path = folder.path().join("Shapes.dry");
    fs::write(&path, program).expect("a temporary folder can be written");
    (folder, path)
}

/// Both sides in one program.
fn conform_together(name: &str, connect: &str) {
    let (folder, _) = shapes_by(connect, "");
    let output = drystone(folder.path(), &["run", "Shapes.dry", "both", name]);
    assert_eq!((printed(&output), status(&output)), (shapes().1, 0), "{}", complaint(&output));
}

/// A server that runs until it is stopped.
pub struct Server(Child);

impl Server {
    pub fn start(folder: &Path, arguments: &[&str]) -> Server {
        let mut command = Command::new(DRYSTONE);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut server = Server(command.spawn().expect("the command runs"));
        let mut line = String::new();
        let output = server.0.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it says when it is ready");
        assert_eq!(line, "ready\n");
        server
    }

    /// Its exit status; it is about to end.
    pub fn ended(&mut self) -> ExitStatus {
        self.0.wait().expect("it is a process of this one's")
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Server and clients in two programs.
pub fn conform_apart(name: &str, connect: &str, export: &str) {
    let (folder, _) = shapes_by(connect, export);
    conform_within(folder.path(), name, "", &shapes().1);
}

/// The same in a folder with other files; only these shapes, if some are listed.
fn conform_within(folder: &Path, name: &str, list: &str, expected: &str) {
    let mut server = Server::start(folder, &["run", "Shapes.dry", "serve", name]);
    let output = drystone(folder, &["run", "Shapes.dry", "use", name, list]);
    assert_eq!((printed(&output), status(&output)), (expected.into(), 0), "{}", complaint(&output));
    assert!(server.ended().success(), "the server ends in good order");
}

/// The program with its server in a domain, and a BY at its CONNECTs.
fn shapes_at(domain: &str, connect: &str) -> TempDir {
    let (folder, path) = shapes_by(connect, "");
    let program = fs::read_to_string(&path).expect("it was written");
    fs::write(&path, program.replace("NEW(server);", &format!("NEW(server) AT \"{domain}\";")))
        .expect("a temporary folder can be written");
    folder
}

/// Factories that may stand at a CONNECT without changing anything.
const BETWEEN: [&str; 4] = [
    "",
    "BY Monitored()",
    "BY Restricted(rate: 1000000, burst: 100000), Monitored(), Local(capacity: 1)",
    "BY Monitored, Monitored(name: \"second\"), Local(deadline: 60000)",
];

#[test]
fn a_component_may_live_in_another_domain() {
    let through = platforms().flat_map(|place| BETWEEN[1..].iter().map(move |by| (place, *by, FEW)));
    for (place, by, list) in places().map(|place| (place, BETWEEN[0], "")).chain(through) {
        let folder = shapes_at(place.name, by);
        let output = place.run(folder.path(), "Shapes.dry", &["both", "local:", list]);
        let expected = if list.is_empty() { shapes().1 } else { few() };
        assert_eq!(
            (printed(&output), status(&output)),
            (expected, 0),
            "{place:?} {by}: {}",
            complaint(&output)
        );
    }
}

#[test]
fn what_lives_in_another_domain_can_be_exported() {
    for domain in ["process:store", "worker:1"] {
        let folder = shapes_at(domain, "");
        conform_within(folder.path(), &format!("tcp://127.0.0.1:{}/", free_port()), "", &shapes().1);
    }
}

#[test]
fn local_names_join_as_components_do_whatever_is_between() {
    for by in BETWEEN {
        conform_together("local:", by);
    }
}

/// Clients end before their servers also with a factory in between.
const ENDING: &str = "
COMPONENT Dead;
INTERFACE Echo; { IN Say(x: INTEGER) OUT Said(x: INTEGER) } END Echo;
COMPONENT Server OFFERS Echo;
  IMPLEMENTATION Echo; VARIABLE x: INTEGER;
  BEGIN WHILE ?Say DO ?Say(x); !Said(x) END END Echo;
END Server;
COMPONENT Client REQUIRES Echo;
VARIABLE x: INTEGER;
BEGIN Echo!Say(7); Echo?Said(x); WRITE(x); WRITELINE
END Client;
VARIABLE server: Server; client, other: Client;
BEGIN
  NEW(server); EXPORT(Echo(server), \"local:e\");
  NEW(client); CONNECT(Echo(client), \"local:e\") BY Monitored();
  NEW(other); CONNECT(Echo(other), server) BY Retried(messages: \"Say\"), Monitored
END Dead;
";

#[test]
fn a_program_ends_its_clients_first_through_what_stands_between() {
    writes_everywhere(ENDING, &[&["server"], &["client", "other"], &["server", "client"]], "7\n7\n");
}

#[test]
fn what_an_option_cannot_be_is_said_when_compiled_else_when_it_runs() {
    for (by, sentence) in [
        ("Retried(messages: \"Say\", attempts: 0)", "Retried: attempts is from 1 to 1000000000, not 0"),
        ("Retried(messages: \"Say\", pause: -1)", "Retried: pause is from 0 to 1000000000, not -1"),
        ("Retried(messages: \"Say\", deadline: 0)", "Retried: deadline is from 1 to 1000000000, not 0"),
        ("Restricted(rate: 0)", "Restricted: rate is from 1 to 1000000000, not 0"),
        ("Restricted(rate: 10, burst: 0)", "Restricted: burst is from 1 to 1000000000, not 0"),
        ("Cached(messages: \"Say\", lifetime: -1)", "Cached: lifetime is from 1 to 1000000000, not -1"),
        ("Cached(messages: \"Say\", entries: 0)", "Cached: entries is from 1 to 1000000000, not 0"),
        ("Local(deadline: 2000000000)", "Local: deadline is from 1 to 1000000000, not 2000000000"),
        ("Local(capacity: 0)", "capacity is from 1 to 1000000"),
    ] {
        for (by, expected) in [(by.into(), 2), (by.replace(')', " + none)"), 1)] {
            let program = ENDING.replace("VARIABLE server", "VARIABLE none: INTEGER; server");
            let program = program.replace("Retried(messages: \"Say\"), Monitored", &by);
            let folder = folder_with(&program);
            let output = drystone(folder.path(), &["run", "program.dry"]);
            assert_eq!(status(&output), expected, "{by}: {}", complaint(&output));
            assert!(complaint(&output).contains(sentence), "{by}: {}", complaint(&output));
        }
    }
}

/// A program in which the line `ECHO` stands for this server: it answers each number by the next one.
pub fn with_echo(program: &str) -> String {
    program.replacen("ECHO\n", ECHO, 1)
}

const ECHO: &str = "INTERFACE Echo; { IN Say(n: INTEGER) OUT Heard(n: INTEGER) } END Echo;
COMPONENT Host OFFERS Echo;
  IMPLEMENTATION Echo;
  VARIABLE n: INTEGER;
  BEGIN WHILE ?Say DO ?Say(n); !Heard(n + 1) END END Echo;
END Host;
";

/// With a factory in between, too, a name may be exported after it was connected to.
const LATER: &str = "
COMPONENT Main;
ECHO
COMPONENT Guest REQUIRES Echo;
  VARIABLE n: INTEGER;
ACTIVITY
  Echo!Say(1); Echo?Heard(n); WRITE(n); WRITELINE
END Guest;
VARIABLE host: Host; guest, gone: Guest;
BEGIN
  NEW(guest); CONNECT(Echo(guest), \"local:x\") BY Monitored(); PASSIVATE(50);
  NEW(host); EXPORT(Echo(host), \"local:x\"); DELETE(guest);
  NEW(gone); CONNECT(Echo(gone), \"local:y\") BY Monitored(); CONNECT(Echo(gone), \"local:x\"); DELETE(gone);
  WRITE(\"done\"); WRITELINE
END Main;
";

#[test]
fn what_stands_before_a_name_waits_for_it() {
    writes_everywhere(&with_echo(LATER), &[&["host"], &["guest", "gone"]], "2\n2\ndone\n");
}

#[test]
fn tcp_joins_two_programs() {
    conform_apart(&format!("tcp://127.0.0.1:{}/", free_port()), "", "");
}

#[test]
fn tcp_joins_two_programs_with_little_room() {
    conform_apart(
        &format!("tcp://localhost:{}/", free_port()),
        "BY Monitored()",
        "BY Restricted(rate: 1000000)",
    );
}

/// The folder of the repository's systems.
pub fn systems() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder").join("systems")
}

#[test]
fn one_name_says_how_the_file_server_and_its_clients_are_joined() {
    let expected = fs::read_to_string(systems().join("Files.expected")).expect("it is there");
    let name = |scheme, path| format!("{scheme}://127.0.0.1:{}/{path}", free_port());
    let (tcp, onc, http) = (name("tcp", "files"), name("onc", ""), name("http", "files"));
    let (onc_udp, udp) = (name("onc+udp", ""), name("udp", ""));
    let joints = [
        ("local:files", "local:here"),
        (tcp.as_str(), "local:here"),
        (&onc, "local:here"),
        (&onc_udp, "local:here"),
        (&udp, "local:here"),
        (&http, "local:here"),
    ];
    let nats = Nats::start(true);
    let nats = nats.as_ref().map(|nats| format!("nats://127.0.0.1:{}/files", nats.port));
    let joints = joints.into_iter().chain(nats.iter().map(|nats| (nats.as_str(), "local:here")));
    for place in places() {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let shelf = if place.is_bare() { Path::new("shelf") } else { folder.path() };
        let shelf = shelf.to_str().expect("temporary folders have plain names");
        let output = place.run(&systems(), "Files.dry", &["both", "local:files", shelf, place.name]);
        let told = (printed(&output), status(&output));
        assert_eq!(told, (expected.clone(), 0), "{place:?}: {}", complaint(&output));
    }
    for (name, place) in joints {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let shelf = folder.path().to_str().expect("temporary folders have plain names");
        let output = drystone(&systems(), &["run", "Files.dry", "both", name, shelf, place]);
        let told = (printed(&output), status(&output));
        assert_eq!(told, (expected.clone(), 0), "{name} {place}: {}", complaint(&output));
    }
}

#[test]
fn what_one_says_comes_to_all_who_are_connected() {
    prints_what_is_expected("Prices");
}

#[test]
fn a_component_decides_who_serves_a_name() {
    prints_what_is_expected("Shelves");
}

/// Runs a system of the repository that needs no arguments.
fn prints_what_is_expected(name: &str) {
    let expected = fs::read_to_string(systems().join(format!("{name}.expected"))).expect("it is there");
    let output = drystone(&systems(), &["run", &format!("{name}.dry")]);
    assert_eq!((printed(&output), status(&output)), (expected, 0), "{}", complaint(&output));
}

#[test]
fn websockets_join_two_programs() {
    let by = "BY Http(socket: TRUE, limit: 100000000)";
    conform_apart(&format!("http://127.0.0.1:{}/", free_port()), by, by);
}

#[test]
fn websockets_join_two_programs_by_tls() {
    let connect = "BY Http(socket: TRUE, limit: 100000000, authority: \"server-ca.pem\", token: \"secret\")";
    let export =
        "BY Http(limit: 100000000, certificate: \"server.pem\", key: \"server.key\", token: \"secret\")";
    let name = format!("https://127.0.0.1:{}/", free_port());
    let (folder, _) = shapes_by(connect, export);
    certify(folder.path(), "server", &authority());
    conform_within(folder.path(), &name, FEW, &few());
}

/// A protocol that ends with its answer: each call is a communication of its own, whatever carries it.
#[test]
fn a_protocol_that_ends_with_its_answer_begins_anew() {
    let schemes = ["local:x", "tcp://127.0.0.1:PORT/x", "http://127.0.0.1:PORT/x", "onc://127.0.0.1:PORT/"];
    for name in schemes.into_iter().chain(["udp://127.0.0.1:PORT/"]) {
        let name = name.replace("PORT", &free_port().to_string());
        let by = if name.starts_with("onc") { "BY Onc(program: 536870999)" } else { "" };
        let text = format!(
            "INTERFACE Ask; IN Question(n: INTEGER) OUT Answer(n: INTEGER) | IN Note(n: INTEGER) END Ask;
             COMPONENT Server OFFERS Ask; VARIABLE noted: INTEGER;
               IMPLEMENTATION Ask; VARIABLE n: INTEGER;
               BEGIN {{EXCLUSIVE}}
                 IF ?Note THEN ?Note(n); INC(noted, n) ELSE ?Question(n); !Answer(n + noted) END
               END Ask;
             END Server;
             COMPONENT Client REQUIRES Ask; VARIABLE i, n: INTEGER;
             ACTIVITY
               FOR i := 1 TO 4 DO Ask!Question(i); Ask?Answer(n); WRITE(n); WRITE(\" \") END;
               Ask!Note(10); Ask!Note(20);
               REPEAT Ask!Question(0); Ask?Answer(n) UNTIL n = 30;
               WRITE(n)
             END Client;
             COMPONENT Main; VARIABLE s: Server; c: Client;
             BEGIN
               NEW(s); EXPORT(Ask(s), \"{name}\") {by}; NEW(c); CONNECT(Ask(c), \"{name}\") {by}; DELETE(c); HALT(0)
             END Main;"
        );
        let output = drystone(folder_with(&text).path(), &["run", "program.dry"]);
        assert_eq!(
            (printed(&output).as_str(), status(&output)),
            ("1 2 3 4 30", 0),
            "{name}: {}",
            complaint(&output)
        );
    }
}
