//! `sqlite:` and `postgres:` names: one program asks both, line by line (`sql/Ask.dry`). SQLite's files are real, and
//! so is PostgreSQL, with a cluster of each test's own. Without PostgreSQL its tests are skipped, and say so.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use drystone_golden::free_port;
use tempfile::TempDir;

use crate::DRYSTONE;
use crate::certificates::{authority, certify};

/// A program that asks.
struct Asker {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Asker {
    fn start(folder: &Path, name: &str, connections: usize) -> Asker {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/sql/Ask.dry");
        let mut command = Command::new(DRYSTONE);
        command.arg("run").arg(program).args([name, &connections.to_string()]).current_dir(folder);
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command runs");
        let (input, output) = (process.stdin.take(), process.stdout.take());
        Asker {
            process,
            input: input.expect("it is piped"),
            output: BufReader::new(output.expect("it is piped")),
        }
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("it reads");
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it writes");
        line.trim_end().to_string()
    }

    fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.hear()
    }

    /// Each line is answered by what begins so.
    fn expect(&mut self, exchanges: &[(&str, &str)]) {
        for (line, expected) in exchanges {
            let answer = self.ask(line);
            let is_right = match expected.strip_suffix("..") {
                Some(begin) => answer.starts_with(begin),
                None => answer == *expected,
            };
            assert!(is_right, "{line}: {answer}, not {expected}");
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// PostgreSQL, in a folder of its own.
struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

impl Postgres {
    /// `None`: there is none here.
    fn start() -> Option<Postgres> {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut programs: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
        programs.retain(|programs| programs.join("initdb").exists());
        let Some(programs) = programs.pop() else {
            drystone_golden::skipped("there is no PostgreSQL");
            return None;
        };
        let folder = tempfile::tempdir().expect("there are temporary folders");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("it is this test's");
        fs::write(folder.path().join("password"), "secret\n").expect("it can be written");
        let postgres = Postgres { folder, programs, port: free_port() };
        let made = postgres.run(
            "initdb",
            &[
                "-A",
                "scram-sha-256",
                "-U",
                "ann",
                "--pwfile=password",
                "-E",
                "UTF8",
                "--locale=C",
                "-N",
                "data",
            ],
        );
        assert!(made, "initdb");
        postgres.control("start");
        Some(postgres)
    }

    /// Runs a program of its own, which root may not.
    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let program = self.programs.join(program);
        let mut command = match rustix::process::getuid().is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.args(arguments).current_dir(self.folder.path());
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().expect("its programs run").success()
    }

    fn control(&self, what: &str) {
        self.control_with(what, "");
    }

    /// With more settings.
    fn control_with(&self, what: &str, settings: &str) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off {settings}",
            self.port
        );
        let done = self
            .run("pg_ctl", &["-D", "data", "-w", "-m", "immediate", "-l", "data/log", "-o", &options, what]);
        assert!(done, "pg_ctl {what}");
    }

    fn name(&self, password: &str) -> String {
        format!("postgres://ann:{password}@127.0.0.1:{}/postgres", self.port)
    }

    fn asker(&self, connections: usize) -> Asker {
        Asker::start(self.folder.path(), &self.name("secret"), connections)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.run("pg_ctl", &["-D", "data", "-m", "immediate", "stop"]);
    }
}

/// Asks each database that there is here.
fn with_each(connections: usize, test: impl Fn(&mut Asker, bool)) {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    test(&mut Asker::start(folder.path(), "sqlite:shop.db", connections), true);
    if let Some(postgres) = Postgres::start() {
        test(&mut postgres.asker(connections), false);
    }
}

