//! The servers in `systems/` in use: the key-value server and the file server.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use crate::certificates::{authority, certify};
use crate::peer::{Peer, installed};
use crate::with::alone;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};
use drystone_golden::free_port;

/// A folder in `systems/`.
pub fn system(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems").join(name)
}

/// A system's executable, built once for all tests.
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

/// Runs a script of a system, which starts the server itself.
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

/// A full disk: with room again the server writes again, and exactly what it had acknowledged is there. Some rounds of
/// `systems/keyvalue/tests/full.py PROGRAM 100`.
#[test]
fn the_key_value_server_goes_on_when_a_full_disk_has_room() {
    let Some(said) = script("keyvalue", "full.py", &["2"], key_value()) else {
        return drystone_golden::skipped("there is no python3");
    };
    assert!(said.starts_with("full and killed 2 times: "), "{said}");
    if said.contains("no disk could be mounted") {
        drystone_golden::skipped("no disk could be mounted: a full one was not tried");
    }
}

/// A few kinds of `systems/keyvalue/tests/hoard.py PROGRAM`, with few clients.
#[test]
fn clients_that_hoard_take_no_more_than_the_book_says() {
    let kinds = ["unread_many", "unfinished", "transaction", "watching"];
    let arguments = [&["40", "1"][..], &kinds].concat();
    let Some(said) = script("keyvalue", "hoard.py", &arguments, key_value()) else {
        return drystone_golden::skipped("there is no python3");
    };
    assert_eq!(said.matches(" when they have gone").count(), kinds.len(), "{said}");
}

/// Some of the rounds of `systems/keyvalue/tests/beside.py PROGRAM 20000`.
#[test]
fn the_key_value_server_answers_as_redis_does() {
    if !installed("redis-server") {
        return drystone_golden::skipped("there is no redis-server");
    }
    let Some(said) = script("keyvalue", "beside.py", &["200"], key_value()) else {
        return drystone_golden::skipped("there is no python3");
    };
    assert!(said.ends_with(": as Redis\n"), "{said}");
}

/// The book's list of commands is the server's; `BLESS=1` writes it.
#[test]
fn the_book_has_the_servers_own_table_of_commands() {
    let folder = system("keyvalue");
    let output = drystone(&folder, &["run", "tests/Table.dry", "Catalogue.dry"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    let page = folder.join("../../docs/src/servers.md");
    let text = fs::read_to_string(&page).expect("the page is there");
    let begin = "\n### Its commands\n\n";
    let from = text.find(begin).expect("the table has a heading") + begin.len();
    let to = from + text[from..].find("\n### ").expect("another heading follows");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&page, format!("{}{}{}", &text[..from], printed(&output), &text[to..]))
            .expect("it is written");
    } else {
        assert_eq!(text[from..to], printed(&output), "BLESS=1 writes it into {}", page.display());
    }
}

