//! SQLite: a database in a file.
//!
//! A statement is short if its bytecode has no loop; what reads may take some steps at once. So requests by primary
//! key, and single rows that a transaction adds, never go to a thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rusqlite::ffi;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Error, ErrorCode, OpenFlags, ToSql};

use crate::answer::{Answer, Rows};
use crate::connection::{Connection, Database, State};
use crate::failure::Failure;
use crate::options::Options;
use crate::request::{Request, Statement, Value};

/// Statements that a connection keeps prepared.
const PREPARED: usize = 128;

/// The bytecode steps between two looks at the clock.
const STEPS: i32 = 1000;

/// The looks after which what reads goes to a thread: about half a millisecond.
const LOOKS: u64 = 32;

/// A database file.
pub struct File {
    path: PathBuf,
    options: Options,
}

impl File {
    pub fn new(path: &str, options: Options) -> File {
        File { path: path.into(), options }
    }

    fn connect(&self) -> Result<Open, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = rusqlite::Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(Duration::from_millis(self.options.busy))?;
        // A file that can't be written stays as it is.
        let _ = connection.pragma_update(None, "journal_mode", "WAL");
        let synchronous = if self.options.durable { "FULL" } else { "NORMAL" };
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // The file is read here for the first time.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        let watch = Arc::new(Watch::default());
        let seen = watch.clone();
        connection.progress_handler(STEPS, Some(move || seen.is_over()))?;
        Ok(Open {
            connection,
            watch,
            options: self.options.clone(),
            paces: RefCell::default(),
            waits: self.options.busy,
        })
    }
}

impl Database for File {
    fn open(&self) -> Result<Box<dyn Connection>, Failure> {
        match self.connect() {
            Ok(open) => Ok(Box::new(open)),
            Err(error) => {
                let failure = failure(&error, &self.options);
                Err(Failure { why: format!("{}: {}", self.path.display(), failure.why), ..failure })
            }
        }
    }
}

/// Ends a statement that takes too long.
#[derive(Default)]
struct Watch {
    /// Looks that are left; 0: any number.
    looks: AtomicU64,
    /// The time when it ends, in milliseconds since `begin`; 0: it doesn't.
    end: AtomicU64,
    begin: Begin,
}

struct Begin(Instant);

impl Default for Begin {
    fn default() -> Begin {
        Begin(Instant::now())
    }
}

impl Watch {
    fn now(&self) -> u64 {
        self.begin.0.elapsed().as_millis() as u64
    }

    fn set(&self, looks: u64, timeout: u64) {
        self.looks.store(looks, Relaxed);
        self.end.store(if timeout == 0 { 0 } else { self.now() + timeout }, Relaxed);
    }

    fn is_over(&self) -> bool {
        match self.looks.load(Relaxed) {
            0 => {
                let end = self.end.load(Relaxed);
                end != 0 && self.now() >= end
            }
            looks => {
                self.looks.store((looks - 1).max(1), Relaxed);
                looks == 1
            }
        }
    }
}

/// How long a statement may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// It has no loop.
    Short,
    /// It has loops of many steps.
    Steps,
    /// One of its steps may take long.
    Long,
}

/// The paces of statements that were used last.
#[derive(Default)]
struct Paces {
    all: HashMap<Box<str>, Pace>,
    /// Often the same comes again.
    last: Option<(Box<str>, Pace)>,
}

impl Paces {
    fn get(&mut self, sql: &str) -> Option<Pace> {
        if let Some((last, pace)) = &self.last
            && **last == *sql
        {
            return Some(*pace);
        }
        let pace = *self.all.get(sql)?;
        self.last = Some((sql.into(), pace));
        Some(pace)
    }

    fn set(&mut self, sql: &str, pace: Pace) {
        if self.all.len() == PREPARED {
            self.all.clear();
        }
        self.all.insert(sql.into(), pace);
    }
}

/// A connection.
struct Open {
    connection: rusqlite::Connection,
    watch: Arc<Watch>,
    options: Options,
    paces: RefCell<Paces>,
    /// Milliseconds that are waited for a lock.
    waits: u64,
}