#[test]
fn values_come_back_as_they_went() {
    with_each(4, |asker, is_sqlite| {
        let types = if is_sqlite { "b REAL, c TEXT, d BLOB" } else { "b DOUBLE PRECISION, c TEXT, d BYTEA" };
        asker.expect(&[
            (&format!("1 S CREATE TABLE v (n INTEGER, a BIGINT, {types})"), "done"),
            (
                "1 E INSERT INTO v VALUES ($1, $2, $3, $4, $5)|i1|i9223372036854775807|r2.5|tzwölf|xFF00",
                "changed 1..",
            ),
            ("1 E INSERT INTO v VALUES ($1, $2, $3, $4, $5)|i2|m|+|t|x", "changed 1.."),
            ("1 E INSERT INTO v VALUES ($1, $2, $3, $4, $5)|i3|n|-|n|n", "changed 1.."),
            ("1 E INSERT INTO v VALUES ($1, $2, $3, $4, $5)|i4|i0|r-1.0E-300|L1000000|n", "changed 1.."),
            ("1 E INSERT INTO v (n, c) VALUES ($1, $2)|i5|t'); DROP TABLE v; --", "changed 1.."),
            (
                "1 Q SELECT a, b, c, d FROM v WHERE n = $1|i1",
                "a,b,c,d;i9223372036854775807,r2.5,tzwölf,xff00",
            ),
            ("1 Q SELECT a, b, c, d FROM v WHERE n = $1|i2", "a,b,c,d;i-9223372036854775808,rINF,t,x"),
            ("1 Q SELECT a, b, c, d FROM v WHERE n = $1|i3", "a,b,c,d;n,r-INF,n,n"),
            ("1 Q SELECT a, b, c, d FROM v WHERE n = $1|i4", "a,b,c,d;i0,r-1.0E-300,L1000000,n"),
            ("1 Q SELECT c FROM v WHERE c = $1|t'); DROP TABLE v; --", "c;t'); DROP TABLE v; --"),
            ("1 Q SELECT count(*) AS n FROM v WHERE c = $2 OR n = $1 OR c = $2|i1|tzwölf", "n;i1"),
            ("1 Q SELECT c FROM v WHERE n = $1|i77", "c"),
            ("1 E UPDATE v SET a = 7 WHERE n < $1|i3", "changed 2 0"),
            ("1 E DELETE FROM v WHERE n < $1|i-1", "changed 0 0"),
        ]);
    });
}

#[test]
fn what_is_wrong_is_answered() {
    with_each(4, |asker, is_sqlite| {
        asker.expect(&[
            ("1 S CREATE TABLE p (n INTEGER PRIMARY KEY)", "done"),
            ("1 S CREATE TABLE t (a INTEGER NOT NULL UNIQUE, b INTEGER CHECK (b > 0), c INTEGER REFERENCES p)", "done"),
            ("1 E INSERT INTO t VALUES (1, 1, NULL)", "changed 1.."),
            ("1 E INSERT INTO t VALUES ($1, 1, NULL)|i1", "failed 23505.."),
            ("1 E INSERT INTO t VALUES ($1, 1, NULL)|n", "failed 23502.."),
            ("1 E INSERT INTO t VALUES (2, $1, NULL)|i0", "failed 23514.."),
            ("1 E INSERT INTO t VALUES (3, 1, $1)|i77", "failed 23503.."),
            ("1 E INSRT INTO t", "failed 42.."),
            ("1 Q SELECT nonsense FROM t", "failed 42.."),
            ("1 Q SELECT a FROM t WHERE a = $1", "failed 07001.."),
            ("1 Q SELECT a FROM t WHERE a = $1|i1|i2", "failed 07001.."),
            ("1 Q SELECT a FROM t WHERE a = $1|u31FF", "failed 22021 value 1 is no UTF-8.."),
            ("1 Q SELECT a FROM t WHERE a = $1|k", "failed 07001 value 1 has the kind 77.."),
            ("1 C ", "failed 25P01.."),
            ("1 R ", "failed 25P01.."),
            ("1 B ", "done"),
            ("1 B ", "failed 25001.."),
            ("1 R ", "done"),
            ("1 Q SELECT a FROM t", "a;i1"),
        ]);
        let many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 21)";
        asker.expect(&[
            (&format!("1 Q {many} SELECT n FROM c WHERE n < 21"), "n;i1;i2.."),
            (&format!("1 Q {many} SELECT n FROM c"), "failed 54000 there are more than 20 rows.."),
        ]);
        let long = match is_sqlite {
            true => {
                "1 Q WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"
            }
            false => "1 Q SELECT pg_sleep(60)",
        };
        let begin = Instant::now();
        asker.expect(&[(long, "failed 57014.."), ("1 Q SELECT a FROM t", "a;i1")]);
        assert!(begin.elapsed() < Duration::from_secs(20));
    });
}

