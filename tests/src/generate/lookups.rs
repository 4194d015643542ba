//! Random programs that look up the same elements again and again, while elements are made and deleted and keys change,
//! inline or in procedures. They test that the compiler never reuses a lookup that is out of date. About half end in a
//! run-time error.

use crate::random::Random;

/// The greatest nesting of statements.
const DEPTH: usize = 3;

/// The collections of the body, its component and a procedure, each with the types of its key and its elements.
const COLLECTIONS: [(&str, Kind, Kind); 6] = [
    ("c", Kind::Number, Kind::Number),
    ("d", Kind::Text, Kind::Number),
    ("e", Kind::Text, Kind::Text),
    ("f", Kind::Number, Kind::Number),
    ("g", Kind::Text, Kind::Number),
    ("a", Kind::Number, Kind::Number),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let (inner, within) = (statements(&mut random, 1, true), statements(&mut random, 0, true));
    let body = (0..4).map(|_| statements(&mut random, 0, false)).collect::<Vec<_>>().join(";\n");
    format!(
        "INTERFACE Go; IN Go OUT Gone END Go;
COMPONENT T OFFERS Go;
VARIABLE f[i: INTEGER], g[t: TEXT]: INTEGER; u: TEXT;
PROCEDURE Clear(VARIABLE x: INTEGER);
BEGIN
u := \"b\"; x := (x + 1) MOD 4; IF EXISTS(f[1]) THEN DELETE(f[1]) END
END Clear;
IMPLEMENTATION Go;
VARIABLE
c[i: INTEGER], d[t: TEXT]: INTEGER; e[t: TEXT]: TEXT; a[i: INTEGER]: INTEGER {{ARRAY}};
t: TEXT; i, j, s, n, fuel: INTEGER;
PROCEDURE Other(t: TEXT; i: INTEGER; VARIABLE v: TEXT);
VARIABLE c[i: INTEGER], d[t: TEXT]: INTEGER; j: INTEGER;
PROCEDURE Inner;
BEGIN
{inner}
END Inner;
BEGIN
INC(fuel); IF fuel > 40 THEN HALT(7) END;
c[i] := 1; d[t] := 2;
{within}
END Other;
BEGIN {{EXCLUSIVE}}
?Go; NEW(a, 3);
FOR i := 0 TO 2 DO c[i] := i; f[i] := i END;
d[\"a\"] := 1; d[\"b\"] := 2; e[\"a\"] := \"b\"; e[\"\"] := \"a\"; g[\"a\"] := 3; t := \"a\"; i := 1;
{body};
WRITE(s); WRITE(\" \"); WRITE(i); WRITE(\" \"); WRITE(j); WRITE(t); WRITE(u);
FOREACH i OF c DO WRITE(i); WRITE(c[i]) END;
FOREACH t OF d DO WRITE(t); WRITE(d[t]) END;
FOREACH t OF e DO WRITE(t); WRITE(e[t]) END;
!Gone
END Go;
END T;
COMPONENT Main; VARIABLE t: T; BEGIN NEW(t); t!Go; t?Gone; WRITELINE END Main;
"
    )
}

fn number(random: &mut Random) -> String {
    match random.below(8) {
        0..3 => "i".into(),
        3 | 4 => "j".into(),
        5 => "i + 1".into(),
        6 => "s MOD 3".into(),
        _ => random.below(3).to_string(),
    }
}

fn text(random: &mut Random) -> String {
    match random.below(8) {
        0..4 => "t".into(),
        4 | 5 => "u".into(),
        6 => "\"a\"".into(),
        _ => "TEXT(i)".into(),
    }
}

fn any(random: &mut Random, kind: Kind) -> String {
    if kind == Kind::Number { number(random) } else { text(random) }
}

fn element(random: &mut Random) -> (String, Kind, bool) {
    let &(name, keys, elements) = random.pick(&COLLECTIONS);
    (format!("{name}[{}]", any(random, keys)), elements, name == "a")
}

fn statements(random: &mut Random, depth: usize, in_procedure: bool) -> String {
    let count = 1 + random.below(4);
    let all: Vec<_> = (0..count).map(|_| statement(random, depth, in_procedure)).collect();
    all.join("; ")
}

fn statement(random: &mut Random, depth: usize, in_procedure: bool) -> String {
    let (element, kind, is_array) = element(random);
    match random.below(18) {
        0..6 if !is_array && depth < DEPTH => asked(random, &element, kind, depth, in_procedure),
        6 if depth < DEPTH => {
            let counter = random.pick(&["i", "j"]);
            let mut body = statements(random, depth + 1, in_procedure);
            if random.one_in(4) {
                body += &format!("; IF {} > {} THEN EXIT END", number(random), number(random));
            }
            format!("FOR {counter} := 0 TO 2 DO INC(fuel); IF fuel > 40 THEN HALT(7) END; {body} END")
        }
        0..8 => used(&element, kind),
        8 | 9 => format!("{element} := {}", any(random, kind)),
        10 if !is_array => format!("IF EXISTS({element}) THEN DELETE({element}) END"),
        10 | 11 => format!("{} := {}", random.pick(&["i", "j"]), number(random)),
        12 => format!("{} := {}", random.pick(&["t", "u"]), text(random)),
        13 => "Clear(n)".into(),
        16 | 17 => visits(random).into(),
        14 if in_procedure => random.pick(&["Inner", "v := \"b\"", "v := t"]).to_string(),
        14 => format!("Other({}, {}, {})", text(random), number(random), random.pick(&["t", "u"])),
        _ => "t := t + \"a\"; t := SLICE(t, 1, LENGTH(t) - 1)".into(),
    }
}

/// A loop over elements that binds their values, and changes elements or removes them.
fn visits(random: &mut Random) -> &'static str {
    const ALL: [&str; 6] = [
        "FOREACH i, j OF c DO s := (s * 7 + j) MOD 1009; IF j MOD 3 = 0 THEN DELETE(c[i]) ELSE c[i] := j END END",
        "FOREACH t, u OF e DO WRITE(t); e[t] := u + \"c\"; WRITE(u); e[t] := u END",
        "FOREACH t, i OF d DO IF i > 1 THEN DELETE(d[t]) END; s := (s * 3 + i) MOD 1009 END",
        "FOREACH i, d[TEXT(i)] OF c DO s := (s + d[TEXT(i)]) MOD 1009 END",
        "FOREACH i, f[i] OF c DO END",
        "FOREACH i, a[i MOD 3] OF f DO s := (s * 5 + a[i MOD 3]) MOD 1009 END",
    ];
    ALL[random.below(ALL.len())]
}

fn used(element: &str, kind: Kind) -> String {
    match kind {
        Kind::Number => {
            format!("{element} := ({element} * 3 + 1) MOD 101; s := (s * 7 + {element}) MOD 1009")
        }
        Kind::Text => format!("{element} := SLICE({element} + \"ab\", 1, 1); WRITE({element})"),
    }
}

/// Changes the key variable, so that the same expression denotes another element.
fn changed_key(random: &mut Random, element: &str) -> String {
    let key = ["i", "j", "t", "u"].into_iter().find(|key| element.contains(&format!("[{key}")));
    match key {
        Some(key @ ("i" | "j")) => format!("{key} := {}; ", number(random)),
        Some(key) => format!("{key} := {}; ", text(random)),
        None => String::new(),
    }
}

/// A test for an element, then a use of this element or another, perhaps with other statements between them.
fn asked(random: &mut Random, element: &str, kind: Kind, depth: usize, in_procedure: bool) -> String {
    let between = match random.below(6) {
        0 => format!("{}; ", statements(random, depth + 1, in_procedure)),
        1 => format!("DELETE({element}); "),
        2 => changed_key(random, element),
        3 => "Clear(n); ".into(),
        _ => String::new(),
    };
    let used = match kind {
        Kind::Number if random.one_in(2) => format!("INC({element})"),
        _ => used(element, kind),
    };
    let not = if random.one_in(6) { "~" } else { "" };
    let or = if random.one_in(5) { format!(" OR (s MOD 2 = {})", random.below(2)) } else { String::new() };
    let otherwise =
        if random.one_in(2) { format!(" ELSE {element} := {}", any(random, kind)) } else { String::new() };
    format!("IF {not}EXISTS({element}){or} THEN {between}{used}{otherwise} END")
}
