//! `IMPLEMENTATION {HANDLER}`: as a handler a service does the same as in a process. Its bodies are generated, and run
//! both ways with the same requests.

use std::cell::Cell;
use std::fmt::Write;
use std::io::{BufRead, BufReader, Lines, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{ChildStdout, Command};
use std::sync::atomic::Ordering;
use std::time::Duration;

use drystone_extension::bytecode::Slot;
use drystone_extension::composite::shared;
use drystone_extension::handler::{Ended, Frame, Handler, Image, Settings, Verdict};
use drystone_handlers::Xdp;
use drystone_language::check::{Options, check};
use drystone_language::source::SourceFile;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::objects::datagram;
use crate::peer::Running;
use crate::space::Space;
use crate::{complaint, drystone, folder_with, printed};
use drystone_golden::free_port;

/// A request: `Do`, or `Tell`, which has no answer.
#[derive(Clone, Copy, Debug)]
enum Request {
    Do(i64, i64, u8),
    Tell(i64, bool),
}

/// The reply.
type Reply = Option<(i64, bool, u8)>;

const HEAD: &str = "INTERFACE Work;
  { IN Do(a: INTEGER; b: INTEGER; c: CHARACTER) OUT Done(x: INTEGER; t: BOOLEAN; c: CHARACTER) \
    | IN Tell(a: INTEGER; t: BOOLEAN) }
END Work;

COMPONENT Server OFFERS Work;
  VARIABLE k, l: INTEGER; even: BOOLEAN; last: CHARACTER;

  IMPLEMENTATION {HANDLER} Work;
    VARIABLE a, b, x, i, j: INTEGER; c: CHARACTER; t: BOOLEAN;
  BEGIN
    WHILE ~ ?FINISH DO
      a := 0; b := 0; x := 0; i := 0; j := 0; c := 0X; t := FALSE;
";

fn number() -> impl Strategy<Value = i64> {
    let usual = prop_oneof![-5i64..20, -3000i64..3000];
    prop_oneof![8 => usual, 1 => Just(i64::MAX - 3), 1 => Just(i64::MIN + 4)]
}

fn integers() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => prop::sample::select(vec!["k", "l", "a", "b", "x", "i"]).prop_map(String::from),
        // What is known when it is compiled is refused if it is wrong.
        1 => (0i64..100).prop_map(|it| format!("({it} + j)")),
        1 => Just("INTEGER(c)".to_string()),
        1 => Just("INTEGER(last)".to_string()),
        1 => Just("INTEGER(t)".to_string()),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        (inner.clone(), inner, 0..15).prop_map(|(a, b, what)| match what {
            0 | 1 => format!("({a} + {b})"),
            2 | 3 => format!("({a} - {b})"),
            // Of large products the handler leaves even those to its process that don't overflow.
            4 => format!("({a} MOD 30000) * ({b} MOD 30000)"),
            5 => format!("({a} DIV {b})"),
            6 => format!("({a} MOD {b})"),
            7 => format!("MIN({a}, {b})"),
            9 => format!("BITAND({a}, BITNOT({b}))"),
            10 => format!("BITXOR({a}, BITOR({b}, 5))"),
            11 => format!("SHIFT({a}, {b})"),
            12 => format!("SHIFT({a}, -3) - SHIFT({b}, -63)"),
            13 => format!("ROTATE({a}, {b})"),
            14 => format!("ADDWRAP(MULWRAP({a}, {b}), SUBWRAP({b}, {a}))"),
            _ => format!("MAX(-{a}, {b})"),
        })
    })
}

fn conditions() -> impl Strategy<Value = String> {
    let comparison = prop::sample::select(vec!["=", "#", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        4 => (integers(), comparison, integers()).prop_map(|(a, how, b)| format!("({a} {how} {b})")),
        1 => prop::sample::select(vec!["t", "even", "(c < last)", "(c = 41X)"]).prop_map(String::from),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        (inner.clone(), inner, 0..3).prop_map(|(a, b, what)| match what {
            0 => format!("({a} AND {b})"),
            1 => format!("({a} OR {b})"),
            _ => format!("~{a}"),
        })
    })
}