#[test]
fn a_transaction_is_done_as_a_whole_or_not_at_all() {
    with_each(4, |asker, is_sqlite| {
        asker.expect(&[
            ("1 S CREATE TABLE many (n INTEGER)", "done"),
            ("1 M 500", "done"),
            ("1 Q SELECT count(*) AS n, sum(n) AS s FROM many", "n,s;i499,i124750"),
            // It ends with its client,
            ("2 B ", "done"),
            ("2 E INSERT INTO many VALUES (7)", "changed 1.."),
            ("1 Q SELECT count(*) AS n FROM many", "n;i499"),
            ("2 D ", "deleted"),
            ("1 E INSERT INTO many VALUES (8)", "changed 1.."),
            ("1 Q SELECT count(*) AS n FROM many", "n;i500"),
            // also where that fails.
            ("3 B ", "done"),
            ("3 E INSERT INTO many VALUES (7)", "changed 1.."),
            ("3 0 ", "ended"),
            ("1 E INSERT INTO many VALUES (9)", "changed 1.."),
            ("1 Q SELECT count(*) AS n FROM many", "n;i501"),
            ("1 B ", "done"),
            ("1 E DELETE FROM many", "changed 501.."),
            ("1 R ", "done"),
            ("1 Q SELECT count(*) AS n FROM many", "n;i501"),
        ]);
        if !is_sqlite {
            asker.expect(&[
                ("1 B ", "done"),
                ("1 Q SELECT 1 / 0", "failed 22012.."),
                ("1 Q SELECT 1", "failed 25P02.."),
                ("1 C ", "failed 25P02.."),
                ("1 E COMMIT", "failed 0A000.."),
                ("1 Q SELECT count(*) AS n FROM many", "n;i501"),
            ]);
        }
    });
}

#[test]
fn a_transaction_that_is_lost_is_not_done_in_part() {
    with_each(4, |asker, _| {
        let numbers = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c";
        let endless = &format!("1 E INSERT INTO t {numbers}");
        asker.expect(&[
            ("1 S CREATE TABLE t (a BIGINT)", "done"),
            ("1 B ", "done"),
            ("1 E INSERT INTO t VALUES (1)", "changed 1.."),
            (endless, "failed 57014.."),
            ("1 E INSERT INTO t VALUES (2)", "failed 25P02.."),
            ("1 B ", "failed 25P02.."),
            ("1 S INSERT INTO t VALUES (2)", "failed 25P02.."),
            ("2 Q SELECT count(*) AS n FROM t", "n;i0"),
            ("1 C ", "failed 25P02.."),
            ("1 Q SELECT count(*) AS n FROM t", "n;i0"),
            ("1 E INSERT INTO t VALUES (3)", "changed 1.."),
            ("1 B ", "done"),
            (endless, "failed 57014.."),
            ("1 R ", "done"),
            ("1 R ", "failed 25P01.."),
            ("1 Q SELECT a FROM t", "a;i3"),
        ]);
    });
}

