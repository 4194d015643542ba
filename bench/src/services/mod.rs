//! Measures the services of the book's part "A service in an afternoon", beside the same in Go: how many requests each
//! answers, and how long its text is.

mod talk;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::load::{self, Exchange, answer};
use crate::page::{Page, Place};
use crate::peers::run;
use crate::places;
use crate::row::{Better, Row, Tell};
use crate::server::{Listening, free_address};
use crate::statistics::Figure;
use crate::turns::by_turns;

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    rounds: usize,
    /// Of each measurement.
    duration: Duration,
}

impl Effort {
    /// All.
    pub const FULL: Effort = Effort { rounds: 7, duration: Duration::from_secs(2) };
    /// The same in less time.
    pub const QUICK: Effort = Effort { rounds: 3, duration: Duration::from_millis(500) };
}

/// No further round begins after this.
const BUDGET: Duration = Duration::from_secs(240);

/// Clients at once.
const CLIENTS: usize = 50;

/// A service, and the files of its text.
struct Service {
    name: &'static str,
    drystone: &'static [&'static str],
    go: &'static str,
}

const LINKS: Service =
    Service { name: "links", drystone: &["Links.dry", "Shortener.dry"], go: "links/main.go" };
const JOBS: Service = Service { name: "jobs", drystone: &["Jobs.dry"], go: "jobs/main.go" };
const CHAT: Service = Service { name: "chat", drystone: &["Chat.dry"], go: "chat/main.go" };

/// A row: requests that clients repeat, once others have been answered.
struct Asked {
    row: &'static str,
    service: &'static Service,
    before: &'static [&'static str],
    request: &'static str,
    /// What each answer begins with.
    begin: &'static str,
}

const ADD_LINK: &str = "POST /links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\
    Content-Length: 28\r\n\r\nurl=https://example.org/path";

const ASKED: [Asked; 4] = [
    Asked {
        row: "links: follow one",
        service: &LINKS,
        before: &[ADD_LINK],
        request: "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        begin: "HTTP/1.1 302 Found\r\n",
    },
    Asked {
        row: "links: list all",
        service: &LINKS,
        before: &[ADD_LINK],
        request: "GET /links HTTP/1.1\r\nHost: localhost\r\n\r\n",
        begin: "HTTP/1.1 200 OK\r\n",
    },
    Asked {
        row: "links: the page",
        service: &LINKS,
        before: &[],
        request: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        begin: "HTTP/1.1 200 OK\r\n",
    },
    Asked {
        row: "jobs: ask for one",
        service: &JOBS,
        before: &["POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n84 2"],
        request: "GET /jobs/1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        begin: "HTTP/1.1 200 OK\r\n",
    },
];

/// Measures row after row.
pub fn measure(effort: Effort, tell: Tell) -> Result<(), String> {
    for service in [&LINKS, &JOBS, &CHAT] {
        tell(service.lines()?)?;
    }
    let built = Built::new()?;
    for asked in &ASKED {
        tell(row(asked.row, "requests/s", effort, &|is_ours| asked.rate(&built, effort, is_ours)))?;
    }
    tell(row("chat: texts to all", "texts/s", effort, &|is_ours| {
        let (_server, address, _folder) = built.start(&CHAT, is_ours)?;
        talk::rate(address, effort.duration)
    }))
}

/// A row of rates: Drystone's (TRUE) and Go's.
fn row(name: &str, unit: &'static str, effort: Effort, rate: &dyn Fn(bool) -> Result<f64, String>) -> Row {
    let measure = |is_ours| move || rate(is_ours);
    let (ours, go) = (measure(true), measure(false));
    let mut figures = by_turns(effort.rounds, BUDGET, &[("drystone", &ours), ("go", &go)]);
    let drystone = figures.remove("drystone").flatten();
    let target = figures.get("go").copied().flatten().map(|figure| figure.value);
    Row { better: Better::Higher, drystone, peers: figures, target, ..Row::new(name.into(), unit) }
}

