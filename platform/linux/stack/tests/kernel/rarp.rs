//! RARP. Linux doesn't speak it any more, so both ends are the library's.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::mpsc::{TryRecvError, channel};
use std::thread;
use std::time::Duration;

use drystone_extension::handler::{Flows, Share};
use drystone_handlers::{Line, Station};
use drystone_stack::rarp::{Server, ask};

use crate::{HARDWARE, OWN, beside, beside_the_kernel};

#[test]
fn who_knows_only_its_hardware_is_told_its_address() {
    beside_the_kernel("rarp", || {
        let host = beside();
        let address = Ipv4Addr::new(10, 9, 0, 77);
        let asker = [2, 0, 0, 0, 9, 77];
        host.serve_rarp(Server { own: (HARDWARE, OWN), known: BTreeMap::from([(asker, address)]) });
        let (end, ended) = channel::<()>();
        let server = thread::spawn(move || {
            while ended.try_recv() == Err(TryRecvError::Empty) {
                host.turn().expect("it is there");
                host.wait(Duration::from_millis(5)).expect("it can");
            }
        });
        let line = Line::beside("near").expect("it is there");
        let mut station = Station::new(line, Flows::compiled(7, Share::default()));
        assert_eq!(ask(&mut station, asker, Duration::from_secs(2)).expect("it is known"), address);
        let unknown = ask(&mut station, [2, 0, 0, 0, 9, 78], Duration::from_millis(300));
        assert!(unknown.expect_err("it isn't").to_string().contains("02-00-00-00-09-4e"));
        drop(end);
        server.join().expect("it passes");
    });
}
