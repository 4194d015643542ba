//! SQLite: a database in a file.
//!
//! A statement is short if its bytecode has neither loops nor functions, and its values are small; what reads may take
//! some steps at once. So requests by primary key, and single rows that a transaction adds, never go to a thread.
//!
//! SQLite itself tells which statements begin and end transactions (`Watch::judge`), whatever comments are before them.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rusqlite::ffi;
use rusqlite::hooks::{Action, AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Error, ErrorCode, OpenFlags, StatementStatus, ToSql};

use crate::answer::{Answer, Columns, MOST, Rows};
use crate::connection::{Connection, Database, State, Tried, alone};
use crate::failure::Failure;
use crate::options::Options;
use crate::request::{Asked, Request, Statement, Value};
use crate::statements::{Known, Pace, Statements};
use crate::words::begins_with;

/// The bytecode steps between two looks at the clock.
const STEPS: i32 = 1000;

/// The looks after which what reads goes to a thread: about half a millisecond.
const LOOKS: u64 = 32;

/// The milliseconds after which it does so in any case, as when the file isn't in memory.
const SOON: u64 = 2;

/// Bytes of a value, and of all of an answer, that are read or written at once.
const SMALL: usize = 64 << 10;

/// How long writes are gathered in a transaction.
const TOGETHER: Duration = Duration::from_millis(2);

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
        connection.set_prepared_statement_cache_capacity(Statements::MOST);
        let watch = Arc::new(Watch::default());
        let seen = watch.clone();
        connection.progress_handler(STEPS, Some(move || seen.is_over()))?;
        let seen = watch.clone();
        connection.update_hook(Some(move |action, _: &str, _: &str, row| seen.note(action, row)))?;
        let seen = watch.clone();
        connection.authorizer(Some(move |asked: AuthContext<'_>| seen.judge(asked.action)))?;
        Ok(Open {
            connection,
            watch,
            options: self.options.clone(),
            known: RefCell::default(),
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

/// Ends a statement that takes too long, and sees what statements do.
#[derive(Default)]
struct Watch {
    /// Looks that are left; 0: any number.
    looks: AtomicU64,
    /// The time when it ends, in milliseconds since `begin`; 0: it doesn't.
    end: AtomicU64,
    begin: Begin,
    /// Statements may begin and end transactions.
    may_control: AtomicBool,
    /// The row that was added last.
    last: AtomicI64,
    /// Another one with the same number has been added, as in another table.
    has_again: AtomicBool,
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
        let (looks, end) = (self.looks.load(Relaxed), self.end.load(Relaxed));
        if looks > 1 {
            self.looks.store(looks - 1, Relaxed);
        }
        looks == 1 || end != 0 && self.now() >= end
    }

    /// A row has been changed.
    fn note(&self, action: Action, row: i64) {
        if action == Action::SQLITE_INSERT && row == self.last.load(Relaxed) {
            self.has_again.store(true, Relaxed);
        }
    }

    /// A statement is prepared.
    fn judge(&self, action: AuthAction<'_>) -> Authorization {
        let controls = matches!(action, AuthAction::Transaction { .. } | AuthAction::Savepoint { .. });
        if controls && !self.may_control.load(Relaxed) { Authorization::Deny } else { Authorization::Allow }
    }
}

/// A connection.
struct Open {
    connection: rusqlite::Connection,
    watch: Arc<Watch>,
    options: Options,
    known: RefCell<Statements>,
    /// Milliseconds that are waited for a lock.
    waits: u64,
}

impl Open {
    fn is_in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Carries out what begins or ends a transaction. It is never kept prepared: clients could name it.
    fn control(&self, sql: &str) -> Result<(), Error> {
        self.watch.may_control.store(true, Relaxed);
        let done = self.connection.execute_batch(sql);
        self.watch.may_control.store(false, Relaxed);
        done
    }

    /// What is known of a statement.
    fn known(&self, statement: &rusqlite::Statement<'_>, sql: &str) -> Arc<Known> {
        let all = &mut *self.known.borrow_mut();
        if statement.reset_status(StatementStatus::RePrepare) > 0 {
            // The schema has changed.
            all.forget(sql);
        }
        all.get(sql).unwrap_or_else(|| {
            let known = Arc::new(Known::of(statement, sql));
            all.set(sql, known.clone());
            known
        })
    }

    /// Carries a statement out at once, if it is short.
    fn try_now(&self, asked: &Statement<'_>, gives_rows: bool) -> Result<Tried, Error> {
        let mut statement = self.connection.prepare_cached(asked.sql)?;
        let is_read = statement.readonly();
        let known = self.known(&statement, asked.sql);
        match known.pace(&self.connection, asked.sql) {
            Pace::Short | Pace::Steps if is_read => {}
            Pace::Short if asked.is_at_most(SMALL) => {
                if !self.is_in_transaction() {
                    return Ok(Tried::Write);
                }
            }
            _ => return Ok(Tried::Long),
        }
        if !is_read {
            // If it were interrupted its transaction would end; but it is short.
            self.watch.set(0, 0);
            let done = self.perform_whole(&mut statement, &known, &asked.values, gives_rows)?;
            return Ok(Tried::Done(done.into()));
        }
        self.watch.set(LOOKS, SOON);
        let most = self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, SMALL as i32)?;
        let done = self.perform_by(&mut statement, &known, &asked.values, gives_rows, SMALL);
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, most)?;
        Ok(match done? {
            Err(failure) if failure.code == Failure::LIMIT => Tried::Long,
            done => Tried::Done(done.into()),
        })
    }

    /// Carries a statement out.
    fn perform(&self, asked: &Statement<'_>, gives_rows: bool) -> Result<Result<Answer, Failure>, Error> {
        let mut statement = self.connection.prepare_cached(asked.sql)?;
        if begins_with(asked.sql, &["create", "alter", "drop"]) {
            self.known.take();
        }
        let known = self.known(&statement, asked.sql);
        self.perform_whole(&mut statement, &known, &asked.values, gives_rows)
    }

    /// The same, when it is prepared. If what it has changed can't be answered, nothing is changed.
    fn perform_whole(
        &self,
        statement: &mut rusqlite::Statement<'_>,
        known: &Known,
        values: &[Value<'_>],
        gives_rows: bool,
    ) -> Result<Result<Answer, Failure>, Error> {
        let may_be_undone = gives_rows && !statement.readonly();
        if !may_be_undone {
            return self.perform_by(statement, known, values, gives_rows, MOST);
        }
        let is_alone = !self.is_in_transaction();
        self.control("SAVEPOINT answered")?;
        let done = self.perform_by(statement, known, values, gives_rows, MOST);
        let ended = match &done {
            // What is rolled back as a whole has no savepoint any more.
            _ if !self.is_in_transaction() => Ok(()),
            Ok(Ok(_)) => self.control("RELEASE answered"),
            _ => self.control("ROLLBACK TO answered; RELEASE answered"),
        };
        if is_alone && self.is_in_transaction() {
            // It can't be committed, as where a foreign key is missing. The transaction would stay.
            self.control("ROLLBACK")?;
        }
        ended.and(done)
    }

    /// The same, without that. Rows have so many bytes at most.
    fn perform_by(
        &self,
        statement: &mut rusqlite::Statement<'_>,
        known: &Known,
        values: &[Value<'_>],
        gives_rows: bool,
        room: usize,
    ) -> Result<Result<Answer, Failure>, Error> {
        if let Err(failure) = bind(statement, &known.parameters, values)? {
            return Ok(Err(failure));
        }
        if gives_rows {
            let mut all = Rows::new(&known.columns, self.options.rows, room);
            let mut rows = statement.raw_query();
            let mut is_first = true;
            while let Some(row) = rows.next()? {
                let statement = row.as_ref();
                if is_first && statement.get_status(StatementStatus::RePrepare) > 0 {
                    // The schema has changed since, so there may be other columns.
                    all = Rows::new(&Columns::new(statement.column_names()), self.options.rows, room);
                }
                is_first = false;
                if let Err(failure) = all.begin() {
                    return Ok(Err(failure));
                }
                for column in 0..statement.column_count() {
                    if let Err(failure) = all.put(value(row.get_ref(column)?)) {
                        return Ok(Err(failure));
                    }
                }
            }
            return Ok(Ok(all.answer()));
        }
        let (before, last) = (self.connection.total_changes(), self.connection.last_insert_rowid());
        self.watch.last.store(last, Relaxed);
        self.watch.has_again.store(false, Relaxed);
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        let has_changed = self.connection.total_changes() != before;
        let changed = if has_changed { self.connection.changes() } else { 0 };
        let row = self.connection.last_insert_rowid();
        let is_new = row != last || self.watch.has_again.load(Relaxed);
        let id = if is_new && known.adds { row } else { 0 };
        Ok(Ok(Answer::changed(changed as i64, id)))
    }

    /// Carries out short writes as one transaction, for some time. If one fails the others are done, but for a failure
    /// of all of them.
    fn write_together(&self, all: &[Asked]) -> Result<Vec<Answer>, Error> {
        self.control("BEGIN IMMEDIATE")?;
        let begin = Instant::now();
        let mut answers = Vec::with_capacity(all.len());
        for asked in all {
            let done = match asked.read() {
                Ok(Request::Execute(statement)) => self.perform(&statement, false),
                Ok(Request::Query(statement)) => self.perform(&statement, true),
                Ok(_) => break,
                Err(failure) => Ok(Err(failure)),
            };
            answers.push(match done {
                Ok(done) => done.into(),
                Err(error) if self.is_in_transaction() => Answer::failed(&failure(&error, &self.options)),
                Err(error) => return Err(error),
            });
            if begin.elapsed() > TOGETHER {
                break;
            }
        }
        self.control("COMMIT")?;
        Ok(answers)
    }

    /// Carries a script out. A transaction that it has begun, and not ended, is rolled back.
    fn script(&self, sql: &str) -> Result<Result<Answer, Failure>, Error> {
        self.known.take();
        if self.is_in_transaction() {
            // It stays the client's.
            self.connection.execute_batch(sql)?;
            return Ok(Ok(Answer::done()));
        }
        let done = self.control(sql);
        if self.is_in_transaction() {
            self.control("ROLLBACK")?;
        }
        done.map(|()| Ok(Answer::done()))
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
        self.control("BEGIN IMMEDIATE")?;
        Ok(Ok(Answer::done()))
    }

    fn end(&self, sql: &str) -> Result<Result<Answer, Failure>, Error> {
        if !self.is_in_transaction() {
            return Ok(Err(Failure::no_transaction()));
        }
        self.control(sql)?;
        Ok(Ok(Answer::done()))
    }
}

impl Connection for Open {
    fn now(&mut self, request: &Request<'_>) -> Tried {
        self.wait(0);
        let tried = match request {
            Request::Execute(statement) => self.try_now(statement, false),
            Request::Query(statement) => self.try_now(statement, true),
            Request::Begin => self.begin().map(|begun| Tried::Done(begun.into())),
            Request::Script(_) | Request::Commit | Request::Rollback => Ok(Tried::Long),
        };
        match tried {
            Ok(tried) => tried,
            Err(error) if is_busy(&error) || is_interrupted(&error) || is_large(&error) => Tried::Long,
            Err(error) => Tried::Done(Answer::failed(&failure(&error, &self.options))),
        }
    }

    fn write(&mut self, all: &[Asked]) -> Vec<Answer> {
        self.wait(self.options.busy);
        self.watch.set(0, self.options.timeout);
        let done = if all.len() > 1 { self.write_together(all) } else { Ok(Vec::new()) };
        if self.is_in_transaction() {
            // Of what has failed nothing stays.
            let _ = self.control("ROLLBACK");
        }
        match done {
            Ok(answers) if !answers.is_empty() => answers,
            // They would all wait for the same lock.
            Err(error) if is_busy(&error) => {
                all.iter().map(|_| Answer::failed(&failure(&error, &self.options))).collect()
            }
            _ => vec![alone(self, &all[0])],
        }
    }

    fn run(&mut self, request: &Request<'_>) -> Answer {
        self.wait(self.options.busy);
        self.watch.set(0, self.options.timeout);
        let done = match request {
            Request::Execute(statement) => self.perform(statement, false),
            Request::Query(statement) => self.perform(statement, true),
            Request::Script(sql) => self.script(sql),
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

/// Binds values to the parameters, which have these numbers.
fn bind(
    statement: &mut rusqlite::Statement<'_>,
    parameters: &[usize],
    values: &[Value<'_>],
) -> Result<Result<(), Failure>, Error> {
    let most = parameters.iter().copied().max().unwrap_or(0);
    if most != values.len() {
        return Ok(Err(Failure::wrong_number(most, values.len())));
    }
    for (index, number) in parameters.iter().enumerate() {
        let value = number.checked_sub(1).map_or(Value::Null, |index| values[index]);
        statement.raw_bind_parameter(index + 1, value)?;
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

fn is_large(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::TooBig)
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
        (_, ErrorCode::AuthorizationForStatementDenied) => return Failure::controls(),
        (_, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let why = format!("{why}: another transaction has it for longer than {} ms", options.busy);
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
