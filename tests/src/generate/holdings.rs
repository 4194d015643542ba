//! Patterns about what a component holds: components that move, elements, isolated components, deletion.

use super::{Generator, Step, fold};

impl Generator {
    /// Components that are lent in messages, used by the borrower, moved, and given back.
    pub fn lending(&mut self) -> Step {
        let (ask, lend) = (self.name("Read"), self.name("Lend"));
        let (book, page, library) = (self.name("Book"), self.name("Page"), self.name("Library"));
        let (l, m, k, i, x) =
            (self.name("l"), self.name("m"), self.name("k"), self.name("i"), self.name("x"));
        let (functions, content) = self.component(|own| own.number(&["uses"], 2));
        let any = self.random.one_in(2);
        let held = if any { format!("ANY({ask})") } else { book.clone() };
        let make = if any { format!("NEW(book[i], {book})") } else { "NEW(book[i])".into() };
        let (books, visits) = (1 + self.random.below(4), 1 + self.random.below(8));
        let mut step = Step::declaring(format!(
            "INTERFACE {ask};\n{{ IN Ask OUT Content(n: INTEGER) }}\nEND {ask};
INTERFACE {lend};\n{{ IN Lend(i: INTEGER) ( OUT Book(b: {held}) IN Return(b: {held}) | OUT Unavailable ) }}\nEND {lend};
COMPONENT {page}; END {page};
COMPONENT {book} OFFERS {ask};
VARIABLE page: {page};
VARIABLE uses: INTEGER;
{functions}IMPLEMENTATION {ask};
BEGIN
WHILE ?Ask DO {{EXCLUSIVE}} ?Ask; INC(uses); !Content({content}) END
END {ask};
BEGIN NEW(page)
END {book};
COMPONENT {library} OFFERS {lend};
VARIABLE book[i: INTEGER]: {held};
VARIABLE i: INTEGER;
IMPLEMENTATION {lend};
VARIABLE i: INTEGER;
BEGIN
WHILE ?Lend DO {{EXCLUSIVE}}
?Lend(i);
IF EXISTS(book[i]) THEN !Book(book[i]); ?Return(book[i]) ELSE !Unavailable END
END
END {lend};
BEGIN FOR i := 1 TO {books} DO {make} END
END {library};
"
        ));
        step.variables = vec![
            format!("{l}: {library}"),
            format!("{m}: {held}"),
            format!("{k}[t: TEXT]: {held}"),
            format!("{i}, {x}: INTEGER"),
        ];
        let through = if self.random.one_in(2) {
            format!(
                "MOVE({m}, {k}[TEXT({i})]); {ask}({k}[TEXT({i})])!Ask; MOVE({k}[TEXT({i})], {m}); \
                 {ask}({m})?Content({x});\n"
            )
        } else {
            format!("{ask}({m})!Ask; {ask}({m})?Content({x});\n")
        };
        step.statements = format!(
            "NEW({l});
FOR {i} := 1 TO {visits} DO
{l}!Lend({i} MOD 5);
IF {l}?Book THEN
{l}?Book({m});\n{through}{}{l}!Return({m}); {}ELSE {l}?Unavailable; {}END
END;
",
            fold(&x),
            fold(&format!("INTEGER(EXISTS({m}))")),
            fold("5")
        );
        step
    }