/// Commands of Redis and their answers. A real Redis answers the same, except for the number of databases.
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
    ("INCR word", "-ERR value is not an integer or out of range"),
    ("INCRBY a +1", "-ERR value is not an integer or out of range"),
    ("INCRBY a 007", "-ERR value is not an integer or out of range"),
    ("INCRBY new 9223372036854775806", ":9223372036854775807"),
    ("INCR new", "-ERR increment or decrement would overflow"),
    ("MSET x 1 y 2", "+OK"),
    ("MGET x none y", "*3 $1 1 $-1 $1 2"),
    ("EXISTS x none y y", ":3"),
    ("DEL x none", ":1"),
    ("TTL y", ":-1"),
    ("PERSIST y", ":0"),
    ("EXPIRE y 100", ":1"),
    ("EXPIRE y 100 NX", ":0"),
    ("EXPIRE y 50 GT", ":0"),
    ("EXPIRE y 50 NX GT", "-ERR NX and XX, GT or LT options at the same time are not compatible"),
    ("TTL y", ":100"),
    ("PERSIST y", ":1"),
    ("TTL y", ":-1"),
    ("TTL none", ":-2"),
    ("EXPIRE none 1", ":0"),
    ("SET y 4 EX 100", "+OK"),
    ("SET y 5 NX", "$-1"),
    ("SET y 6 XX GET KEEPTTL", "$1 4"),
    ("TTL y", ":100"),
    ("SET y 4 EX 100 KEEPTTL", "-ERR syntax error"),
    ("SET y 4 EX", "-ERR syntax error"),
    ("SET z 5 NX", "+OK"),
    ("MGET y z", "*2 $1 6 $1 5"),
    ("GETSET z 7", "$1 5"),
    ("GETDEL z", "$1 7"),
    ("SETNX z 8", ":1"),
    ("SETEX z 0 8", "-ERR invalid expire time in 'setex' command"),
    ("APPEND z 9", ":2"),
    ("GETRANGE z -1 -1", "$1 9"),
    ("SETRANGE z 3 x", ":4"),
    ("STRLEN word", ":4"),
    ("TYPE word", "+string"),
    ("RENAME none x", "-ERR no such key"),
    ("RENAMENX word a", ":0"),
    ("DBSIZE", ":5"),
    ("MULTI", "+OK"),
    ("SET m 1", "+QUEUED"),
    ("MULTI", "-ERR MULTI calls can not be nested"),
    ("INCR m", "+QUEUED"),
    ("INCR word", "+QUEUED"),
    ("EXEC", "*3 +OK :2 -ERR value is not an integer or out of range"),
    ("MULTI", "+OK"),
    ("SET m 7", "+QUEUED"),
    ("DISCARD", "+OK"),
    ("GET m", "$1 2"),
    ("MULTI", "+OK"),
    ("SET m 7", "+QUEUED"),
    ("NONSENSE", "-ERR unknown command 'NONSENSE', with args beginning with: "),
    ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
    ("EXEC", "-ERR EXEC without MULTI"),
    ("WATCH m", "+OK"),
    ("INCR m", ":3"),
    ("MULTI", "+OK"),
    ("GET m", "+QUEUED"),
    ("EXEC", "*-1"),
    ("SET m", "-ERR wrong number of arguments for 'set' command"),
    ("KEYS n*", "*1 $3 new"),
    ("KEYS [n-o]ew", "*1 $3 new"),
    ("SCAN 0 MATCH ?", "*2 $1 0 *4 $1 m $1 z $1 y $1 a"),
    ("SCAN 0 TYPE list", "*2 $1 0 *0"),
    ("SCAN 0 FOO BAR", "-ERR syntax error"),
    ("SCAN 0 MATCH", "-ERR syntax error"),
    ("SCAN x", "-ERR invalid cursor"),
    ("SET y 4 EX 0", "-ERR invalid expire time in 'set' command"),
    ("SCAN 0 COUNT 0", "-ERR syntax error"),
    ("SELECT 1", "-ERR DB index is out of range"),
    ("CLIENT SETNAME me", "+OK"),
    ("CLIENT GETNAME", "$2 me"),
    ("CLIENT ID", ":ID"),
    ("CLIENT KILL 127.0.0.1:1", "-ERR unknown subcommand 'KILL'. Try CLIENT HELP."),
    ("COMMAND COUNT", ":60"),
    ("CLIENT TRACKING ON", "-ERR unknown subcommand 'TRACKING'. Try CLIENT HELP."),
    ("CLIENT REPLY OFF", "-ERR unknown subcommand 'REPLY'. Try CLIENT HELP."),
    ("CONFIG SET save x", "-ERR unknown subcommand 'SET'. Try CONFIG HELP."),
    ("CONFIG GET appendfsync", "*2 $11 appendfsync $6 always"),
    (
        "AUTH x",
        "-ERR AUTH <password> called without any password configured for the default user. Are you sure your \
                configuration is correct?",
    ),
    (
        "HELLO 3 SETNAME you",
        "%7 $6 server $5 redis $7 version $6 7.0.15 $5 proto :3 $2 id :ID $4 mode $10 standalone $4 role $6 master \
                             $7 modules *0",
    ),
    ("MGET x none", "*2 _ _"),
    ("HELLO 4", "-NOPROTO unsupported protocol version"),
    ("RESET", "+RESET"),
    ("GET none", "$-1"),
    ("FLUSHALL ASYNC", "+OK"),
    ("QUIT", "+OK"),
    ("SET behind 1", ""),
];

