//! The servers in `systems/`, as they are used: a key-value server and a file server.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::certificates::{authority, certify};
use crate::peer::{Peer, free_port, installed};
use crate::with::alone;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

/// A folder in `systems/`.
pub fn system(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems").join(name)
}

/// The program that a system is, built once for all tests.
fn built(name: &str, once: &'static OnceLock<PathBuf>) -> &'static Path {
    once.get_or_init(|| {
        let _alone = alone();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-server"));
        let files = fs::read_dir(system(name)).expect("it is there");
        let files = files.map(|entry| entry.expect("it can be read").file_name());
        let files = files.filter(|file| Path::new(file).extension().is_some_and(|end| end == "dry"));
        let mut command = Command::new(DRYSTONE);
        command
            .current_dir(system(name))
            .args(["build", "--with", "."])
            .args(files.collect::<Vec<OsString>>());
        let output = command.arg("-o").arg(&path).output().expect("the command runs");
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        path
    })
}

pub fn key_value() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    built("keyvalue", &BUILT)
}

/// Runs a script of a system's, which starts the program itself.
fn script(system_name: &str, script: &str, arguments: &[&str], program: &Path) -> Option<String> {
    let mut python = Command::new("python3");
    python.arg("-B").arg(system(system_name).join("tests").join(script)).arg(program).args(arguments);
    let output = python.output().ok()?;
    assert_eq!(status(&output), 0, "{}{}", printed(&output), complaint(&output));
    Some(printed(&output))
}

/// Some of the hundred rounds of `systems/keyvalue/tests/durability.py PROGRAM 100`.
#[test]
fn what_the_key_value_server_has_acknowledged_survives_its_end() {
    let Some(said) = script("keyvalue", "durability.py", &["3"], key_value()) else {
        return drystone_golden::skipped("there is no python3");
    };
    assert!(said.starts_with("killed 3 times: all of "), "{said}");
}

pub fn file_server() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    built("files", &BUILT)
}

pub fn nfs_gateway() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    built("nfs", &BUILT)
}

pub fn network_server() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    built("network", &BUILT)
}

#[test]
fn the_file_server_gives_what_is_in_its_folder() {
    if script("files", "files.py", &[], file_server()).is_none() {
        drystone_golden::skipped("there is no python3");
    }
}

/// What a client of Redis says, and what it hears.
const REDIS: &[(&str, &str)] = &[
    ("PING", "+PONG"),
    ("set a 1", "+OK"),
    ("GET a", "$1 1"),
    ("GET none", "$-1"),
    ("INCR a", ":2"),
    ("INCRBY a 40", ":42"),
    ("DECRBY a 2", ":40"),
    ("INCR new", ":1"),
    ("SET word text", "+OK"),
    ("INCR word", "-ERR the value is no integer"),
    ("MSET x 1 y 2", "+OK"),
    ("MGET x none y", "*3 $1 1 $-1 $1 2"),
    ("EXISTS x none y", ":2"),
    ("DEL x none", ":1"),
    ("TTL y", ":-1"),
    ("EXPIRE y 100", ":1"),
    ("TTL y", ":100"),
    ("PERSIST y", ":1"),
    ("TTL y", ":-1"),
    ("TTL none", ":-2"),
    ("EXPIRE none 1", ":0"),
    ("SET y 4 EX 100", "+OK"),
    ("SET y 5 NX", "$-1"),
    ("SET z 5 NX", "+OK"),
    ("MGET y z", "*2 $1 4 $1 5"),
    ("STRLEN word", ":4"),
    ("TYPE word", "+string"),
    ("MULTI", "+OK"),
    ("SET m 1", "+QUEUED"),
    ("INCR m", "+QUEUED"),
    ("EXEC", "*2 +OK :2"),
    ("MULTI", "+OK"),
    ("SET m 7", "+QUEUED"),
    ("DISCARD", "+OK"),
    ("GET m", "$1 2"),
    ("MULTI", "+OK"),
    ("SET m 7", "+QUEUED"),
    ("NONSENSE", "-ERR unknown command 'NONSENSE'"),
    ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
    ("EXEC", "-ERR EXEC here makes no sense"),
    ("SET m", "-ERR wrong number of arguments for 'SET' command"),
    ("KEYS n*", "*1 $3 new"),
    ("SCAN 0 MATCH ?", "*2 $1 0 *4 $1 a $1 m $1 y $1 z"),
    ("SET y 4 EX 0", "-ERR invalid expire time in 'set' command"),
    ("SCAN 0 COUNT 0", "-ERR syntax error"),
    ("HELLO", "*8 $6 server $5 redis $7 version $5 7.0.0 $5 proto :2 $4 role $6 master"),
    ("HELLO 3 SETNAME me", "%4 $6 server $5 redis $7 version $5 7.0.0 $5 proto :3 $4 role $6 master"),
    ("MGET x none", "*2 _ _"),
    ("HELLO 4", "-NOPROTO unsupported protocol version"),
    ("HELLO 2", "*8 $6 server $5 redis $7 version $5 7.0.0 $5 proto :2 $4 role $6 master"),
    ("GET none", "$-1"),
    ("UNLINK a m new word y z", ":6"),
    ("QUIT", "+OK"),
];

