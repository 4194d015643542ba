//! Declarations that begin with another language's word: one mistake each, wherever they stand.

use drystone_language::check;
use drystone_language::source::{Diagnostic, SourceFile};

/// Declarations of other languages, and a word of what is said about them.
const DECLARATIONS: &[(&str, &str)] = &[
    ("FUNCTION F(x: INTEGER): INTEGER;\nBEGIN\n  RETURN x + 1\nEND F;", "PROCEDURE"),
    ("procedure F(x: INTEGER);\nBEGIN\n  WRITE(x)\nEND F;", "PROCEDURE"),
    ("func F;\nBEGIN\n  WRITE(1)\nEND F;", "PROCEDURE"),
    ("func F(x int) int {\n  return x + 1\n}", "PROCEDURE"),
    ("fn F(x: i32) -> i32 {\n  if x > 0 { x } else { 0 }\n}", "PROCEDURE"),
    ("def F(x):\n  return x + 1", "PROCEDURE"),
    ("void F(int x) {\n  x = 1;\n}", "PROCEDURE"),
    ("METHOD F(x: INTEGER): INTEGER;\nBEGIN\n  RETURN x + 1\nEND F;", "PROCEDURE"),
    ("SUB F(x: INTEGER);\nBEGIN\n  WRITE(x)\nEND F;", "PROCEDURE"),
    ("VAR k: INTEGER; j: TEXT;", "VARIABLE"),
    ("var k, j: INTEGER;", "VARIABLE"),
    ("VAR\n  k: INTEGER;\n  j: TEXT;", "VARIABLE"),
    ("CONST\n  most = 3;\n  least = 2;", "CONSTANT"),
    ("TYPE\n  T = RECORD x: INTEGER; y: REAL END;\n  U = TEXT;", "COMPONENT"),
    ("variable k: INTEGER;", "VARIABLE"),
    ("LET k = 3;", "VARIABLE"),
    ("let k: INTEGER;", "VARIABLE"),
    ("int k;", "VARIABLE"),
    ("CONST most = 3; least = 2;", "CONSTANT"),
    ("constant most = 3;", "CONSTANT"),
    ("TYPE T = RECORD x: INTEGER; y: REAL END;", "COMPONENT"),
    ("TYPE T = INTEGER; U = TEXT;", "COMPONENT"),
    ("CLASS C;\nVARIABLE z: INTEGER;\nBEGIN\n  z := 1\nEND C;", "COMPONENT"),
    ("class C {\n  int x;\n}", "COMPONENT"),
    ("struct S { int x; };", "COMPONENT"),
    ("interface I;\n  IN M\nEND I;", "INTERFACE"),
];

/// What stands before them in a component.
const SECTIONS: &[&str] = &[
    "",
    "CONSTANT a = 1;",
    "VARIABLE n: INTEGER;",
    "PROCEDURE P;\nBEGIN\n  WRITE(1)\nEND P;",
    "COMPONENT Inner;\nEND Inner;",
    "BEGIN\n  WRITE(1);",
    "BEGIN\n  IF TRUE THEN\n    WRITE(1)\n  END;",
    "BEGIN\nACTIVITY\n  WRITE(2);",
];

fn errors(text: &str) -> Vec<Diagnostic> {
    let file = SourceFile { path: "case.dry".into(), text: text.into() };
    check::check(&[file]).err().unwrap_or_default()
}

fn is_said_once(text: &str, word: &str) {
    let errors = errors(text);
    let helps: Vec<_> = errors.iter().map(|error| error.help.as_deref().unwrap_or_default()).collect();
    assert!(helps.len() == 1 && helps[0].contains(word), "{text}\n{errors:#?}");
}

#[test]
fn a_declaration_of_another_language_is_one_mistake_after_every_section() {
    for (declaration, word) in DECLARATIONS {
        for section in SECTIONS {
            let begin = if section.starts_with("BEGIN") { "" } else { "BEGIN\n" };
            let text = format!("COMPONENT Main;\n{section}\n{declaration}\n{begin}  WRITE(1)\nEND Main;\n");
            is_said_once(&text, word);
        }
        is_said_once(&format!("{declaration}\nCOMPONENT Main;\nBEGIN\n  WRITE(1)\nEND Main;\n"), word);
        is_said_once(&format!("COMPONENT Main;\nBEGIN\n  WRITE(1)\nEND Main;\n{declaration}\n"), word);
    }
}

#[test]
fn a_name_that_is_a_word_elsewhere_can_be_declared_and_used() {
    let names = ["function", "func", "def", "var", "let", "type", "class", "const", "int", "program"];
    for name in names {
        let text = format!(
            "COMPONENT Main;\nCONSTANT a = 1;\nVARIABLE {name}: INTEGER; {name}1[{name}2: INTEGER]: TEXT;\n\
             BEGIN\n  {name} := 1; {name}1[2] := \"x\"; WRITE({name})\nEND Main;\n"
        );
        assert_eq!(errors(&text), [], "{text}");
        let text = format!(
            "PROCEDURE {name};\nBEGIN\n  WRITE(1)\nEND {name};\nCOMPONENT Main;\nBEGIN\n  {name}\nEND Main;\n"
        );
        assert_eq!(errors(&text), [], "{text}");
    }
}

#[test]
fn a_call_without_its_semicolon_is_no_declaration() {
    let text = "PROCEDURE def;\nBEGIN\n  WRITE(1)\nEND def;\n\
                COMPONENT Main;\nVARIABLE x: INTEGER;\nBEGIN\n  def\n  x := 1\nEND Main;\n";
    let errors = errors(text);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].message.contains("expected `;`"), "{errors:#?}");
}