fn statements() -> impl Strategy<Value = String> {
    let integer = prop::sample::select(vec!["k", "l", "x", "a"]);
    let leaf = prop_oneof![
        5 => (integer, integers()).prop_map(|(to, value)| format!("{to} := {value}")),
        1 => integers().prop_map(|by| format!("INC(k, {by})")),
        1 => integers().prop_map(|by| format!("DEC(x, {by})")),
        1 => conditions().prop_map(|is| format!("t := {is}")),
        1 => conditions().prop_map(|is| format!("even := {is}")),
        1 => integers().prop_map(|it| format!("last := CHARACTER(({it}) MOD 256)")),
        1 => integers().prop_map(|it| format!("c := CHARACTER({it})")),
        1 => conditions().prop_map(|is| format!("ASSERT({is} OR (a < 1000))")),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}; {b}")),
            (conditions(), inner.clone(), inner.clone())
                .prop_map(|(is, a, b)| format!("IF {is} THEN {a} ELSE {b} END")),
            (-3i64..6, -2i64..4, inner.clone()).prop_map(|(to, by, a)| {
                let by = if by == 0 { 1 } else { by };
                // A loop within would change the variable, perhaps for ever.
                match a.contains("FOR i") {
                    true => a,
                    false => format!("FOR i := 1 TO {to} BY {by} DO {a} END"),
                }
            }),
            (integers(), inner.clone(), inner.clone())
                .prop_map(|(it, a, b)| format!("CASE ({it}) MOD 7 OF 0, 2..3: {a} | 5: {b} ELSE INC(x) END")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("CASE c OF \"a\"..\"z\", 0X: {a} | 80X..0FFX: {b} ELSE END")),
            (conditions(), inner.clone()).prop_map(|(is, a)| format!("CASE {is} OF TRUE: {a} | FALSE: END")),
            inner.prop_map(|a| format!("j := 0; WHILE j < 3 DO j := j + 1; {a} END")),
        ]
    })
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let one = prop_oneof![
        3 => (number(), number(), any::<u8>()).prop_map(|(a, b, c)| Request::Do(a, b, c)),
        1 => (number(), any::<bool>()).prop_map(|(a, t)| Request::Tell(a, t)),
    ];
    prop::collection::vec(one, 1..12)
}

fn program((asked, told): (&str, &str), requests: &[Request]) -> String {
    let mut text = HEAD.to_string();
    // The variables of branches take words of their own.
    let loops = asked.matches("FOR").count() + told.matches("FOR").count();
    let is_case = asked != told && (asked.len() + told.len()) % 2 == 0 && loops < 4;
    let receive = match is_case {
        true => ["CASE ? OF Do(a, b, c):", "| Tell(a, t):"],
        false => ["IF ?Do THEN ?Do(a, b, c);", "ELSE ?Tell(a, t);"],
    };
    let _ = write!(
        text,
        "      {} BEGIN {{EXCLUSIVE}} {asked} END; !Done(x, t, c)
      {} BEGIN {{EXCLUSIVE}} {told} END END
    END
  END Work;
END Server;

COMPONENT Main;
  VARIABLE s: Server; x: INTEGER; t: BOOLEAN; c: CHARACTER;
BEGIN
  NEW(s);
",
        receive[0], receive[1]
    );
    for request in requests {
        let line = match request {
            Request::Do(a, b, c) => format!(
                "  s!Do({a}, {b}, CHARACTER({c})); s?Done(x, t, c);\n  WRITE(x); WRITE(\" \"); WRITE(t); \
                 WRITE(\" \"); WRITE(INTEGER(c)); WRITELINE;\n"
            ),
            Request::Tell(a, t) => format!("  s!Tell({a}, {});\n", if *t { "TRUE" } else { "FALSE" }),
        };
        text += &line;
    }
    text + "END Main;\n"
}