    /// Collections of all kinds, without communication.
    pub fn collections(&mut self) -> Step {
        let (work, key, word) = (self.name("Collect"), self.number(&["i", "acc"], 2), self.text(&["i"], 1));
        let value = self.number(&["i", "acc"], 2);
        let (count, rows, columns) =
            (1 + self.random.below(60), 1 + self.random.below(5), 1 + self.random.below(5));
        let scale = *self.random.pick(&[1, 3, 1_000_003]);
        Step {
            procedures: format!(
                "PROCEDURE {work}(start: INTEGER): INTEGER;
VARIABLE a[k: INTEGER]: INTEGER;
VARIABLE words[t: TEXT]: INTEGER;
VARIABLE seen[c: CHARACTER; b: BOOLEAN]: TEXT;
VARIABLE grid[i, j: INTEGER]: REAL {{ARRAY}};
VARIABLE acc, i, j: INTEGER;
VARIABLE t: TEXT;
VARIABLE c: CHARACTER;
VARIABLE b: BOOLEAN;
BEGIN
acc := start;
FOR i := 1 TO {count} DO
j := {key} * {scale};
IF EXISTS(a[j]) THEN a[j] := (a[j] * 5 + 1) MOD 9973; IF a[j] MOD 3 = 0 THEN DELETE(a[j]) END ELSE a[j] := {value} END;
t := {word};
IF ~EXISTS(words[t]) THEN NEW(words[t]) END;
INC(words[t]);
FOR j := 0 TO LENGTH(t) - 1 DO
IF EXISTS(seen[t[j], i MOD 2 = 0]) THEN \
seen[t[j], i MOD 2 = 0] := SLICE(seen[t[j], i MOD 2 = 0] + TEXT(j), 0, 1) \
ELSE seen[t[j], i MOD 2 = 0] := TEXT(i) END
END
END;
FOREACH j OF a DO {}{}END;
FOREACH j, i OF a DO a[j] := (i + 1) MOD 9973; {}IF i MOD 4 = 0 THEN DELETE(a[j]) END END;
FOREACH t OF words DO {}END;
FOREACH c, b, t OF seen DO {}{}END;
NEW(grid, {rows}, {columns});
FOREACH i, j OF grid DO grid[i, j] := i * 0.5 - j * j / 4.0 END;
FOR i := {rows} - 1 TO 0 BY -1 DO FOR j := 0 TO {columns} - 1 DO {}END END;
RETURN acc
END {work};
",
                fold("j MOD 9973"),
                fold("a[j]"),
                fold("i"),
                fold("(words[t] * 3 + LENGTH(t))"),
                fold("(INTEGER(c) + INTEGER(b) + LENGTH(seen[c, b]))"),
                fold("LENGTH(t)"),
                fold("INTEGER(grid[i, j] * 8) MOD 9973"),
            ),
            statements: format!("acc := {work}(acc);\n"),
            ..Step::default()
        }
    }

