//! The memory of this process, as the kernel counts it.

use std::fs;

/// Resident bytes, by counting pages: the kernel's quick counters may be off by some hundreds of pages.
pub fn resident() -> Result<f64, String> {
    bytes("/proc/self/smaps_rollup", "Rss:")
}

/// The peak of resident bytes.
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
        // Otherwise the compiler would leave it out.
        let used = std::hint::black_box(vec![1_u8; SIZE]);
        let grown = resident().unwrap() - before;
        assert!(grown >= 0.9 * SIZE as f64, "{grown} for {}", used.len());
        assert!(peak().unwrap() >= grown);
    }
}
