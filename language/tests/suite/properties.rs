//! Properties of the syntax that hold for every text, shown on random ones.

use std::fs;
use std::path::Path;

use drystone_language::ast::File;
use drystone_language::format::format;
use drystone_language::lexer::{Keyword, Symbol};
use drystone_language::parser::parse;
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;
use proptest::prelude::*;

/// Valid programs.
fn samples() -> Vec<String> {
    let folders = ["tests/format", "tests/valid", "../programs"];
    let folders = folders.map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let programs = paths.filter(|path| path.extension().is_some_and(|end| end == "dry"));
    programs.map(|path| fs::read_to_string(path).expect("a sample")).collect()
}

/// The tree without places: `Span { .. }` taken out of its debugging text.
fn meaning(file: &File) -> String {
    let text = format!("{file:?}");
    let mut parts = text.split("Span {");
    let mut meaning = parts.next().unwrap_or_default().to_string();
    for part in parts {
        meaning.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    meaning
}

/// All that is done with any text; it must not panic. What can be formatted keeps its meaning, and stays.
fn exercise(text: &str) {
    let (tree, diagnostics) = parse(0, text);
    let files = [SourceFile { path: "soup.dry".into(), text: text.to_string() }];
    render(&files, &diagnostics, Colour::Plain);
    let formatted = format(text);
    assert_eq!(formatted.is_ok(), diagnostics.is_empty());
    let Ok(formatted) = formatted else { return };
    let (again, errors) = parse(0, &formatted);
    assert_eq!(errors, [], "{text}\n--- became\n{formatted}");
    assert_eq!(meaning(&tree), meaning(&again), "{text}\n--- became\n{formatted}");
    let twice = format(&formatted).expect("formatted text is valid");
    let change = formatted.lines().zip(twice.lines()).find(|(once, twice)| once != twice);
    assert!(twice == formatted, "not stable: {change:#?} in\n{formatted}");
}

/// Any token, and a few things that are none.
fn token() -> impl Strategy<Value = String> {
    let fixed: Vec<String> = Keyword::ALL
        .iter()
        .map(|keyword| keyword.text())
        .chain(Symbol::ALL.iter().map(|symbol| symbol.text()))
        .chain([
            "(*", "*)", "(* c *)", "\"", "\"s\"", "\\", "1", "2.", "0FFH", "0X", "\n", "a", "b", "NEW",
            "INPUT",
        ])
        .map(str::to_string)
        .collect();
    prop_oneof![9 => prop::sample::select(fixed), 1 => "[a-zA-Z0-9_.]{1,5}"]
}

/// A sample whose spaces are changed, and into which comments are strewn.
fn strewn() -> impl Strategy<Value = String> {
    const COMMENTS: [&str; 5] =
        ["(* c *) ", "\n(* c *)\n", " (* c *)\n", "\n(* c\n  d *) ", "(* c\n\nd *)\n\n"];
    let comment = prop::sample::select(&COMMENTS[..]);
    let gap = prop_oneof![20 => Just(" "), 3 => Just("\n"), 1 => Just("\n\n"), 3 => comment];
    (prop::sample::select(samples()), prop::collection::vec(gap, 400..1200)).prop_map(|(sample, gaps)| {
        let lexed = drystone_language::lexer::lex(0, &sample);
        let texts =
            lexed.tokens.iter().map(|token| &sample[token.span.start as usize..token.span.end as usize]);
        texts.zip(gaps.iter().cycle()).flat_map(|(text, gap)| [text, gap]).collect()
    })
}

/// A sample from which a stretch of tokens is taken away.
fn damaged() -> impl Strategy<Value = String> {
    (prop::sample::select(samples()), any::<prop::sample::Index>(), 1..40_usize).prop_map(
        |(sample, at, length)| {
            let mut words: Vec<&str> = sample.split_inclusive([' ', '\n']).collect();
            let start = at.index(words.len());
            words.drain(start..(start + length).min(words.len()));
            words.concat()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        exercise(&text);
    }

    #[test]
    fn any_tokens_are_read(tokens in prop::collection::vec(token(), 0..200)) {
        exercise(&tokens.join(" "));
        exercise(&format!("COMPONENT C; BEGIN {} END C;", tokens.join(" ")));
        exercise(&format!("INTERFACE I; {} END I;", tokens.concat()));
    }

    #[test]
    fn damaged_programs_are_read(text in damaged()) {
        exercise(&text);
    }

    #[test]
    fn formatting_keeps_the_meaning_wherever_spaces_and_comments_stand(text in strewn()) {
        exercise(&text);
    }
}

#[test]
fn formatting_keeps_the_meaning_of_the_samples() {
    samples().iter().for_each(|sample| exercise(sample));
}
