//! Databases for the library's `Sql`: what stands behind `sqlite:` and `postgres:` names.
//!
//! * `context` has the names. A `client` is one communication: it hands its requests to the `pool` of its database,
//!   which has the connections to it.
//! * A request that is short is carried out at once, on the home's thread; all others on one of the `threads`. A
//!   `request` comes and an `answer` goes as XDR, so both cross to threads as they are.
//! * A `connection` is one to some database; `sqlite` and `postgres` make such. `statements` has what SQLite's were
//!   found to be. `words` looks how SQL begins.

mod answer;
mod client;
mod connection;
mod context;
mod failure;
mod interfaces;
mod options;
mod pool;
mod postgres;
mod postgres_values;
mod request;
mod sqlite;
#[cfg(test)]
mod sqlite_tests;
mod statements;
mod threads;
mod words;

use drystone_kortex::{Addition, Context};
use drystone_reactor::Reactor;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    contexts: &[
        Context {
            scheme: "postgres",
            begin: |host| Box::new(context::Databases::new(&Reactor::of(host), context::Kind::Postgres)),
        },
        Context {
            scheme: "sqlite",
            begin: |host| Box::new(context::Databases::new(&Reactor::of(host), context::Kind::Sqlite)),
        },
    ],
    ..Addition::NOTHING
};