/// The replies of the service as a process, and whether it failed behind them. `None`: its expressions are too deep for
/// a handler.
fn by_process(text: &str) -> Option<(Vec<Reply>, bool)> {
    let folder = folder_with(text);
    let output = drystone(folder.path(), &["run", "program.dry"]);
    let lines = String::from_utf8_lossy(&output.stdout);
    let reply = |line: &str| {
        let parts: Vec<&str> = line.split(' ').collect();
        Some((parts[0].parse().expect("a number"), parts[1] == "TRUE", parts[2].parse().expect("a number")))
    };
    if complaint(&output).contains("too deep for a handler") {
        return None;
    }
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(1), "{text}\n{}", complaint(&output));
    }
    Some((lines.lines().map(reply).collect(), !output.status.success()))
}

/// The same at 10.0.0.2, port 7000.
struct Responder {
    engine: Engine,
    form: [u8; 4],
}

/// What runs a handler.
enum Engine {
    Own(Box<Handler>),
    Linux(Xdp),
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Compiled,
    Interpreted,
    InLinux,
}

impl Engine {
    /// None where Linux can't.
    fn new(image: &Image, way: Way) -> Option<Engine> {
        let place = [10, 0, 0, 2, 0x1b, 0x58, 0, 0];
        if let Way::InLinux = way {
            let xdp = match Xdp::load(image) {
                Err(why) if why.contains("it takes root") => return None,
                loaded => loaded.unwrap_or_else(|why| panic!("{why}")),
            };
            let words = xdp.table("service").expect("it is there").words().expect("it can be mapped");
            words[shared::PLACE].store(u64::from_le_bytes(place), Ordering::Relaxed);
            return Some(Engine::Linux(xdp));
        }
        let settings =
            Settings { interpreted: matches!(way, Way::Interpreted), key: 7, ..Settings::default() };
        let mut handler = Handler::of(image, settings).unwrap_or_else(|why| panic!("{why}"));
        let words = handler.table("service").and_then(|table| table.get(&[0; 4])).expect("it is there");
        words[8 * shared::PLACE..][..8].copy_from_slice(&place);
        Some(Engine::Own(Box::new(handler)))
    }

    fn arrives(&mut self, message: &[u8]) -> (Verdict, Vec<u8>) {
        match self {
            Engine::Own(handler) => {
                let mut buffer = [&[0; 256], message, &[0; 256]].concat();
                let mut frame = Frame::new(&mut buffer, 256, 256 + message.len());
                match handler.run(&mut frame, (1, 0), 5) {
                    Ended::With(verdict) => (verdict, frame.bytes().to_vec()),
                    stopped => panic!("{stopped:?}"),
                }
            }
            Engine::Linux(xdp) => {
                let (verdict, message, _) = xdp.run(message, 1).expect("it runs");
                (verdict, message)
            }
        }
    }
}

impl Responder {
    fn new(text: &str, way: Way) -> Option<Responder> {
        let files = [SourceFile { path: "program.dry".into(), text: text.into() }];
        let program = check(&files, Options::default()).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        let [made] = &drystone_compiler::handlers(&program)[..] else { panic!("there is one") };
        let slots: Vec<Slot> = made.code.as_chunks().0.iter().map(|bytes| Slot::read(*bytes)).collect();
        let image = Image::of_responder(&made.interface, slots, made.kept);
        let engine = Engine::new(&image, way)?;
        let interface =
            program.interfaces.iter().position(|it| it.name == made.interface).expect("it is there");
        let identity = program.identity(drystone_language::program::InterfaceId(interface as u32));
        let form = drystone_component::Fingerprint::of(&identity).head().to_be_bytes();
        Some(Responder { engine, form })
    }

