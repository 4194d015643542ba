//! `drystone inspect` and `drystone rebind`: talks to a running program over its control socket.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::ops::AddAssign;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use drystone_language::check;
use drystone_language::source::SourceFile;
use serde_json::{Value, json};

use crate::arguments::{Inspect, Rebind};
use crate::output::{Status, WRONG, fail, say, write};
use crate::sources;

/// Sends the program a request and returns its answer.
pub fn ask(socket: &Path, request: &Value) -> Result<Value, Status> {
    ask_and_wait(socket, request, |_| {}, |_| None)
}

/// As [`ask`]. `waits` gets the reason if the program has to wait before it answers, and `help` is added to errors.
fn ask_and_wait(
    socket: &Path,
    request: &Value,
    waits: impl Fn(&str),
    help: impl Fn(&str) -> Option<String>,
) -> Result<Value, Status> {
    let is_socket = fs::metadata(socket).is_ok_and(|found| found.file_type().is_socket());
    let failed = |error: io::Error| {
        let socket = socket.display();
        match error.kind() {
            ErrorKind::NotFound => fail(format_args!("{socket}: there is no such socket")),
            ErrorKind::ConnectionRefused if !is_socket => fail(format_args!(
                "{socket}: this is no socket of a program: drystone run --control SOCKET makes one"
            )),
            // The socket is left over from a program that was killed.
            ErrorKind::ConnectionRefused => {
                fail(format_args!("{socket}: the program that ran with this socket has ended"))
            }
            _ => fail(format_args!("{socket}: {error}")),
        }
    };
    let mut stream = UnixStream::connect(socket).map_err(failed)?;
    writeln!(stream, "{request}").map_err(failed)?;
    let mut answers = BufReader::new(stream);
    loop {
        let mut line = String::new();
        answers.read_line(&mut line).map_err(failed)?;
        let answer: Value = serde_json::from_str(&line)
            .map_err(|_| fail(format_args!("{}: the program has ended", socket.display())))?;
        if let Some(why) = answer["error"].as_str() {
            let status = fail(why);
            let known = list(&answer["known"]).iter().filter_map(Value::as_str);
            let meant = check::similar(text(&answer["instead_of"]), known);
            if let Some(help) = meant.map(|meant| format!("did you mean {meant}?")).or_else(|| help(why)) {
                say(format_args!("  = help: {help}\n"));
            }
            return Err(status);
        }
        match answer["waits"].as_str() {
            Some(why) => waits(why),
            None => return Ok(answer),
        }
    }
}

/// Shows the program.
pub fn inspect(command: &Inspect) -> Result<(), Status> {
    let answer = ask(&command.socket, &json!({"inspect": command.most}))?;
    let text = if command.json { format!("{answer}\n") } else { shown(&answer) };
    write(None, &text)
}

/// Gives a connection another binding.
pub fn rebind(command: &Rebind) -> Result<(), Status> {
    let by = command.by.as_deref().map_or(Ok(String::new()), hints)?;
    let what = json!({
        "path": command.path,
        "interface": command.interface,
        "slot": command.slot,
        "name": command.name,
        "by": by,
        "within": command.timeout.saturating_mul(1000),
    });
    let waits = |why: &str| say(format_args!("waiting: {why}\n"));
    let name = &command.name;
    let help = |why: &str| {
        let mut words = command.by.as_deref().unwrap_or_default().split(|c: char| !c.is_alphanumeric());
        let factory = words.find_map(|word| check::instead_of_factory(word).filter(|_| why.contains(word)));
        let factory = factory.map(|meant| format!("did you mean {meant}?"));
        factory.or_else(|| why.contains(name.as_str()).then(|| check::instead_of_name(name))?)
    };
    ask_and_wait(&command.socket, &json!({"rebind": what}), waits, help).map(|_| ())
}

/// BY, as the runtime reads it.
fn hints(by: &str) -> Result<String, Status> {
    let hints = check::factories(by).map_err(|errors| {
        sources::show(&[SourceFile { path: "--by".into(), text: by.into() }], &errors);
        WRONG
    })?;
    Ok(String::from_utf8_lossy(&hints).into_owned())
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The program as lines for people.
fn shown(answer: &Value) -> String {
    let mut out = String::new();
    for component in list(&answer["components"]) {
        show_component(&mut out, component);
    }
    match answer["more"].as_u64() {
        None | Some(0) => {}
        Some(more) => _ = writeln!(out, "and {more} components more: inspect --most N shows them"),
    }
    for binding in list(&answer["bindings"]) {
        show_binding(&mut out, binding);
    }
    for monitor in list(&answer["monitors"]) {
        show_monitor(&mut out, monitor);
    }
    out
}

fn show_component(out: &mut String, component: &Value) {
    let place = prefixed(" AT ", &component["place"]);
    let ended = prefixed(", which has ended: ", &component["ended"]);
    let _ = writeln!(out, "{}: {}{place}{ended}", text(&component["path"]), text(&component["template"]));
    for offer in list(&component["offers"]) {
        let _ = writeln!(out, "    offers {} to {}", text(&offer["interface"]), offer["connections"]);
    }
    for connection in list(&component["requires"]) {
        let slot = connection["slot"].as_u64().map_or(String::new(), |slot| format!("[{slot}]"));
        let to = match text(&connection["to"]) {
            "" => "nothing",
            to => to,
        };
        let by = prefixed(" BY ", &connection["by"]);
        let interface = text(&connection["interface"]);
        if connection["inward"] == true {
            let _ = writeln!(out, "    passes {interface} on to {to}{by}");
            continue;
        }
        let talking = match (connection["lost"].as_str(), connection["open"] == true) {
            (Some(""), _) => ", lost".into(),
            (Some(why), _) => format!(", lost: {why}"),
            (None, true) => ", talking".into(),
            (None, false) => String::new(),
        };
        let _ = writeln!(out, "    requires {interface}{slot} of {to}{by}{talking}");
    }
    for doing in Doing::of(list(&component["processes"]), false) {
        let times = if doing.count == 1 { String::new() } else { format!(" {} times", doing.count) };
        let at = if doing.at.is_empty() { String::new() } else { format!(" at {}", doing.at) };
        let _ = writeln!(out, "    runs {}{times}: {}{at}", doing.runs, doing.waits());
    }
}

/// A group of processes that do the same.
pub struct Doing<'a> {
    /// An interface's name, or BEGIN.
    pub runs: &'a str,
    /// What they wait for; empty: they can run.
    waits: &'a str,
    /// The component that they wait for; empty: unknown, or not the same for all.
    whom: &'a str,
    /// Where.
    pub at: &'a str,
    /// How many there are.
    pub count: usize,
}

