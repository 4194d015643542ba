//! `drystone handler` with filters: several handlers at one interface, each attached by its own run of the command.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::objects::compiled;
use crate::space::Space;
use crate::{complaint, drystone, printed, status};

/// A network namespace, and handlers that return the sum of what a port has received.
struct Scene {
    space: Space,
    folder: TempDir,
    /// A mark of this run: the same test may run elsewhere at the same time.
    mark: String,
}

impl Scene {
    /// `None`, with a message, if something that the test needs is missing.
    fn new(test: &'static str) -> Option<Scene> {
        let skip = |why: &str| println!("skipped: {test}: {why}");
        if Command::new("tcpdump").arg("--version").output().is_err() {
            skip("there is no tcpdump");
            return None;
        }
        let object = compiled("sums")?;
        let scene = Scene {
            space: Space::new(test)?,
            folder: tempfile::tempdir().expect("there are temporary folders"),
            mark: format!("{test}-{}", std::process::id()),
        };
        std::fs::write(scene.folder.path().join("sums.o"), object).expect("there is room");
        // The kernel there always reports that nobody listens.
        let always =
            scene.space.command("sh").args(["-c", "echo 0 > /proc/sys/net/ipv4/icmp_ratelimit"]).status();
        assert!(always.is_ok_and(|status| status.success()), "it can be set");
        let tried = scene.attach("tried", &["--port", "1"]);
        if !tried.status.success() {
            skip(&complaint(&tried));
            return None;
        }
        scene.detach("tried");
        Some(scene)
    }

    fn name(&self, short: &str) -> String {
        format!("{}-{short}", self.mark)
    }

    fn attaching(&self, short: &str, engine: &str, more: &[&str]) -> Command {
        let mut command = self.space.drystone();
        command.args(["handler", "attach", "sums.o", "--on", &self.space.far, "--mode", "generic"]);
        command.args(["--engine", engine, "--name", &self.name(short)]).args(more);
        command.current_dir(self.folder.path());
        command
    }

    fn attach(&self, short: &str, more: &[&str]) -> Output {
        self.attaching(short, "xdp", more).output().expect("there is `nsenter`")
    }

    fn attached(&self, short: &str, more: &[&str]) {
        let output = self.attach(short, more);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
    }

    fn refused(&self, short: &str, more: &[&str]) -> String {
        let output = self.attach(short, more);
        assert_eq!(status(&output), 1, "{}", printed(&output));
        complaint(&output)
    }

    fn detach(&self, short: &str) {
        let output = self.told(&["detach", &self.name(short)]);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
    }

    fn told(&self, arguments: &[&str]) -> Output {
        drystone(self.folder.path(), &[&["handler"], arguments].concat())
    }

    /// The list's lines about this scene, as seen from outside.
    fn list(&self) -> Vec<String> {
        let mut command = self.space.drystone();
        let output = command.args(["handler", "list"]).output().expect("there is `nsenter`");
        printed(&output).lines().filter(|line| line.starts_with(&self.mark)).map(String::from).collect()
    }

    /// A socket for requests to a port.
    fn asking(&self, port: u16) -> UdpSocket {
        let socket = UdpSocket::bind((self.space.here, 0)).expect("it has that address");
        socket.connect((self.space.there, port)).expect("it can be");
        socket
    }

    /// The sum that the handler of a port answers; `None` if none does.
    fn sum(&self, port: u16, number: u64) -> Option<u64> {
        asked(&self.asking(port), number)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Left over from a failed test.
        let names = self.list().into_iter().filter_map(|line| Some(line.split_once(':')?.0.to_string()));
        names.for_each(|name| drop(self.told(&["detach", &name])));
    }
}

/// The answer. If nobody listens, the kernel there says so at once.
fn asked(socket: &UdpSocket, number: u64) -> Option<u64> {
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("it can be");
    socket.send(&number.to_be_bytes()).expect("it can be");
    let mut sum = [0; 8];
    match socket.recv(&mut sum) {
        Ok(_) => Some(u64::from_be_bytes(sum)),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => None,
        Err(error) => panic!("it is lost: {error}"),
    }
}