#[test]
fn statements_and_scripts_do_not_begin_or_end_transactions() {
    with_each(1, |asker, is_sqlite| {
        asker.expect(&[
            ("1 S CREATE TABLE t (a INTEGER)", "done"),
            ("1 S BEGIN; INSERT INTO t VALUES (1); nonsense", "failed 42.."),
            ("1 S BEGIN; INSERT INTO t VALUES (1)", "done"),
            ("1 Q SELECT count(*) AS n FROM t", "n;i0"),
            ("1 S BEGIN; INSERT INTO t VALUES (1); COMMIT", "done"),
            ("1 E BEGIN", "failed 0A000.."),
            ("1 E BEGIN IMMEDIATE", "failed 0A000.."),
            (
                "1 Q /* a /* and b */ SELECT */ SAVEPOINT a",
                if is_sqlite { "failed 42.." } else { "failed 0A000.." },
            ),
            ("1 B ", "done"),
            ("1 E INSERT INTO t VALUES (2)", "changed 1.."),
            ("1 E ; /* a */ COMMIT", "failed 0A000.."),
            ("1 Q COMMIT", "failed 0A000.."),
            ("1 R ", "done"),
            ("1 Q ROLLBACK", "failed 0A000.."),
            ("1 Q SELECT a FROM t", "a;i1"),
            ("1 B ", "done"),
            ("1 S INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)", "done"),
            ("1 E DELETE FROM t WHERE a = 3", "changed 1 0"),
            ("1 C ", "done"),
            ("1 Q SELECT a FROM t ORDER BY a", "a;i1;i2"),
            ("1 B ", "done"),
        ]);
        if is_sqlite {
            asker.expect(&[
                ("1 S COMMIT; INSERT INTO t VALUES (4)", "failed 0A000.."),
                ("1 E INSERT INTO t VALUES (5)", "changed 1.."),
                ("1 R ", "done"),
            ]);
        } else {
            asker.expect(&[
                ("1 S COMMIT", "failed 2D000.."),
                ("1 E INSERT INTO t VALUES (5)", "failed 25P02.."),
                ("1 R ", "done"),
                ("1 E PREPARE transaction 'x'", "failed 0A000.."),
            ]);
        }
        asker.expect(&[("1 Q SELECT a FROM t ORDER BY a", "a;i1;i2")]);
    });
}

