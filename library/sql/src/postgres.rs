//! PostgreSQL: a server, over TCP, with TLS if the name says `sslmode=require`. All requests go to threads.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drystone_net::secure::{Dialer, Files};
use postgres::config::SslMode;
use postgres::error::{Severity, SqlState};
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{FromSql, Kind, ToSql, Type};
use postgres::{Client, Column, Config, Error, NoTls, RowIter};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::answer::{Answer, Columns, MOST, Rows};
use crate::connection::{Connection, Database, State, Tried, alone};
use crate::failure::Failure;
use crate::options::Options;
use crate::postgres_values::{Parameter, Raw, as_value};
use crate::request::{Asked, Request, Statement, Value};
use crate::words::{begins_with, words};

/// Statements that a connection keeps prepared.
const PREPARED: usize = 128;

/// A connection that has been idle for longer is tried before it is used.
const IDLE: Duration = Duration::from_secs(1);

/// A database at a server.
pub struct Server {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    options: Options,
}

impl Server {
    /// The database of a name.
    ///
    /// # Errors
    /// It isn't well-formed.
    pub fn new(name: &str, options: Options) -> Result<Server, String> {
        let mut config: Config = name.parse().map_err(|error: Error| said(&error))?;
        let tls = match config.get_ssl_mode() {
            SslMode::Require => {
                Some(MakeRustlsConnect::new(Dialer::read(&options.files, &[])?.into_config()))
            }
            _ if options.files != Files::default() => {
                return Err("certificates are for TLS: end the name with ?sslmode=require".into());
            }
            _ => None,
        };
        let timeout = Duration::from_millis(options.timeout);
        let own = format!("-c statement_timeout={}", options.timeout);
        let given = config.get_options().map(|given| format!("{given} {own}")).unwrap_or(own);
        config.options(&given).connect_timeout(timeout).keepalives_idle(Duration::from_secs(15));
        // The server answers earlier if it is there, because it keeps the time of statements itself.
        config.tcp_user_timeout(timeout + Duration::from_secs(5));
        if config.get_application_name().is_none() {
            config.application_name("drystone");
        }
        Ok(Server { config, tls, options })
    }

    fn connect(&self) -> Result<Client, Failure> {
        let connected = match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        };
        connected.map_err(|error| failure(&error, Failure::REFUSED))
    }
}

/// The same, as connections know it.
pub struct Shared(pub Arc<Server>);