/// The command as clients send it.
fn framed(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let word = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    format!("*{}\r\n{}", words.len(), words.iter().map(word).collect::<String>())
}

fn redis_server(folder: &Path) -> (Peer, u16) {
    let port = free_port();
    let arguments = [
        format!("file={}", folder.join("store.redb").display()),
        "store=".into(),
        format!("redis=127.0.0.1:{port}"),
    ];
    let program = key_value().to_str().expect("a plain path");
    let mut server = Peer::start(folder, program, &arguments.each_ref().map(String::as_str));
    assert_eq!(server.line(), "ready");
    (server, port)
}

#[test]
fn the_key_value_server_speaks_as_redis_does() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, port) = redis_server(folder.path());
    let said: String = REDIS.iter().map(|(command, _)| framed(command)).collect();
    let expected: String = REDIS.iter().map(|(_, answer)| answer.replace(' ', "\r\n") + "\r\n").collect();
    let unspaced = |text: &str| text.replace("\r\n", " ");
    // All at once; byte by byte; and as one types it.
    let commands = REDIS.iter().map(|(command, _)| format!("{command}\r\n")).collect::<String>();
    for (said, at_once) in [(&said, usize::MAX), (&said, 1), (&commands, 40)] {
        let mut client = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        client.set_nodelay(true).expect("it is a socket");
        for part in said.as_bytes().chunks(at_once.min(said.len())) {
            client.write_all(part).expect("it reads");
        }
        let mut heard = String::new();
        client.read_to_string(&mut heard).expect("it answers, and closes");
        assert_eq!(unspaced(&heard), unspaced(&expected));
    }
}

/// Runs a tool of Redis'.
fn redis_tool(tool: &str, port: u16, arguments: &[&str]) -> String {
    let output =
        Command::new(tool).args(["-p", &port.to_string()]).args(arguments).output().expect("it runs");
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    printed(&output)
}

#[test]
fn the_tools_of_redis_take_the_key_value_server_for_one() {
    if !installed("redis-benchmark") || !installed("redis-cli") {
        return drystone_golden::skipped("there are no redis-tools");
    }
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, port) = redis_server(folder.path());
    let said = redis_tool(
        "redis-benchmark",
        port,
        &["-t", "set,get,incr,mset", "-n", "2000", "-P", "8", "-r", "500", "-q"],
    );
    assert_eq!(said.matches("requests per second").count(), 4, "{said}");
    let keys = redis_tool("redis-cli", port, &["--scan", "--pattern", "key:*"]);
    let mut keys: Vec<&str> = keys.lines().collect();
    keys.sort_unstable();
    keys.dedup();
    assert!(keys.len() > 400, "a scan goes on where it was: {} keys", keys.len());
    assert_eq!(redis_tool("redis-cli", port, &["mget", "key:none", keys[0]]).lines().count(), 2);
}

