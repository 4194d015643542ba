//! The size of interpreter and verifier: lines of code without empty lines, comments and tests.

use std::fs;
use std::path::Path;

use crate::places;
use crate::row::Row;
use crate::statistics::Figure;

const INTERPRETER: [&str; 4] =
    ["engine/computation.rs", "engine/interpreter.rs", "engine/prepare.rs", "engine/steps.rs"];

/// The interpreter's lines, beside the verifier's.
pub fn row() -> Row {
    let sources = places::root().join("extension/src");
    let interpreter = INTERPRETER.iter().map(|file| lines(&sources.join(file))).sum();
    let verifier: Result<usize, String> = files(&sources.join("verifier"));
    let interpreter: Result<usize, String> = interpreter;
    let drystone = interpreter.inspect_err(|why| eprintln!("interpreter size: {why}")).ok();
    let note = match verifier {
        Ok(verifier) => {
            format!("the verifier has {verifier}; the paper's interpreter has 235 for fewer operations")
        }
        Err(why) => why,
    };
    let drystone = drystone.map(|lines| Figure::single(lines as f64));
    Row { drystone, note, ..Row::new("interpreter size".into(), "lines") }
}

fn files(folder: &Path) -> Result<usize, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| path.extension().is_some_and(|it| it == "rs")).map(|path| lines(&path)).sum()
}

fn lines(file: &Path) -> Result<usize, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(lines_of(&text))
}

fn lines_of(text: &str) -> usize {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts() {
        assert_eq!(lines_of("//! What.\n\nfn f() {\n    // Why.\n}\n#[cfg(test)]\nmod tests {\n}\n"), 2);
    }
}
