//! SQLite by `rusqlite`, called as its users call it.

use rusqlite::Connection;
use serde_json::json;

use crate::program::{Outcome, Program};

pub const INSERT: Program = Program {
    name: "sql_insert",
    sizes: &[("rows", 100_000)],
    mirror: |sizes| {
        let rows = sizes.number("rows");
        Box::pin(async move { insert(rows).map_err(|error| error.to_string()) })
    },
};

pub const SELECT: Program = Program {
    name: "sql_select",
    sizes: &[("times", 100_000)],
    mirror: |sizes| {
        let times = sizes.number("times");
        Box::pin(async move { select(times).map_err(|error| error.to_string()) })
    },
};

pub const ROWS: Program = Program {
    name: "sql_rows",
    sizes: &[("times", 200)],
    mirror: |sizes| {
        let times = sizes.number("times");
        Box::pin(async move { rows(times).map_err(|error| error.to_string()) })
    },
};

const TABLE: &str =
    "DROP TABLE IF EXISTS links; CREATE TABLE links (id INTEGER PRIMARY KEY, name TEXT, hits INTEGER);";

const FILL: &str = "INSERT INTO links (name, hits)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    SELECT 'http://example.org/' || i, i FROM n;";

/// A file with the same settings as Drystone's.
fn open(file: &str, script: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(format!("/tmp/drystone-bench-peer-{file}.db"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.execute_batch(script)?;
    Ok(connection)
}

fn insert(rows: i64) -> rusqlite::Result<Outcome> {
    let mut connection = open("insert", TABLE)?;
    let transaction = connection.transaction()?;
    for i in 1..=rows {
        let mut statement = transaction.prepare_cached("INSERT INTO links (name, hits) VALUES (?1, ?2)")?;
        statement.execute((format!("http://example.org/{i}"), i))?;
        assert_eq!(transaction.last_insert_rowid(), i);
    }
    transaction.commit()?;
    let sum = "SELECT count(*), sum(hits), sum(length(name)) FROM links";
    let (rows, hits, bytes): (i64, i64, i64) =
        connection.query_row(sum, (), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(Outcome::uncounted(json!({"rows": rows, "hits": hits, "bytes": bytes})))
}

fn select(times: i64) -> rusqlite::Result<Outcome> {
    let connection = open("select", &[TABLE, FILL].concat())?;
    let (mut hits, mut bytes) = (0, 0);
    for i in 1..=times {
        let mut statement = connection.prepare_cached("SELECT name, hits FROM links WHERE id = ?1")?;
        let (name, n): (String, i64) =
            statement.query_row([i % 1000 + 1], |row| Ok((row.get(0)?, row.get(1)?)))?;
        bytes += name.len();
        hits += n;
    }
    Ok(Outcome::uncounted(json!({"hits": hits, "bytes": bytes})))
}

fn rows(times: i64) -> rusqlite::Result<Outcome> {
    let connection = open("rows", &[TABLE, FILL].concat())?;
    let (mut hits, mut bytes) = (0, 0);
    for _ in 0..times {
        let mut statement = connection.prepare_cached("SELECT id, name, hits FROM links WHERE hits >= ?1")?;
        let rows = statement.query_map([1], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let rows: Vec<(i64, String, i64)> = rows.collect::<rusqlite::Result<_>>()?;
        for (_, name, n) in &rows {
            bytes += name.len();
            hits += n;
        }
    }
    Ok(Outcome::uncounted(json!({"hits": hits, "bytes": bytes})))
}
