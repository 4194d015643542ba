//! Random programs that loop over texts with arbitrary indices, while the texts change or don't, inline or in
//! procedures. They test that the compiler's knowledge of lengths, counters and sums never hides an index out of
//! bounds, or an overflow. About half end in a run-time error.

use crate::random::Random;

/// The greatest nesting of statements.
const DEPTH: usize = 3;
const COUNTERS: [&str; 3] = ["i", "j", "k"];
const NUMBERS: [&str; 5] = ["i", "j", "k", "s", "n"];

/// What statements at a place can use.
struct Place {
    texts: &'static [&'static str],
    /// Calls that change texts.
    calls: &'static [&'static str],
    returns: bool,
}

const BODY: Place = Place {
    texts: &["t", "own", "u"],
    calls: &["Grow", "Cut(t)", "Cut(u)", "n := Look(t, u)", "n := Look(u, u)", "n := Look(own, t)"],
    returns: false,
};
const PROCEDURE: Place = Place {
    texts: &["p", "q", "v", "t", "u"],
    calls: &["Inner", "Grow", "Cut(v)", "Cut(q)", "Cut(p)", "v := q", "q := v"],
    returns: true,
};

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let inner = if random.one_in(2) { "q := q + \"i\"" } else { "p := \"inner\"" };
    let look = statements(&mut random, &PROCEDURE, 1);
    let (first, second) = (statements(&mut random, &BODY, 0), statements(&mut random, &BODY, 0));
    let [t, own, u] = [(); 3].map(|()| literal(&mut random));
    let near = random.range(0, 40);
    format!(
        "INTERFACE Go; IN Go OUT Gone END Go;
COMPONENT T OFFERS Go;
VARIABLE u: TEXT;
PROCEDURE Grow;
BEGIN
IF LENGTH(u) < 40 THEN u := u + \"g\" ELSE u := \"\" END
END Grow;
PROCEDURE Cut(VARIABLE x: TEXT);
BEGIN
IF LENGTH(x) > 0 THEN x := SLICE(x, 1, LENGTH(x) - 1) END
END Cut;
PROCEDURE Kept(x: TEXT; n: INTEGER): TEXT;
VARIABLE y: TEXT; i: INTEGER;
BEGIN
y := x + \"k\";
IF x = \"\" THEN RETURN y END;
IF (y # \"\") AND (n > 3) THEN RETURN Kept(SLICE(y, 1, LENGTH(y) - 1), n - 3) END;
FOR i := 0 TO LENGTH(x) - 1 DO
IF x[i] = \"l\" THEN RETURN x END;
IF i > n THEN RETURN u END
END;
RETURN \"kept\"
END Kept;
IMPLEMENTATION Go;
VARIABLE t, own: TEXT; i, j, k, s, n, fuel, big, small: INTEGER;
PROCEDURE Look(p: TEXT; VARIABLE v: TEXT): INTEGER;
VARIABLE q: TEXT; i, j, k: INTEGER;
PROCEDURE Inner;
BEGIN
IF LENGTH(p) + LENGTH(q) < 60 THEN {inner} END
END Inner;
BEGIN
q := p + \"q\";
{look};
RETURN s + LENGTH(q)
END Look;
BEGIN {{EXCLUSIVE}}
?Go; t := {t}; own := {own}; u := {u}; big := 9223372036854775807 - {near}; small := -big;
{first};
{second};
WRITE(s); WRITE(\" \"); WRITE(i); WRITE(\" \"); WRITE(j); WRITE(\" \"); WRITE(n); WRITE(t); WRITE(own); WRITE(u);
!Gone
END Go;
END T;
COMPONENT Main; VARIABLE t: T; BEGIN NEW(t); t!Go; t?Gone; WRITELINE END Main;
"
    )
}

fn literal(random: &mut Random) -> String {
    format!("\"{}\"", random.pick(&["", "a", "gattaca", "hello", "a long text of forty bytes, not counted"]))
}

fn number(random: &mut Random, place: &Place, depth: usize) -> String {
    if depth > 1 || random.one_in(3) {
        return match random.below(6) {
            0 | 1 => format!("({})", random.range(-2, 6)),
            2 | 3 => format!("LENGTH({})", random.pick(place.texts)),
            _ => random.pick(&NUMBERS).to_string(),
        };
    }
    let a = number(random, place, depth + 1);
    match random.below(6) {
        0 | 1 => format!("({a} + {})", number(random, place, depth + 1)),
        2 => format!("({a} - {})", number(random, place, depth + 1)),
        3 => format!("MIN({a}, {})", number(random, place, depth + 1)),
        4 => format!("MAX({a}, {})", number(random, place, depth + 1)),
        _ => format!("({a} MOD {})", random.range(1, 6)),
    }
}

/// A character of a text, mostly near a counter.
fn character(random: &mut Random, place: &Place) -> String {
    let text = random.pick(place.texts);
    let counter = random.pick(&COUNTERS);
    let index = match random.below(10) {
        0..5 => counter.to_string(),
        5 | 6 => format!("{counter} - 1"),
        7 => format!("{counter} + 1"),
        8 => format!("LENGTH({text}) - 1 - {counter}"),
        _ => number(random, place, 0),
    };
    format!("{text}[{index}]")
}

fn statements(random: &mut Random, place: &Place, depth: usize) -> String {
    let count = 1 + random.below(3);
    let all: Vec<_> = (0..count).map(|_| statement(random, place, depth)).collect();
    all.join("; ")
}

fn statement(random: &mut Random, place: &Place, depth: usize) -> String {
    match random.below(24) {
        0..8 if depth < DEPTH => counted(random, place, depth),
        8 if depth < DEPTH => searching(random, place, depth),
        0..13 => {
            let (a, b) = (character(random, place), character(random, place));
            let condition = if random.one_in(2) { format!("{a} # {b}") } else { format!("{a} <= \"g\"") };
            format!("IF {condition} THEN INC(s) END")
        }
        13 | 14 => format!("s := (s * 7 + INTEGER({})) MOD 10007", character(random, place)),
        15 => format!("n := LENGTH({}) - {}", random.pick(place.texts), random.below(3)),
        16 => format!("INC(big, {})", number(random, place, 0)),
        17 => format!("DEC(small, {})", number(random, place, 0)),
        18 => changed(random, place),
        19 => format!("{} := {}", random.pick(&COUNTERS), number(random, place, 0)),
        20 => random.pick(place.calls).to_string(),
        21 if place.returns => format!("IF {} > 4 THEN RETURN s END", random.pick(&NUMBERS)),
        21 => "own := own".into(),
        22 => {
            let counter = random.pick(&COUNTERS);
            format!("s := MIN(MIN(s, n) + 1, {counter}) + INTEGER({counter} = n)")
        }
        _ => "WRITE(s); WRITE(\" \")".into(),
    }
}

fn changed(random: &mut Random, place: &Place) -> String {
    let text = random.pick(place.texts);
    match random.below(6) {
        4 => format!("{text} := Kept({}, {})", random.pick(place.texts), random.range(0, 5)),
        5 => {
            let other = random.pick(place.texts);
            format!("IF ({text} = \"\") OR (\"\" # {other}) THEN {text} := \"\" ELSE {other} := {text} END")
        }
        0 => format!("IF LENGTH({text}) < 40 THEN {text} := {text} + \"x\" END"),
        1 => format!("{} := \"y\"", character(random, place)),
        2 => format!("{text} := {}", random.pick(place.texts)),
        _ => format!("{text} := {}", literal(random)),
    }
}

const FUEL: &str = "INC(fuel); IF fuel > 1000 THEN HALT(7) END";

/// A loop that stops the program before it takes long, mostly over a text.
fn counted(random: &mut Random, place: &Place, depth: usize) -> String {
    let counter = *random.pick(&COUNTERS);
    let text = *random.pick(place.texts);
    let mut first = match random.below(4) {
        0 => "1".to_string(),
        1 => number(random, place, 0),
        _ => "0".to_string(),
    };
    let mut last = match random.below(8) {
        0 => number(random, place, 0),
        1 | 2 => format!("LENGTH({text})"),
        3 => format!("LENGTH({text}) - 2"),
        _ => format!("LENGTH({text}) - 1"),
    };
    let by = *random.pick(&["", "", "", "", "", " BY 2", " BY -1", " BY 3"]);
    if by == " BY -1" {
        std::mem::swap(&mut first, &mut last);
    }
    // The access that the loop is meant for.
    let own = match random.below(4) {
        0 => format!("IF {text}[{counter}] = \"a\" THEN INC(s) END; "),
        1 => format!("IF {text}[{counter} - 1] = \"a\" THEN INC(s) END; "),
        2 => format!("IF {text}[{counter}] = \"b\" THEN EXIT END; "),
        _ => String::new(),
    };
    let body = statements(random, place, depth + 1);
    format!("FOR {counter} := {first} TO {last}{by} DO {FUEL}; {own}{body} END")
}

fn searching(random: &mut Random, place: &Place, depth: usize) -> String {
    let (counter, text) = (*random.pick(&COUNTERS), *random.pick(place.texts));
    let body = statements(random, place, depth + 1);
    format!(
        "{counter} := {}; WHILE ({counter} < LENGTH({text})) AND ({text}[{counter}] # \"g\") DO {FUEL}; \
         {body}; INC({counter}) END",
        random.range(-1, 1).max(0)
    )
}
