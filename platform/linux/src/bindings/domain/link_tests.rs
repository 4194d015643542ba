use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::bindings::channel::{Trust, pair};

#[test]
fn a_domain_that_writes_nonsense_without_a_pause_is_lost() {
    let reactor = Reactor::new().unwrap();
    let (here, there) = pair().unwrap();
    let line = Link::new("process:x", here.open(Trust::None).unwrap(), None, &reactor, 256).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flood = {
        let stop = stop.clone();
        thread::spawn(move || {
            let mut end = there.open(Trust::None).unwrap();
            while !stop.load(Relaxed) {
                end.write(&[0xff; 64 * 1024]).unwrap();
                end.tell();
            }
        })
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while !line.is_lost() && Instant::now() < deadline {
        reactor.wait(Some(Duration::from_millis(10)), &mut |_| {});
    }
    stop.store(true, Relaxed);
    flood.join().unwrap();
    assert!(line.is_lost());
}
