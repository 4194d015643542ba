//! Patterns about procedures: results of all types beside locals of all kinds, and `VARIABLE` parameters that denote
//! elements of collections.

use super::{Generator, Step, fold};

/// A type of values: how to make a value from an INTEGER, and how to compute an INTEGER below 9973 from a value.
struct Values {
    name: &'static str,
    make: fn(&str) -> String,
    measure: fn(&str) -> String,
}

const VALUES: [Values; 5] = [
    Values { name: "INTEGER", make: |n| format!("({n})"), measure: |x| format!("({x} MOD 9973)") },
    Values {
        name: "REAL",
        make: |n| format!("(({n}) * 0.5)"),
        measure: |x| format!("(INTEGER({x} * 2.0) MOD 9973)"),
    },
    Values {
        name: "TEXT",
        make: |n| format!("(\"t\" + TEXT({n}))"),
        measure: |x| format!("(LENGTH({x}) * 31 + FIND({x}, \"1\", 0) + 1)"),
    },
    Values {
        name: "CHARACTER",
        make: |n| format!("CHARACTER(({n}) MOD 256)"),
        measure: |x| format!("INTEGER({x})"),
    },
    Values {
        name: "BOOLEAN",
        make: |n| format!("(({n}) MOD 3 = 0)"),
        measure: |x| format!("(INTEGER({x}) * 17)"),
    },
];

/// A collection's index part, and the element for a small INTEGER.
struct Index {
    declared: &'static str,
    at: fn(&str) -> String,
}

const INDICES: [Index; 4] = [
    Index { declared: "k: INTEGER", at: |n| n.to_string() },
    Index { declared: "k: TEXT", at: |n| format!("\"k\" + TEXT({n})") },
    Index { declared: "k: CHARACTER", at: |n| format!("CHARACTER(40 + {n})") },
    Index { declared: "k: INTEGER; b: BOOLEAN", at: |n| format!("{n} * 1000003, {n} MOD 2 = 0") },
];

impl Generator {
    /// A function with locals that must be freed, and with returns in many places.
    pub fn results(&mut self) -> Step {
        let (ask, server, function, measure) =
            (self.name("Ask"), self.name("Server"), self.name("Result"), self.name("measured"));
        let values = &VALUES[self.random.below(VALUES.len())];
        let (make, ty) = (values.make, values.name);
        let locals = [
            ("VARIABLE a[i: INTEGER]: INTEGER;\n", "a[n] := n; a[n + 5] := 1;\n"),
            ("VARIABLE w[t: TEXT]: TEXT;\n", "w[TEXT(n)] := TEXT(n); w[\"x\"] := \"y\";\n"),
            ("VARIABLE g[i, j: INTEGER]: REAL {ARRAY};\n", "NEW(g, 2, 3); g[1, n MOD 3] := 0.5;\n"),
            ("VARIABLE t: TEXT;\n", "t := \"own\" + TEXT(n);\n"),
            ("VARIABLE s: SERVER;\n", "NEW(s); s!Ask; s?Answer(x);\n"),
            ("VARIABLE many[i: INTEGER]: SERVER;\n", "FOR x := 0 TO n MOD 3 DO NEW(many[x]) END;\n"),
            ("", "PASSIVATE(n MOD 3);\n"),
        ];
        let (mut declared, mut prepared) = (String::new(), String::new());
        let mut words = false;
        for (declaration, preparation) in locals {
            if self.random.one_in(3) {
                words |= declaration.contains("w[");
                declared += &declaration.replace("SERVER", &server);
                prepared += preparation;
            }
        }
        let value = make(&self.number(&["n", "depth", "x"], 2));
        let mut body = String::new();
        for _ in 0..1 + self.random.below(3) {
            let result = make(&self.number(&["n", "depth", "x"], 1));
            let condition = self.condition(&["n", "depth", "x"], 0);
            body += &match self.random.below(if words { 7 } else { 6 }) {
                0 => format!("IF {condition} THEN RETURN {result} END;\n"),
                1 => format!("FOR x := 1 TO n MOD 4 DO IF {condition} THEN RETURN {result} END END;\n"),
                2 => format!("x := 3; WHILE x > 0 DO DEC(x); IF {condition} THEN RETURN {result} END END;\n"),
                3 => format!("BEGIN {{EXCLUSIVE}} IF {condition} THEN RETURN {result} END END;\n"),
                4 => format!("IF depth > 0 THEN RETURN {function}((n + 1) MOD 9973, depth - 1) END;\n"),
                5 => format!(
                    "x := n; REPEAT x := x DIV 2; IF {condition} THEN RETURN {result} END UNTIL x = 0;\n"
                ),
                _ => format!("FOREACH k OF w DO IF {condition} THEN RETURN {result} END END;\n"),
            };
        }
        Step {
            templates: format!(
                "INTERFACE {ask};\n{{ IN Ask OUT Answer(n: INTEGER) }}\nEND {ask};
COMPONENT {server} OFFERS {ask};
IMPLEMENTATION {ask};\nBEGIN WHILE ?Ask DO ?Ask; !Answer(7) END\nEND {ask};
END {server};
"
            ),
            procedures: format!(
                "PROCEDURE {function}(n, depth: INTEGER): {ty};
{declared}VARIABLE x: INTEGER;
VARIABLE k: TEXT;
BEGIN
{prepared}{body}RETURN {value}
END {function};
"
            ),
            variables: vec![format!("{measure}: {ty}")],
            statements: format!(
                "{measure} := {function}(acc MOD 9973, {});\n{}",
                self.random.below(4),
                fold(&(values.measure)(&measure))
            ),
        }
    }

