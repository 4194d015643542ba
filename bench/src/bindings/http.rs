//! Measures HTTP: the same client, part of the bench, asks a server in Drystone and one in Go.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::parties::drystone_http;
use crate::load::{Exchange, answer, rate};
use crate::server::{Listening, free_address};

/// Answers a second of a server in Drystone.
pub fn drystone(connections: usize, duration: Duration) -> Result<f64, String> {
    let address = free_address()?;
    ask(drystone_http(&address.to_string()), address, connections, duration)
}

/// Answers a second of Go's net/http.
pub fn go(peers: &PathBuf, connections: usize, duration: Duration) -> Result<f64, String> {
    let address = free_address()?;
    let mut command = Command::new(peers);
    command.arg("Joint").arg(address.to_string());
    ask(command, address, connections, duration)
}

/// The server has one processor, and the client another.
fn ask(server: Command, address: SocketAddr, connections: usize, duration: Duration) -> Result<f64, String> {
    let _server = Listening::start(server, 1)?;
    let body = json!({"x": 41}).to_string();
    let request = format!(
        "POST /joint/Ask HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = answer(address, &request)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    if serde_json::from_str::<Value>(body).ok() != Some(json!({"Answer": {"x": 42}})) {
        return Err(format!("wrong answer: {answer}"));
    }
    let exchange = || Exchange {
        requests: request.clone().into(),
        count: 1,
        begin: b"HTTP/1.1 200 OK\r\n".into(),
        end: body.into(),
        length: answer.len(),
    };
    let exchanges: Vec<_> = (0..connections).map(|_| exchange()).collect();
    rate(address, &exchanges, duration)
}
