//! Cargo's lock files, as texts.

use std::collections::HashSet;

/// Begins an entry: the lines name, version and source, then others. A crate in a folder has no source, and isn't
/// locked.
const ENTRY: &str = "[[package]]\n";

/// The lock file of Drystone's repository, and what that of crates that are built in has besides. If these have
/// Drystone's crates from a Git repository or a registry, the platform's package is locked to the same commit or
/// version.
pub fn join(repository: &str, crates: &str, platform: &str) -> String {
    let (head, own) = repository.split_once(ENTRY).unwrap_or((repository, ""));
    let has_source = |entry: &&str| entry.contains("\nsource = ");
    let others: Vec<&str> = crates.split(ENTRY).skip(1).filter(has_source).collect();
    let kortex = others.iter().find(|entry| entry.starts_with("name = \"drystone-kortex\"\n"));
    let of_platform = kortex.map(|kortex| {
        let place: Vec<&str> = kortex.lines().skip(1).take(2).collect();
        format!("name = \"{platform}\"\n{}", place.join("\n"))
    });
    let own = own.split(ENTRY).filter(|entry| kortex.is_none() || has_source(entry));
    let mut known = HashSet::new();
    let entries = own.chain(others.iter().copied()).chain(of_platform.as_deref());
    let entries = entries.filter(|entry| known.insert(entry.lines().take(3).collect::<Vec<_>>()));
    entries.fold(head.to_string(), |all, entry| format!("{all}{ENTRY}{}\n\n", entry.trim_end()))
}
