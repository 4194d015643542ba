//! Random programs that loop over arrays with arbitrary indices. They test that the compiler's knowledge of sizes and
//! counters never hides an index out of bounds. About one program in ten ends in a run-time error.

use crate::random::Random;

/// The arrays of the service and of its component, with their numbers of indices.
const ARRAYS: [(&str, usize); 4] = [("a", 1), ("b", 2), ("c", 1), ("g", 1)];
const COUNTERS: [&str; 3] = ["i", "j", "k"];
const NUMBERS: [&str; 4] = ["i", "j", "k", "s"];
/// The greatest nesting of loops.
const DEPTH: usize = 3;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut made = vec![made(&mut random, "a", 1), made(&mut random, "b", 2)];
    if !random.one_in(5) {
        made.push(self::made(&mut random, "c", 1));
        if random.one_in(3) {
            made.push("DELETE(c)".into());
            made.push(self::made(&mut random, "c", 1));
        }
    }
    let own = if random.one_in(10) { String::new() } else { self::made(&mut random, "g", 1) };
    let (first, second) = (statements(&mut random, 0), statements(&mut random, 0));
    format!(
        "INTERFACE Go; IN Go OUT Gone IN Await OUT Done END Go;
COMPONENT T OFFERS Go;
VARIABLE g[i: INTEGER]: INTEGER {{ARRAY}};
IMPLEMENTATION Go;
VARIABLE
a[i: INTEGER], c[i: INTEGER]: INTEGER {{ARRAY}}; b[i, j: INTEGER]: INTEGER {{ARRAY}};
i, j, k, s, fuel: INTEGER;
BEGIN {{EXCLUSIVE}}
{};
?Go; !Gone;
{first};
{second};
WRITE(s); WRITE(\" \"); WRITE(i); WRITE(\" \"); WRITE(j); WRITE(\" \"); WRITE(k);
?Await; !Done
END Go;
BEGIN {own}
END T;
COMPONENT Main; VARIABLE t: T; BEGIN NEW(t); t!Go; t?Gone; t!Await; t?Done; WRITELINE END Main;
",
        made.join("; ")
    )
}

fn made(random: &mut Random, array: &str, dimensions: usize) -> String {
    let sizes: Vec<_> = (0..dimensions).map(|_| random.range(1, 6).to_string()).collect();
    format!("NEW({array}, {})", sizes.join(", "))
}

fn literal(random: &mut Random, least: i64, most: i64) -> String {
    format!("({})", random.range(least, most))
}

fn number(random: &mut Random, depth: usize) -> String {
    if depth > 2 || random.one_in(3) {
        return if random.one_in(4) { literal(random, -2, 6) } else { random.pick(&NUMBERS).to_string() };
    }
    let a = number(random, depth + 1);
    match random.below(6) {
        0 | 1 => format!("({a} + {})", number(random, depth + 1)),
        2 => format!("({a} - {})", number(random, depth + 1)),
        3 => format!("({a} * {})", literal(random, -2, 3)),
        4 => format!("({a} MOD {})", random.range(1, 6)),
        _ => format!("({a} DIV {})", random.range(1, 4)),
    }
}

fn element(random: &mut Random) -> String {
    let &(array, dimensions) = random.pick(&ARRAYS);
    let mut index = || if random.one_in(3) { number(random, 0) } else { random.pick(&NUMBERS).to_string() };
    let indices: Vec<_> = (0..dimensions).map(|_| index()).collect();
    format!("{array}[{}]", indices.join(", "))
}

fn statements(random: &mut Random, depth: usize) -> String {
    let count = 1 + random.below(3);
    let all: Vec<_> = (0..count).map(|_| statement(random, depth)).collect();
    all.join("; ")
}

fn statement(random: &mut Random, depth: usize) -> String {
    match random.below(20) {
        0..9 if depth < DEPTH => counted(random, depth),
        0..15 => {
            let element = element(random);
            format!("{element} := ({element} * 3 + {}) MOD 1009", number(random, 0))
        }
        15 | 16 => format!("s := (s * 7 + {}) MOD 10007", element(random)),
        17 => format!("{} := {}", random.pick(&COUNTERS), number(random, 0)),
        18 if depth > 0 && random.one_in(2) => {
            format!("IF {} > {} THEN EXIT END", number(random, 0), number(random, 0))
        }
        18 => format!("IF {} > {} THEN s := s + 1 END", number(random, 0), number(random, 0)),
        _ => "WRITE(s); WRITE(\" \")".into(),
    }
}

/// A loop that stops the program before it takes long.
fn counted(random: &mut Random, depth: usize) -> String {
    let counter = *random.pick(&COUNTERS);
    let mut bound = |least, most| {
        if random.one_in(4) { number(random, 0) } else { literal(random, least, most) }
    };
    let (mut first, mut last) = (bound(-1, 2), bound(0, 5));
    let by = *random.pick(&["", "", "", "", "", " BY 2", " BY -1", " BY 3"]);
    if by == " BY -1" {
        std::mem::swap(&mut first, &mut last);
    }
    let body = statements(random, depth + 1);
    format!(
        "FOR {counter} := {first} TO {last}{by} DO INC(fuel); IF fuel > 3000 THEN HALT(7) END; {body} END"
    )
}
