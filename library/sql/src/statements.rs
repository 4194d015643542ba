//! What is known of the statements that a connection to SQLite has used last.

use std::collections::HashMap;
use std::mem::replace;
use std::sync::{Arc, OnceLock};

use crate::answer::Columns;
use crate::words::begins_with;

/// What is known of a statement that was used before.
pub struct Known {
    pace: OnceLock<Pace>,
    /// Whether it adds rows: it begins with INSERT or the like.
    pub adds: bool,
    /// For each parameter the number of its value: `$2`, `?2` and `:2` are the second, and `?` the next.
    pub parameters: Box<[usize]>,
    pub columns: Columns,
}

impl Known {
    pub fn of(statement: &rusqlite::Statement<'_>, sql: &str) -> Known {
        let number = |parameter: usize| {
            let name = statement.parameter_name(parameter);
            name.and_then(|name| name[1..].parse().ok()).unwrap_or(parameter)
        };
        Known {
            pace: OnceLock::new(),
            adds: begins_with(sql, &["insert", "replace", "with"]),
            parameters: (1..=statement.parameter_count()).map(number).collect(),
            columns: Columns::new(statement.column_names()),
        }
    }

    /// How long it may take; what can't be explained is EXPLAIN itself.
    pub fn pace(&self, connection: &rusqlite::Connection, sql: &str) -> Pace {
        match self.pace.get() {
            Some(pace) => *pace,
            None => Pace::of(connection, sql).map_or(Pace::Long, |pace| *self.pace.get_or_init(|| pace)),
        }
    }
}

/// How long a statement may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It has no loop.
    Short,
    /// It has loops of many steps.
    Steps,
    /// One of its steps may take long.
    Long,
}

impl Pace {
    /// The pace of a statement, by its bytecode.
    pub fn of(connection: &rusqlite::Connection, sql: &str) -> Result<Pace, rusqlite::Error> {
        let mut statement = connection.prepare(&format!("EXPLAIN {sql}"))?;
        let steps = statement
            .raw_query()
            .mapped(|row| Ok(Step { does: row.get(1)?, p1: row.get(2)?, p2: row.get(3)? }));
        Ok(Pace::of_steps(&steps.collect::<Result<Vec<_>, _>>()?))
    }

    fn of_steps(steps: &[Step]) -> Pace {
        // What is in a table of the statement's own has come there by other loops, or stands in the SQL: one loop over
        // it is short, as that of RETURNING. Several may be nested.
        let is_own = |table| steps.iter().any(|step| step.does == "OpenEphemeral" && step.p1 == table);
        let mut has_own = false;
        let mut pace = Pace::Short;
        for (at, Step { does, p1, p2 }) in steps.iter().enumerate() {
            match does.as_str() {
                "Next" | "Prev" if !is_own(*p1) || replace(&mut has_own, true) => pace = Pace::Steps,
                "Yield" | "SorterNext" => pace = Pace::Steps,
                // The last step leads to the first one, once.
                "Goto" | "IfPos" if *p2 <= at as i64 && at + 1 < steps.len() => pace = Pace::Steps,
                // What may be wrong until the end of a transaction must not share it with others.
                "FkCounter" if *p1 != 0 => return Pace::Long,
                "Count" | "Program" | "VNext" | "VFilter" | "VUpdate" | "Clear" | "Vacuum" | "IncrVacuum"
                | "Checkpoint" | "IntegrityCk" | "JournalMode" | "AutoCommit" | "Savepoint" | "Function"
                | "PureFunc" | "SqlExec" | "SetCookie" => return Pace::Long,
                _ => {}
            }
        }
        pace
    }
}

/// A step of bytecode, with its first operands.
struct Step {
    does: String,
    p1: i64,
    p2: i64,
}

/// The statements that were used last.
#[derive(Default)]
pub struct Statements {
    all: HashMap<Box<str>, Arc<Known>>,
    /// Often the same comes again.
    last: Option<(Box<str>, Arc<Known>)>,
}

impl Statements {
    /// They are also what a connection keeps prepared.
    pub const MOST: usize = 128;

    pub fn get(&mut self, sql: &str) -> Option<Arc<Known>> {
        if let Some((last, known)) = &self.last
            && **last == *sql
        {
            return Some(known.clone());
        }
        let known = self.all.get(sql)?.clone();
        self.last = Some((sql.into(), known.clone()));
        Some(known)
    }

    pub fn set(&mut self, sql: &str, known: Arc<Known>) {
        if self.all.len() == Self::MOST {
            self.all.clear();
        }
        self.all.insert(sql.into(), known);
    }

    pub fn forget(&mut self, sql: &str) {
        self.all.remove(sql);
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytecode_says_how_long_a_statement_may_take() {
        let connection = rusqlite::Connection::open_in_memory().expect("it is in memory");
        let tables = "CREATE TABLE t (id INTEGER PRIMARY KEY, url TEXT UNIQUE, uses INTEGER);
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE of (p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED, at INTEGER);
            CREATE TABLE child (p INTEGER REFERENCES p);
            CREATE TABLE log (id INTEGER); CREATE TABLE logged (id INTEGER);
            CREATE TRIGGER note AFTER INSERT ON logged BEGIN INSERT INTO log VALUES (new.id); END;
            PRAGMA foreign_keys = ON";
        connection.execute_batch(tables).expect("it is right");
        for (pace, sql) in [
            (Pace::Short, "SELECT url FROM t WHERE id = $1"),
            (Pace::Short, "INSERT INTO t (url, uses) VALUES ($1, 0)"),
            (Pace::Short, "UPDATE t SET uses = uses + 1 WHERE id = $1 RETURNING url"),
            (
                Pace::Short,
                "INSERT INTO t (url) VALUES ($1) ON CONFLICT (url) DO UPDATE SET url = url RETURNING id",
            ),
            (Pace::Short, "DELETE FROM log WHERE rowid = 7"),
            (Pace::Short, "INSERT INTO child VALUES (1)"),
            (Pace::Steps, "SELECT url FROM t"),
            (Pace::Steps, "UPDATE t SET uses = uses + 1"),
            (Pace::Steps, "UPDATE t SET uses = uses + 1 WHERE uses > 7 RETURNING url"),
            (Pace::Steps, "INSERT INTO log SELECT id FROM t"),
            (
                Pace::Steps,
                "INSERT INTO log WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
            ),
            (
                Pace::Steps,
                "SELECT (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)",
            ),
            (
                Pace::Steps,
                "WITH a (x) AS MATERIALIZED (SELECT 0 UNION SELECT 1), b (x) AS MATERIALIZED (SELECT 0 UNION SELECT 1)
                UPDATE t SET uses = (SELECT sum(a.x) FROM a, b) WHERE id = 1",
            ),
            (Pace::Long, "PRAGMA incremental_vacuum"),
            (Pace::Long, "INSERT INTO of (p) VALUES (1)"),
            (Pace::Long, "INSERT INTO logged VALUES (1)"),
            (Pace::Long, "SELECT count(*) FROM t"),
            (Pace::Long, "SELECT hex(zeroblob(1000000000))"),
            (Pace::Long, "DELETE FROM log"),
            (Pace::Long, "CREATE TABLE more (id INTEGER)"),
        ] {
            assert!(Pace::of(&connection, sql).expect(sql) == pace, "{sql}");
        }
    }
}
