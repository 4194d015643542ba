//! `drystone inspect` and `drystone rebind`: talks to a running program over its control socket.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::arguments::{Inspect, Rebind};
use crate::{Status, fail, write};

/// Asks the program; what it answers.
fn ask(socket: &Path, request: &Value) -> Result<Value, Status> {
    let failed = |error: std::io::Error| fail(format_args!("{}: {error}", socket.display()));
    let mut stream = UnixStream::connect(socket).map_err(failed)?;
    writeln!(stream, "{request}").map_err(failed)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).map_err(failed)?;
    let answer: Value = serde_json::from_str(&line)
        .map_err(|_| fail(format_args!("{}: the program has ended", socket.display())))?;
    match answer["error"].as_str() {
        Some(why) => Err(fail(why)),
        None => Ok(answer),
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
    let by: String = command.by.iter().map(|factory| format!("{};0;", factory.trim())).collect();
    let what = json!({
        "path": command.path,
        "interface": command.interface,
        "slot": command.slot,
        "name": command.name,
        "by": by,
    });
    ask(&command.socket, &json!({"rebind": what})).map(|_| ())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
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
    let _ = writeln!(out, "{}: {}", text(&component["path"]), text(&component["template"]));
    for offer in list(&component["offers"]) {
        let _ = writeln!(out, "    offers {} to {}", text(&offer[0]), offer[1]);
    }
    for connection in list(&component["requires"]) {
        let slot = connection["slot"].as_u64().map_or(String::new(), |slot| format!("[{slot}]"));
        let to = match text(&connection["to"]) {
            "" => "nothing",
            to => to,
        };
        let open = if connection["open"] == true { ", talking" } else { "" };
        let _ = writeln!(out, "    requires {}{slot} of {to}{open}", text(&connection["interface"]));
    }
    for process in list(&component["processes"]) {
        let (waits, at) = (text(&process["waits"]), text(&process["at"]));
        let waits = if waits.is_empty() { String::from("can run") } else { format!("waits {waits}") };
        let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
        let _ = writeln!(out, "    runs {}: {waits}{at}", text(&process["runs"]));
    }
}

fn show_binding(out: &mut String, binding: &Value) {
    let what = if binding["export"] == true { "export" } else { "binding" };
    let (name, interface) = (text(&binding["name"]), text(&binding["interface"]));
    let [begun, open, lost] = [0, 1, 2].map(|index| &binding["communications"][index]);
    let (sent, received) = (&binding["sent"], &binding["received"]);
    let _ = writeln!(
        out,
        "{what} {name}, interface {interface}: {begun} communications, {open} open, {lost} lost"
    );
    let _ = writeln!(
        out,
        "    {} messages to it with {} bytes, {} from it with {}",
        sent[0], sent[1], received[0], received[1]
    );
}

fn show_monitor(out: &mut String, monitor: &Value) {
    let _ = writeln!(out, "monitor {}, interface {}", text(&monitor["name"]), text(&monitor["interface"]));
    for message in list(&monitor["messages"]) {
        let _ = writeln!(out, "    {}: {}", text(&message[0]), message[1]);
    }
    let times = list(&monitor["nanoseconds"]).iter().map(|count| count.as_u64().unwrap_or(0));
    for (power, count) in times.enumerate().filter(|(_, count)| *count > 0) {
        let _ = writeln!(out, "    answered in less than {}: {count}", time(1u64 << power));
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