    /// The handler's reply; `None`: it leaves the request to the process.
    fn ask(&mut self, request: Request) -> Option<Reply> {
        let mut data = self.form.to_vec();
        data.extend(77u32.to_be_bytes());
        match request {
            Request::Do(a, b, c) => {
                data.extend(0u32.to_be_bytes());
                data.extend(a.to_be_bytes());
                data.extend(b.to_be_bytes());
                data.extend(u32::from(c).to_be_bytes());
            }
            Request::Tell(a, t) => {
                data.extend(2u32.to_be_bytes());
                data.extend(a.to_be_bytes());
                data.extend(u32::from(t).to_be_bytes());
            }
        }
        let message = datagram(7000, &data);
        let (verdict, frame) = self.engine.arrives(&message);
        match verdict {
            Verdict::Drop => Some(None),
            Verdict::Transmit => {
                let bytes = &frame[42..];
                assert_eq!(bytes[..4], self.form);
                assert_eq!(bytes[4..12], [0, 0, 0, 77, 0, 0, 0, 1]);
                let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("a word"));
                let x = i64::from_be_bytes(bytes[12..20].try_into().expect("a number"));
                Some(Some((x, word(20) == 1, word(24) as u8)))
            }
            Verdict::Pass => None,
            other => panic!("{other:?}"),
        }
    }
}

/// The first line of `drystone describe --udp`: the interface's name, and the first bytes of its datagrams.
fn form_of(described: &str) -> [u8; 4] {
    let (_, form) = described.lines().next().and_then(|line| line.split_once(" 0x")).expect(described);
    u32::from_str_radix(form, 16).expect("a number").to_be_bytes()
}

/// `systems/Counter.dry` in a network namespace, asked from another one.
struct Counter {
    program: Running,
    output: Option<Lines<BufReader<ChildStdout>>>,
    socket: UdpSocket,
    form: [u8; 4],
}

const ADD: u32 = 0;
const RESET: u32 = 2;

impl Counter {
    /// With a handler, if an interface is given.
    fn new(space: &Space, interface: Option<&str>) -> Counter {
        let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems");
        let name = format!("udp://{}:7000/", space.there);
        let arguments: Vec<&str> = [name.as_str()].into_iter().chain(interface).collect();
        Counter::of(space, (&systems, "Counter.dry"), &arguments)
    }

    /// A program with the same interface.
    fn of(space: &Space, (folder, file): (&Path, &str), arguments: &[&str]) -> Counter {
        let mut command = space.drystone();
        command.args(["run", file]).args(arguments).current_dir(folder);
        let mut program = Running::of(&mut command);
        let mut output = BufReader::new(program.stdout.take().expect("it is piped")).lines();
        assert_eq!(output.next().expect("it says so").expect("it is text"), "ready");
        let described = drystone(folder, &["describe", "--udp", file, "Counting"]);
        let socket = UdpSocket::bind((space.here, 0)).expect("it has that address");
        socket.connect((space.there, 7000)).expect("there is a way");
        socket.set_read_timeout(Some(Duration::from_secs(2))).expect("it can be");
        Counter { program, output: Some(output), socket, form: form_of(&printed(&described)) }
    }

    fn send(&self, message: u32, parameters: &[u8]) {
        let head = [self.form, 77u32.to_be_bytes(), message.to_be_bytes()].concat();
        self.socket.send(&[&head, parameters].concat()).expect("there is a way");
    }

    /// The answer, if one comes.
    fn add(&self, number: i64) -> Option<i64> {
        self.send(ADD, &number.to_be_bytes());
        let mut answer = [0; 64];
        let length = self.socket.recv(&mut answer).ok()?;
        assert_eq!(
            (length, &answer[..4], &answer[4..12]),
            (20, &self.form[..], &[0, 0, 0, 77, 0, 0, 0, 1][..])
        );
        Some(i64::from_be_bytes(answer[12..20].try_into().expect("a number")))
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.program);
        rustix::process::kill_process(pid, signal).expect("it is there");
    }
}