#[test]
fn several_handlers_are_at_one_interface() {
    let Some(scene) = Scene::new("dispatcher-several") else { return };
    scene.attached("first", &["--filter", "udp dst port 7000"]);
    scene.attached("second", &["--port", "7001", "--share", "1000000"]);
    for round in 1..=3 {
        assert_eq!([7000, 7001].map(|port| scene.sum(port, 5)), [Some(5 * round); 2]);
    }
    assert_eq!(scene.sum(7002, 5), None, "it is nobody's");
    let far = &scene.space.far;
    let [first, second] = ["first", "second"].map(|short| scene.name(short));
    let expected = [
        format!("{first}: at {far}, for `udp dst port 7000`"),
        format!("{second}: at {far}, for datagrams to port 7001"),
    ];
    assert_eq!(scene.list(), expected);
    let counted = printed(&scene.told(&["stats", &second]));
    assert!(counted.contains("attached 3 runs, 0 messages processed lazily, 0 missed"), "{counted}");

    let taken = scene.refused("first", &["--port", "7003"]);
    assert!(taken.contains("detach it, or give this one another name"), "{taken}");
    let no_filter = scene.refused("third", &[]);
    assert!(no_filter.contains("give this one a filter, too, or detach them all"), "{no_filter}");

    scene.detach("first");
    assert_eq!([7000, 7001].map(|port| scene.sum(port, 5)), [None, Some(20)]);
    scene.detach("second");
    assert_eq!((scene.list(), scene.sum(7001, 5)), (Vec::new(), None));

    // The dispatcher is gone.
    scene.attached("alone", &[]);
    assert_eq!(scene.sum(7005, 5), Some(5));
    let no_room = scene.refused("third", &["--port", "7000"]);
    assert!(no_room.contains("to itself: detach `"), "{no_room}");
    scene.detach("alone");
}

#[test]
fn beyond_its_share_a_handler_is_passed_by() {
    let Some(scene) = Scene::new("dispatcher-share") else { return };
    scene.attached("none", &["--filter", "udp dst port 7000", "--share", "0"]);
    assert_eq!(scene.sum(7000, 5), None);
    let counted = printed(&scene.told(&["stats", &scene.name("none")]));
    assert!(counted.contains("attached 0 runs, 1 messages processed lazily"), "{counted}");
    scene.detach("none");
    assert!(scene.refused("none", &["--share", "5"]).contains("--share is for handlers with a filter"));
}

#[test]
fn what_is_wrong_with_an_expression_is_said() {
    let Some(scene) = Scene::new("dispatcher-wrong") else { return };
    let wrong = scene.refused("wrong", &["--filter", "udp dst port"]);
    assert!(wrong.contains("libpcap refuses `udp dst port`: "), "{wrong}");
    assert!(wrong.contains("syntax error"), "{wrong}");
    // An expression that looks like an option of tcpdump isn't one.
    let wrong = scene.refused("wrong", &["--filter=-w stolen"]);
    assert!(wrong.contains("libpcap refuses `-w stolen`"), "{wrong}");
    assert!(!Path::new("stolen").exists() && !scene.folder.path().join("stolen").exists());
    let computed = scene.refused("wrong", &["--filter", "len - 14 != ip[2:2]"]);
    assert!(computed.contains("can't be made tests of"), "{computed}");
    assert_eq!(scene.list(), Vec::<String>::new());
    let mut command = Command::new(crate::DRYSTONE);
    command.args(["handler", "attach", "sums.o", "--on", "lo", "--filter", "udp"]);
    let missing = command.current_dir(scene.folder.path()).env("PATH", "").output();
    assert!(complaint(&missing.expect("it runs")).contains("install the package tcpdump"));
}