impl Open {
    fn is_in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// The pace of a statement, by its bytecode.
    fn pace(&self, sql: &str) -> Result<Pace, Error> {
        if let Some(pace) = self.paces.borrow_mut().get(sql) {
            return Ok(pace);
        }
        let mut statement = self.connection.prepare(&format!("EXPLAIN {sql}"))?;
        let mut rows = statement.raw_query();
        let mut pace = Pace::Short;
        while let Some(row) = rows.next()? {
            match row.get_ref(1)?.as_str().unwrap_or_default() {
                "Next" | "Prev" | "Yield" | "SorterNext" if pace == Pace::Short => pace = Pace::Steps,
                "Count" | "Program" | "VNext" | "VFilter" | "VUpdate" | "Clear" | "Vacuum" | "Checkpoint"
                | "IntegrityCk" | "JournalMode" | "AutoCommit" | "Savepoint" => pace = Pace::Long,
                _ => {}
            }
        }
        self.paces.borrow_mut().set(sql, pace);
        Ok(pace)
    }

    /// Carries a statement out at once; `None`: that may take long.
    fn try_now(&self, asked: &Statement<'_>, gives_rows: bool) -> Result<Option<Answer>, Error> {
        let mut statement = self.connection.prepare_cached(asked.sql)?;
        let is_read = statement.readonly();
        let may = match self.pace(asked.sql)? {
            Pace::Short => is_read || self.is_in_transaction(),
            Pace::Steps => is_read,
            Pace::Long => false,
        };
        if !may {
            return Ok(None);
        }
        // A statement that writes would end its transaction if it were interrupted; but it is short.
        self.watch.set(if is_read { LOOKS } else { 0 }, 0);
        Ok(Some(self.perform_by(&mut statement, asked, gives_rows)?.into()))
    }

    /// Carries a statement out.
    fn perform(&self, asked: &Statement<'_>, gives_rows: bool) -> Result<Result<Answer, Failure>, Error> {
        let mut statement = self.connection.prepare_cached(asked.sql)?;
        self.perform_by(&mut statement, asked, gives_rows)
    }

    /// The same, when it is prepared.
    fn perform_by(
        &self,
        statement: &mut rusqlite::Statement<'_>,
        Statement { sql, values }: &Statement<'_>,
        gives_rows: bool,
    ) -> Result<Result<Answer, Failure>, Error> {
        if let Err(failure) = bind(statement, values)? {
            return Ok(Err(failure));
        }
        let before = self.connection.total_changes();
        if gives_rows {
            let mut all = Rows::new(statement.column_names(), self.options.rows);
            let count = statement.column_count();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if let Err(failure) = all.begin() {
                    return Ok(Err(failure));
                }
                for column in 0..count {
                    all.put(value(row.get_ref(column)?));
                }
            }
            return Ok(Ok(all.answer()));
        }
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        let has_changed = self.connection.total_changes() != before;
        let changed = if has_changed { self.connection.changes() } else { 0 };
        let id = if has_changed && adds(sql) { self.connection.last_insert_rowid() } else { 0 };
        Ok(Ok(Answer::changed(changed as i64, id)))
    }

    fn wait(&mut self, milliseconds: u64) {
        if self.waits != milliseconds {
            self.waits = milliseconds;
            // It only notes the number.
            let _ = self.connection.busy_timeout(Duration::from_millis(milliseconds));
        }
    }

    fn begin(&self) -> Result<Result<Answer, Failure>, Error> {
        if self.is_in_transaction() {
            return Ok(Err(Failure::in_transaction()));
        }
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
        Ok(Ok(Answer::done()))
    }

    fn end(&self, sql: &str) -> Result<Result<Answer, Failure>, Error> {
        if !self.is_in_transaction() {
            return Ok(Err(Failure::no_transaction()));
        }
        self.connection.prepare_cached(sql)?.raw_execute()?;
        Ok(Ok(Answer::done()))
    }
}

impl Connection for Open {
    fn now(&mut self, request: &Request<'_>) -> Option<Answer> {
        self.wait(0);
        let tried = match request {
            Request::Execute(statement) => self.try_now(statement, false),
            Request::Query(statement) => self.try_now(statement, true),
            Request::Begin => self.begin().map(|begun| Some(begun.into())),
            Request::Script(_) | Request::Commit | Request::Rollback => Ok(None),
        };
        match tried {
            Ok(answer) => answer,
            Err(error) if is_busy(&error) || is_interrupted(&error) => None,
            Err(error) => Some(Answer::failed(&failure(&error, &self.options))),
        }
    }