    /// Elements of one collection under several names, made and deleted while the procedures run.
    pub fn names(&mut self) -> Step {
        let (work, p, q) = (self.name("Names"), self.name("P"), self.name("Q"));
        let values = &VALUES[self.random.below(VALUES.len())];
        let (make, measure, ty) = (values.make, values.measure, values.name);
        let array = self.random.one_in(4);
        let index = &INDICES[if array { 0 } else { self.random.below(INDICES.len()) }];
        let element = |n: &str| format!("a[{}]", (index.at)(n));
        let attribute = if array { " {ARRAY}" } else { "" };
        let first = if array { "NEW(a, 8);\n" } else { "" };
        let mut body = String::new();
        for _ in 0..2 + self.random.below(5) {
            let n = self.random.below(8).to_string();
            let value = make(&format!("{} + {} + n", measure("x"), self.random.below(100)));
            body += &match self.random.below(if array { 8 } else { 11 }) {
                0 => format!("x := {value};\n"),
                1 => format!("y := {value};\n"),
                2 => format!("{} := {value};\n", element(&n)),
                3 => fold(&format!("({} * 3 + {})", measure("x"), measure("y"))),
                4 => "PASSIVATE(1);\n".into(),
                5 => format!("IF n > 0 THEN {p}(y, {}, n - 1) END;\n", element(&n)),
                6 => format!("{q}(x, y);\n"),
                7 => format!("{q}({}, x);\n", element(&n)),
                8 => format!("FOR i := 20 TO 20 + n * 9 DO {} := {value} END;\n", element("i")),
                9 if self.random.one_in(3) => format!("DELETE({});\n", element(&n)),
                _ => format!("DELETE({0}); {0} := {value}; x := {value};\n", element(&n)),
            };
        }
        let start = make("i * 11");
        let swapped = make(&format!("{} + 1", measure("u")));
        let (i, j) = (self.random.below(8).to_string(), self.random.below(8).to_string());
        Step {
            procedures: format!(
                "PROCEDURE {work}(acc: INTEGER): INTEGER;
VARIABLE a[{}]: {ty}{attribute};
VARIABLE i: INTEGER;
PROCEDURE {q}(VARIABLE u, v: {ty});\nVARIABLE t: {ty};\nBEGIN t := u; u := v; v := t; u := {swapped}\nEND {q};
PROCEDURE {p}(VARIABLE x, y: {ty}; n: INTEGER);\nVARIABLE i: INTEGER;\nBEGIN\n{body}END {p};
BEGIN
{first}FOR i := 0 TO 7 DO {} := {start} END;
{p}({}, {}, {});
FOR i := 0 TO 7 DO IF EXISTS({here}) THEN {}END END;
RETURN acc
END {work};
",
                index.declared,
                element("i"),
                element(&i),
                element(&j),
                self.random.below(3),
                fold(&measure(&element("i"))),
                here = element("i"),
            ),
            statements: format!("acc := {work}(acc);\n"),
            ..Step::default()
        }
    }