/// Sends requests to a port one by one during `deed`, and returns their number. None may be lost.
fn while_asking(scene: &Scene, port: u16, deed: impl FnOnce()) -> u64 {
    let (ended, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let socket = scene.asking(port);
            while !ended.load(Relaxed) {
                let expected = answers.load(Relaxed) + 1;
                assert_eq!(asked(&socket, 1), Some(expected));
                answers.store(expected, Relaxed);
            }
        });
        deed();
        ended.store(true, Relaxed);
    });
    answers.into_inner()
}

#[test]
fn nothing_is_lost_while_others_come_and_go() {
    let Some(scene) = Scene::new("dispatcher-stream") else { return };
    scene.attached("stream", &["--port", "7000", "--share", "1000000"]);
    let answers = while_asking(&scene, 7000, || {
        // Two runs change the dispatcher at the same time.
        std::thread::scope(|scope| {
            for side in ["left", "right"] {
                let scene = &scene;
                scope.spawn(move || {
                    for round in 0..8 {
                        let port = format!("{}", 7100 + round);
                        scene.attached(side, &["--port", &port]);
                        assert_eq!(scene.list().len().min(2), 2);
                        scene.detach(side);
                    }
                });
            }
        });
    });
    assert!(answers > 100, "only {answers}");
    assert_eq!(scene.list().len(), 1);
    scene.detach("stream");
}

#[test]
fn who_is_killed_leaves_what_others_can_use() {
    let Some(scene) = Scene::new("dispatcher-killed") else { return };
    scene.attached("stream", &["--port", "7000", "--share", "1000000"]);
    let answers = while_asking(&scene, 7000, || {
        let (mut seen, mut round) = ([0, 0], 0);
        // Some come too early, and some too late.
        while round < 24 || seen.contains(&0) && round < 400 {
            kill_attaching(&scene, round);
            round += 1;
            scene.attached("next", &["--port", "7001"]);
            assert_eq!(scene.sum(7001, 4), Some(4));
            let killed = scene.list().iter().any(|line| line.starts_with(&scene.name("killed")));
            seen[usize::from(killed)] += 1;
            // The owner of a name also receives its messages.
            assert_eq!(scene.sum(7100, 3), killed.then_some(3));
            if killed {
                scene.detach("killed");
            }
            scene.detach("next");
        }
        assert!(!seen.contains(&0), "not attached, attached: {seen:?}");
    });
    assert!(answers > 100, "only {answers}");
    scene.detach("stream");
    scene.attached("alone", &[]);
    scene.detach("alone");
}

/// Each time a bit later.
fn kill_attaching(scene: &Scene, round: u64) {
    let mut command = scene.attaching("killed", "xdp", &["--port", "7100"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let until = Instant::now() + Duration::from_micros(2500 * round);
    sleep(until.saturating_duration_since(Instant::now()));
    child.kill().expect("it is mine");
    child.wait().expect("it has ended");
}

#[test]
fn a_filter_is_for_the_other_engines_too() {
    let Some(scene) = Scene::new("dispatcher-af-xdp") else { return };
    let mut command = scene.attaching("here", "af-xdp", &["--filter", "udp dst port 7000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let told = BufReader::new(child.stdout.take().expect("it is piped"));
    match told.lines().next() {
        Some(Ok(line)) => {
            assert!(line.contains("for `udp dst port 7000`, in this process"), "{line}");
            assert_eq!(
                [scene.sum(7000, 5), scene.sum(7000, 6), scene.sum(7001, 5)],
                [Some(5), Some(11), None]
            );
        }
        _ => {
            let mut why = String::new();
            child.stderr.take().expect("it is piped").read_to_string(&mut why).expect("it is text");
            assert!(why.contains("not supported") || why.contains("not permitted"), "{why}");
            println!("skipped: dispatcher-af-xdp: {why}");
        }
    }
    child.kill().expect("it is mine");
    child.wait().expect("it has ended");
}
