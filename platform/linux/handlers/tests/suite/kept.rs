//! Pinned dispatchers: handlers with filters that stay attached. (That they outlive a process is tested with the
//! command, which runs several.)

use drystone_extension::handler::Share;
use drystone_handlers::{Device, Line, Mode, Pinned, Site, Wanted};

use crate::behind::{add, come, number_in, xdp};
use crate::dispatchers::while_asking;
use crate::namespace::{in_namespace, ip, pair};
use crate::objects::compiled;

/// Handlers that stay at the far end of a pair, and go with this.
struct Handlers {
    object: Vec<u8>,
    mark: String,
}

impl Handlers {
    /// A deed with such ones, in a namespace of its own.
    fn with(name: &'static str, deed: impl FnOnce(&Handlers) + Send + 'static) {
        let Some(object) = compiled("sums") else { return };
        in_namespace(name, move || {
            let handlers = Handlers { object, mark: format!("{name}-{}-", std::process::id()) };
            if !pair(name) {
                return;
            }
            match handlers.attach("tried", Wanted::Port(1)) {
                Ok(()) => {
                    handlers.detach("tried");
                    deed(&handlers);
                }
                Err(why) if why.contains("not permitted") => println!("skipped: {name}: {why}"),
                Err(why) => panic!("{name}: {why}"),
            }
        });
    }

    fn name(&self, short: &str) -> String {
        format!("{}{short}", self.mark)
    }

    fn attach(&self, short: &str, wanted: Wanted) -> Result<(), String> {
        let share = Share { runs: u64::MAX, window: u64::MAX };
        let site = Site { interface: "far".into(), mode: Mode::Any, wanted, share };
        Pinned::attach(&self.name(short), &xdp(&self.object), &site).map(drop)
    }

    fn detach(&self, short: &str) {
        Pinned::detach(&self.name(short)).expect("it can be");
    }

    fn opened(&self, short: &str) -> Pinned {
        Pinned::open(&self.name(short)).expect("it is there")
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        let names = Pinned::all().unwrap_or_default();
        names.iter().filter(|name| name.starts_with(&self.mark)).for_each(|name| drop(Pinned::detach(name)));
    }
}

/// The sum that is answered; none if it is passed on.
fn sum(port: u16, number: u64) -> Option<u64> {
    let [mut near, mut far] = ["near", "far"].map(|device| Line::beside(device).expect("it is there"));
    near.send(&add(port, number)).expect("it is there");
    loop {
        if let Some(answer) = come(&mut near).pop() {
            return Some(number_in(&answer));
        }
        if !come(&mut far).is_empty() {
            return None;
        }
    }
}

#[test]
fn nothing_is_lost_while_flows_of_a_dispatcher_that_stays_come_and_go() {
    Handlers::with("kept-stream", |handlers| {
        handlers.attach("stream", Wanted::Port(7000)).expect("it can be");
        let answers = while_asking(7000, || {
            for round in 0..30 {
                let short = format!("other{}", round % 4);
                if round >= 4 {
                    handlers.detach(&short);
                }
                handlers.attach(&short, Wanted::Port(7001 + round)).expect("it can be");
            }
        });
        assert!(answers > 100, "only {answers}");
        let counts =
            handlers.opened("stream").counts().expect("it is seen").expect("it is behind a dispatcher");
        assert_eq!((counts.runs, counts.lazily, counts.missed), (answers, 0, 0));
        assert_eq!([7026, 7027, 7030].map(|port| sum(port, 5)), [None, Some(5), Some(5)]);
    });
}

#[test]
fn of_equal_filters_the_older_wins_also_if_its_number_is_greater() {
    Handlers::with("kept-older", |handlers| {
        for (short, port) in [("first", 7001), ("second", 7000)] {
            handlers.attach(short, Wanted::Port(port)).expect("it can be");
        }
        handlers.detach("first");
        handlers.attach("third", Wanted::Port(7000)).expect("it can be");
        assert_eq!([sum(7000, 5), sum(7000, 5)], [Some(5), Some(10)]);
        let runs = |short| handlers.opened(short).counts().expect("it is seen").map(|counts| counts.runs);
        assert_eq!([runs("second"), runs("third")], [Some(2), Some(0)]);
        handlers.detach("second");
        assert_eq!(sum(7000, 5), Some(5), "it is the other one's now");
    });
}

#[test]
fn a_gate_whose_interface_has_gone_is_in_nobodys_way() {
    Handlers::with("kept-gone", |handlers| {
        handlers.attach("before", Wanted::Port(7000)).expect("it can be");
        handlers.attach("beside", Wanted::Port(7001)).expect("it can be");
        assert_eq!(handlers.opened("before").interface_here().as_deref(), Some("far"));
        assert!(ip("link del near") && pair("kept-gone"));
        assert_eq!(handlers.opened("before").interface(), None);
        handlers.attach("behind", Wanted::Port(7000)).expect("it can be");
        handlers.detach("before");
        assert_eq!([7000, 7001].map(|port| sum(port, 5)), [Some(5), None]);
        handlers.detach("beside");
        assert_eq!(sum(7000, 5), Some(10));
    });
}
