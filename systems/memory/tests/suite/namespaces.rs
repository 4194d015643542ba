//! Three workers in network namespaces at one bridge: with a handler in each engine, and without one.

use std::process::{Child, Command, Output, Stdio};

use drystone_memory::relax::{Work, share};

use crate::namespace::ip;

const WORKERS: usize = 3;
const WORK: Work = Work { rows: 30, columns: 200, rounds: 60 };

/// Namespaces, deleted on drop: the first has the bridge, each of the others a worker.
struct Network(String);

impl Network {
    fn new(test: &str) -> Option<Network> {
        let network = Network(format!("memory-{test}-{}", std::process::id()));
        let bridge = network.name(0);
        let is_there = ip(&format!("netns add {bridge}"))
            && ip(&format!("-n {bridge} link add bridge type bridge"))
            && ip(&format!("-n {bridge} link set bridge up"))
            && (1..=WORKERS).all(|number| network.join(number));
        if !is_there {
            println!("skipped: memory-{test}: no network namespaces, or no bridge");
        }
        is_there.then_some(network)
    }

    fn name(&self, number: usize) -> String {
        format!("{}-{number}", self.0)
    }

    fn join(&self, number: usize) -> bool {
        let (bridge, own) = (self.name(0), self.name(number));
        ip(&format!("netns add {own}"))
            && ip(&format!("-n {bridge} link add to{number} type veth peer name far netns {own}"))
            && ip(&format!("-n {bridge} link set to{number} master bridge"))
            && ip(&format!("-n {bridge} link set to{number} up"))
            && ip(&format!("-n {own} addr add 10.98.0.{number}/24 dev far"))
            && ip(&format!("-n {own} link set far up"))
            && ip(&format!("-n {own} link set lo up"))
    }

    fn worker(&self, number: usize, options: &[&str]) -> Child {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.name(number)));
        command.arg(env!("CARGO_BIN_EXE_drystone-memory")).args(options);
        command.args(["--worker", &format!("{number}/{WORKERS}"), "--rows", &WORK.rows.to_string()]);
        command.args(["--columns", &WORK.columns.to_string(), "--rounds", &WORK.rounds.to_string()]);
        if number > 1 {
            command.args(["--above", &format!("10.98.0.{}:7300", number - 1)]);
        }
        if number < WORKERS {
            command.args(["--below", &format!("10.98.0.{}:7300", number + 1)]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("nsenter is there")
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for number in 0..=WORKERS {
            ip(&format!("netns del {}", self.name(number)));
        }
    }
}

fn come_to_the_same(test: &str, options: &[&str], place: &str) {
    let Some(network) = Network::new(test) else { return };
    let workers: Vec<Child> = (1..=WORKERS).map(|number| network.worker(number, options)).collect();
    let outputs: Vec<Output> =
        workers.into_iter().map(|worker| worker.wait_with_output().expect("it ends")).collect();
    let plate = crate::alone(WORK);
    for (number, output) in outputs.iter().enumerate() {
        let (told, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if told.is_empty() {
            return println!("skipped: memory-{test}: no handler runs here: {errors}");
        }
        let rows = share(WORK, number, WORKERS);
        let sum: f64 = plate[rows.start * WORK.columns..rows.end * WORK.columns].iter().sum();
        let wanted = format!("rows {} to {}: {sum:?} in all", rows.start, rows.end);
        assert!(told.contains(place) && told.contains(&wanted), "{wanted}: {told}{errors}");
    }
}

#[test]
fn by_handlers_in_linux() {
    come_to_the_same("xdp", &["--on", "far", "--engine", "xdp"], "in Linux");
}

#[test]
fn by_handlers_in_the_process() {
    come_to_the_same(
        "af-xdp",
        &["--on", "far", "--engine", "af-xdp", "--mode", "generic"],
        "in this process",
    );
}

#[test]
fn without_handlers() {
    come_to_the_same("process", &[], "there is no handler");
}
