//! The editor's grammar keeps up with the language.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use drystone_language::lexer::Keyword;
use serde_json::Value;

fn read(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_files_of_the_extension_are_json_and_refer_to_each_other() {
    let package = read("package.json");
    let contributes = &package["contributes"];
    for path in [&contributes["languages"][0]["configuration"], &contributes["grammars"][0]["path"]] {
        read(path.as_str().expect("a path"));
    }
}

#[test]
fn the_grammar_has_the_reserved_words_of_the_lexer() {
    let grammar = read("syntaxes/drystone.tmLanguage.json");
    let groups = grammar["repository"]["reserved"]["patterns"].as_array().expect("groups of reserved words");
    let patterns = groups.iter().filter_map(|group| group["match"].as_str());
    let words =
        patterns.flat_map(|pattern| pattern.trim_start_matches("\\b(").trim_end_matches(")\\b").split('|'));
    let reserved = Keyword::ALL.iter().map(|keyword| keyword.text());
    assert_eq!(words.collect::<BTreeSet<_>>(), reserved.collect::<BTreeSet<_>>());
}