impl Database for Shared {
    fn open(&self) -> Result<Box<dyn Connection>, Failure> {
        let client = self.0.connect()?;
        let (server, used) = (self.0.clone(), Instant::now());
        let (prepared, transaction) = (HashMap::new(), Transaction::None);
        Ok(Box::new(Open { server, client, prepared, used, transaction, has_rest: false, is_over: false }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Goes,
    /// A statement of it has failed: the server refuses all others.
    Failed,
}

/// A connection.
struct Open {
    server: Arc<Server>,
    client: Client,
    prepared: HashMap<Box<str>, postgres::Statement>,
    used: Instant,
    transaction: Transaction,
    /// There is more of an answer, which nobody wants, and no other connection.
    has_rest: bool,
    /// The server has ended it.
    is_over: bool,
}

impl Open {
    /// Connects again if the server has been away meanwhile. What is under way isn't done twice.
    fn refresh(&mut self) -> Result<(), Failure> {
        let is_idle = self.used.elapsed() > IDLE;
        if self.transaction != Transaction::None
            || !(self.client.is_closed() || is_idle && self.client.is_valid(IDLE).is_err())
        {
            return Ok(());
        }
        self.prepared.clear();
        self.client = self.server.connect()?;
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<postgres::Statement, Error> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        if self.prepared.len() == PREPARED {
            self.prepared.clear();
        }
        self.prepared.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// Carries a statement out. If a table has changed since it was prepared, it is prepared again.
    fn perform(&mut self, asked: &Statement<'_>, gives_rows: bool) -> Result<Result<Answer, Failure>, Error> {
        let done = self.perform_prepared(asked, gives_rows);
        match done {
            Err(error) if error.code() == Some(&SqlState::FEATURE_NOT_SUPPORTED) => {
                let was_known = self.prepared.remove(asked.sql).is_some();
                if !was_known || self.transaction != Transaction::None {
                    return Err(error);
                }
                self.perform_prepared(asked, gives_rows)
            }
            done => done,
        }
    }

    fn perform_prepared(
        &mut self,
        Statement { sql, values }: &Statement<'_>,
        gives_rows: bool,
    ) -> Result<Result<Answer, Failure>, Error> {
        let statement = self.prepare(sql)?;
        let wanted = statement.params().len();
        if wanted != values.len() {
            return Ok(Err(Failure::wrong_number(wanted, values.len())));
        }
        for (number, (value, ty)) in (1..).zip(values.iter().zip(statement.params())) {
            if matches!(value, Value::Bytes(_)) && !is_bytes(ty) {
                let why = format!("value {number} is Sql.Bytes, and {ty} is wanted: pass it by Sql.Text");
                return Ok(Err(Failure::new(Failure::PARAMETERS, why)));
            }
        }
        let parameters: Vec<Parameter<'_>> = values.iter().copied().map(Parameter).collect();
        if !gives_rows {
            let parameters: Vec<&(dyn ToSql + Sync)> =
                parameters.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
            let changed = self.client.execute(&statement, &parameters)?;
            return Ok(Ok(Answer::changed(changed as i64, 0)));
        }
        let columns = statement.columns();
        if let Some(column) = columns.iter().find(|column| !Raw::accepts(column.type_())) {
            return Ok(Err(strange(column)));
        }
        let names: Vec<&str> = columns.iter().map(Column::name).collect();
        let all = Rows::new(&Columns::new(names.iter().copied()), self.server.options.rows, MOST);
        let rows = self.client.query_raw(&statement, &parameters)?;
        let read = read(rows, columns, all)?;
        if read.is_err() {
            self.leave();
        }
        Ok(read)
    }

    /// Leaves what is left of an answer, and connects again: to read it would take long, and a server that is told to
    /// stop may do so only when the next statement has begun.
    fn leave(&mut self) {
        if self.transaction != Transaction::None {
            self.transaction = Transaction::Failed;
        }
        // If it can't be told, reading goes on when the connection is closed.
        let token = self.client.cancel_token();
        let _ = match &self.server.tls {
            Some(tls) => token.cancel_query(tls.clone()),
            None => token.cancel_query(NoTls),
        };
        self.prepared.clear();
        match self.server.connect() {
            Ok(client) => self.client = client,
            Err(_) => self.has_rest = true,
        }
    }

    fn script(&mut self, sql: &str) -> Result<Result<Answer, Failure>, Error> {
        if self.transaction == Transaction::None {
            let done = self.client.batch_execute(sql);
            // Nothing of it that has begun goes on.
            self.client.batch_execute("ROLLBACK")?;
            return done.map(|()| Ok(Answer::done()));
        }
        // The savepoint is gone if the script has ended the transaction.
        self.client.batch_execute("SAVEPOINT drystone_script")?;
        self.client.batch_execute(sql)?;
        match self.client.batch_execute("RELEASE SAVEPOINT drystone_script") {
            Err(error) if error.as_db_error().is_some() => {
                self.transaction = Transaction::Failed;
                let why = "the script has ended the transaction of which it was a part";
                Ok(Err(Failure::new("2D000", why)))
            }
            done => done.map(|()| Ok(Answer::done())),
        }
    }

    fn begin(&mut self) -> Result<Result<Answer, Failure>, Error> {
        if self.transaction != Transaction::None {
            return Ok(Err(Failure::in_transaction()));
        }
        self.client.batch_execute("BEGIN")?;
        self.transaction = Transaction::Goes;
        Ok(Ok(Answer::done()))
    }

    fn end(&mut self, sql: &str) -> Result<Result<Answer, Failure>, Error> {
        let before = std::mem::replace(&mut self.transaction, Transaction::None);
        if before == Transaction::None {
            return Ok(Err(Failure::no_transaction()));
        }
        self.client.batch_execute(sql)?;
        if before == Transaction::Failed && sql == "COMMIT" {
            return Ok(Err(Failure::aborted()));
        }
        Ok(Ok(Answer::done()))
    }
}

impl Connection for Open {
    fn now(&mut self, _: &Request<'_>) -> Tried {
        Tried::Long
    }

    fn write(&mut self, all: &[Asked]) -> Vec<Answer> {
        vec![alone(self, &all[0])]
    }

    fn run(&mut self, request: &Request<'_>) -> Answer {
        if let Err(failure) = self.refresh() {
            return Answer::failed(&failure);
        }
        let done = match request {
            Request::Commit => self.end("COMMIT"),
            Request::Rollback => self.end("ROLLBACK"),
            _ if self.transaction == Transaction::Failed => Ok(Err(Failure::aborted())),
            Request::Execute(statement) | Request::Query(statement) if controls(statement.sql) => {
                Ok(Err(Failure::controls()))
            }
            Request::Execute(statement) => self.perform(statement, false),
            Request::Query(statement) => self.perform(statement, true),
            Request::Script(sql) => self.script(sql),
            Request::Begin => self.begin(),
        };
        self.used = Instant::now();
        match done {
            Ok(answer) => answer.into(),
            Err(error) => {
                self.is_over |= error.as_db_error().is_some_and(|error| {
                    matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
                });
                if self.transaction != Transaction::None {
                    self.transaction = Transaction::Failed;
                }
                Answer::failed(&failure(&error, Failure::AWAY))
            }
        }
    }

    fn state(&self) -> State {
        match self.transaction {
            _ if self.has_rest || self.is_over || self.client.is_closed() => State::Broken,
            Transaction::None => State::Free,
            Transaction::Goes | Transaction::Failed => State::InTransaction,
        }
    }
}

/// Whether it begins or ends a transaction, which this has to know.
fn controls(sql: &str) -> bool {
    let ones = ["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"];
    let is_second = |word: &str| word.eq_ignore_ascii_case("transaction");
    begins_with(sql, &ones) || begins_with(sql, &["prepare"]) && words(sql).nth(1).is_some_and(is_second)
}

/// Whether bytes are what such a parameter takes.
fn is_bytes(ty: &Type) -> bool {
    match ty.kind() {
        Kind::Domain(of) => is_bytes(of),
        _ => *ty == Type::BYTEA,
    }
}

/// Reads all rows of an answer. What fails is left in the middle.
fn read(mut rows: RowIter<'_>, columns: &[Column], mut all: Rows) -> Result<Result<Answer, Failure>, Error> {
    while let Some(row) = rows.next()? {
        if let Err(failure) = all.begin() {
            return Ok(Err(failure));
        }
        for (index, column) in columns.iter().enumerate() {
            let Raw(bytes) = row.try_get(index)?;
            let mut made = String::new();
            let Some(value) = as_value(column.type_(), bytes, &mut made) else {
                return Ok(Err(strange(column)));
            };
            if let Err(failure) = all.put(value) {
                return Ok(Err(failure));
            }
        }
    }
    Ok(Ok(all.answer()))
}

fn strange(column: &Column) -> Failure {
    let (name, ty) = (column.name(), column.type_());
    Failure::new(
        "0A000",
        format!("the column {name} is of the type {ty}: ask for it as a text ({name}::text)"),
    )
}

/// An error as SQLSTATE has it; `otherwise` if it isn't the server's.
fn failure(error: &Error, otherwise: &'static str) -> Failure {
    match error.as_db_error() {
        Some(error) => {
            let mut why = error.message().to_string();
            if let Some(detail) = error.detail() {
                why += &format!(" ({detail})");
            }
            Failure { code: error.code().code().to_string().into(), why }
        }
        None => Failure::new(otherwise, said(error)),
    }
}

/// An error with its causes.
fn said(error: &Error) -> String {
    let mut why = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !why.contains(&more) {
            why += &format!(": {more}");
        }
        cause = error.source();
    }
    why
}
