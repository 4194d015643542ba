//! Records: random types of fields, records in records, values that are shared and changed, as variables, elements,
//! parameters, results and in messages.

use super::{Generator, Step, fold};

/// How many elements the collection of records has.
const ELEMENTS: usize = 3;

/// The names of a record type and of the procedures for it.
struct Kind {
    record: String,
    mirrored: String,
    changed: String,
}

impl Generator {
    /// Variables and elements that are changed, copied, compared, passed, and sent to a store and back.
    pub fn records(&mut self) -> Step {
        let (inner, outer) = (self.kind(), self.kind());
        let (interface, store) = (self.name("I"), self.name("Store"));
        let mut fields = ["i: INTEGER", "t: TEXT", "b: BOOLEAN", "x: REAL", "c: CHARACTER", "more: TEXT"]
            .map(String::from);
        let mut around =
            [format!("p: {}", inner.record), format!("q: {}", inner.record), "k: INTEGER".into()];
        self.random.shuffle(&mut fields);
        self.random.shuffle(&mut around);
        let templates = format!(
            "RECORD {inner}; {}; END {inner};
RECORD {outer}; {} END {outer};
INTERFACE {interface};
  {{ IN Put(a: {inner}; n: INTEGER) | IN Keep(b: {outer})
  | IN Get OUT Value(n: INTEGER; a: {inner}) OUT Kept(b: {outer}) }}
END {interface};
COMPONENT {store} OFFERS {interface};
VARIABLE kept: {outer}; n: INTEGER;
IMPLEMENTATION {interface};
BEGIN
  WHILE ?ANY DO {{EXCLUSIVE}}
    IF ?Put THEN ?Put(kept.p, n) ELSIF ?Keep THEN ?Keep(kept) ELSE ?Get; !Value(n, kept.p); !Kept(kept) END
  END
END {interface};
END {store};
",
            fields.join("; "),
            around.join("; "),
            inner = inner.record,
            outer = outer.record,
        );
        let procedures = format!(
            "PROCEDURE {mirrored}(a: {inner}): {inner};
BEGIN a.i := (a.i * 3 + 1) MOD 9973; a.t := a.more; a.more := \"m\"; RETURN a
END {mirrored};
PROCEDURE {changed}(VARIABLE a: {inner}; b: {inner}; n: INTEGER);
BEGIN b.i := n; a := b; INC(a.i); a.b := ~b.b
END {changed};
PROCEDURE {outer_mirrored}(b: {outer}): {outer};
BEGIN RETURN {outer}(p: b.q, q: {mirrored}(b.p), k: b.k)
END {outer_mirrored};
PROCEDURE {outer_changed}(VARIABLE b: {outer}; n: INTEGER);
BEGIN b.q.i := n; b.k := b.p.i; b.p.t := b.p.t + \"z\"
END {outer_changed};
",
            mirrored = inner.mirrored,
            changed = inner.changed,
            outer_mirrored = outer.mirrored,
            outer_changed = outer.changed,
            inner = inner.record,
            outer = outer.record,
        );
        let names = ["u", "v", "r", "s", "el", "store"].map(|stem| self.name(stem));
        let [u, v, r, s, el, store_variable] = &names;
        let wholes: Vec<String> = (0..ELEMENTS).map(|at| format!("{el}[{at}]")).collect();
        let wholes = [vec![r.clone(), s.clone()], wholes].concat();
        let mut parts = vec![u.clone(), v.clone()];
        parts.extend(wholes.iter().flat_map(|whole| [format!("{whole}.p"), format!("{whole}.q")]));
        let mut statements = format!("NEW({store_variable});\n");
        for at in 0..ELEMENTS {
            statements += &format!("{el}[{at}] := {}(k: {at});\n", outer.record);
        }
        for _ in 0..6 + self.random.below(12) {
            statements += &self.change_of_record(&inner, &outer, &parts, &wholes, store_variable, [u, r]);
        }
        for part in &parts {
            for value in ["i", "LENGTH(t)", "LENGTH(more)", "INTEGER(b)", "INTEGER(c)"] {
                let value = match value.split_once('(') {
                    Some((function, field)) => format!("{function}({part}.{field}"),
                    None => format!("{part}.{value}"),
                };
                statements += &fold(&format!("({value} MOD 9973)"));
            }
        }
        Step {
            templates,
            procedures,
            variables: vec![
                format!("{u}, {v}: {}", inner.record),
                format!("{r}, {s}, {el}[i: INTEGER]: {}", outer.record),
                format!("{store_variable}: {store}"),
            ],
            statements,
        }
    }

    fn kind(&mut self) -> Kind {
        Kind { record: self.name("Record"), mirrored: self.name("Mirrored"), changed: self.name("Changed") }
    }

    fn change_of_record(
        &mut self,
        inner: &Kind,
        outer: &Kind,
        parts: &[String],
        wholes: &[String],
        store: &str,
        variables: [&String; 2],
    ) -> String {
        let (a, b) = (self.random.pick(parts).clone(), self.random.pick(parts).clone());
        let (whole, other) = (self.random.pick(wholes).clone(), self.random.pick(wholes).clone());
        let field = format!("{b}.i");
        let number = self.number(&[&field], 1);
        let text = self.text(&[&field], 1);
        match self.random.below(16) {
            0 | 1 => format!("{a} := {b};\n"),
            2 => format!("{whole} := {other};\n"),
            3 => format!("{a}.i := {number};\n"),
            4 => format!(
                "{a}.t := {text}; {a}.more := {a}.t + {b}.more;
{a}.more := SLICE({a}.more, 0, MIN(LENGTH({a}.more), 40));\n"
            ),
            5 => format!("{a} := {}(t: {text}, i: {number});\n", inner.record),
            6 => format!("{a} := {}({b});\n", inner.mirrored),
            7 => format!("{}({}, {b}, {number});\n", inner.changed, variables[0]),
            8 => format!("{whole} := {}({other});\n", outer.mirrored),
            9 => format!("{}({whole}, {number});\n", outer.changed),
            10 => format!(
                "{store}!Put({a}, {number}); {store}!Get;
{store}?Value({whole}.k, {b}); {store}?Kept({});\n",
                variables[1]
            ),
            11 => format!(
                "{store}!Keep({whole}); {store}!Get;
{store}?Value({whole}.k, {a}); {store}?Kept({other});\n"
            ),
            12 => fold(&format!("INTEGER({a} = {b})")),
            13 => fold(&format!("INTEGER({whole} # {}({other}))", outer.mirrored)),
            14 => format!(
                "INC({a}.i, 3); {a}.i := {a}.i MOD 9973;
{a}.x := {a}.x * 0.5 + 1.25; {a}.c := CHARACTER({a}.i MOD 256);\n"
            ),
            _ => format!("IF {a}.x > {b}.x THEN {a}.b := ~{a}.b; {whole}.k := {whole}.p.i END;\n"),
        }
    }
}
