//! What newcomers from other languages write first. Each gives one error, which says what to write instead.

use drystone_language::check::{self, Options};
use drystone_language::source::{Diagnostic, SourceFile};

/// Declarations in a component, and a part of what is said about them.
const DECLARATIONS: &[(&str, &str)] = &[
    ("PROCEDURE P(a: INTEGER, b: INTEGER);\nBEGIN\n  WRITE(a + b)\nEND P;", "`;` separates"),
    ("PROCEDURE P(a: INTEGER, VARIABLE b: TEXT);\nBEGIN\n  WRITE(b); WRITE(a)\nEND P;", "`;` separates"),
    ("VARIABLE q[i: INTEGER, j: TEXT]: INTEGER;", "`;` separates"),
    ("PROCEDURE P(INTEGER);\nBEGIN\n  WRITE(1)\nEND P;", "has a name"),
    ("PROCEDURE P(int a);\nBEGIN\n  WRITE(1)\nEND P;", "has a name"),
    ("VARIABLE q: INTEGER\nPROCEDURE P;\nBEGIN\n  q := 1\nEND P;", ""),
    ("PROCEDURE F(): INTEGER\nBEGIN\n  RETURN 1\nEND F;", ""),
    ("VARIABLE q: INTEGER[10];", "q[i: INTEGER]"),
    ("VARIABLE q[10]: INTEGER;", "a[i: INTEGER]"),
    ("VARIABLE q := 5;", "begins with 0"),
    ("VARIABLE q = 5;", "begins with 0"),
    ("PROCEDURE P(k: INTEGER, m);\nBEGIN\n  WRITE(1)\nEND P;", "has a name"),
    ("PROCEDURE P(k: INTEGER = 3);\nBEGIN\n  WRITE(1)\nEND P;", "every call"),
    ("PROCEDURE F(x: INTEGER) INTEGER;\nBEGIN\n  RETURN x\nEND F;", "behind a colon"),
    ("PROCEDURE F(x: INTEGER) -> INTEGER;\nBEGIN\n  RETURN x\nEND F;", "behind a colon"),
    ("VARIABLE k: INTEGER, m: TEXT;\nPROCEDURE P;\nBEGIN\n  k := 1; m := \"\"\nEND P;", "`;` separates"),
    ("CONSTANT k = 1, m = 2;", "`;` separates"),
    ("VARIABLE k: INTEGER m: TEXT;", ""),
    ("PROCEDURE P(VARIABLE k: INTEGER);\nBEGIN\n  INC(k); P(VARIABLE k)\nEND P;", "name alone"),
    ("VARIABLE größe: INTEGER;", "ASCII"),
    ("PROCEDURE P;\nBEGIN {exclusive}\n  WRITE(1)\nEND P;", "capitals"),
];

/// Statements beside what `around` declares.
const STATEMENTS: &[(&str, &str)] = &[
    ("IF y = 1 THEN\n  WRITE(1)\nELIF y = 2 THEN\n  WRITE(2)\nELSE\n  WRITE(3)\nEND;", "ELSIF"),
    ("IF y = 1 THEN WRITE(1); elseif (y = 2) THEN WRITE(2) END;", "ELSIF"),
    ("DO\n  INC(y)\nWHILE y < 3;", "REPEAT"),
    ("DO INC(y) WHILE y < 3;", "REPEAT"),
    ("DO INC(y) UNTIL y > 3;", "REPEAT"),
    ("DO\n  REPEAT INC(y) UNTIL y > 1\nUNTIL y > 3;", "REPEAT"),
    ("y := CASE y OF 1: 2 END;", "a statement"),
    ("RETURN IF b THEN 1 ELSE 2 END;", "a statement"),
    ("FOR y := 1..3 DO WRITE(y) END;", "TO"),
    ("s!Get; s?Val(VARIABLE y);", "name alone"),
    ("INPUT(s, ANY);", "tests"),
    ("INC y;", "INC(x)"),
    ("IF b THEN WRITE \"a\" END;", "WRITE(x)"),
    ("y := t.length;", "LENGTH(t)"),
    ("y := t.Part();", "no parts"),
    ("new(s);", "NEW"),
    ("s := new S();", "NEW(x)"),
    ("t := t & \"x\";", "+ between texts"),
    ("?Get !Get;", ""),
    ("s!Get\n  s?Val(y);", ""),
    ("y := IF y > 3 THEN 1 ELSE 2 END;", "a statement"),
    ("WRITE(IF y > 3 THEN 1 ELSE 2 END);", "a statement"),
    ("EXISTS(s);", "condition"),
    ("LENGTH(t);", "assign it"),
    ("y := LENGTH(a);", "FOREACH"),
    ("b := EXISTS(a);", "FOREACH"),
    ("DISCONNECT(s);", "DELETE"),
    ("DISCONNECT(I(s));", "DELETE"),
    ("this.y := 5;", "without anything"),
    ("self.y := 6;", "without anything"),
    ("y := y & 1;", "MOD"),
    ("b := b && b;", "AND"),
    ("y := y ^ 2;", "powers"),
    ("y := y << 2;", "DIV"),
    ("RAISE;", "exceptions"),
    ("IF ~y = 3 THEN WRITE(1) END;", "~(a = b)"),
    ("IF y = 5 AND z = 3 THEN WRITE(1) END;", "(a = b) AND"),
    ("IF y = 5 AND b THEN WRITE(1) END;", "(a = b) AND"),
    ("IF b OR y = 5 THEN WRITE(1) END;", "(a = b) AND"),
    ("y := s!Get;", "no expression"),
    ("y := s?Val();", "no expression"),
    ("y := s?Val(z);", "no expression"),
    ("s := NEW S();", "NEW(x)"),
    ("NEW S;", "NEW(x)"),
    ("NEW(S);", "NEW(x)"),
    ("IF !b THEN WRITE(1) END;", "~"),
    ("y := b ? 1 : 2;", "ELSE"),
    ("y := b ? y : z;", "ELSE"),
    ("a := [1, 2];", "SEQUENCE OF INTEGER"),
    ("t := f\"y = {y}\";", "TEXT(x)"),
    ("FOR k := 1 TO 3 DO WRITE(k) END;", "VARIABLE k"),
    ("FOREACH k OF a DO WRITE(k) END;", "VARIABLE k: INTEGER;"),
    ("Cuont!Get;", "Count"),
];