    fn run(&mut self, request: &Request<'_>) -> Answer {
        self.wait(self.options.busy);
        self.watch.set(0, self.options.timeout);
        let done = match request {
            Request::Execute(statement) => self.perform(statement, false),
            Request::Query(statement) => self.perform(statement, true),
            Request::Script(sql) => self.connection.execute_batch(sql).map(|()| Ok(Answer::done())),
            Request::Begin => self.begin(),
            Request::Commit => self.end("COMMIT"),
            Request::Rollback => self.end("ROLLBACK"),
        };
        self.watch.set(0, 0);
        match done {
            Ok(answer) => answer.into(),
            Err(error) => Answer::failed(&failure(&error, &self.options)),
        }
    }

    fn state(&self) -> State {
        if self.is_in_transaction() { State::InTransaction } else { State::Free }
    }
}

/// Whether a statement adds rows, so that the last one's number means something.
fn adds(sql: &str) -> bool {
    let word = sql.trim_start().get(..7).unwrap_or_default();
    word.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("insert"))
        || word.eq_ignore_ascii_case("replace")
}

/// Binds values to the parameters: `$2`, `?2` and `:2` are the second, and `?` the next.
fn bind(statement: &mut rusqlite::Statement<'_>, values: &[Value<'_>]) -> Result<Result<(), Failure>, Error> {
    let number = |parameter: usize, statement: &rusqlite::Statement<'_>| {
        let name = statement.parameter_name(parameter);
        name.and_then(|name| name[1..].parse().ok()).unwrap_or(parameter)
    };
    let parameters = 1..=statement.parameter_count();
    let most = parameters.clone().map(|parameter| number(parameter, statement)).max().unwrap_or(0);
    if most != values.len() {
        return Ok(Err(Failure::wrong_number(most, values.len())));
    }
    for parameter in parameters {
        let value = number(parameter, statement).checked_sub(1).map_or(Value::Null, |index| values[index]);
        statement.raw_bind_parameter(parameter, value)?;
    }
    Ok(Ok(()))
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Integer(x) => ValueRef::Integer(x),
            Value::Real(x) => ValueRef::Real(x),
            Value::Text(x) => ValueRef::Text(x),
            Value::Bytes(x) => ValueRef::Blob(x),
        }))
    }
}

fn value(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(x) => Value::Integer(x),
        ValueRef::Real(x) => Value::Real(x),
        ValueRef::Text(x) => Value::Text(x),
        ValueRef::Blob(x) => Value::Bytes(x),
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn is_interrupted(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// An error as SQLSTATE has it.
fn failure(error: &Error, options: &Options) -> Failure {
    let Error::SqliteFailure(ffi::Error { code, extended_code }, said) = error else {
        return Failure::new("42000", error.to_string());
    };
    let why = said.clone().unwrap_or_else(|| error.to_string());
    let code = match (*extended_code, code) {
        (
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID,
            _,
        ) => Failure::UNIQUE,
        (ffi::SQLITE_CONSTRAINT_FOREIGNKEY, _) => Failure::FOREIGN,
        (ffi::SQLITE_CONSTRAINT_NOTNULL, _) => Failure::MISSING,
        (ffi::SQLITE_CONSTRAINT_CHECK, _) => Failure::CHECK,
        (_, ErrorCode::ConstraintViolation) => "23000",
        (_, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let why = format!("{why}: another program has it for longer than {} ms", options.busy);
            return Failure::new(Failure::LOCKED, why);
        }
        (_, ErrorCode::OperationInterrupted) => {
            let why = format!("the statement has taken longer than {} ms", options.timeout);
            return Failure::new(Failure::TIMEOUT, why);
        }
        (_, ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Failure::REFUSED,
        (_, ErrorCode::ReadOnly) => "25006",
        (_, ErrorCode::DiskFull) => "53100",
        (_, ErrorCode::OutOfMemory) => "53200",
        (_, ErrorCode::TooBig) => Failure::LIMIT,
        (_, ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => "XX001",
        (_, ErrorCode::SystemIoFailure) => "58030",
        _ => "42000",
    };
    Failure::new(code, why)
}
