//! A connection to some database.

use std::borrow::Cow;

use crate::answer::Answer;
use crate::request::Request;

/// A database to which connections are made, on any thread.
pub trait Database: Send + Sync + 'static {
    /// A new connection. It may take long.
    ///
    /// # Errors
    /// There is none.
    fn open(&self) -> Result<Box<dyn Connection>, Failure>;
}

/// See the head of this file.
pub trait Connection: Send {
    /// Carries a request out at once if that is short for certain; else nothing has been done.
    fn now(&mut self, request: &Request<'_>) -> Option<Answer>;

    /// Carries a request out. It may take long.
    fn run(&mut self, request: &Request<'_>) -> Answer;

    /// How it is after a request.
    fn state(&self) -> State;
}

/// How a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Anybody may use it.
    Free,
    /// It is its client's until the transaction's end.
    InTransaction,
    /// Nobody can use it any more.
    Broken,
}

/// Why a request isn't carried out.
#[derive(Debug)]
pub struct Failure {
    /// The code, as SQLSTATE has it.
    pub code: Cow<'static, str>,
    /// The same for people.
    pub why: String,
}

impl Failure {
    pub const UNIQUE: &str = "23505";
    pub const FOREIGN: &str = "23503";
    pub const MISSING: &str = "23502";
    pub const CHECK: &str = "23514";
    pub const NOT_UTF8: &str = "22021";
    pub const PARAMETERS: &str = "07001";
    pub const NO_TRANSACTION: &str = "25P01";
    pub const IN_TRANSACTION: &str = "25001";
    pub const LIMIT: &str = "54000";
    pub const LOCKED: &str = "55P03";
    pub const TIMEOUT: &str = "57014";
    pub const REFUSED: &str = "08001";
    pub const AWAY: &str = "08006";
    pub const FAILED: &str = "25P02";

    pub fn new(code: &'static str, why: impl Into<String>) -> Failure {
        Failure { code: code.into(), why: why.into() }
    }

    /// More or fewer values than parameters.
    pub fn wrong_number(wanted: usize, given: usize) -> Failure {
        Failure::new(
            Failure::PARAMETERS,
            format!("the SQL has {wanted} parameters, and {given} values are given"),
        )
    }

    /// A second Begin.
    pub fn in_transaction() -> Failure {
        Failure::new(Failure::IN_TRANSACTION, "a transaction has begun already")
    }

    /// Commit or Rollback of nothing.
    pub fn no_transaction() -> Failure {
        Failure::new(Failure::NO_TRANSACTION, "no transaction has begun")
    }
}

impl From<String> for Failure {
    /// Of bytes that are no request: programs send no such.
    fn from(why: String) -> Failure {
        Failure::new(Failure::PARAMETERS, why)
    }
}
