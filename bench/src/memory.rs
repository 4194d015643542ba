//! How much memory this process has: what the kernel says of it.

use std::fs;

/// Resident bytes. The kernel counts the pages for it; its quicker answers may be off by some hundreds of pages.
pub fn resident() -> Result<f64, String> {
    bytes("/proc/self/smaps_rollup", "Rss:")
}

/// The most resident bytes that there have been.
pub fn peak() -> Result<f64, String> {
    bytes("/proc/self/status", "VmHWM:")
}

/// `NAME    1234 kB`
fn bytes(path: &str, name: &str) -> Result<f64, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kilobytes.map(|kilobytes| kilobytes * 1024.0).ok_or_else(|| format!("{path}: no {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_becomes_resident() {
        const SIZE: usize = 16 << 20;
        let before = resident().unwrap();
        // Else nobody would look at it, and it would not be made.
        let used = std::hint::black_box(vec![1_u8; SIZE]);
        let grown = resident().unwrap() - before;
        assert!(grown >= 0.9 * SIZE as f64, "{grown} for {}", used.len());
        assert!(peak().unwrap() >= grown);
    }
}