#[test]
fn a_row_that_is_added_has_its_own_number() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let mut asker = Asker::start(folder.path(), "sqlite:shop.db", 1);
    asker.expect(&[
        ("1 S CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER UNIQUE); CREATE TABLE u (a INTEGER)", "done"),
        ("1 S CREATE TABLE w (a INTEGER PRIMARY KEY) WITHOUT ROWID", "done"),
        ("1 E INSERT INTO t VALUES (7, 1)", "changed 1 7"),
        ("2 E INSERT INTO t VALUES (9, 1) ON CONFLICT (b) DO UPDATE SET b = 2", "changed 1 0"),
        ("2 E INSERT INTO w VALUES (5)", "changed 1 0"),
        ("2 E INSERT OR IGNORE INTO t VALUES (7, 3)", "changed 0 0"),
        ("2 E UPDATE t SET b = 1", "changed 1 0"),
        ("1 E INSERT INTO u (rowid, a) VALUES (7, 1)", "changed 1 7"),
        ("1 E REPLACE INTO t VALUES (7, 3)", "changed 1 7"),
        ("1 E /* the next */ INSERT INTO t VALUES (NULL, 5)", "changed 1 8"),
        ("1 E WITH c(n) AS (SELECT 20) INSERT INTO t SELECT n, n FROM c", "changed 1 20"),
        // Some are carried out at once, and some are not.
        ("1 Q EXPLAIN QUERY PLAN SELECT a FROM u", "id,parent,notused,detail;.."),
        ("1 Q EXPLAIN QUERY PLAN SELECT a FROM u", "id,parent,notused,detail;.."),
        ("1 Q SELECT lower('A') AS a, a AS b FROM u", "a,b;ta,i1"),
        ("1 E ALTER TABLE u ADD c", "changed 0 0"),
        ("1 Q SELECT * FROM u", "a,c;i1,n"),
    ]);
    // The last connection takes its log along.
    let log = folder.path().join("shop.db-wal");
    assert!(log.exists());
    asker.expect(&[("1 D ", "deleted"), ("2 D ", "deleted")]);
    let begin = Instant::now();
    while log.exists() {
        assert!(begin.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_answer_that_is_too_large_is_refused() {
    with_each(4, |asker, is_sqlite| {
        let many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5)";
        let value = if is_sqlite { "zeroblob(20000000)" } else { "repeat('x', 20000000)" };
        asker.expect(&[
            (&format!("1 Q {many} SELECT {value} FROM c"), "failed 54000 4 rows take more than 64 MB.."),
            ("1 Q SELECT 1 AS a", "a;i1"),
        ]);
        if !is_sqlite {
            let begin = Instant::now();
            asker.expect(&[
                ("1 B ", "done"),
                ("1 Q SELECT generate_series(1, 100000000)", "failed 54000 there are more than 20 rows.."),
                ("1 Q SELECT 1", "failed 25P02.."),
                ("1 R ", "done"),
                ("1 Q SELECT 1 AS a", "a;i1"),
            ]);
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        }
    });
}

#[test]
fn a_request_waits_for_a_connection_and_not_for_ever() {
    with_each(1, |asker, _| {
        asker.expect(&[("1 S CREATE TABLE t (a INTEGER)", "done"), ("1 B ", "done")]);
        let begin = Instant::now();
        asker.expect(&[("2 Q SELECT a FROM t", "failed 57014 all 1 connections..")]);
        assert!(begin.elapsed() >= Duration::from_millis(900));
        asker.expect(&[("1 C ", "done"), ("2 Q SELECT a FROM t", "a")]);
    });
}

#[test]
fn two_programs_use_one_file() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let mut one = Asker::start(folder.path(), "sqlite:shop.db", 4);
    let mut other = Asker::start(folder.path(), "sqlite:shop.db", 4);
    one.expect(&[
        ("1 S CREATE TABLE t (a INTEGER)", "done"),
        ("1 B ", "done"),
        ("1 E INSERT INTO t VALUES (1)", "changed 1 1"),
    ]);
    other.expect(&[
        ("1 Q SELECT a FROM t", "a"),
        ("1 E INSERT INTO t VALUES (2)", "failed 55P03 database is locked: another transaction has it.."),
        ("1 B ", "failed 55P03.."),
    ]);
    // Whoever is killed has done nothing.
    drop(one);
    other.expect(&[("1 E INSERT INTO t VALUES (2)", "changed 1 1"), ("1 Q SELECT a FROM t", "a;i2")]);
    other.process.kill().expect("it runs");
    let mut third = Asker::start(folder.path(), "sqlite:shop.db", 4);
    third.expect(&[("1 Q SELECT a FROM t", "a;i2")]);
}

#[test]
fn what_gives_too_many_rows_changes_nothing() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let mut asker = Asker::start(folder.path(), "sqlite:t.db", 4);
    let values: Vec<String> = (0..30).map(|x| format!("({x})")).collect();
    let many = format!("INSERT INTO t VALUES {} RETURNING x", values.join(","));
    asker.expect(&[
        ("1 S CREATE TABLE t (x INTEGER)", "done"),
        (&format!("1 Q {many}"), "failed 54000 there are more than 20 rows.."),
        ("1 Q SELECT count(*) FROM t", "count(*);i0"),
        ("1 B ", "done"),
        ("1 Q INSERT INTO t VALUES (7) RETURNING x", "x;i7"),
        (&format!("1 Q {many}"), "failed 54000 there are more than 20 rows.."),
        ("1 C ", "done"),
        ("1 Q SELECT x FROM t", "x;i7"),
        ("1 Q UPDATE t SET x = 8 WHERE rowid = 1 RETURNING x", "x;i8"),
    ]);
}

#[test]
fn columns_that_another_program_adds_and_drops_are_seen() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let [mut one, mut other] =
        [1, 1].map(|connections| Asker::start(folder.path(), "sqlite:t.db", connections));
    one.expect(&[("1 S CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)", "done")]);
    one.expect(&[("1 Q SELECT * FROM t", "a;i1")]);
    other.expect(&[("1 S ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 2", "done")]);
    one.expect(&[("1 Q SELECT * FROM t", "a,b;i1,i2"), ("1 Q SELECT * FROM t", "a,b;i1,i2")]);
    other.expect(&[("1 S ALTER TABLE t DROP COLUMN a", "done")]);
    one.expect(&[("1 Q SELECT * FROM t", "b;i2"), ("1 Q SELECT * FROM t", "b;i2")]);
}