#[test]
fn a_handler_answers_while_its_program_sleeps() {
    use rustix::process::Signal;
    let Some(space) = Space::new("handled-counter") else { return };
    let mut counter = Counter::new(&space, Some(&space.far));
    counter.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(100));
    if counter.add(5).is_none() {
        counter.signal(Signal::CONT);
        let _ = counter.program.kill();
        let mut why = String::new();
        let errors = counter.program.stderr.as_mut().expect("it is piped");
        errors.read_to_string(&mut why).expect("it is text");
        assert!(why.contains("its process answers all"), "{why}");
        return println!("skipped: handled-counter: {why}");
    }
    assert_eq!([counter.add(7), counter.add(-2)], [Some(12), Some(10)]);
    counter.send(RESET, &[]);
    assert_eq!([counter.add(i64::MAX), counter.add(-1)], [Some(i64::MAX), Some(i64::MAX - 1)]);
    // An overflow is left to the process, which fails.
    assert_eq!(counter.add(2), None);
    counter.signal(Signal::CONT);
    let output = counter.program.output();
    let complaint = complaint(&output);
    assert!(complaint.contains("overflow") && complaint.contains("Counter.host"), "{complaint}");
}

#[test]
fn the_books_client_in_c_is_answered() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/bindings-udp.md"));
    let page = page.expect("the page is there");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).expect("it is there");
        rest.split_once("```").expect("it ends").0.to_string()
    };
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems");
    let described = drystone(&systems, &["describe", "--udp", "Counter.dry", "Counting"]);
    assert_eq!(printed(&described), block("text"));

    let (port, folder) = (free_port().to_string(), tempfile::tempdir().expect("there is room"));
    std::fs::write(folder.path().join("client.c"), block("c").replace("7000", &port)).expect("there is room");
    let compiled =
        Command::new("cc").args(["-Wall", "-o", "client", "client.c"]).current_dir(folder.path()).status();
    assert!(compiled.expect("there is a compiler").success());
    let mut program = Running::start(&systems, &["run", "Counter.dry", &format!("udp://127.0.0.1:{port}/")]);
    let output = program.stdout.take().expect("it is piped");
    assert!(BufReader::new(output).lines().next().is_some());
    for sum in ["5\n", "10\n"] {
        let asked = Command::new(folder.path().join("client")).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&asked.stdout), sum);
    }
}

/// A parallel program with locks, barriers and votes: by a process, and by a handler in Linux.
#[test]
fn programs_meet_at_a_handler() {
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems");
    let Some(space) = Space::new("handled-meeting") else { return };
    for interface in [None, Some(&space.far)] {
        let name = format!("udp://{}:7000/", space.there);
        let mut command = space.drystone();
        command.args(["run", "Meeting.dry", "serve", &name]).args(interface).current_dir(&systems);
        let mut place = Running::of(&mut command);
        let output = place.stdout.take().expect("it is piped");
        assert!(BufReader::new(output).lines().next().is_some());
        let workers = [(); 3].map(|()| Running::start(&systems, &["run", "Meeting.dry", "work", &name, "3"]));
        for worker in workers {
            let output = worker.output();
            assert_eq!(printed(&output), "9592 primes, 72 at most between two\n", "{}", complaint(&output));
        }
    }
}

/// A program whose processes and handler change the sum at the same time.
const BOTH: &str = "
INTERFACE Counting;
  { IN Add(n: INTEGER) OUT Sum(n: INTEGER) | IN Reset }
END Counting;

COMPONENT Host OFFERS Counting;
  VARIABLE total: INTEGER;
  IMPLEMENTATION {HANDLER} Counting;
    VARIABLE n, sum, i: INTEGER;
  BEGIN
    WHILE ?ANY DO
      IF ?Add THEN
        ?Add(n);
        BEGIN {EXCLUSIVE} FOR i := 1 TO 50 DO total := total + n; sum := total END END;
        !Sum(sum)
      ELSE
        ?Reset
      END
    END
  END Counting;
END Host;

COMPONENT Main;
  VARIABLE host: Host; i, sum: INTEGER;