    /// An element is changed under its own name and under others in turn, while its service waits.
    pub fn changes(&mut self) -> Step {
        let (change, other, keeper) = (self.name("Change"), self.name("Other"), self.name("Keeper"));
        let (k, x) = (self.name("k"), self.name("x"));
        let values = &VALUES[self.random.below(VALUES.len())];
        let (make, measure, ty) = (values.make, values.measure, values.name);
        let index = &INDICES[self.random.below(INDICES.len())];
        let at = (index.at)("3");
        let away = self.random.one_in(2);
        let meanwhile = if away { format!("DELETE(a[{at}]);\n") } else { String::new() };
        let again = if away && self.random.one_in(8) {
            String::new()
        } else {
            format!("a[{at}] := {};\n", make("5 * n"))
        };
        let more = (index.at)("4 + i");
        let mut step = Step::declaring(format!(
            "INTERFACE {change};\nIN Change(n: INTEGER) OUT Changed(n: INTEGER)\nEND {change};
INTERFACE {other};\nIN Change(n: INTEGER) OUT Changed\nEND {other};
COMPONENT {keeper} OFFERS {change}, {other};
VARIABLE a[{}]: {ty};
VARIABLE waits, go: BOOLEAN;
PROCEDURE Change(VARIABLE x: {ty}; n: INTEGER);
BEGIN
x := {};
waits := TRUE; AWAIT(go);
x := {}
END Change;
IMPLEMENTATION {change};
VARIABLE n: INTEGER;
BEGIN {{EXCLUSIVE}}
?Change(n); a[{at}] := {}; Change(a[{at}], n); !Changed({})
END {change};
IMPLEMENTATION {other};
VARIABLE i, n: INTEGER;
BEGIN {{EXCLUSIVE}}
?Change(n); AWAIT(waits);
{meanwhile}FOR i := 1 TO {} DO a[{more}] := {} END;
{again}go := TRUE; !Changed
END {other};
END {keeper};
",
            index.declared,
            make(&format!("{} + n", measure("x"))),
            make(&format!("{} * 2 + n", measure("x"))),
            make("n"),
            measure(&format!("a[{at}]")),
            self.random.below(40),
            make("i * 7"),
        ));
        step.variables = vec![format!("{k}: {keeper}"), format!("{x}: INTEGER")];
        step.statements = format!(
            "NEW({k}); {change}({k})!Change(acc MOD 100); {other}({k})!Change({});
{other}({k})?Changed; {change}({k})?Changed({x});\n{}",
            self.random.below(50),
            fold(&x)
        );
        step
    }

    /// Containers as `VARIABLE` parameters: procedures make, use, move and delete their contents.
    pub fn containers(&mut self) -> Step {
        let (ask, server, work) = (self.name("Ask"), self.name("Server"), self.name("Contain"));
        let index = &INDICES[self.random.below(INDICES.len())];
        let element = |n: usize| format!("a[{}]", (index.at)(&n.to_string()));
        let mut body = String::new();
        for _ in 0..3 + self.random.below(6) {
            let (n, m) = (self.random.below(5), self.random.below(5));
            let (here, there) = (element(n), element(m));
            body += &match self.random.below(7) {
                0 | 1 => format!("Use({here});\n"),
                2 => format!("Fill({here});\n"),
                3 if n != m => format!("Swap({here}, {there});\n"),
                4 => format!("IF EXISTS({here}) THEN Drop({here}) END;\n"),
                5 => format!("Fill({here}); Pass({here}, {});\n", self.random.below(3)),
                _ => format!("Swap(single, {here});\n"),
            };
            body += &fold(&format!("(INTEGER(EXISTS({here})) + INTEGER(EXISTS(single)) * 2)"));
        }
        Step {
            templates: format!(
                "INTERFACE {ask};\n{{ IN Ask OUT Answer(n: INTEGER) }}\nEND {ask};
COMPONENT {server} OFFERS {ask};
VARIABLE uses: INTEGER;
IMPLEMENTATION {ask};
BEGIN WHILE ?Ask DO {{EXCLUSIVE}} ?Ask; INC(uses); !Answer(uses) END\nEND {ask};
FINALLY WRITE(uses); WRITE(\" \")
END {server};
"
            ),
            procedures: format!(
                "PROCEDURE {work}(acc: INTEGER): INTEGER;
VARIABLE a[{}]: {server};
VARIABLE single: {server};
PROCEDURE Fill(VARIABLE c: {server});\nBEGIN IF ~EXISTS(c) THEN NEW(c) END\nEND Fill;
PROCEDURE Use(VARIABLE c: {server});\nVARIABLE n: INTEGER;
BEGIN Fill(c); c!Ask; c?Answer(n); {}END Use;
PROCEDURE Drop(VARIABLE c: {server});\nBEGIN DELETE(c); IF EXISTS(c) THEN acc := 0 END\nEND Drop;
PROCEDURE Swap(VARIABLE c, d: {server});\nVARIABLE t: {server};
BEGIN
IF EXISTS(c) THEN MOVE(c, t) END; IF EXISTS(d) THEN MOVE(d, c) END; IF EXISTS(t) THEN MOVE(t, d) END\nEND Swap;
PROCEDURE Pass(VARIABLE c: {server}; depth: INTEGER);
BEGIN PASSIVATE(1); IF depth > 0 THEN Pass(c, depth - 1) ELSE Use(c) END\nEND Pass;
BEGIN
{body}RETURN acc
END {work};
",
                index.declared,
                fold("n"),
            ),
            statements: format!("acc := {work}(acc);\n"),
            ..Step::default()
        }
    }
}
