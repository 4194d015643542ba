//! Describes the machine of the measurements.

use std::fs;
use std::process::Command;

use crate::age;
use crate::execute::processors;

/// Lines for a page: the machine, the system, the languages.
pub fn description() -> String {
    let memory =
        field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let memory = memory.map_or("?".into(), |kilobytes| format!("{:.0}", kilobytes / f64::from(1 << 20)));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{}* Machine: {}, {} processors, {memory} GiB{}\n* System: Linux {}\n* Drystone {}, compiled by {}\n* {}\n",
        age::commit(),
        field("/proc/cpuinfo", "model name").unwrap_or("unknown".into()),
        processors(),
        if field("/proc/cpuinfo", "flags").is_some_and(|flags| flags.contains(" hypervisor")) {
            ", virtual"
        } else {
            ""
        },
        kernel.trim(),
        env!("CARGO_PKG_VERSION"),
        version("rustc", "--version"),
        version("go", "version"),
    )
}

/// The first value of that name in a file of `name : value` lines.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// A command's version.
fn version(command: &str, argument: &str) -> String {
    let output = Command::new(command).arg(argument).output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    text.unwrap_or_else(|| format!("no {command}"))
}
