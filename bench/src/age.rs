//! Marks outdated pages of figures. Each page names the commit that its figures were measured at; it is outdated if the
//! measured code has changed since.

use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::places;

/// The subjects, named like their pages, and the paths that each measures. Peers and the bench itself don't count.
pub const SUBJECTS: [(&str, &[&str]); 7] = [
    (
        "processes",
        &[
            "component",
            "runtime",
            "language/src",
            "compiler",
            "kortex/src",
            "platform/linux/src",
            "platform/linux/reactor",
            "programs",
        ],
    ),
    (
        "bindings",
        &[
            "component",
            "runtime",
            "compiler",
            "kortex/src",
            "platform/linux/src",
            "platform/linux/reactor",
            "platform/linux/net",
            "platform/linux/http",
            "platform/linux/nats",
            "platform/linux/onc",
            "platform/linux/tcp",
            "platform/linux/udp",
        ],
    ),
    (
        "composite",
        &[
            "component",
            "runtime",
            "extension",
            "kortex/src",
            "platform/linux/src",
            "platform/linux/reactor",
            "kortex/composites",
            "platform/linux/tcp",
            "clients/rust",
        ],
    ),
    (
        "handlers",
        &["extension", "platform/linux/handlers", "platform/linux/stack", "systems/cache", "systems/dns"],
    ),
    ("kernel", &["kortex", "platform/pc/machine", "systems/microkernel", "systems/blocks", "systems/joints"]),
    ("specialise", &["specialise"]),
    (
        "services",
        &[
            "runtime",
            "compiler",
            "kortex/src",
            "platform/linux/http",
            "platform/linux/reactor",
            "library",
            "programs/service",
        ],
    ),
];

/// Before the commit, in the list of what figures were made with.
const COMMIT: &str = "* Commit: ";

/// A line for a page: the commit that is checked out.
pub fn commit() -> String {
    let commit = git(&["log", "-1", "--format=%h of %cs"]).unwrap_or("unknown".into());
    // Earlier pages of this run have changed `docs` and the README already.
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ":!docs", ":!README.md"]);
    let changed = if changed.is_none_or(|changed| changed.is_empty()) { "" } else { ", and changes to it" };
    format!("{COMMIT}{commit}{changed}\n")
}

/// Has each page say whether it is older than what it measures.
#[derive(Args)]
pub struct Ages {
    /// Only names the pages that don't say it yet.
    #[arg(long)]
    show: bool,
}

impl Ages {
    /// Changes the pages, or shows which it would change.
    pub fn run(self) -> Result<(), String> {
        for (subject, rooms) in SUBJECTS {
            let path = places::root().join(format!("docs/figures/{subject}.md"));
            let fail = |error: std::io::Error| format!("{}: {error}", path.display());
            let text = fs::read_to_string(&path).map_err(fail)?;
            let marked = marked(&text, rooms);
            if marked == text {
                continue;
            }
            let is_old = marked.contains(MARK);
            let age =
                if is_old { "is older than what it measures" } else { "says that it is old, and isn't" };
            println!("docs/figures/{subject}.md {age}");
            if !self.show {
                fs::write(&path, marked).map_err(fail)?;
            }
        }
        Ok(())
    }
}

/// Has each page say whether it is older than what it measures.
pub fn mark() -> Result<(), String> {
    Ages { show: false }.run()
}

/// The page with the right mark.
fn marked(text: &str, rooms: &[&str]) -> String {
    let (title, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let rest = match rest.strip_prefix(MARK) {
        Some(marked) => marked.split_once("\n\n").map_or("", |(_, rest)| rest),
        None => rest,
    };
    match changed_since(commit_of(text), rooms) {
        None => format!("{title}\n\n{rest}"),
        Some(how) => format!("{title}\n\n{MARK} ({how}).\n\n{rest}"),
    }
}

/// The beginning of the mark of an outdated page.
const MARK: &str = "These figures are of an earlier state of what they measure";

/// The commit that a page names.
fn commit_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(COMMIT)?.split(' ').next())
}

/// The command that shows what has changed, if something has.
fn changed_since(commit: Option<&str>, rooms: &[&str]) -> Option<String> {
    let Some(commit) = commit else { return Some("their commit is not recorded".into()) };
    let rooms: Vec<String> = rooms.iter().map(|room| format!(":/{room}")).collect();
    let mut diff = vec!["diff", "--name-only", commit, "--"];
    diff.extend(rooms.iter().map(String::as_str));
    diff.extend([":!*.md", ":!*/tests/*", ":!*/tests.rs", ":!*_tests.rs"]);
    let changed = git(&diff).is_none_or(|changed| !changed.is_empty());
    changed.then(|| format!("`git log {commit}..` says what has changed"))
}

/// Git's output; `None` without Git, or without the commit.
fn git(arguments: &[&str]) -> Option<String> {
    git_in(places::root(), arguments)
}

fn git_in(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\n| table |\n\n* Commit: COMMIT of 2026-11-28\n";

    #[test]
    fn a_page_says_that_it_is_old_and_no_longer_when_it_is_made_anew() {
        let Some(head) = git(&["log", "-1", "--format=%h"]) else {
            return drystone_golden::skipped("this is no checkout of Git's");
        };
        let page = PAGE.replace("COMMIT", &head);
        // Nothing lies there, so nothing has changed.
        assert_eq!(marked(&page, &["nowhere"]), page);
        let unknown = PAGE.replace("COMMIT", "0123456789");
        let old = marked(&unknown, &["nowhere"]);
        assert!(old.starts_with("# Title\n\nThese figures are of an earlier state"), "{old}");
        assert_eq!(marked(&old, &["nowhere"]), old);
        assert_eq!(marked(&old.replace("0123456789", &head), &["nowhere"]), page);
    }
}
