//! Services whose clients are lost: one program (`drystone/tests/bindings/Lost.dry`) in which clients are lost at every
//! point of a conversation, over every binding, and by the interpreter; and a queue of jobs whose workers die
//! (`systems/queue`). `DRYSTONE_DEATHS` is the number of deaths (default 20; a campaign has 100).

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use drystone_language::source::SourceFile;
use drystone_language::{check, imports};
use drystone_tests::reference::{self, Options};

use crate::bindings::systems;
use crate::nats::Nats;
use crate::peer::Peer;
use crate::places::places;
use crate::{DRYSTONE, complaint, drystone, printed, status};
use drystone_golden::free_port;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bindings")
}

/// The program with a BY at each CONNECT to one of its names.
fn text_by(by: &str) -> String {
    let text = fs::read_to_string(folder().join("Lost.dry")).expect("it is there");
    let lines = text.split('\n').map(|line| match line.trim_start().starts_with("CONNECT(") {
        true => line.replace(';', &format!(" {by};")),
        false => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The outcome according to the interpreter.
fn expected() -> String {
    let files = vec![SourceFile { path: "Lost.dry".into(), text: text_by("") }];
    let program =
        check::check(&imports::load(files, |_| None), check::Options::default()).expect("it is right");
    let arguments = ["both", "local:"].map(String::from).to_vec();
    let outcome = reference::run(&program, &Options { arguments, ..Options::default() });
    String::from_utf8(outcome.output).expect("it writes texts")
}

#[track_caller]
fn comes_out(output: &Output, what: &str) {
    let (said, expected) = (printed(output), expected());
    let differs = said.lines().zip(expected.lines()).find(|(said, expected)| said != expected);
    assert_eq!(differs, None, "{what}: {}", complaint(output));
    assert_eq!(
        (said.lines().count(), status(output)),
        (expected.lines().count(), 0),
        "{what}: {}",
        complaint(output)
    );
}

#[test]
fn the_interpreter_says_what_comes_of_lost_clients() {
    let kept = fs::read_to_string(folder().join("Lost.expected")).expect("it is there");
    assert_eq!(expected(), kept);
}

#[test]
fn lost_clients_do_no_more_harm_whatever_joins_them() {
    let nats = Nats::start(true);
    let names = [
        "local:".to_string(),
        format!("tcp://127.0.0.1:{}/", free_port()),
        format!("http://127.0.0.1:{}/", free_port()),
    ];
    let names = names.into_iter().chain(nats.iter().map(|nats| nats.name("lost.")));
    for name in names {
        for by in ["", "BY Monitored", "BY Restricted(rate: 1000000, burst: 1000), Monitored"] {
            let folder = tempfile::tempdir().expect("there are temporary folders");
            fs::write(folder.path().join("Lost.dry"), text_by(by)).expect("it can be written");
            comes_out(&drystone(folder.path(), &["run", "Lost.dry", "both", &name]), &format!("{name} {by}"));
        }
    }
}

#[test]
fn lost_clients_do_no_more_harm_wherever_they_are_made() {
    for place in places() {
        let scheme = place.name.split_once(':').expect("it has a scheme").0;
        let output = place.run(&folder(), "Lost.dry", &["both", "local:", &format!("{scheme}:")]);
        comes_out(&output, place.name);
    }
}

#[test]
fn lost_clients_of_another_program_do_no_more_harm() {
    let nats = Nats::start(false);
    let names = [format!("tcp://127.0.0.1:{}/", free_port()), format!("http://127.0.0.1:{}/", free_port())];
    for name in names.into_iter().chain(nats.iter().map(|nats| nats.name("lost/"))) {
        for place in ["", "process:"] {
            let mut server = crate::bindings::Server::start(&folder(), &["run", "Lost.dry", "serve", &name]);
            comes_out(
                &drystone(&folder(), &["run", "Lost.dry", "use", &name, place]),
                &format!("{name} {place}"),
            );
            assert!(server.ended().success(), "the server ends in good order");
        }
    }
}

fn deaths() -> usize {
    std::env::var("DRYSTONE_DEATHS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

fn queue() -> PathBuf {
    systems().join("queue")
}

/// How many primes there are below a number.
fn primes_below(end: usize) -> usize {
    let mut composite = vec![false; end];
    let mut count = 0;
    for n in 2..end {
        if !composite[n] {
            count += 1;
            (n * n..end).step_by(n).for_each(|multiple| composite[multiple] = true);
        }
    }
    count
}

/// The queue's output when so many jobs are done, without the number of those that came back.
fn all_done(jobs: usize) -> String {
    let (end, primes) = (jobs * 3000, primes_below(jobs * 3000));
    format!("ready\n{jobs} jobs done, 0 left: {primes} primes below {end}\n")
}

/// Checks that all jobs were done. Returns how many came back because their worker has died.
#[track_caller]
fn loses_nothing(said: &str, jobs: usize) -> usize {
    let (all, back) = said
        .rsplit_once("left: ")
        .map_or((said, ""), |_| said.split_at(all_done(jobs).len().min(said.len())));
    assert_eq!(all, all_done(jobs), "{said}");
    back.split(' ').next().and_then(|number| number.parse().ok()).expect("it says how many")
}

#[test]
fn a_queue_loses_no_job_when_workers_die_beside_it() {
    let nats = Nats::start(true);
    let names = ["local:jobs".to_string(), format!("tcp://127.0.0.1:{}/jobs", free_port())];
    let jobs = 4 * deaths();
    for name in names.into_iter().chain(nats.iter().map(|nats| nats.name("jobs"))) {
        let arguments = ["run", "Queue.dry", "mortal", &name, &jobs.to_string(), &deaths().to_string()];
        let output = drystone(&queue(), &arguments);
        assert_eq!(status(&output), 0, "{name}: {}", complaint(&output));
        assert!(loses_nothing(&printed(&output), jobs) > 0, "{name}: workers have died with a job");
    }
}

#[test]
fn a_queue_loses_no_job_when_workers_are_killed() {
    let nats = Nats::start(true);
    let names = [format!("tcp://127.0.0.1:{}/jobs", free_port())];
    for name in names.into_iter().chain(nats.iter().map(|nats| nats.name("jobs"))) {
        // On a busy machine all may be done before a worker dies with a job.
        let came_back =
            [40, 120, 360].into_iter().any(|each| killed_workers_lose_nothing(&name, each * deaths()) > 0);
        assert!(came_back, "{name}: workers have died with a job");
    }
}

/// Kills workers while so many jobs are done. Returns how many jobs came back.
fn killed_workers_lose_nothing(name: &str, jobs: usize) -> usize {
    let mut server = Command::new(DRYSTONE);
    server.args(["run", "Queue.dry", "serve", name, &jobs.to_string()]).current_dir(queue());
    server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let server = server.spawn().expect("the command runs");
    // They are killed when they are dropped.
    let work = || Peer::start(&queue(), DRYSTONE, &["run", "Queue.dry", "work", name]);
    let mut workers: VecDeque<Peer> = (0..3).map(|_| work()).collect();
    for death in 0..deaths() {
        let mut worker = workers.pop_front().expect("there are three");
        assert_eq!(worker.line(), "ready");
        thread::sleep(Duration::from_millis(3 + death as u64 * 7 % 20));
        drop(worker);
        workers.push_back(work());
    }
    let output = server.wait_with_output().expect("it ends");
    assert_eq!(status(&output), 0, "{name}");
    loses_nothing(&printed(&output), jobs)
}