impl Service {
    /// Lines of text.
    fn lines(&self) -> Result<Row, String> {
        let root = places::root();
        let drystone = self.drystone.iter().map(|file| lines(&root.join("programs/service").join(file)));
        let drystone = drystone.sum::<Result<usize, String>>()?;
        let go = lines(&root.join("bench/peers/service").join(self.go))?;
        let [drystone, go] = [drystone, go].map(|lines| Figure::single(lines as f64));
        Ok(Row {
            drystone: Some(drystone),
            peers: BTreeMap::from([("go", Some(go))]),
            target: Some(go.value),
            ..Row::new(format!("{}: lines", self.name), "lines")
        })
    }
}

fn lines(path: &Path) -> Result<usize, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().count())
}

/// The executables.
struct Built(PathBuf);

impl Built {
    fn new() -> Result<Built, String> {
        let folder = places::peers().join("service");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let root = places::root();
        for service in [&LINKS, &JOBS, &CHAT] {
            let source = root.join("programs/service").join(service.drystone[0]);
            let mut build = Command::new(places::drystone()?);
            run(build.arg("build").arg(source).arg("-o").arg(folder.join(format!("{}-dry", service.name))))?;
        }
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&folder).arg("./...").current_dir(root.join("bench/peers/service"));
        run(&mut build)?;
        Ok(Built(folder))
    }

    /// Starts one on one processor, with a database of its own in memory, so that no disk is measured.
    fn start(&self, service: &Service, is_ours: bool) -> Result<(Listening, SocketAddr, TempDir), String> {
        let folder = TempDir::new_in("/dev/shm").map_err(|error| format!("/dev/shm: {error}"))?;
        let address = free_address()?;
        let file = folder.path().join("data.db").display().to_string();
        let mut command;
        if is_ours {
            command = Command::new(self.0.join(format!("{}-dry", service.name)));
            command.arg("--at").arg(format!("http://{address}"));
            match service.name {
                "chat" => command.arg("--pages").arg(folder.path()),
                _ => command.arg("--database").arg(format!("sqlite:{file}")),
            };
        } else {
            command = Command::new(self.0.join(service.name));
            command.arg("-at").arg(address.to_string());
            match service.name {
                "chat" => command.arg("-pages").arg(folder.path()),
                "jobs" => {
                    command.arg("-database").arg(format!("file:{file}?_journal_mode=WAL&_synchronous=FULL"))
                }
                _ => command.arg("-database").arg(file),
            };
        }
        Ok((Listening::start_silent(command, address, 1)?, address, folder))
    }
}

impl Asked {
    /// Answers a second.
    fn rate(&self, built: &Built, effort: Effort, is_ours: bool) -> Result<f64, String> {
        let (_server, address, _folder) = built.start(self.service, is_ours)?;
        for request in self.before {
            answer(address, request)?;
        }
        // A job takes a moment until it is done, and then its answer has the same length each time.
        std::thread::sleep(Duration::from_millis(200));
        let first = answer(address, self.request)?;
        if !first.starts_with(self.begin) {
            return Err(format!("{}: wrong answer: {first}", self.row));
        }
        let exchange = || Exchange {
            requests: self.request.into(),
            count: 1,
            begin: self.begin.into(),
            end: Vec::new(),
            length: first.len(),
        };
        let exchanges: Vec<Exchange> = (0..CLIENTS).map(|_| exchange()).collect();
        load::rate(address, &exchanges, effort.duration)
    }
}

/// The page.
pub fn page(_: &[Row]) -> Page<'_> {
    Page {
        subject: "services",
        title: "Figures: services",
        notes: format!(
            "The services are those of [A service in an afternoon](../src/afternoon.md). Go's are in \
             `bench/peers/service`: net/http, mattn/go-sqlite3 with the same statements and settings, Prometheus's \
             client, coder/websocket. Each server has one processor, and {CLIENTS} clients at once, which run on the \
             others. *Texts to all*: {} clients are in a room, all say something, and each hears what all have said, \
             in turns; what counts is each text that one of them hears. Databases lie in `/dev/shm`. *Lines* are \
             those of the files, with comments and blank lines.\n",
            talk::CLIENTS
        ),
        place: |_| Place::Headline,
        reason: |row| {
            (row == "links: follow one").then_some(
                "the service asks for one write after the other, and each goes to a thread and back, so that a disk \
                 keeps nobody waiting; Go's driver writes on the thread that asks",
            )
        },
        plots: Vec::new(),
        sections: &[],
    }
}
