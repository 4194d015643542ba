//! Expressions of libpcap, compiled when they are wanted: tcpdump has libpcap make a program of classic BPF of them.

use std::fmt::Write;
use std::io::ErrorKind;
use std::process::Command;

use drystone_extension::demux::Instruction;

/// What libpcap makes of an expression, for frames of Ethernet.
///
/// # Errors
/// There is no tcpdump, or libpcap has told why it refuses the expression; for people.
pub(crate) fn compile(expression: &str) -> Result<Vec<Instruction>, String> {
    let mut command = Command::new("tcpdump");
    let output = command.args(["-y", "EN10MB", "-ddd", "--", expression]).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            "there is no tcpdump here, which expressions take: install the package tcpdump".into()
        }
        _ => format!("tcpdump can't be run: {error}"),
    })?;
    if !output.status.success() {
        return Err(format!("libpcap refuses `{expression}`: {}", complaint(&output.stderr)));
    }
    read(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| format!("tcpdump makes no program of `{expression}`"))
}

/// What tcpdump complains of: the last line, after its name.
fn complaint(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let last = said.lines().rev().find(|line| !line.is_empty()).unwrap_or("it doesn't say why");
    last.strip_prefix("tcpdump: ").unwrap_or(last).to_string()
}

/// A program as `tcpdump -ddd` writes it: the number of its instructions, and in a line each, code, jt, jf and k.
pub(crate) fn written(program: &[Instruction]) -> String {
    let mut text = format!("{}\n", program.len());
    for Instruction { code, jt, jf, k } in program {
        // A text has always room.
        let _ = writeln!(text, "{code} {jt} {jf} {k}");
    }
    text
}

/// What was written so; none if it is something else.
pub(crate) fn read(text: &str) -> Option<Vec<Instruction>> {
    let mut lines = text.lines();
    let count: usize = lines.next()?.trim().parse().ok()?;
    let program: Vec<Instruction> = lines.map(instruction).collect::<Option<_>>()?;
    (program.len() == count).then_some(program)
}

fn instruction(line: &str) -> Option<Instruction> {
    let mut words = line.split_whitespace();
    let instruction = Instruction {
        code: words.next()?.parse().ok()?,
        jt: words.next()?.parse().ok()?,
        jf: words.next()?.parse().ok()?,
        k: words.next()?.parse().ok()?,
    };
    words.next().is_none().then_some(instruction)
}