impl<'a> Doing<'a> {
    /// Groups processes by what they do; with `for_anyone`, whom they wait for makes no difference.
    pub fn of(processes: impl IntoIterator<Item = &'a Value>, for_anyone: bool) -> Vec<Doing<'a>> {
        let mut all = Vec::<Doing>::new();
        for process in processes {
            let [runs, waits, at, whom] = ["runs", "waits", "at", "whom"].map(|what| text(&process[what]));
            let is_alike = |known: &&mut Doing| {
                (known.runs, known.waits, known.at) == (runs, waits, at) && (for_anyone || known.whom == whom)
            };
            match all.iter_mut().find(is_alike) {
                Some(known) => {
                    known.count += 1;
                    known.whom = if known.whom == whom { whom } else { "" };
                }
                None => all.push(Doing { runs, waits, whom, at, count: 1 }),
            }
        }
        all
    }

    /// What they wait for, and whom.
    pub fn waits(&self) -> String {
        match (self.waits, self.whom) {
            ("", _) => "can run".into(),
            (what, "") => format!("waits {what}"),
            ("for a message", whom) => format!("waits for a message from {whom}"),
            (what, whom) => format!("waits {what} by {whom}"),
        }
    }
}

/// The text with a prefix, or nothing if there is no text.
fn prefixed(prefix: &str, value: &Value) -> String {
    match text(value) {
        "" => String::new(),
        text => format!("{prefix}{text}"),
    }
}

fn show_binding(out: &mut String, binding: &Value) {
    let what = if binding["export"] == true { "export" } else { "binding" };
    let (name, interface) = (text(&binding["name"]), text(&binding["interface"]));
    let (of, traffic) = (prefixed(" of ", &binding["component"]), Traffic::of(binding));
    let _ = writeln!(out, "{what} {name}, interface {interface}{of}: {}", traffic.communications());
    let _ = writeln!(out, "    {}", traffic.messages());
    if !text(&binding["why"]).is_empty() {
        let _ = writeln!(out, "    lost last: {}", text(&binding["why"]));
    }
}

/// What has gone through one binding or several, as this program counts it.
pub struct Traffic {
    /// Begun, open, lost.
    communications: [u64; 3],
    /// Messages and bytes.
    sent: [u64; 2],
    received: [u64; 2],
}

impl Traffic {
    /// As the program reports it.
    pub fn of(binding: &Value) -> Traffic {
        let number = |what: &str, of: &str| binding[what][of].as_u64().unwrap_or(0);
        let messages = |what: &str| ["messages", "bytes"].map(|of| number(what, of));
        Traffic {
            communications: ["begun", "open", "lost"].map(|of| number("communications", of)),
            sent: messages("sent"),
            received: messages("received"),
        }
    }

    /// How many communications there were and are.
    pub fn communications(&self) -> String {
        let [begun, open, lost] = self.communications;
        format!("{begun} communications, {open} open, {lost} lost")
    }

    /// What was sent and received by them.
    pub fn messages(&self) -> String {
        let [sent, received] =
            [self.sent, self.received].map(|[n, bytes]| format!("{n} messages ({bytes} bytes)"));
        format!("sent {sent}, received {received}")
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        let add = |sum: &mut u64, more: u64| *sum += more;
        self.communications.iter_mut().zip(other.communications).for_each(|(sum, more)| add(sum, more));
        self.sent.iter_mut().zip(other.sent).for_each(|(sum, more)| add(sum, more));
        self.received.iter_mut().zip(other.received).for_each(|(sum, more)| add(sum, more));
    }
}

fn show_monitor(out: &mut String, monitor: &Value) {
    let _ = writeln!(out, "monitor {}, interface {}", text(&monitor["name"]), text(&monitor["interface"]));
    for message in list(&monitor["messages"]) {
        let _ = writeln!(out, "    {}: {}", text(&message["name"]), message["count"]);
    }
    // Each class counts answers that took twice as long as those of the class before.
    for answers in list(&monitor["answers"]) {
        let limit = answers["less_than_nanoseconds"].as_u64().unwrap_or(0);
        let _ = writeln!(out, "    answered in {} to {}: {}", time(limit / 2), time(limit), answers["count"]);
    }
}

/// Nanoseconds in the unit that fits.
fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1000 => format!("{nanoseconds} ns"),
        1000..1_000_000 => format!("{} us", nanoseconds / 1000),
        1_000_000..1_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        _ => format!("{} s", nanoseconds / 1_000_000_000),
    }
}
