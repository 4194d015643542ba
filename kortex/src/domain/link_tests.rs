use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::domain::Trust;
use crate::domain::channel::tests::{Pages, counted};

/// A home that serves channels, and nothing else.
#[derive(Default)]
struct Alone {
    rings: Rings,
    expected: Expected,
    reported: RefCell<String>,
}

impl Home for Alone {
    fn rings(&self) -> &Rings {
        &self.rings
    }

    fn expected(&self) -> &Expected {
        &self.expected
    }

    fn report(&self, message: &str) {
        self.reported.borrow_mut().push_str(message);
    }
}

const CAPACITY: usize = 64 * 1024;

#[test]
fn a_domain_that_writes_nonsense_without_a_pause_is_lost() {
    let alone = Rc::new(Alone::default());
    let home: Rc<dyn Home> = alone.clone();
    let pages = Pages::new(CAPACITY);
    let here = thread::current();
    let end = pages.end(CAPACITY, 0, Trust::None, here.clone());
    let link = Link::new("process:x", (Party::Holder, end), &home, None, 256);
    link.miss("Store");
    assert_eq!(alone.expected.count(), 1);
    let stop = Arc::new(AtomicBool::new(false));
    let flood = {
        let stop = stop.clone();
        thread::spawn(move || {
            let mut end = pages.end(CAPACITY, 1, Trust::None, here);
            while !stop.load(Relaxed) {
                end.write(&[0xff; CAPACITY]).unwrap();
                end.tell();
            }
        })
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while !link.is_lost() && Instant::now() < deadline {
        home.rings().serve();
    }
    stop.store(true, Relaxed);
    flood.join().unwrap();
    assert!(link.is_lost());
    assert_eq!(alone.expected.count(), 0);
    let said = "warning: Store AT process:x has ended: the other domain has written nonsense";
    assert!(alone.reported.borrow().starts_with(said));
    link.hang_up();
    assert!(home.rings().is_empty());
}

/// A channel over which nothing comes.
struct Quiet(RefCell<End>);

impl Served for Quiet {
    fn end(&self) -> &RefCell<End> {
        &self.0
    }

    fn has_mail(&self) -> bool {
        false
    }

    fn serve(&self) {
        panic!("there is nothing to take or to send");
    }

    fn abandon(&self) {}
}

#[test]
fn a_home_tells_what_it_has_sent_before_it_rests() {
    let (mut end, other, woken) = counted(CAPACITY);
    other.lie_down();
    end.write(&[1]).unwrap();
    end.tell_of_much();
    let rings = Rings::default();
    rings.add(Rc::new(Quiet(RefCell::new(end))));
    assert_eq!(woken.load(Relaxed), 0);
    assert!(!rings.serve());
    assert_eq!(woken.load(Relaxed), 1);
    assert!(!rings.serve());
    assert_eq!(woken.load(Relaxed), 1);
}