/// The command as clients send it.
fn framed(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let word = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    format!("*{}\r\n{}", words.len(), words.iter().map(word).collect::<String>())
}

fn redis_server(folder: &Path, options: &[&str]) -> (Peer, u16) {
    let port = free_port();
    let (file, redis) =
        (format!("file={}", folder.join("store.redb").display()), format!("redis=127.0.0.1:{port}"));
    let program = key_value().to_str().expect("a plain path");
    let mut server = Peer::start(folder, program, &[&[&file, "store=", &redis], options].concat());
    assert_eq!(server.line(), "ready");
    (server, port)
}

#[test]
fn the_key_value_server_speaks_as_redis_does() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, port) = redis_server(folder.path(), &[]);
    let said: String = REDIS.iter().map(|(command, _)| framed(command)).collect();
    let expected: String = REDIS.iter().map(|(_, answer)| format!("{answer} ")).collect();
    // All at once; byte by byte; and as typed lines.
    let commands = REDIS.iter().map(|(command, _)| format!("{command}\r\n")).collect::<String>();
    for (number, (said, at_once)) in
        [(&said, usize::MAX), (&said, 1), (&commands, 40)].into_iter().enumerate()
    {
        let heard = heard(port, said.as_bytes(), at_once);
        // The client's number, which is another one each time.
        assert_eq!(heard.replace("\r\n", " ") + " ", expected.replace("ID", &(number + 1).to_string()));
    }
    assert_eq!(
        heard(port, b"GET behind\r\nQUIT\r\n", 100),
        "$-1\r\n+OK\r\n",
        "nothing behind QUIT is carried out"
    );
}

/// The answers until the connection is closed.
fn heard(port: u16, said: &[u8], at_once: usize) -> String {
    let mut client = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    client.set_nodelay(true).expect("it is a socket");
    for part in said.chunks(at_once.min(said.len())) {
        // It may have closed already.
        if client.write_all(part).is_err() {
            break;
        }
    }
    let mut heard = Vec::new();
    let _ = client.read_to_end(&mut heard);
    String::from_utf8_lossy(&heard).into_owned()
}

#[test]
fn a_web_page_says_nothing_to_the_key_value_server() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, port) = redis_server(folder.path(), &[]);
    let set = "SET pwned yes\r\n";
    // Nothing behind HTTP's first line is answered.
    for (head, expected) in [
        ("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", ""),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "-ERR wrong number of arguments for 'get' command\r\n"),
        ("MULTI\r\nSET pwned yes\r\nPOST / HTTP/1.1\r\n", "+OK\r\n+QUEUED\r\n"),
        ("*1\r\n$4\r\npost\r\n", ""),
    ] {
        for at_once in [1, 1000] {
            assert_eq!(heard(port, format!("{head}{set}").as_bytes(), at_once), expected, "{head:?}");
        }
    }
    assert_eq!(heard(port, b"EXISTS pwned\r\nQUIT\r\n", 100), ":0\r\n+OK\r\n");
}

