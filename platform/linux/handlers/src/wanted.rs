//! Which messages a handler is for: from words of users, as a filter, and as text that is stored with a handler.

use std::fmt;

use drystone_extension::demux::{Filter, Instruction};

use crate::expression;

/// The messages that a handler is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All messages.
    Everything,
    /// Datagrams to a port, over IPv4.
    Port(u16),
    /// Messages that match an expression of libpcap.
    Expression {
        /// The expression.
        text: String,
        /// The program that libpcap has compiled it to.
        program: Vec<Instruction>,
    },
}

const EVERYTHING: &str = "everything";
const PORT: &str = "port ";
const EXPRESSION: &str = "expression ";

impl Wanted {
    /// Messages that match an expression, which the installed libpcap compiles.
    ///
    /// # Errors
    /// Why libpcap refuses it, or what is missing, in words for people.
    pub fn expression(text: &str) -> Result<Wanted, String> {
        // To libpcap a new line is a space, too.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let program = expression::compile(&text)?;
        Ok(Wanted::Expression { text, program })
    }

    /// A filter for these messages.
    ///
    /// # Errors
    /// libpcap's program is invalid.
    pub fn filter(&self) -> Result<Filter, String> {
        match self {
            Wanted::Everything => Ok(Filter::everything()),
            Wanted::Port(port) => Ok(Filter::ethernet().ipv4().udp().destination_port(*port).into()),
            Wanted::Expression { text, program } => {
                Filter::from_classic(program).map_err(|why| format!("`{text}`: {why}"))
            }
        }
    }

    /// Its text form, which [`Wanted::read`] reads.
    pub(crate) fn written(&self) -> String {
        match self {
            Wanted::Everything => EVERYTHING.to_string(),
            Wanted::Port(port) => format!("{PORT}{port}"),
            Wanted::Expression { text, program } => {
                format!("{EXPRESSION}{text}\n{}", expression::written(program))
            }
        }
    }

    /// Reads the text form; `None` if it is something else.
    pub(crate) fn read(written: &str) -> Option<Wanted> {
        if written == EVERYTHING {
            return Some(Wanted::Everything);
        }
        if let Some(port) = written.strip_prefix(PORT) {
            return port.parse().ok().map(Wanted::Port);
        }
        let (text, program) = written.strip_prefix(EXPRESSION)?.split_once('\n')?;
        let program = expression::read(program)?;
        Some(Wanted::Expression { text: text.to_string(), program })
    }
}

/// For people.
impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Everything => f.write_str("all that arrives"),
            Wanted::Port(port) => write!(f, "datagrams to port {port}"),
            Wanted::Expression { text, .. } => write!(f, "`{text}`"),
        }
    }
}