#[test]
fn a_file_that_is_no_database_is_answered() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    fs::write(folder.path().join("text.db"), "not a database, but a text that is long enough".repeat(99))
        .expect("it can be written");
    let mut text = Asker::start(folder.path(), "sqlite:text.db", 4);
    text.expect(&[
        ("1 Q SELECT 1", "failed XX001 text.db: file is not a database"),
        ("1 B ", "failed XX001.."),
    ]);
    let mut nowhere = Asker::start(folder.path(), "sqlite:no/such/folder.db", 4);
    nowhere.expect(&[
        ("1 Q SELECT 1", "failed 08001 no/such/folder.db: unable to open.."),
        ("1 C ", "failed 08001.."),
    ]);
}

/// Asks a server whether it is asked by TLS.
const IS_SECURE: &str = r#"
IMPORT Sql;
COMPONENT Asker REQUIRES Sql.Database;
ACTIVITY
  Database!Query("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()", []);
  CASE Database? OF
    Rows(columns, rows): WRITE(rows[0][0].text)
  | Failed(code, why): WRITE(code + " " + why)
  END;
  WRITELINE
END Asker;
COMPONENT Main;
VARIABLE asker: Asker;
BEGIN
  NEW(asker); CONNECT(Sql.Database(asker), "NAME") BY Postgres(AUTHORITY)
END Main;
"#;

