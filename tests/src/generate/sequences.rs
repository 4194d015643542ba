//! Sequences: of numbers, texts, records and sequences, as variables, fields, elements, parameters, results and in
//! messages, which are shared and changed. Lengths stay small, and indices within them, except where a step says so.

use super::{Generator, Step, fold};

/// The longest sequence.
const LONGEST: usize = 40;

/// The names of what the steps use.
struct Names {
    record: String,
    grown: String,
    changed: String,
    checksum: String,
    store: String,
}

impl Generator {
    /// Sequences that are made, changed, copied, compared, sorted, passed, and sent to a store and back.
    pub fn sequences(&mut self) -> Step {
        let names = Names {
            record: self.name("Pile"),
            grown: self.name("Grown"),
            changed: self.name("Changed"),
            checksum: self.name("Checksum"),
            store: self.name("store"),
        };
        let (interface, template) = (self.name("I"), self.name("Store"));
        let mut fields =
            ["name: TEXT", "n: INTEGER", "numbers: SEQUENCE OF INTEGER", "words: SEQUENCE OF TEXT"]
                .map(String::from);
        self.random.shuffle(&mut fields);
        let record = &names.record;
        let templates = format!(
            "RECORD {record}; {}; END {record};
INTERFACE {interface};
  {{ IN Put(a: SEQUENCE OF INTEGER; p: {record}) | IN Get OUT Value(p: {record}; n: INTEGER; a: SEQUENCE OF INTEGER) }}
END {interface};
COMPONENT {template} OFFERS {interface};
VARIABLE kept: {record}; a: SEQUENCE OF INTEGER;
IMPLEMENTATION {interface};
BEGIN
  WHILE ?ANY DO {{EXCLUSIVE}}
    IF ?Put THEN ?Put(a, kept) ELSE ?Get; !Value(kept, COUNT(a), a) END
  END
END {interface};
END {template};
",
            fields.join("; ")
        );
        let Names { grown, changed, checksum, .. } = &names;
        let procedures = format!(
            "PROCEDURE {grown}(a: SEQUENCE OF INTEGER; n: INTEGER): SEQUENCE OF INTEGER;
VARIABLE i: INTEGER;
BEGIN
  FOR i := 1 TO n DO APPEND(a, (i * 31 + COUNT(a)) MOD 997) END;
  IF COUNT(a) > {LONGEST} THEN a := SLICE(a, COUNT(a) - {LONGEST}, {LONGEST}) END;
  RETURN a
END {grown};
PROCEDURE {changed}(VARIABLE a: SEQUENCE OF INTEGER; by: INTEGER);
VARIABLE i, x: INTEGER;
BEGIN FOREACH i, x OF a DO a[i] := (x + by + i) MOD 997; IF i = 5 THEN EXIT END END
END {changed};
PROCEDURE {checksum}(a: SEQUENCE OF INTEGER): INTEGER;
VARIABLE i, x, sum: INTEGER;
BEGIN FOREACH i, x OF a DO sum := (sum * 7 + x + i) MOD 9973 END; RETURN sum
END {checksum};
"
        );
        let stems = ["a", "b", "w", "p", "q", "m", "g", "i"].map(|stem| self.name(stem));
        let [a, b, words, p, q, map, nested, i] = &stems;
        let numbers: Vec<String> = [a, b]
            .map(String::clone)
            .into_iter()
            .chain([
                format!("{p}.numbers"),
                format!("{q}.numbers"),
                format!("{map}[0]"),
                format!("{map}[1]"),
                format!("{nested}[0]"),
                format!("{nested}[2]"),
            ])
            .collect();
        let texts = [words.clone(), format!("{p}.words"), format!("{q}.words")];
        let mut statements = format!(
            "NEW({store}); {map}[0] := []; {map}[1] := [3, 1, 2]; {nested} := [[1], [], [5, 4]];
{words} := [\"one\", \"two\"]; {p} := {record}(n: 2, words: {words});\n",
            store = names.store
        );
        for _ in 0..8 + self.random.below(16) {
            statements += &self.change_of_sequence(&names, &numbers, &texts, &stems);
        }
        for sequence in &numbers {
            statements += &fold(&format!("{checksum}({sequence})"));
        }
        for sequence in &texts {
            statements +=
                &format!("FOREACH {i} OF {sequence} DO\n{}END;\n", fold(&format!("LENGTH({sequence}[{i}])")));
        }
        Step {
            templates,
            procedures,
            variables: vec![
                format!("{a}, {b}, {map}[k: INTEGER]: SEQUENCE OF INTEGER"),
                format!("{words}: SEQUENCE OF TEXT"),
                format!("{p}, {q}: {record}"),
                format!("{nested}: SEQUENCE OF SEQUENCE OF INTEGER"),
                format!("{i}: INTEGER"),
                format!("{}: {template}", names.store),
            ],
            statements,
        }
    }

    fn change_of_sequence(
        &mut self,
        names: &Names,
        numbers: &[String],
        texts: &[String],
        [_, _, _, p, q, map, nested, i]: &[String; 8],
    ) -> String {
        let (a, b) = (self.random.pick(numbers).clone(), self.random.pick(numbers).clone());
        let (t, u) = (self.random.pick(texts).clone(), self.random.pick(texts).clone());
        let Names { record, grown, changed, checksum, store } = names;
        let number = self.number(&[&format!("COUNT({a})")], 1);
        let text = self.text(&[&format!("COUNT({b})")], 1);
        let n = self.random.below(9);
        // Appends behind an index, or within one, only where there is an element.
        let filled = |sequence: &str, then: &str| format!("IF COUNT({sequence}) > 0 THEN {then} END;\n");
        match self.random.below(24) {
            0 => format!("{a} := {grown}({b}, {n});\n"),
            1 if !a.contains('.') && !a.contains('[') => format!("{changed}({a}, {n});\n"),
            1 | 2 => format!("{a} := {b};\n"),
            3 => format!("IF COUNT({a}) < {LONGEST} THEN APPEND({a}, {number}) END;\n"),
            4 => format!(
                "IF COUNT({a}) < {LONGEST} THEN INSERT({a}, COUNT({a}) DIV 2, {checksum}({b})) END;\n"
            ),
            5 => filled(&a, &format!("REMOVE({a}, {n} MOD COUNT({a}))")),
            6 => filled(&a, &format!("{a}[COUNT({a}) - 1] := {number}")),
            7 => filled(&a, &format!("INC({a}[{n} MOD COUNT({a})], {n})")),
            8 => format!("SORT({a});\n"),
            9 => format!("SORT({i} OF {a}, -{i} MOD 7);\n"),
            10 => format!("{a} := SLICE({b}, COUNT({b}) DIV 3, COUNT({b}) DIV 2);\n"),
            11 => format!("IF COUNT({a}) + COUNT({b}) < {LONGEST} THEN {a} := {a} + {b} + [{n}] END;\n"),
            12 => fold(&format!("INTEGER({a} = {b})")),
            13 => fold(&format!("INTEGER({p} # {q})")),
            14 => format!("{p} := {q}; {q}.n := COUNT({a}); {q}.name := {text};\n"),
            15 => format!("{q} := {record}(n: {n}, numbers: {a}, words: {t});\n"),
            16 => format!("{t} := {u}; IF COUNT({t}) < {LONGEST} THEN APPEND({t}, {text}) END;\n"),
            17 => filled(&t, &format!("{t}[0] := SLICE({t}[0] + \"x\", LENGTH({t}[0]) DIV 2, 1)")),
            18 => format!("SORT({t}); SORT({i}t OF {t}, LENGTH({i}t));\n"),
            19 => format!("{store}!Put({a}, {p}); {store}!Get; {store}?Value({q}, {q}.n, {b});\n"),
            20 => format!("{nested} := [{a}, {b}, {nested}[0]]; {map}[0] := {nested}[1];\n"),
            21 => format!("NEW({a}, {n}); FOREACH {i} OF {a} DO {a}[{i}] := {i} * {n} END;\n"),
            22 => fold(&format!("INTEGER({nested}[0] = {a}) * 2 + INTEGER({t} = {u})")),
            _ => format!("FOREACH {i}, {q}.n OF {a} DO\n{}END;\n", fold(&format!("{q}.n + {i}"))),
        }
    }
}
