//! Short writes that go together are done as each would be alone.

use std::time::{Duration, Instant};

use drystone_component::wire::put_opaque;
use drystone_net::secure::Files;
use tempfile::TempDir;

use super::connection::{Connection, Database, State};
use super::failure::Failure;
use super::options::Options;
use super::request::Asked;
use super::sqlite::File;

fn asked(message: &'static str, sql: &str) -> Asked {
    let mut values = Vec::new();
    put_opaque(&mut values, sql.as_bytes());
    if message != "Script" {
        put_opaque(&mut values, &[0; 4]);
    }
    Asked { message, values }
}

fn insert(sql: &str) -> Asked {
    asked("Execute", &format!("INSERT {sql}"))
}

/// A connection to a new file, or to one that is there.
fn connection(folder: &TempDir) -> Box<dyn Connection> {
    let path = folder.path().join("t.db");
    let options = Options {
        connections: 4,
        timeout: 500,
        rows: 100,
        busy: 300,
        durable: true,
        files: Files::default(),
    };
    File::new(path.to_str().expect("it is ASCII"), options).open().expect("it can be made")
}

fn run(connection: &mut dyn Connection, asked: &Asked) -> &'static str {
    connection.run(&asked.read().expect("it is right")).message
}

/// How many rows there are, by the length of the answer that has them all.
fn count(connection: &mut dyn Connection) -> usize {
    let answer = connection.run(&asked("Query", "SELECT x FROM t").read().expect("it is right"));
    assert_eq!(answer.message, "Rows");
    let rows = &answer.values[4 + 4 + 4 + 4 + 4..][..4];
    u32::from_be_bytes(rows.try_into().expect("there are four")) as usize
}

fn table(connection: &mut dyn Connection) {
    assert_eq!(
        run(connection, &asked("Script", "CREATE TABLE t (x INTEGER UNIQUE CHECK (x < 100))")),
        "Done"
    );
}

#[test]
fn who_fails_fails_alone() {
    let folder = TempDir::new().expect("there is room");
    let mut connection = connection(&folder);
    table(&mut *connection);
    let all = [
        "INTO t VALUES (1)",
        "INTO t VALUES (1)",
        "INTO t VALUES (2)",
        "INTO t VALUES (100)",
        "INTO u VALUES (3)",
    ];
    let answers = connection.write(&all.map(insert));
    let messages: Vec<&str> = answers.iter().map(|answer| answer.message).collect();
    assert_eq!(messages, ["Changed", "Failed", "Changed", "Failed", "Failed"]);
    assert_eq!(count(&mut *connection), 2);
}

#[test]
fn who_rolls_all_back_takes_nobody_along() {
    let folder = TempDir::new().expect("there is room");
    let mut connection = connection(&folder);
    table(&mut *connection);
    let mut left: Vec<Asked> =
        ["INTO t VALUES (1)", "INTO t VALUES (2)", "OR ROLLBACK INTO t VALUES (1)", "INTO t VALUES (3)"]
            .map(insert)
            .into();
    let mut messages = Vec::new();
    while !left.is_empty() {
        let answers = connection.write(&left);
        left.drain(..answers.len());
        messages.extend(answers.iter().map(|answer| answer.message));
    }
    assert_eq!(messages, ["Changed", "Changed", "Failed", "Changed"]);
    assert_eq!(count(&mut *connection), 3);
}

#[test]
fn all_are_told_soon_that_another_program_has_the_file() {
    let folder = TempDir::new().expect("there is room");
    let (mut connection, mut other) = (connection(&folder), connection(&folder));
    table(&mut *connection);
    assert_eq!(run(&mut *other, &asked("Begin", "")), "Done");
    let all: Vec<Asked> = (0..50).map(|x| insert(&format!("INTO t VALUES ({x})"))).collect();
    let begin = Instant::now();
    let answers = connection.write(&all);
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(answers.len(), 50);
    for answer in answers {
        assert_eq!((answer.message, &answer.values[4..9]), ("Failed", Failure::LOCKED.as_bytes()));
    }
    assert_eq!(run(&mut *other, &asked("Rollback", "")), "Done");
    let mut done = 0;
    while done < all.len() {
        done += connection.write(&all[done..]).len();
    }
    assert_eq!(count(&mut *connection), 50);
}

#[test]
fn what_cannot_be_committed_leaves_no_transaction() {
    let folder = TempDir::new().expect("there is room");
    let mut connection = connection(&folder);
    let tables = "CREATE TABLE p (id INTEGER PRIMARY KEY);
        CREATE TABLE t (x INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED)";
    assert_eq!(run(&mut *connection, &asked("Script", tables)), "Done");
    let orphan = asked("Query", "INSERT INTO t VALUES (7) RETURNING x");
    assert_eq!(run(&mut *connection, &orphan), "Failed");
    assert_eq!(connection.state(), State::Free);
    assert_eq!(count(&mut *connection), 0);
}
