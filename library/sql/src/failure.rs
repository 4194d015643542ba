//! Why a request is not carried out, as clients are told.

use std::borrow::Cow;

/// See the head of this file.
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
    pub const UNSUPPORTED: &str = "0A000";
    pub const REFUSED: &str = "08001";
    pub const AWAY: &str = "08006";
    pub const ABORTED: &str = "25P02";

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

    /// A request in a transaction that can't be committed any more.
    pub fn aborted() -> Failure {
        Failure::new(
            Failure::ABORTED,
            "the transaction has failed, so nothing of it is done: it ends by Rollback",
        )
    }

    /// A statement that begins or ends a transaction.
    pub fn controls() -> Failure {
        Failure::new(Failure::UNSUPPORTED, "transactions begin and end by Begin, Commit and Rollback")
    }
}

impl From<String> for Failure {
    /// Of bytes that are no request: programs send no such.
    fn from(why: String) -> Failure {
        Failure::new(Failure::PARAMETERS, why)
    }
}