BEGIN
  NEW(host); EXPORT(Counting(host), \"NAME\") BY Udp(open: TRUE, on: \"DEVICE\");
  WRITE(\"ready\"); WRITELINE;
  FOR i := 1 TO 200000 DO host!Add(1); host?Sum(sum) END;
  WRITE(\"done\"); WRITELINE;
  PASSIVATE(600000)
END Main;
";

#[test]
fn a_handler_and_its_processes_change_the_same() {
    let Some(space) = Space::new("handled-both") else { return };
    let name = format!("udp://{}:7000/", space.there);
    let folder = folder_with(&BOTH.replace("NAME", &name).replace("DEVICE", &space.far));
    let mut counter = Counter::of(&space, (folder.path(), "program.dry"), &[]);
    let mut output = counter.output.take().expect("it is there");
    let others = std::thread::spawn(move || output.next().expect("it says so").expect("it is text"));
    // Whether a lost datagram was added is unknown.
    let (mut mine, mut lost) = (0, 0);
    while !others.is_finished() || mine < 1000 {
        match counter.add(1) {
            Some(_) => mine += 1,
            None => lost += 1,
        }
        assert!(lost < 5, "{lost} requests were not answered, {mine} were");
    }
    assert_eq!(others.join().expect("it has added all"), "done");
    let sum = (0..5).find_map(|_| counter.add(0)).expect("it answers");
    let least = 50 * (200_000 + mine);
    assert!(
        (least..=least + 50 * lost).contains(&sum) && sum % 50 == 0,
        "{sum} of {mine} answered, {lost} lost"
    );
}

#[test]
fn a_process_answers_where_there_is_no_handler() {
    let Some(space) = Space::new("handled-process") else { return };
    for interface in [None, Some("nowhere0")] {
        let counter = Counter::new(&space, interface);
        assert_eq!([counter.add(5), counter.add(-7)], [Some(5), Some(-2)]);
        // Pending requests are executed in any order.
        counter.send(RESET, &[]);
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(counter.add(1), Some(1));
    }
}

/// It has little room, and constants take none.
#[test]
fn a_handler_may_have_many_answers() {
    let answers = |number: i64| format!("IF a = {number} THEN !Done({number}, TRUE, 41X); RETURN END");
    let all: Vec<String> = (0..100).map(answers).collect();
    let body = format!("?Do(a, b, c); {}; !Done(x, t, c)", all.join("; "));
    let text = program(("x := 0", "x := 0"), &[]);
    let (before, rest) = text.split_once("?Do(a, b, c);").expect("it is there");
    let (_, behind) = rest.split_once("!Done(x, t, c)").expect("it is there");
    let text = [before, &body, behind].concat();
    for way in [Way::Compiled, Way::Interpreted] {
        let mut responder = Responder::new(&text, way).expect("it takes no rights");
        for number in [0, 57, 99] {
            let asked = responder.ask(Request::Do(number, 0, 0));
            assert_eq!(asked, Some(Some((number, true, 0x41))));
        }
    }
}

#[test]
fn a_handler_does_what_its_service_does_as_a_process() {
    // The same ones each time, unless more are asked for.
    let asked = std::env::var("DRYSTONE_CASES").ok().and_then(|it| it.parse().ok());
    let cases = asked.unwrap_or(60);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = match asked {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let failed = Cell::new(0);
    let given = (statements(), statements(), requests());
    runner
        .run(&given, |(asked, told, requests)| {
            let text = program((&asked, &told), &requests);
            let Some((replies, fails)) = by_process(&text) else {
                return Err(TestCaseError::reject("too deep"));
            };
            failed.set(failed.get() + u32::from(fails));
            for way in [Way::Compiled, Way::Interpreted, Way::InLinux] {
                let Some(mut responder) = Responder::new(&text, way) else {
                    println!("skipped: handled-linux: it takes root");
                    continue;
                };
                let mut expected = replies.iter();
                let mut left = false;
                for request in &requests {
                    match responder.ask(*request) {
                        Some(None) => {}
                        Some(reply) => prop_assert_eq!(Some(&reply), expected.next(), "{:?}: {}", way, &text),
                        None => {
                            left = true;
                            break;
                        }
                    }
                }
                prop_assert_eq!((left, expected.next()), (fails, None), "{:?}: {}", way, &text);
            }
            Ok(())
        })
        .unwrap_or_else(|why| panic!("{why}"));
    let failed = failed.get();
    assert!(failed > 0 && failed < cases, "{failed} of {cases} fail: no more than some should");
}