#[test]
fn commands_may_be_long_and_those_that_are_too_long_end_nothing() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, port) = redis_server(folder.path(), &["request=6000000", "value=5000000"]);
    let mut many: Vec<String> = vec!["MSET".into()];
    many.extend((0..5000).flat_map(|number| [format!("key:{number}"), "x".repeat(900)]));
    let large = "y".repeat(4_900_000);
    let sent = [
        framed(&many.join(" ")),
        framed("DBSIZE"),
        framed(&format!("SET large {large}")),
        framed("STRLEN large"),
        framed(&format!("SET larger {large}y{large}")),
        framed(&format!("APPEND large {}", "z".repeat(200_000))),
        format!("*100001\r\n$3\r\nDEL\r\n{}", "$1\r\nx\r\n".repeat(100_000)),
        framed(&format!("SET larger {}", "x".repeat(5_000_001))),
        framed(&format!("MSET few 1 larger {}", "x".repeat(5_000_001))),
        framed("EXISTS large larger few"),
        framed("QUIT"),
    ];
    assert_eq!(
        heard(port, sent.concat().as_bytes(), 100_000).lines().collect::<Vec<_>>(),
        [
            "+OK",
            ":5000",
            "+OK",
            ":4900000",
            "-ERR a request has at most 6000000 bytes",
            "-ERR string exceeds maximum allowed size (proto-max-bulk-len)",
            ":0",
            "-ERR a value has at most 5000000 bytes",
            "-ERR a value has at most 5000000 bytes",
            ":1",
            "+OK",
        ]
    );
    let got = heard(port, format!("{}{}", framed("GET large"), framed("QUIT")).as_bytes(), 1000);
    assert!(got == format!("$4900000\r\n{large}\r\n+OK\r\n"));
    // A transaction that is too long isn't executed at all.
    let value = "x".repeat(1_000_000);
    let mut transaction = vec![framed("MULTI")];
    transaction.extend((0..8).map(|_| framed(&format!("SET new {value}"))));
    transaction.extend([framed("EXEC"), framed("EXISTS new"), framed("QUIT")]);
    let heard = heard(port, transaction.concat().as_bytes(), 100_000);
    assert!(heard.contains("-ERR a transaction has at most 6000000 bytes\r\n"), "{heard}");
    assert!(
        heard.ends_with("-EXECABORT Transaction discarded because of previous errors.\r\n:0\r\n+OK\r\n"),
        "{heard}"
    );
}

#[test]
fn all_keys_come_and_no_client_spoils_anothers_scan() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, port) = redis_server(folder.path(), &["requests=10000000", "bytes=1000000000"]);
    let mut sets = String::new();
    for begin in (0..30_000).step_by(1000) {
        let pairs: Vec<String> = (begin..begin + 1000).map(|number| format!("key:{number} x")).collect();
        sets += &framed(&format!("MSET {}", pairs.join(" ")));
    }
    let keys = heard(port, format!("{sets}{}{}", framed("KEYS *"), framed("QUIT")).as_bytes(), 100_000);
    assert_eq!((keys.matches("key:").count(), keys.contains("*30000\r\n")), (30_000, true));
    let begun = heard(port, format!("{}{}", framed("SCAN 0 COUNT 10"), framed("QUIT")).as_bytes(), 1000);
    let cursor = begun.lines().nth(2).expect("a cursor comes first").to_string();
    let others = framed("SCAN 0 COUNT 1").repeat(10_001) + &framed("QUIT");
    assert_eq!(heard(port, others.as_bytes(), 100_000).matches("*2\r\n").count(), 10_001);
    let rest = heard(
        port,
        format!("{}{}", framed(&format!("SCAN {cursor} COUNT 10")), framed("QUIT")).as_bytes(),
        1000,
    );
    assert!(rest.contains("\r\n*10\r\n"), "{rest}");
    assert!(
        rest.lines()
            .filter(|line| line.starts_with("key:"))
            .all(|key| !begun.contains(&format!("{key}\r\n")))
    );
}

#[test]
fn a_password_keeps_strangers_out_of_the_key_value_server() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let secret = folder.path().join("secret");
    fs::write(&secret, "open sesame\nwhat stands here doesn't count\n").expect("it is written");
    let (_server, port) = redis_server(folder.path(), &[&format!("password={}", secret.display())]);
    let said = "GET a\r\nAUTH wrong\r\nAUTH other 'open sesame'\r\nMULTI\r\nAUTH 'open sesame'\r\nGET a\r\n\
                RESET\r\nGET a\r\n\
                HELLO 2 AUTH default 'open sesame'\r\nGET a\r\nQUIT\r\n";
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    let stranger = "-NOAUTH Authentication required.";
    let heard_of = heard(port, said.as_bytes(), 1000);
    let lines: Vec<&str> = heard_of.lines().collect();
    assert_eq!(lines[..8], [stranger, wrong, wrong, stranger, "+OK", "$-1", "+RESET", stranger]);
    assert_eq!(lines[lines.len() - 2..], ["$-1", "+OK"]);
    for (said, why) in [
        ("*11\r\n", "unauthenticated multibulk length"),
        ("*2\r\n$4\r\nAUTH\r\n$20000\r\n", "unauthenticated bulk length"),
    ] {
        assert_eq!(heard(port, said.as_bytes(), 1000), format!("-ERR Protocol error: {why}\r\n"));
    }
}

