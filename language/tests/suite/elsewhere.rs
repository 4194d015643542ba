//! Declarations that begin with another language's word give one error each, wherever they stand.

use drystone_language::check::{self, Options};
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
    ("struct S { int x; };", "RECORD"),
    ("interface I;\n  IN M\nEND I;", "INTERFACE"),
    ("RECORD S = x: INTEGER; y: REAL END;", "write RECORD Name;"),
    ("record S {\n  int x;\n}", "write RECORD Name;"),
    ("STRUCT S;\n  x: INTEGER\nEND S;", "write RECORD Name;"),
    ("struct S {\n  x: INTEGER;\n  y: REAL;\n}", "write RECORD Name;"),
    ("union U { int x; float y; };", "no unions"),
    ("enum Color { red, green }", "no enumerations"),
    ("ENUM Color; red; green END Color;", "no enumerations"),
    ("ENUM Color\n  Red\n  Green\nEND ENUM", "no enumerations"),
    ("TYPE P = PROCEDURE (x: INTEGER): INTEGER;", "COMPONENT"),
    ("TYPE O = OBJECT x: INTEGER; END;", "COMPONENT"),
    ("TYPE C = (red, green, blue);", "COMPONENT"),
    ("TYPE A = ARRAY 10 OF INTEGER;", "COMPONENT"),
    ("type S struct {\n  x int\n  y int\n}", "COMPONENT"),
    ("CLASS C;\n  x: INTEGER\nEND C;", "COMPONENT"),
    ("CLASS C EXTENDS D;\nBEGIN\nEND C;", "COMPONENT"),
    ("class C {\n  void f() { x = 1; }\n}", "COMPONENT"),
    ("OBJECT O;\nVARIABLE z: INTEGER;\nBEGIN\n  z := 1\nEND O;", "COMPONENT"),
    ("TASK T;\nBEGIN\n  WRITE(1)\nEND T;", "ACTIVITY"),
    ("PROCESS T;\nBEGIN\n  WRITE(1)\nEND PROCESS;", "ACTIVITY"),
    ("MONITOR M;\nBEGIN\n  WRITE(1)\nEND M;", "EXCLUSIVE"),
    ("SUB Greet\n  WRITE(1)\nEND SUB", "PROCEDURE"),
    ("SUB Greet(x AS INTEGER)\n  PRINT x\nEND SUB", "PROCEDURE"),
    ("SUB Greet();\nBEGIN\n  WRITE(1)\nEND SUB;", "PROCEDURE"),
    ("SUB Greet;\nBEGIN\n  WRITE(1)\nEND SUB", "PROCEDURE"),
    ("Sub Greet()\n  Print 1\nEnd Sub", "PROCEDURE"),
    ("FUNCTION F(x AS INTEGER) AS INTEGER\n  F = x + 1\nEND FUNCTION", "PROCEDURE"),
    ("FUNCTION F(x: INTEGER): INTEGER;\nBEGIN\n  RETURN x + 1\nEND FUNCTION;", "PROCEDURE"),
    ("public void f() {\n}", "PROCEDURE"),
    ("pub fn f(&self) -> i32 {\n  1\n}", "PROCEDURE"),
    ("async fn f() {\n}", "PROCEDURE"),
    ("static int f(int x) {\n  return x + 1;\n}", "VARIABLE"),
    ("const int most = 3;", "CONSTANT"),
    ("DIM k AS INTEGER;", "VARIABLE"),
    ("INTEGER k;", "VARIABLE"),
    ("PRIVATE k: INTEGER;", "OFFERS"),
    ("LABEL a, b;", "no labels"),
    ("EXCEPTION E;", "no exceptions"),
    ("trait T {\n  fn f(&self);\n}", "INTERFACE"),
    ("impl S {\n  fn f(&self) {}\n}", "IMPLEMENTATION"),
];

