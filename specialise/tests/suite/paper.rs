//! The programs of *copy elimination* (its Figures 3 to 11, and the opportunities of its section 2) and one with
//! recursion, which it doesn't treat, each with a context: NAME.c and NAME.toml in the folder `paper`. Of each,
//! - NAME.main.c runs the original and the specialised function and compares what they do;
//! - NAME.gone says which words the residual C must not have (`- word`), and which it must (`+ word`);
//! - NAME.expected.c is the residual C itself, from clang-16's IR. `BLESS=1` writes these files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toolchain::Compiler;
use crate::{residual, toolchain};

#[test]
fn programs_of_the_paper() {
    let Some(clang) = Compiler::clang() else { return };
    let names = names();
    assert!(names.len() >= 14, "programs are missing: there are {names:?}");
    let failures: Vec<String> = names
        .iter()
        .filter_map(|name| check(&clang, name).err().map(|problem| format!("{name}: {problem}")))
        .collect();
    assert!(failures.is_empty(), "{} of {} programs:\n{}", failures.len(), names.len(), failures.join("\n"));
}

/// A residual program that lacks a word has it neither in a comment nor as a part of another one.
#[test]
fn words_are_looked_for_as_wholes() {
    let residual = "/* iovec */ struct rpc x; // sosend\nMGET(&my_iovec);\n";
    assert_eq!(broken_claims("- iovec\n- sosend\n+ MGET\n+ rpc\n", residual), Vec::<String>::new());
    assert_eq!(
        broken_claims("- MGET\n+ iovec\nrubbish\n", residual),
        [
            "`MGET` is still there",
            "`iovec` is gone",
            "`rubbish` is no claim: it begins with neither `- ` nor `+ `"
        ]
    );
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/paper")
}

/// The programs, by the names of their contexts.
fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the programs are there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".toml")?.to_string()))
        .collect();
    names.sort();
    names
}

fn check(clang: &Compiler, name: &str) -> Result<(), String> {
    let file = |suffix: &str| folder().join(format!("{name}{suffix}"));
    let work = tempfile::tempdir().map_err(|error| error.to_string())?;
    let ir = work.path().join("original.ll");
    clang.to_ir(&file(".c"), &ir)?;
    let context = read(&file(".toml"))?;
    let forms = residual::write(std::slice::from_ref(&ir), &context, work.path())?;
    let special = &forms[0].name;
    for (number, form) in forms.iter().enumerate() {
        let program = work.path().join(format!("program{number}"));
        let renamed = format!("-D{special}={}", form.name);
        clang.link(&["-O1", &renamed], &[ir.clone(), form.file.clone(), file(".main.c")], &program)?;
        let outcome = toolchain::run(Command::new(&program))?;
        if !outcome.success {
            return Err(format!("{}:\n{}", form.file.display(), outcome.text));
        }
    }
    let residual = read(&forms[0].file)?;
    let claims = file(".gone");
    let broken = broken_claims(&read(&claims)?, &residual);
    if !broken.is_empty() {
        return Err(format!("{}: {}; in\n{residual}", claims.display(), broken.join(", ")));
    }
    // Of another one's IR it may be written otherwise.
    if clang.0.ends_with("clang-16") {
        drystone_golden::check(&file(".expected.c"), &residual)
    } else {
        Ok(())
    }
}

/// What of the claims isn't so.
fn broken_claims(claims: &str, residual: &str) -> Vec<String> {
    // The helpers that every residual program begins with are not its own code.
    let own: Vec<&str> = residual.lines().filter(|line| !line.starts_with("static inline")).collect();
    let code = without_comments(&own.join("\n"));
    let words: HashSet<&str> = code.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let has = |word: &str| words.contains(word);
    claims
        .lines()
        .filter_map(|claim| match (claim.strip_prefix("- "), claim.strip_prefix("+ ")) {
            (Some(word), _) => has(word).then(|| format!("`{word}` is still there")),
            (_, Some(word)) => (!has(word)).then(|| format!("`{word}` is gone")),
            _ => Some(format!("`{claim}` is no claim: it begins with neither `- ` nor `+ `")),
        })
        .collect()
}

/// C without its comments; what looks like one in a string is taken for one.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        code += &rest[..at];
        let end = if rest[at..].starts_with("//") { "\n" } else { "*/" };
        // A word before a comment and one behind it stay two words.
        code.push(' ');
        let inside = &rest[at + 2..];
        rest = inside.find(end).map_or("", |length| &inside[length + end.len()..]);
    }
    code + rest
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
