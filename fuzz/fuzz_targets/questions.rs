//! Whatever is asked, the answer is a message of the same number that isn't too long, or there is none; and the same
//! over TCP.
#![no_main]

use std::sync::LazyLock;

use drystone_dns::Zone;
use drystone_dns::message::response;
use libfuzzer_sys::fuzz_target;

static ZONE: LazyLock<Zone> = LazyLock::new(|| {
    Zone::read(include_bytes!("../../systems/dns/example.zone"), None).expect("it is a zone")
});

fuzz_target!(|query: &[u8]| {
    for is_datagram in [true, false] {
        if let Some(answer) = response(&ZONE, query, is_datagram) {
            assert!(answer.len() >= 12 && answer[..2] == query[..2] && answer[2] & 0x80 != 0);
            assert!(!is_datagram || answer.len() <= 1232.max(12 + query.len()));
        }
    }
});
