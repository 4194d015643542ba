//! Handlers that stay attached in Linux: shown, counted, detached.

use std::thread::sleep;
use std::time::Duration;

use drystone_handlers::{Pinned, bpf};

use crate::output::tell;

/// Shows all attached handlers.
pub fn list() -> Result<(), String> {
    let all = Pinned::all().map_err(|error| format!("what is attached can't be seen: {error}"))?;
    if all.is_empty() {
        tell("no handler stays attached");
    }
    for name in all {
        match Pinned::open(&name) {
            Ok(pinned) => tell(format_args!("{name}: at {}, for {}", place(&pinned), pinned.wanted())),
            Err(why) => tell(why),
        }
    }
    Ok(())
}

fn place(pinned: &Pinned) -> String {
    match (pinned.interface(), pinned.interface_here()) {
        (None, _) => "an interface that has gone".to_string(),
        (Some(number), None) => format!("interface {number} of another network namespace"),
        (Some(_), Some(here)) => here,
    }
}

/// Counts a handler's runs for a while.
pub fn statistics(name: &str, seconds: u64) -> Result<(), String> {
    let pinned = Pinned::open(name).map_err(in_list)?;
    let cant = |error: std::io::Error| format!("its runs can't be counted: {error}");
    let _counting = bpf::count_runs().map_err(cant)?;
    let seconds = seconds.max(1);
    // The handler may be replaced while it is counted; the one that is there at the beginning is counted to its end.
    let entered = pinned.entered().map_err(cant)?;
    let (counts, (time, entries)) = (pinned.counts().map_err(cant)?, bpf::runs(&entered).map_err(cant)?);
    sleep(Duration::from_secs(seconds));
    let (more_time, more_entries) = bpf::runs(&entered).map_err(cant)?;
    let (time, entries) = (more_time - time, more_entries - entries);
    let each = time.checked_div(entries).map_or(String::new(), |each| format!(", {each} ns each"));
    let entries = entries / seconds;
    let (Some(before), Some(now)) = (counts, pinned.counts().map_err(cant)?) else {
        tell(format_args!("{name}: {entries} runs a second{each}"));
        return Ok(());
    };
    tell(format_args!(
        "{name}: {} runs a second; since it was attached {} runs, {} messages processed lazily, {} missed",
        // Another handler of that name may have been attached meanwhile.
        now.runs.saturating_sub(before.runs) / seconds,
        now.runs,
        now.lazily,
        now.missed
    ));
    tell(format_args!("its dispatcher, with all handlers behind it: {entries} messages a second{each}"));
    Ok(())
}

/// Detaches a handler.
pub fn detach(name: &str) -> Result<(), String> {
    Pinned::detach(name).map_err(in_list)
}

fn in_list(why: String) -> String {
    format!("{why}; see `drystone handler list`")
}
