//! Which messages a handler is for: as people say it, as a demultiplexer takes it, and as text that outlives the
//! process which was told.

use std::fmt;

use drystone_extension::demux::{Filter, Instruction};

use crate::expression;

/// See the head of this file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Whatever arrives.
    Everything,
    /// Datagrams to a port, over IPv4.
    Port(u16),
    /// What an expression of libpcap says.
    Expression {
        /// The expression.
        text: String,
        /// What libpcap made of it.
        program: Vec<Instruction>,
    },
}

const EVERYTHING: &str = "everything";
const PORT: &str = "port ";
const EXPRESSION: &str = "expression ";

impl Wanted {
    /// What an expression says, if the libpcap that is here understands it.
    ///
    /// # Errors
    /// What libpcap says against it, or what is missing, for people.
    pub fn expression(text: &str) -> Result<Wanted, String> {
        // To libpcap a new line is a space, too.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let program = expression::compile(&text)?;
        Ok(Wanted::Expression { text, program })
    }

    /// A filter for these messages.
    ///
    /// # Errors
    /// What libpcap made of the expression is no program, for people.
    pub fn filter(&self) -> Result<Filter, String> {
        match self {
            Wanted::Everything => Ok(Filter::everything()),
            Wanted::Port(port) => Ok(Filter::ethernet().ipv4().udp().destination_port(*port).into()),
            Wanted::Expression { text, program } => {
                Filter::from_classic(program).map_err(|why| format!("`{text}`: {why}"))
            }
        }
    }

    /// Text of which [`Wanted::read`] makes the same.
    pub(crate) fn written(&self) -> String {
        match self {
            Wanted::Everything => EVERYTHING.to_string(),
            Wanted::Port(port) => format!("{PORT}{port}"),
            Wanted::Expression { text, program } => {
                format!("{EXPRESSION}{text}\n{}", expression::written(program))
            }
        }
    }

    /// What was written so; none if it is something else.
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
