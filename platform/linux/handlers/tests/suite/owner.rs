//! What becomes of a handler when the process that attached it is killed.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use drystone_extension::handler::{Image, Machine, Share};
use drystone_handlers::{AfXdp, Mode, Pinned, Site, Wanted, Xdp};

use crate::namespace::in_thread;
use crate::objects::compiled;
use crate::there::{FAR, There};

/// How the owner attaches its handler, in its environment.
const HOW: &str = "DRYSTONE_OWNER";
/// What it says when it has, and else why it can't.
const IS_ATTACHED: &str = "it is attached";
const CANT: &str = "it can't be: ";

/// What the owner is: this program, run for this test only. It never ends.
#[test]
#[ignore = "others start it, and kill it"]
fn an_owner() {
    let how = std::env::var(HOW).expect("who starts it says it");
    let attached: Result<Box<dyn std::any::Any>, String> = match how.as_str() {
        "af_xdp" => AfXdp::open("far", 0, Mode::Generic).map(|it| Box::new(it) as _),
        "for a while" => in_linux().map(|it| Box::new(it) as _),
        name => stays(name).map(|it| Box::new(it) as _),
    };
    match &attached {
        Ok(_) => println!("\n{IS_ATTACHED}"),
        Err(why) => println!("\n{CANT}{why}"),
    }
    loop {
        std::thread::park();
    }
}

fn loaded() -> Result<Xdp, String> {
    let object = compiled("increment").ok_or("there is no clang-19")?;
    Xdp::load(&Image::read(&object, None, Machine::Linux)?)
}

fn stays(name: &str) -> Result<Pinned, String> {
    let (interface, mode) = ("far".to_string(), Mode::Generic);
    let site = Site { interface, mode, wanted: Wanted::Everything, share: Share::default() };
    Pinned::attach(name, &loaded()?, &site)
}

fn in_linux() -> Result<(Xdp, drystone_handlers::Attached), String> {
    let xdp = loaded()?;
    let attached = xdp.attach("far", Mode::Generic)?;
    Ok((xdp, attached))
}

/// Another process, there, that has attached a handler.
struct Owner(Child);

impl Owner {
    fn new(there: &There, how: &'static str) -> Result<Owner, String> {
        Owner::named(there, how.to_string())
    }

    fn named(there: &There, how: String) -> Result<Owner, String> {
        let mut child = there.run(move || {
            let program = std::env::current_exe().expect("it has a file");
            let mut command = Command::new(program);
            command.args(["--exact", "owner::an_owner", "--ignored", "--nocapture"]).env(HOW, how);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it can be started")
        });
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let owner = Owner(child);
        for line in output.lines() {
            let line = line.expect("it is a text");
            if line == IS_ATTACHED {
                return Ok(owner);
            }
            if let Some(why) = line.strip_prefix(CANT) {
                return Err(why.to_string());
            }
        }
        Err("the owner has ended".into())
    }

    /// Dies without a last word.
    fn dies(mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it has ended");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Somebody here, who asks the far end, where a process listens.
struct Asking {
    socket: UdpSocket,
    process: UdpSocket,
}

#[derive(Debug, PartialEq)]
enum Answer {
    Sum(u64),
    /// It was left to the process.
    Passed,
    None,
}

impl Asking {
    fn new(there: &There) -> Asking {
        let process = there.run(|| UdpSocket::bind((FAR, 7000)).expect("it has that address"));
        process.set_read_timeout(Some(Duration::from_millis(100))).expect("it can be");
        let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a port");
        socket.set_read_timeout(Some(Duration::from_millis(300))).expect("it can be");
        socket.connect((FAR, 7000)).expect("there is a way");
        Asking { socket, process }
    }

    fn asks(&self, number: u64) -> Answer {
        self.socket.send(&number.to_be_bytes()).expect("it goes out");
        if self.process.recv(&mut [0; 8]).is_ok() {
            return Answer::Passed;
        }
        let mut sum = [0; 8];
        self.socket.recv(&mut sum).map_or(Answer::None, |_| Answer::Sum(u64::from_be_bytes(sum)))
    }
}

#[test]
fn who_dies_takes_its_handler_along() {
    in_thread("owner-xdp", || {
        let there = There::new()?;
        let asking = Asking::new(&there);
        Owner::new(&there, "for a while")?.dies();
        for _ in 0..3 {
            // A new one, at once, whose counter begins with 0.
            let owner = Owner::new(&there, "for a while").expect("nobody has it");
            assert_eq!([asking.asks(5), asking.asks(6)], [Answer::Sum(5), Answer::Sum(11)]);
            owner.dies();
            assert_eq!(asking.asks(5), Answer::Passed);
        }
        Ok(())
    });
}

#[test]
fn who_dies_leaves_what_is_pinned() {
    in_thread("owner-pinned", || {
        let there = There::new()?;
        let asking = Asking::new(&there);
        let name = format!("owner-{}", std::process::id());
        Owner::named(&there, name.clone())?.dies();
        assert_eq!([asking.asks(5), asking.asks(6)], [Answer::Sum(5), Answer::Sum(11)]);
        assert!(Pinned::all().expect("it can be looked at").contains(&name));
        let pinned = Pinned::open(&name).expect("it is there");
        let refused = Owner::new(&there, "for a while").err().expect("the interface has one");
        assert!(refused.contains("has one already"), "{refused}");
        let interface = there.run(move || pinned.interface_here());
        assert_eq!(interface.as_deref(), Some("far"));
        Pinned::detach(&name).expect("it can be");
        assert!(!Pinned::all().expect("it can be looked at").contains(&name));
        assert_eq!(asking.asks(5), Answer::Passed);
        Owner::new(&there, "for a while").map(drop)
    });
}

#[test]
fn who_dies_leaves_the_queue_of_af_xdp_to_others() {
    in_thread("owner-af-xdp", || {
        let there = There::new()?;
        let asking = Asking::new(&there);
        Owner::new(&there, "af_xdp")?.dies();
        for _ in 0..3 {
            let owner = Owner::new(&there, "af_xdp").expect("nobody has it");
            // It takes all, and does nothing with it.
            assert_eq!(asking.asks(5), Answer::None);
            owner.dies();
            assert_eq!(asking.asks(5), Answer::Passed);
        }
        Ok(())
    });
}
