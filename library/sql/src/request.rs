//! What a client asks, as it has come: XDR, which is read where it is carried out.

use drystone_component::wire::Reader;

use crate::failure::Failure;

/// A request.
pub struct Asked {
    /// Its message.
    pub message: &'static str,
    /// Its values.
    pub values: Vec<u8>,
}

/// The same, read.
pub enum Request<'a> {
    Execute(Statement<'a>),
    Query(Statement<'a>),
    Script(&'a str),
    Begin,
    Commit,
    Rollback,
}

/// SQL with values for its parameters.
pub struct Statement<'a> {
    pub sql: &'a str,
    pub values: Vec<Value<'a>>,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    /// Where it has come from a program it is UTF-8.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
}

impl Statement<'_> {
    /// Whether all values together have so many bytes at most.
    pub fn is_at_most(&self, bytes: usize) -> bool {
        self.values.iter().map(|value| value.size()).sum::<usize>() <= bytes
    }
}

impl Value<'_> {
    fn size(self) -> usize {
        match self {
            Value::Null | Value::Integer(_) | Value::Real(_) => 0,
            Value::Text(x) | Value::Bytes(x) => x.len(),
        }
    }

    /// As `Sql.dry` numbers the kinds.
    pub fn kind(self) -> u64 {
        match self {
            Value::Null => 0,
            Value::Integer(_) => 1,
            Value::Real(_) => 2,
            Value::Text(_) => 3,
            Value::Bytes(_) => 4,
        }
    }
}

impl Asked {
    /// What nobody has asked: a client has gone in a transaction.
    pub fn rollback() -> Asked {
        Asked { message: "Rollback", values: Vec::new() }
    }

    /// Whether the client's transaction is over afterwards, if there is one.
    pub fn ends(&self) -> bool {
        matches!(self.message, "Commit" | "Rollback")
    }

    /// Reads it.
    ///
    /// # Errors
    /// What can't be asked of any database.
    pub fn read(&self) -> Result<Request<'_>, Failure> {
        let mut reader = Reader::new(&self.values);
        Ok(match self.message {
            "Execute" => Request::Execute(statement(&mut reader)?),
            "Query" => Request::Query(statement(&mut reader)?),
            "Script" => Request::Script(sql(&mut reader)?),
            "Begin" => Request::Begin,
            "Commit" => Request::Commit,
            _ => Request::Rollback,
        })
    }
}

fn sql<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Failure> {
    str::from_utf8(reader.opaque("the SQL")?)
        .map_err(|_| Failure::new(Failure::NOT_UTF8, "the SQL is no UTF-8"))
}

fn statement<'a>(reader: &mut Reader<'a>) -> Result<Statement<'a>, Failure> {
    let sql = sql(reader)?;
    let mut reader = Reader::new(reader.opaque("the values")?);
    let count = reader.word("the number of values")?;
    // Few statements have more.
    let mut values = Vec::with_capacity(count.min(16) as usize);
    for number in 1..=count {
        values.push(value(&mut reader, number)?);
    }
    Ok(Statement { sql, values })
}

fn value<'a>(reader: &mut Reader<'a>, number: u32) -> Result<Value<'a>, Failure> {
    let (kind, integer) = (reader.hyper("a kind")?, reader.hyper("an INTEGER")?);
    let (real, text) = (reader.hyper("a REAL")?, reader.opaque("a TEXT")?);
    match kind {
        0 => Ok(Value::Null),
        1 => Ok(Value::Integer(integer as i64)),
        2 => Ok(Value::Real(f64::from_bits(real))),
        3 if str::from_utf8(text).is_err() => {
            Err(Failure::new(Failure::NOT_UTF8, format!("value {number} is no UTF-8: pass it by Sql.Bytes")))
        }
        3 => Ok(Value::Text(text)),
        4 => Ok(Value::Bytes(text)),
        kind => Err(Failure::new(
            Failure::PARAMETERS,
            format!("value {number} has the kind {}, which there is not", kind as i64),
        )),
    }
}
