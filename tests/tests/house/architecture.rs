//! `ARCHITECTURE.md` is right about what can be looked up: the paths that it names exist, `unsafe` stands where it
//! says, and its list of fuzzers is complete. `BLESS=1` rewrites the last two.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

use crate::sources::{self, Source, repository};

/// A page that is longer is not read at one go.
const LONGEST: usize = 15 * 1024;

/// More files of one crate with `unsafe` than these are not listed by name.
const NAMED_FILES: usize = 2;

/// The width of the lines that are written.
const WIDTH: usize = 120;

fn page() -> String {
    drystone_golden::read(&repository().join("ARCHITECTURE.md"))
}

#[test]
fn it_is_short() {
    let length = page().len();
    assert!(
        length <= LONGEST,
        "{length} bytes, at most {LONGEST} are read: details go to the heads of modules"
    );
}

#[test]
fn paths_exist() {
    let page = page();
    let (before, rest) = page.split_once("<!-- unsafe:").expect("where the list of unsafe begins");
    let (_, after) = rest.split_once("<!-- end of unsafe").expect("where it ends");
    let missing = missing_paths(&format!("{before}{after}"));
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:?}");
}

/// Paths of a text that aren't there. A path starts at the repository, or in the folder of an earlier one.
fn missing_paths(text: &str) -> Vec<String> {
    let mut folders = vec![repository()];
    let mut missing = Vec::new();
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    for path in quoted.filter(|quoted| is_path(quoted)).flat_map(alternatives) {
        match folders.iter().map(|folder| folder.join(&path)).find(|path| path.exists()) {
            Some(found) => folders.extend(found.ancestors().take(2).map(Path::to_path_buf)),
            None => missing.push(path),
        }
    }
    missing
}

fn is_path(quoted: &str) -> bool {
    let file = [".rs", ".md", ".py", ".ld", ".dry"].iter().any(|extension| quoted.ends_with(extension));
    (quoted.contains('/') || file) && !quoted.contains(' ') && !quoted.starts_with("./")
}

/// `a/{b,c}` is `a/b` and `a/c`.
fn alternatives(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (choices, after))) => {
            choices.split(',').map(|choice| format!("{before}{choice}{after}")).collect()
        }
        None => vec![path.to_owned()],
    }
}

#[test]
fn lists_are_right() {
    compare("unsafe", &crates_with_unsafe());
    compare("fuzzers", &fuzzers());
}

fn crates_with_unsafe() -> String {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources::of_product().into_iter().filter(has_unsafe) {
        crates.entry(source.of_crate).or_default().push(source.in_crate.replacen("src/", "", 1));
    }
    assert!(crates.len() > 10, "{crates:?}");
    let list: Vec<_> = crates.iter().map(|(name, files)| described(name, files)).collect();
    format!("{}.", list.join(", "))
}

fn described(name: &str, files: &[String]) -> String {
    if files.len() > NAMED_FILES {
        return format!("`{name}`");
    }
    let files: Vec<_> = files.iter().map(|file| format!("`{file}`")).collect();
    format!("`{name}` ({})", files.join(", "))
}

/// Is there the word `unsafe` in the code of a file, also in what is passed to macros? Comments and texts don't count.
fn has_unsafe(source: &Source) -> bool {
    let tokens: TokenStream =
        source.text.parse().unwrap_or_else(|error| panic!("{}: {error}", source.path().display()));
    says_unsafe(tokens)
}

fn says_unsafe(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "unsafe",
        TokenTree::Group(group) => says_unsafe(group.stream()),
        _ => false,
    })
}

fn fuzzers() -> String {
    let targets = drystone_golden::cases(&repository().join("fuzz/fuzz_targets"), "rs");
    let names: Vec<_> = targets
        .iter()
        .map(|target| format!("`{}`", target.file_stem().expect("a file's name").display()))
        .collect();
    format!("{}.", names.join(", "))
}

/// Compares what stands between two comments of the page, `<!-- NAME: .. -->` and `<!-- end of NAME -->`.
#[track_caller]
fn compare(name: &str, text: &str) {
    let text = wrapped(text);
    let page = page();
    let begin = page.find(&format!("<!-- {name}:")).expect("where the list begins");
    let begin = begin + page[begin..].find('\n').expect("the end of the comment") + 1;
    let end = page.find(&format!("<!-- end of {name} -->")).expect("where the list ends");
    if std::env::var_os("BLESS").is_some() {
        let page = format!("{}{text}{}", &page[..begin], &page[end..]);
        fs::write(repository().join("ARCHITECTURE.md"), page).expect("the page can be written");
    } else {
        assert_eq!(&page[begin..end], text, "BLESS=1 mends ARCHITECTURE.md");
    }
}

fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n") + "\n"
}