/// Files.
const FILES: &[(&str, &str)] = &[
    ("INTERFACE J;\n  IN Put(a: INTEGER, b: TEXT)\nEND J;", "`;` separates"),
    ("INTERFACE J;\n  IN Get(INTEGER)\nEND J;", "has a name"),
    ("INTERFACE J;\n  IN Get(x)\nEND J;", "has a name"),
    ("INTERFACE J;\n  IN Get(): INTEGER\nEND J;", "OUT"),
    ("INTERFACE J;\n  IN Get()\nEND J;", "no parentheses"),
    ("INTERFACE J;\n  { IN Get(x: TEXT): INTEGER }\nEND J;", "OUT"),
    ("INTERFACE J;\n  IN Get: INTEGER\nEND J;", "OUT"),
    ("INTERFACE J;\n  IN Get -> INTEGER\nEND J;", "OUT"),
    ("INTERFACE J;\n  IN Get(IN x: INTEGER)\nEND J;", "has a name"),
    ("INTERFACE J;\n  PROCEDURE Get;\nEND J;", "begins with `IN`"),
    ("INTERFACE J\n  IN Get\nEND J;", ""),
    ("COMPONENT E;\n  WRITE(1)\nEND E;", "behind BEGIN"),
    ("COMPONENT E REQUIRES Count OFFERS I;\nEND E;", "before REQUIRES"),
    ("COMPONENT E OFFERS I, REQUIRES Count;\nEND E;", "nothing stands between"),
    ("INTERFACE J;\n  Get(x: INTEGER)\nEND J;", "begins with `IN`"),
    (
        "INTERFACE J;\n  IN A\nEND J;\nCOMPONENT D OFFERS J; REQUIRES J;\nIMPLEMENTATION J;\nBEGIN\n  ?A\n\
         END J;\nEND D;",
        "heading",
    ),
];

fn around(declaration: &str, statement: &str) -> String {
    format!(
        "INTERFACE I;\n  IN Get OUT Val(x: INTEGER)\nEND I;\nINTERFACE Count;\n  IN Get\nEND Count;\n\
         COMPONENT S OFFERS I;\nIMPLEMENTATION I;\nBEGIN\n  ?Get; !Val(1)\nEND I;\nEND S;\n\
         COMPONENT D REQUIRES Count;\nVARIABLE y, z: INTEGER; b: BOOLEAN; t: TEXT; s: S; a[i: INTEGER]: INTEGER;\n\
         {declaration}\nBEGIN\n  NEW(s); y := 1; z := y; b := z = y; t := \"\"; a[1] := LENGTH(t);\n  {statement}\n  \
         IF EXISTS(a[2]) OR b THEN WRITE(z) END\nEND D;\nCOMPONENT Main;\nBEGIN\n  WRITE(1)\nEND Main;\n"
    )
}

fn said(text: &str) -> Vec<Diagnostic> {
    let file = SourceFile { path: "case.dry".into(), text: text.into() };
    check::check(&[file], Options::default()).err().unwrap_or_default()
}

/// What is wrong with what is said of a text.
fn not_said_once(text: &str, word: &str) -> Option<String> {
    let errors = said(text);
    let helps: Vec<_> = errors.iter().map(|error| error.help.as_deref().unwrap_or_default()).collect();
    let fits =
        helps.len() == 1 && if word.is_empty() { helps[0].is_empty() } else { helps[0].contains(word) };
    let seen: Vec<_> = errors.iter().map(|error| (&error.message, &error.help)).collect();
    (!fits).then(|| format!("{text}: {seen:#?}"))
}

#[test]
fn one_message_says_what_to_write_instead() {
    assert_eq!(said(&around("", "")), []);
    let declarations = DECLARATIONS.iter().map(|(text, word)| (*text, around(text, ""), *word));
    let statements = STATEMENTS.iter().map(|(text, word)| (*text, around("", text), *word));
    let files = FILES.iter().map(|(text, word)| (*text, format!("{text}\n{}", around("", "")), *word));
    let mut wrong = Vec::new();
    for (case, text, word) in declarations.chain(statements).chain(files) {
        let report = not_said_once(&text, word);
        wrong.extend(report.map(|report| report.replace(&text, case)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