#[test]
fn what_the_protocol_of_redis_forbids_ends_the_client_alone() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (mut server, port) = redis_server(folder.path());
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let mut honest = connect();
    let long = "x".repeat(10_000);
    for (said, why) in [
        ("*1\r\n+PING\r\n", "expected '$'"),
        ("*1000000000\r\n", "invalid length"),
        ("*-1\r\n", "invalid length"),
        ("*1\r\n$99999999999999999999\r\n", "invalid length"),
        ("*1\r\n$2000000\r\n", "invalid length"),
        (&long, "too long a line"),
    ] {
        let mut client = connect();
        client.write_all(said.as_bytes()).expect("it reads");
        let mut heard = String::new();
        client.read_to_string(&mut heard).expect("it answers, and closes");
        assert_eq!(heard, format!("-ERR Protocol error: {why}\r\n"));
    }
    // Some only begin, and go.
    drop((connect(), connect().write_all(b"*3\r\n$3\r\nSET\r\n$1000\r\nab")));
    honest.write_all(b"PING\r\n").expect("it reads");
    let mut heard = [0; 7];
    honest.read_exact(&mut heard).expect("it answers");
    assert_eq!((&heard, server.runs()), (b"+PONG\r\n", true));
}

/// What `systems/tests/hostile.py` measures is measured there; here it is enough that the servers bear it.
fn bears_hostile_clients(kind: &str, program: &Path) {
    let program = program.to_str().expect("a plain path");
    let script = system("tests/hostile.py");
    let mut python = Command::new("python3");
    python.arg("-B").arg(script).args([kind, program, "2", "1000"]);
    let Ok(output) = python.output() else { return drystone_golden::skipped("there is no python3") };
    assert_eq!(status(&output), 0, "{}{}", printed(&output), complaint(&output));
    assert!(!complaint(&output).contains("error"), "{}", complaint(&output));
}

#[test]
fn the_key_value_server_bears_hostile_clients() {
    bears_hostile_clients("keyvalue", key_value());
}

#[test]
fn the_file_server_bears_hostile_clients() {
    bears_hostile_clients("files", file_server());
}

const STORING: &str = "
COMPONENT Main;
INTERFACE Store;
  { IN Get(key: TEXT) ( OUT Value(x: TEXT) | OUT Missing | OUT Refused(reason: TEXT) )
  | IN Set(key, x: TEXT) ( OUT Done | OUT Refused(reason: TEXT) ) }
END Store;
COMPONENT Client REQUIRES Store;
VARIABLE x: TEXT;
BEGIN
  Store!Set(\"key\", \"value\");
  IF Store?Done THEN
    Store?Done; Store!Get(\"key\"); Store?Value(x); WRITE(x)
  ELSE
    WRITE(\"lost\")
  END;
  WRITELINE
END Client;
VARIABLE client: Client;
BEGIN
  NEW(client); CONNECT(Store(client), \"tcp://127.0.0.1:PORT/store\") BY
END Main;
";

#[test]
fn the_key_value_server_takes_by_tls_who_has_a_certificate() {
    let port = free_port();
    let text = STORING.replace("127.0.0.1:PORT", &format!("localhost:{port}"));
    let by = "BY Tcp(certificate: \"client.pem\", key: \"client.key\", authority: \"server-ca.pem\")";
    let folder = folder_with(&text.replace(" BY\n", &format!(" {by}\n")));
    let root = authority();
    certify(folder.path(), "server", &root);
    certify(folder.path(), "client", &root);
    let arguments = [
        "file=store.redb".into(),
        format!("store=tcp://localhost:{port}/store"),
        "redis=".into(),
        "certificate=server.pem".into(),
        "key=server.key".into(),
        "authority=server-ca.pem".into(),
    ];
    let program = key_value().to_str().expect("a plain path");
    let mut server = Peer::start(folder.path(), program, &arguments.each_ref().map(String::as_str));
    assert_eq!(server.line(), "ready");
    let run = || drystone(folder.path(), &["run", "program.dry"]);
    let output = run();
    assert_eq!((printed(&output).as_str(), status(&output)), ("value\n", 0), "{}", complaint(&output));
    // One of another authority gets nothing.
    certify(folder.path(), "client", &authority());
    assert_eq!(printed(&run()), "lost\n");
}
