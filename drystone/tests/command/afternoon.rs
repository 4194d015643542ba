//! The book's part "A service in an afternoon": each of its steps, as its reader does it, but at another port.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use super::http::curl;
use super::peer::{Peer, Running, installed, signal};
use super::{DRYSTONE, complaint, drystone, printed, programs};
use drystone_golden::free_port;

/// The folder of the part's programs.
fn service(name: &str) -> String {
    programs().join("service").join(name).display().to_string()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there are temporary folders")
}

/// Waits until somebody listens at a URL such as `http://127.0.0.1:8080`.
fn listens(url: &str) {
    let address = url.strip_prefix("http://").expect("it begins so");
    let end = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(address).is_err() {
        assert!(Instant::now() < end, "nobody listens at {url}");
        sleep(Duration::from_millis(20));
    }
}

/// A program of the part that serves.
struct Served {
    running: Running,
    url: String,
}

impl Served {
    fn start(folder: &Path, program: &str, more: &[&str]) -> Served {
        let url = format!("http://127.0.0.1:{}", free_port());
        let running = Running::start(folder, &[&["run", &service(program), "--at", &url], more].concat());
        listens(&url);
        Served { running, url }
    }

    fn ask(&self, path: &str) -> String {
        curl(&[&format!("{}{path}", self.url)])
    }

    fn post(&self, path: &str, data: &str) -> String {
        curl(&["--data-raw", data, &format!("{}{path}", self.url)])
    }

    /// Ends it as systems do.
    fn end(self) -> Output {
        signal(self.running.id(), Signal::TERM);
        self.running.output()
    }
}

#[test]
fn a_first_server_greets() {
    let folder = folder();
    let url = format!("http://127.0.0.1:{}", free_port());
    let text = fs::read_to_string(service("Hello.dry")).expect("it is there");
    fs::write(folder.path().join("hello.dry"), text.replace("http://127.0.0.1:8080", &url))
        .expect("it can be written");
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "hello.dry"]);
    assert_eq!(server.line(), "ready");
    assert_eq!(curl(&[&format!("{url}/you")]), "Hello, /you\n 200");
}

#[test]
fn the_shortener_is_tested_without_a_network() {
    let folder = folder();
    let database = format!("sqlite:{}", folder.path().join("test.db").display());
    let output = drystone(folder.path(), &["run", &service("LinksTest.dry"), &database]);
    assert_eq!(
        (printed(&output).as_str(), output.status.code()),
        ("passed\n", Some(0)),
        "{}",
        complaint(&output)
    );
}

#[test]
fn links_are_made_followed_counted_and_kept() {
    let folder = folder();
    let links = Served::start(folder.path(), "Links.dry", &["--database", "sqlite:links.db"]);
    let made = links.post("/links", "url=https%3A%2F%2Fexample.org%2Fa%20long%2Fpath%3Fx=%C3%A4");
    assert_eq!(made, format!("{}/1\n 201", links.url));
    let headers = curl(&["-i", &format!("{}/1", links.url)]);
    assert!(headers.starts_with("HTTP/1.1 302"), "{headers}");
    assert!(headers.contains("location: https://example.org/a%20long/path?x="), "{headers}");
    assert!(links.ask("/2").ends_with(" 404"));
    assert!(links.post("/links", "url=javascript:alert(1)").ends_with(" 422"));
    assert!(links.ask("/metrics").contains("requests_total{status=\"302\"} 1\n"));
    let output = links.end();
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    assert!(complaint(&output).contains("\"message\":\"ends\""), "{}", complaint(&output));

    let links = Served::start(folder.path(), "Links.dry", &["--database", "sqlite:links.db"]);
    assert!(links.ask("/links").starts_with("[{\"code\":\"1\","), "what was kept is there");
    assert!(links.ask("/links").contains("\"uses\":1}"));
}

#[test]
fn without_its_database_the_shortener_says_so() {
    let folder = folder();
    let output =
        drystone(folder.path(), &["run", &service("Links.dry"), "--database", "sqlite:/nowhere/links.db"]);
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    assert!(printed(&output).contains("no database: "), "{}", printed(&output));
}

#[test]
fn jobs_outlive_workers_that_die() {
    let folder = folder();
    let jobs = Served::start(folder.path(), "Jobs.dry", &[]);
    for (number, job) in ["84 2", "1 0", "-9 2", "nonsense"].into_iter().enumerate() {
        assert_eq!(jobs.post("/jobs", job), format!("{}\n 202", number + 1));
    }
    let wanted = [("done", 1, "42"), ("failed", 3, ""), ("done", 1, "-5"), ("failed", 3, "")];
    let end = Instant::now() + Duration::from_secs(30);
    for (number, (state, tries, result)) in wanted.into_iter().enumerate() {
        let wanted = format!("{{\"state\":\"{state}\",\"tries\":{tries},\"result\":\"{result}\"}} 200");
        while jobs.ask(&format!("/jobs/{}", number + 1)) != wanted {
            assert!(Instant::now() < end, "{}: {}", number + 1, jobs.ask(&format!("/jobs/{}", number + 1)));
            sleep(Duration::from_millis(20));
        }
    }
    let output = jobs.end();
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    assert_eq!(complaint(&output).matches("has died: division by zero").count(), 3, "{}", complaint(&output));
}

#[test]
fn a_chat_shows_who_is_there() {
    if !installed("python3") {
        return;
    }
    let folder = folder();
    let pages = service("www");
    let chat = Served::start(folder.path(), "Chat.dry", &["--pages", &pages]);
    assert!(chat.ask("/").contains("<title>Chat</title>"));
    fs::write(folder.path().join("chat.py"), include_str!("afternoon/chat.py")).expect("it can be written");
    let address = chat.url.strip_prefix("http://").expect("it begins so");
    let output =
        std::process::Command::new("python3").arg("chat.py").arg(address).current_dir(folder.path()).output();
    let output = output.expect("it is installed");
    let wanted = r#"{"here":["Ann"]}
{"here":["Ann","Zoë"]}
{"name":"Ann","text":"hello \"you\" <b>"}
{"name":"Zoë","text":"hi"}
{"here":["Ann"]}
"#;
    assert_eq!(printed(&output), wanted, "{}", complaint(&output));
}