    /// An isolated component fails; its holder and its client notice that and go on.
    pub fn contained_fault(&mut self) -> Step {
        let (interface, weak, w, x) = (self.name("Risk"), self.name("Weak"), self.name("w"), self.name("x"));
        let faults =
            ["!Answer(100 DIV n)", "ASSERT(n > 0); !Answer(n)", "!Answer(bad[n])", "!Answer(100 MOD n)"];
        let fault = *self.random.pick(&faults);
        let bad = if fault.contains("bad[") { "VARIABLE bad[i: INTEGER]: INTEGER;\n" } else { "" };
        let prepare = if bad.is_empty() { "" } else { "IF n > 0 THEN bad[n] := n END; " };
        let wrapped = self.random.one_in(2);
        let (outer, template) = if wrapped {
            let shell = self.name("Shell");
            let text = format!(
                "COMPONENT {{ISOLATED}} {shell} OFFERS {interface};\nVARIABLE inner: {weak};\n\
                 BEGIN NEW(inner); CONNECT({interface}, inner)\nFINALLY WRITE(\"\")\nEND {shell};\n"
            );
            (text, shell)
        } else {
            (String::new(), weak.clone())
        };
        let isolated = if wrapped { "" } else { "{ISOLATED} " };
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\n{{ IN Ask(n: INTEGER) OUT Answer(n: INTEGER) }}\nEND {interface};
COMPONENT {isolated}{weak} OFFERS {interface};
IMPLEMENTATION {interface};
VARIABLE n: INTEGER;
{bad}BEGIN
WHILE ?Ask DO ?Ask(n); {prepare}{fault} END
END {interface};
END {weak};
{outer}"
        ));
        let known = self.name("fault");
        step.variables = vec![format!("{w}: {template}"), format!("{x}: INTEGER"), format!("{known}: Fault")];
        let end =
            format!("{}{}", fold(&format!("INTEGER({w}?Answer)")), fold(&format!("INTEGER({w}?FINISH)")));
        let lock = *self.random.pick(&["SHARED", "EXCLUSIVE"]);
        let gone = format!("~EXISTS({w})");
        let failed = format!("FAULT({w}) # Fault()");
        let noticed = match self.random.below(4) {
            0 => end,
            1 => format!("BEGIN {{{lock}}} AWAIT({gone}) END; {end}"),
            2 => format!("BEGIN {{{lock}}} AWAIT({failed}) END; "),
            _ => format!("BEGIN {{{lock}}} {}END; ", fold(&format!("INTEGER(AWAIT({failed}, 50))"))),
        };
        let kind = format!("{known} := FAULT({w}); {}", fold(&format!("LENGTH({known}.kind)")));
        step.statements = format!(
            "{kind}NEW({w}); {w}!Ask(7); {w}?Answer({x}); {}{kind}{w}!Ask(0);
{noticed}{}{kind}NEW({w}); {kind}{w}!Ask(5); {w}?Answer({x}); {}",
            fold(&x),
            fold(&format!("INTEGER(EXISTS({w}))")),
            fold(&x),
        );
        step
    }

    /// Nested components whose FINALLY blocks write while the entry component waits in a DELETE, or for a procedure to
    /// return.
    pub fn farewells(&mut self) -> Step {
        let (interface, leaf, client, holder, procedure) = (
            self.name("Name"),
            self.name("Leaf"),
            self.name("User"),
            self.name("Holder"),
            self.name("Farewell"),
        );
        let (leaves, reversed) = (self.random.below(4), self.random.one_in(2));
        let order =
            if reversed { "l: {leaf}; VARIABLE u: {client}" } else { "u: {client}; VARIABLE l: {leaf}" };
        let order = order.replace("{leaf}", &leaf).replace("{client}", &client);
        let key = *self.random.pick(&["i", "-i", "i * 1000", "i * 7 MOD 5"]);
        let value = self.number(&["n"], 2);
        let connect = self.random.one_in(2);
        let connection =
            if connect { format!("NEW(l); NEW(u); CONNECT({interface}(u), l); ") } else { "NEW(l); ".into() };
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\n{{ IN Name(n: INTEGER) }}\nEND {interface};
COMPONENT {leaf} OFFERS {interface};
VARIABLE n: INTEGER;
IMPLEMENTATION {interface};
BEGIN
WHILE ?Name DO {{EXCLUSIVE}} ?Name(n) END
END {interface};
FINALLY WRITE(\"leaf \"); WRITE(n); WRITELINE
END {leaf};
COMPONENT {client} REQUIRES {interface};
BEGIN {interface}!Name(-1)
FINALLY WRITE(\"user\"); WRITELINE
END {client};
COMPONENT {holder};
VARIABLE {order};
VARIABLE a[i: INTEGER]: {leaf};
VARIABLE i: INTEGER;
BEGIN
{connection}FOR i := 1 TO {leaves} DO IF ~EXISTS(a[{key}]) THEN NEW(a[{key}]); a[{key}]!Name(i) END END
FINALLY WRITE(\"holder\"); WRITELINE
END {holder};
"
        ));
        step.procedures = format!(
            "PROCEDURE {procedure}(n: INTEGER);
VARIABLE h: {holder};
VARIABLE single: {leaf};
BEGIN
NEW(h); NEW(single); single!Name({value}); WRITE(\"leaving\"); WRITELINE
END {procedure};
"
        );
        step.statements = format!("{procedure}(acc);\n");
        if self.random.one_in(2) {
            let h = self.name("h");
            step.variables.push(format!("{h}: {holder}"));
            step.statements += &format!("NEW({h}); DELETE({h});\n");
        }
        step
    }

    /// Processes sleep for different times, or for the same time from different moments, and write when they wake.
    pub fn sleepers(&mut self) -> Step {
        let (interface, sleeper) = (self.name("Sleep"), self.name("Sleeper"));
        let (s, i, start) = (self.name("s"), self.name("i"), self.name("start"));
        let (count, factor) = (1 + self.random.below(8), *self.random.pick(&[3, 5, 7]));
        let together = self.random.one_in(2);
        let sleep = if together { "PASSIVATE(n); PASSIVATE(40 - n)" } else { "PASSIVATE(n)" };
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\nIN Sleep(n: INTEGER)\nEND {interface};
COMPONENT {sleeper} OFFERS {interface};
IMPLEMENTATION {interface};
VARIABLE n: INTEGER;
BEGIN
?Sleep(n); {sleep}; WRITE(n); WRITE(\" \")
END {interface};
END {sleeper};
"
        ));
        step.variables = vec![format!("{s}[i: INTEGER]: {sleeper}"), format!("{i}, {start}: INTEGER")];
        step.statements = format!(
            "{start} := TIME;
FOR {i} := 1 TO {count} DO NEW({s}[{i}]); {s}[{i}]!Sleep({i} * {factor} MOD 11 + 1) END;
PASSIVATE(100); WRITE(TIME - {start}); WRITELINE;
"
        );
        step
    }
}
