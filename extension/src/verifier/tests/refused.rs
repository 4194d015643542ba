//! Rejections: `refused.txt` has programs, each with its message. `BLESS=1` rewrites the messages.

use std::{fs, path::Path};

use super::*;

#[test]
fn what_is_said_of_refused_programs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verifier/tests/refused.txt");
    let golden = fs::read_to_string(&path).unwrap();
    let mut said = String::new();
    for case in golden.split_inclusive("\n\n") {
        let text: String =
            case.lines().filter(|line| !line.starts_with("=> ")).map(|it| std::format!("{it}\n")).collect();
        let contract = if text.starts_with("# own memory") { confining() } else { handler() };
        let refusal = refusal(&text, &contract);
        assert!(!refusal.starts_with("accepted"), "{refusal}\n{text}");
        said += &std::format!("{}\n=> {refusal}\n\n", text.trim_end());
    }
    if std::env::var_os("BLESS").is_some() {
        return fs::write(&path, &said).unwrap();
    }
    assert_eq!(golden, said);
}