#[test]
fn a_server_is_asked_by_tls() {
    let Some(postgres) = Postgres::start() else { return };
    let folder = postgres.folder.path();
    certify(folder, "server", &authority());
    certify(folder, "other", &authority());
    let key = folder.join("server.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("it is this test's");
    if rustix::process::getuid().is_root() {
        let done = Command::new("chown").arg("postgres").arg(&key).status();
        assert!(done.expect("there is chown").success());
    }
    let file = |name: &str| folder.join(name).display().to_string();
    let settings =
        format!("-c ssl=on -c ssl_cert_file={} -c ssl_key_file={}", file("server.pem"), file("server.key"));
    postgres.control_with("restart", &settings);
    let asked = |name: &str, authority: &str| {
        let program = folder.join("asker.dry");
        let authority = format!("authority: \"{}\"", file(authority));
        fs::write(&program, IS_SECURE.replace("NAME", name).replace("AUTHORITY", &authority))
            .expect("there is room");
        let output = Command::new(DRYSTONE).arg("run").arg(&program).output().expect("the command runs");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let name = postgres.name("secret");
    let secure = format!("{name}?sslmode=require");
    assert_eq!(asked(&secure, "server-ca.pem"), "TLSv1.3\n");
    let refused = asked(&secure, "other-ca.pem");
    assert!(refused.starts_with("08001 ") && refused.contains("certificate"), "{refused}");
    let elsewhere = asked(&secure.replace("127.0.0.1", "127.0.0.2"), "server-ca.pem");
    assert!(elsewhere.starts_with("08001 "), "{elsewhere}");
    let plain = asked(&name, "server-ca.pem");
    assert!(plain.contains("certificates are for TLS: end the name with ?sslmode=require"), "{plain}");
    // Who doesn't speak TLS is told so.
    postgres.control_with("restart", "-c ssl=off");
    let refused = asked(&secure, "server-ca.pem");
    assert!(refused.starts_with("08001 "), "{refused}");
}

#[test]
fn a_server_goes_and_comes_back() {
    let Some(postgres) = Postgres::start() else { return };
    let mut wrong = Asker::start(postgres.folder.path(), &postgres.name("guessed"), 4);
    wrong.expect(&[
        ("1 Q SELECT 1", "failed 28P01 password authentication failed.."),
        ("1 B ", "failed 28P01.."),
    ]);
    let mut asker = postgres.asker(3);
    asker.expect(&[
        ("1 S CREATE TABLE t (a INTEGER)", "done"),
        ("1 E INSERT INTO t VALUES ($1)|i1", "changed 1 0"),
        ("2 B ", "done"),
        ("2 E INSERT INTO t VALUES ($1)|i2", "changed 1 0"),
        ("3 B ", "done"),
        ("3 E INSERT INTO t VALUES ($1)|i3", "changed 1 0"),
    ]);
    postgres.control("stop");
    asker.expect(&[
        ("2 C ", "failed.."),
        ("3 E INSERT INTO t VALUES ($1)|i3", "failed.."),
        ("1 Q SELECT a FROM t", "failed.."),
        ("1 Q SELECT a FROM t", "failed 08001.."),
    ]);
    postgres.control("start");
    asker.expect(&[
        ("1 Q SELECT a FROM t", "a;i1"),
        // What has been lost is not done in part.
        ("3 E INSERT INTO t VALUES ($1)|i3", "failed 25P02.."),
        ("3 R ", "done"),
        ("3 Q SELECT a FROM t", "a;i1"),
        ("2 B ", "done"),
        ("2 Q SELECT a FROM t WHERE a = $1|i1", "a;i1"),
        ("2 C ", "done"),
    ]);
}

#[test]
fn what_a_server_has_besides_numbers_comes_as_texts() {
    let Some(postgres) = Postgres::start() else { return };
    let mut asker = postgres.asker(2);
    asker.expect(&[
        ("1 S SET TIME ZONE 'UTC'; CREATE TYPE mood AS ENUM ('fine'); CREATE DOMAIN pieces AS INTEGER", "done"),
        (
            "1 Q SELECT $1::date, $2::timestamptz, $3::numeric, $4::uuid, $5::jsonb, $6::mood, $7::pieces|t2026-02-28|\
             t2026-02-28 23:59:59.5+01|t-1234567.00890|t8ad8c5b5-6a6c-4c0e-9f5b-0f6f7d8e9f10|t{\"a\":1}|tfine|i3",
            "date,timestamptz,numeric,uuid,jsonb,mood,pieces;t2026-02-28,t2026-02-28 22:59:59.5+00,t-1234567.00890,\
             t8ad8c5b5-6a6c-4c0e-9f5b-0f6f7d8e9f10,t{\"a\": 1},tfine,i3",
        ),
        ("1 Q SELECT true AS a, 'x'::varchar AS b, 1.5::real AS c, 7::smallint AS d", "a,b,c,d;i1,tx,r1.5,i7"),
        ("1 Q SELECT ARRAY[1, 2] AS a", "failed 0A000 the column a is of the type _int4: ask for it as a text.."),
        ("1 Q SELECT ARRAY[1, 2]::text AS a", "a;t{1,2}"),
        ("1 Q SELECT $1::text AS a|xFF00", "failed 07001 value 1 is Sql.Bytes, and text is wanted.."),
        ("1 Q SELECT $1::bytea AS a|xFF00", "a;xff00"),
        // The same text, for a table that has changed.
        ("1 S CREATE TABLE t (a INTEGER)", "done"),
        ("1 Q SELECT * FROM t", "a"),
        ("1 S ALTER TABLE t ADD b TEXT", "done"),
        ("1 Q SELECT * FROM t", "a,b"),
        ("1 Q INSERT INTO t VALUES (1, 'x') RETURNING a", "a;i1"),
    ]);
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let silent = TcpListener::bind("127.0.0.1:0").expect("it listens");
    let address = silent.local_addr().expect("it has one");
    let mut asker = Asker::start(folder.path(), &format!("postgres://ann@{address}/shop"), 1);
    let begin = Instant::now();
    asker.expect(&[("1 Q SELECT 1", "failed 08006 the database has not answered in time..")]);
    assert!(begin.elapsed() < Duration::from_secs(20));
}
