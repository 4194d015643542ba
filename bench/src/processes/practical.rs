//! Measures practical programs: an HTTP server of items, a key-value server, a word count and a parallel job; and the
//! library beside what it is made of.

use std::net::SocketAddr;
use std::time::Instant;

use serde_json::{Value, json};

use super::bench::{Bench, Heading};
use super::programs::practical::{HTTP_LIBRARY, HTTP_SERVERS, KEY_VALUE, PARALLEL_JOB, WORD_COUNT};
use super::programs::{Program, databases, documents};
use super::{Better, scaling};
use crate::load::{self, Exchange, answer};
use crate::row::{Row, Tell};

/// Connections to the key-value server.
const CONNECTIONS: usize = 50;
/// Pending commands of each connection.
const AHEAD: usize = 100;

/// Prepares a server, and returns each client's exchange.
type Prepare<'a> = &'a dyn Fn(SocketAddr) -> Result<Vec<Exchange>, String>;

impl Bench {
    /// Measures all rows of such programs.
    pub(super) fn practical(&self, tell: Tell) -> Result<(), String> {
        for (program, connections) in &HTTP_SERVERS {
            tell(self.http(program, *connections))?;
        }
        tell(self.server(&KEY_VALUE, "M/s", 1e-6, &|_| Ok((0..CONNECTIONS).map(commands).collect())))?;
        tell(self.warm(&WORD_COUNT, 1))?;
        let (one, two) = (self.warm(&PARALLEL_JOB, 1), self.warm(&PARALLEL_JOB, 2));
        tell(one.clone())?;
        tell(two.clone())?;
        tell(scaling(&one, &two))
    }

    /// Measures all rows of the library.
    pub(super) fn library(&self, tell: Tell) -> Result<(), String> {
        tell(self.http(&HTTP_LIBRARY, 1000))?;
        for program in documents::ALL.iter().chain(&databases::ALL) {
            tell(self.warm(program, 1))?;
        }
        Ok(())
    }

    fn http(&self, program: &Program, connections: usize) -> Row {
        self.server(program, "requests/s", 1.0, &|address| gets(address, connections))
    }

    /// The rate of a server's answers, in that unit.
    fn server(&self, program: &Program, unit: &'static str, scale: f64, prepare: Prepare) -> Row {
        let heading = Heading {
            row: program.row.into(),
            cores: 1,
            unit,
            better: Better::Higher,
            program,
            target: Some(program.target),
        };
        let mut busy = Vec::new();
        let mut row = self.row(heading, |who| {
            let server = who.server(program)?;
            let exchanges = prepare(server.address)?;
            let (begin, before) = (Instant::now(), server.processor_time());
            let rate = load::rate(server.address, &exchanges, self.effort.serving)?;
            let worked = (server.processor_time() - before).as_secs_f64() / begin.elapsed().as_secs_f64();
            busy.push(format!("{} {:.0} %", who.name, 100.0 * worked));
            Ok(vec![rate * scale])
        });
        row.note = format!("how busy the servers were: {}", busy.join(", "));
        row
    }
}

/// Clients that request an item of a stock.
fn gets(address: SocketAddr, connections: usize) -> Result<Vec<Exchange>, String> {
    let item = json!({"id": 1, "name": "nail, 2 inches", "amount": 100});
    let body = r#"{"name": "nail, 2 inches", "amount": 100}"#;
    let put =
        format!("PUT /items/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let get = "GET /items/1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    answer(address, &put)?;
    let answer = answer(address, get)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    if serde_json::from_str::<Value>(body).ok() != Some(item) {
        return Err(format!("wrong answer: {answer}"));
    }
    let exchange = || Exchange {
        requests: get.into(),
        count: 1,
        begin: b"HTTP/1.1 200 OK\r\n".into(),
        end: body.into(),
        length: answer.len(),
    };
    Ok((0..connections).map(|_| exchange()).collect())
}

/// A client that sets its own keys and gets them again.
fn commands(client: usize) -> Exchange {
    let (mut requests, mut answers) = (String::new(), String::new());
    for n in 0..AHEAD / 2 {
        let (key, value) = (format!("key:{client}:{n}"), format!("value number {n} of {client}"));
        requests += &format!("SET {key} {value}\r\nGET {key}\r\n");
        answers += &format!("OK\nVALUE {value}\n");
    }
    let length = answers.len();
    Exchange { requests: requests.into(), count: AHEAD, begin: answers.into(), end: Vec::new(), length }
}