#[test]
fn who_finds_no_seat_is_sent_away() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, port) = redis_server(folder.path(), &["clients=3"]);
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let ping = |mut client: &TcpStream| {
        client.write_all(b"PING\r\n").expect("it reads");
        let mut heard = [0; 7];
        client.read_exact(&mut heard).expect("it answers");
        assert_eq!(&heard, b"+PONG\r\n");
    };
    let clients = [connect(), connect(), connect()];
    clients.iter().for_each(ping);
    for _ in 0..3 {
        let mut heard = String::new();
        connect().read_to_string(&mut heard).expect("it answers, and closes");
        assert_eq!(heard, "-ERR max number of clients reached\r\n");
    }
    drop(clients);
    let is_free = || heard(port, b"PING\r\nQUIT\r\n", 100) == "+PONG\r\n+OK\r\n";
    assert!(
        (0..200).any(|_| is_free() || (sleep(Duration::from_millis(20)), false).1),
        "their seats are free again"
    );
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
    let (_server, port) = redis_server(folder.path(), &[]);
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
    let count: usize = redis_tool("redis-cli", port, &["dbsize"]).trim().parse().expect("a number");
    let keyspace = redis_tool("redis-cli", port, &["info", "keyspace"]).replace('\r', "");
    assert_eq!(keyspace.trim_end(), format!("# Keyspace\ndb0:keys={count},expires=0,avg_ttl=0"));
    let all = redis_tool("redis-cli", port, &["info"]);
    for begin in ["# Server", "redis_version:", "connected_clients:1", "role:master", "# Keyspace"] {
        assert!(all.lines().any(|line| line.starts_with(begin)), "{begin} in\n{all}");
    }
}

#[test]
fn what_the_protocol_of_redis_forbids_ends_the_client_alone() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (mut server, port) = redis_server(folder.path(), &[]);
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let mut honest = connect();
    let long = "x".repeat(70_000);
    for (said, why) in [
        ("*1\r\n+PING\r\n", "expected '$', got '+'"),
        ("*3000000000\r\n", "invalid multibulk length"),
        ("*+1\r\n", "invalid multibulk length"),
        ("*1H\r\n", "invalid multibulk length"),
        ("*1\r\n$99999999999999999999\r\n", "invalid bulk length"),
        ("*1\r\n$+4\r\nPING\r\n", "invalid bulk length"),
        ("*1\r\n$-1\r\n", "invalid bulk length"),
        ("*1\r\n$600000000\r\n", "invalid bulk length"),
        ("GET 'a\r\n", "unbalanced quotes in request"),
        (&long, "too big inline request"),
    ] {
        assert_eq!(heard(port, said.as_bytes(), 100_000), format!("-ERR Protocol error: {why}\r\n"));
    }
    assert_eq!(heard(port, b"*-1\r\n*0\r\n\r\necho \"a\\x41\\n\"\r\nquit\r\n", 100), "$3\r\naA\n\r\n+OK\r\n");
    // Some begin a command, and leave.
    drop((connect(), connect().write_all(b"*3\r\n$3\r\nSET\r\n$1000\r\nab")));
    honest.write_all(b"PING\r\n").expect("it reads");
    let mut heard = [0; 7];
    honest.read_exact(&mut heard).expect("it answers");
    assert_eq!((&heard, server.runs()), (b"+PONG\r\n", true));
}

/// `systems/tests/hostile.py` measures; here the servers need only survive.
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
    // A client with another authority's certificate is refused.
    certify(folder.path(), "client", &authority());
    assert_eq!(printed(&run()), "lost\n");
}