/// Statements of other languages, and a word of what is said about them.
const STATEMENTS: &[(&str, &str)] = &[
    ("IF n = 1 THEN\n  WRITE(1)\nEND IF;", "END alone"),
    ("IF n = 1 THEN\n  WRITE(1)\nEND IF", "END alone"),
    ("IF n = 1 THEN\n  WRITE(1)\nENDIF;", "END alone"),
    ("IF n = 1 THEN\n  WRITE(1);\nENDIF;", "END alone"),
    ("IF n = 1 THEN\n  WRITE(1)\nFI;", "END alone"),
    ("WHILE n < 3 DO\n  INC(n)\nEND WHILE;", "END alone"),
    ("WHILE n < 3 DO\n  INC(n)\nWEND", "END alone"),
    ("FOR n := 1 TO 3 DO\n  WRITE(n)\nEND FOR;", "END alone"),
    ("FOR n := 1 TO 3 DO\n  WRITE(n)\nNEXT n", "END alone"),
    ("FOR n := 1 TO 3 DO\n  WRITE(n);\nNEXT;", "END alone"),
    ("FOR n := 1 TO 9 STEP 2 DO\n  WRITE(n)\nEND;", "BY"),
    ("FOR n := 9 DOWNTO 1 DO\n  WRITE(n)\nEND;", "BY -1"),
    ("FOR n IN list DO\n  WRITE(n)\nEND;", "FOREACH"),
    ("FOR EACH n IN list DO\n  WRITE(n)\nEND;", "FOREACH"),
    ("FOR n = 1 TO 9 DO\n  WRITE(n)\nEND;", ":="),
    ("for (n = 0; n < 10; n++) {\n  WRITE(n);\n}", "capitals"),
    ("for n := 0; n < 10; n++ {\n  WRITE(n);\n}", "capitals"),
    ("while (n < 3) {\n  INC(n);\n}", "capitals"),
    ("WHILE (n < 3) {\n  INC(n);\n}", "blocks begin"),
    ("if (n == 1) {\n  WRITE(1);\n} else if (n == 2) {\n  WRITE(2);\n} else {\n  WRITE(3);\n}", "capitals"),
    ("IF (n == 1) {\n  WRITE(1);\n} ELSE {\n  WRITE(2);\n}", "blocks begin"),
    ("do {\n  INC(n);\n} while (n < 3);", "capitals"),
    ("DO\n  INC(n)\nLOOP UNTIL n > 3", "REPEAT"),
    ("LOOP\n  INC(n);\n  IF n > 3 THEN EXIT END\nEND;", "REPEAT"),
    ("LOOP\n  INC(n);\n  EXIT WHEN n > 3;\nEND LOOP;", "REPEAT"),
    ("loop {\n  INC(n);\n}", "REPEAT"),
    ("case n OF\n  1: WRITE(1)\n| 2: WRITE(2)\nELSE WRITE(3)\nEND;", "CASE"),
    ("Case n OF\n  1, 2: IF n = 1 THEN WRITE(1) END |\n  3..4: WRITE(2)\nEND;", "CASE"),
    ("SELECT CASE n\n  CASE 1\n    WRITE(1)\n  CASE ELSE\n    WRITE(2)\nEND SELECT", "CASE"),
    ("switch (n) {\n  case 1: WRITE(1); break;\n  default: WRITE(2);\n}", "CASE"),
    ("match n {\n  1 => WRITE(1),\n  _ => WRITE(2),\n}", "CASE"),
    ("WITH n DO\n  WRITE(1)\nEND;", "in full"),
    ("TRY\n  WRITE(1)\nEXCEPT\n  WRITE(2)\nEND;", "no exceptions"),
    ("try {\n  WRITE(1);\n} catch (e) {\n  WRITE(2);\n}", "no exceptions"),
    ("PRINT \"n\"; n", "WRITE"),
    ("GOTO Done;", "no jumps"),
    ("GOSUB 100", "by its name"),
    ("CALL P(1)", "by its name"),
    ("REM this is; a comment", "(*"),
    ("WHILE n < 3 DO\n  EXIT FOR;\n  INC(n)\nEND;", "RETURN"),
    ("go P();", "NEW"),
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
    check::check(&[file], Options::default()).err().unwrap_or_default()
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
fn a_statement_of_another_language_is_one_mistake_wherever_it_stands() {
    let blocks = [
        ("", ""),
        ("WRITE(0);\n", ""),
        ("IF n = 0 THEN\n", "\nEND;"),
        ("WHILE n = 0 DO\nWRITE(0);\n", "\nEND;"),
        ("IF n = 0 THEN\nWRITE(0)\nELSE\nREPEAT\nINC(n);\n", "\nUNTIL n = 9\nEND;"),
    ];
    for (statement, word) in STATEMENTS {
        for (before, after) in blocks {
            for next in ["\nWRITE(1)\n", "\n"] {
                let block = format!("{before}{statement}{after}{next}");
                let text = format!("COMPONENT Main;\nVARIABLE n: INTEGER;\nBEGIN\n{block}END Main;\n");
                is_said_once(&text, word);
                let text = format!(
                    "COMPONENT Main;\nPROCEDURE P;\nVARIABLE n: INTEGER;\nBEGIN\n{block}END P;\nBEGIN\n  P\nEND Main;\n"
                );
                is_said_once(&text, word);
            }
        }
    }
}

#[test]
fn ends_that_repeat_another_word_are_one_mistake() {
    for (end, word) in [("PROCEDURE;", "repeats its name"), (";", "repeats its name"), ("P.", "`;`")] {
        let text = format!(
            "COMPONENT Main;\nPROCEDURE P;\nBEGIN\n  WRITE(1)\nEND {end}\nBEGIN\n  WRITE(1)\nEND Main;\n"
        );
        is_said_once(&text, word);
    }
    is_said_once("COMPONENT Main;\nBEGIN\n  WRITE(1)\nEND COMPONENT;\n", "repeats its name");
    is_said_once("MODULE Main;\nBEGIN\n  WRITE(1)\nEND Main.\n", "COMPONENT");
    let procedures = [
        ("PROCEDURE P; FORWARD;\nPROCEDURE P;\nBEGIN\n  WRITE(1)\nEND P;", "before it is declared"),
        ("PROCEDURE (s: S) P;\nBEGIN\n  WRITE(1)\nEND P;", "in which it stands"),
        ("VARIABLE x: INTEGER := 3;", "by a statement"),
        ("VARIABLE x: INTEGER = 3;", "by a statement"),
        ("CONSTANT x: INTEGER = 3;", "type of its value"),
    ];
    for (declaration, word) in procedures {
        is_said_once(&format!("COMPONENT Main;\n{declaration}\nBEGIN\n  WRITE(1)\nEND Main;\n"), word);
    }
}

/// Words that begin or end statements and declarations elsewhere.
const NAMES: &[&str] = &[
    "record", "struct", "union", "enum", "object", "task", "monitor", "dim", "public", "static", "label",
    "case", "switch", "select", "match", "loop", "with", "try", "unless", "print", "input", "goto", "call",
    "elif", "elseif", "rem", "exit", "break", "go", "endif", "fi", "wend", "next", "od", "done", "forward",
    "lock", "NEXT", "LOOP", "CASE", "EXIT", "if", "while", "for", "do",
];

#[test]
fn those_words_name_variables_and_procedures_in_any_place() {
    for name in NAMES {
        let calls = format!(
            "{name};\nIF n = 1 THEN {name} END;\nIF n = 1 THEN\n  {name}\nELSIF n = 2 THEN\n  {name};\n\
             ELSE\n  {name};\n  {name}\nEND;\n\
             WHILE n < 3 DO\n  INC(n);\n  {name}\nEND;\nREPEAT\n  {name}\nUNTIL n > 0;\n\
             REPEAT {name}; {name} UNTIL n > 0;\n\
             FOR n := 1 TO 2 DO {name}; IF n = 2 THEN {name}; END; {name} END;\nBEGIN\n  {name}\nEND;\n\
             BEGIN {{EXCLUSIVE}} {name} END;\n{name}"
        );
        let text = format!(
            "COMPONENT Main;\nVARIABLE n: INTEGER;\nPROCEDURE {name};\nBEGIN\n  WRITE(1)\nEND {name};\n\
             BEGIN\n{calls}\nACTIVITY {name}\nFINALLY\n  {name}\nEND Main;\n"
        );
        assert_eq!(errors(&text), [], "{text}");
        let text = format!(
            "COMPONENT Main;\nPROCEDURE {name}(x: INTEGER);\nBEGIN\n  WRITE(x)\nEND {name};\n\
             BEGIN\n  {name}(1);\n  IF TRUE THEN {name}(2) ELSE {{EXCLUSIVE}} {name}(3) END;\n  \
             WHILE {{EXCLUSIVE}} FALSE DO {name}(4) END; {name}(5)\nEND Main;\n"
        );
        assert_eq!(errors(&text), [], "{text}");
        let text = format!(
            "COMPONENT Main;\nVARIABLE {name}: INTEGER; a[i: INTEGER]: INTEGER;\n\
             BEGIN\n  IF TRUE THEN {name} := 1 END; a[{name}] := {name};\n  WRITE({name})\nEND Main;\n"
        );
        assert_eq!(errors(&text), [], "{text}");
    }
}

#[test]
fn looking_for_their_ends_takes_little_time() {
    let begin = std::time::Instant::now();
    for piece in [
        "LOOP\n",
        "NEXT;\n",
        "SUB s\n",
        "if (a)\n",
        "IF a THEN NEXT;\n",
        "CASE a OF 1: ",
        "x RECORD S;\n",
        "elif a\n",
        "DO WHILE a\n",
        "x := IF a\n",
    ] {
        let text = format!("COMPONENT Main;\nBEGIN\nIF a THEN\n{}", piece.repeat(20_000));
        assert!(!errors(&text).is_empty());
        let text = format!("COMPONENT Main;\n{}", piece.repeat(20_000));
        assert!(!errors(&text).is_empty());
    }
    // Some seconds on a machine that does nothing else; what is quadratic takes many minutes.
    assert!(begin.elapsed().as_secs() < 90, "{:?}", begin.elapsed());
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
