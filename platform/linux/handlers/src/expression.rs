//! Compiles expressions of libpcap to classic BPF, by running tcpdump.

use std::fmt::Write;
use std::io::ErrorKind;
use std::process::Command;

use drystone_extension::demux::Instruction;

/// Compiles an expression, for Ethernet frames.
///
/// # Errors
/// tcpdump isn't installed, or libpcap refuses the expression, and why.
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

/// tcpdump's error: the last line, behind its name.
fn complaint(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let last = said.lines().rev().find(|line| !line.is_empty()).unwrap_or("it doesn't say why");
    last.strip_prefix("tcpdump: ").unwrap_or(last).to_string()
}

/// The text of a program, as `tcpdump -ddd` writes it: the number of instructions, and in a line each, code, jt, jf and
/// k.
pub(crate) fn written(program: &[Instruction]) -> String {
    let mut text = format!("{}\n", program.len());
    for Instruction { code, jt, jf, k } in program {
        // A text has always room.
        let _ = writeln!(text, "{code} {jt} {jf} {k}");
    }
    text
}

/// Reads the text of a program; `None` if it is something else.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let program = read("2\n40 0 0 12\n6 0 0 4294967295\n").expect("it is a program");
        assert_eq!(program[1], Instruction { code: 6, jt: 0, jf: 0, k: u32::MAX });
        assert_eq!(read(&written(&program)), Some(program));
        for wrong in ["", "x", "1\n", "1\n40 0 0", "1\n40 0 0 12 0", "1\n40 0 256 12", "2\n40 0 0 12", "-1\n"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_reason_is_the_last_that_tcpdump_says() {
        let said =
            b"tcpdump: warning: something else\ntcpdump: can't parse filter expression: syntax error\n";
        assert_eq!(complaint(said), "can't parse filter expression: syntax error");
        assert_eq!(complaint(b""), "it doesn't say why");
    }
}
