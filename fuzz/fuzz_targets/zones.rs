//! Whatever a zone's file says, it is a zone or an error that says where; and what is answered about a zone is
//! wellformed.
#![no_main]

use drystone_dns::Zone;
use drystone_dns::message::response;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    // A line that makes a million takes its time.
    if text.windows(9).any(|part| part.eq_ignore_ascii_case(b"$GENERATE")) {
        return;
    }
    match Zone::read(text, Some("example.com.")) {
        Ok(zone) => {
            let mut names: Vec<_> = zone.names().map(|(name, _)| name.to_vec()).collect();
            names.sort();
            for name in names.iter().take(20) {
                for rtype in [1u16, 5, 6, 15, 255, 65280] {
                    let head = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
                    let query = [&head[..], name, &rtype.to_be_bytes(), &[0, 1]].concat();
                    let answer = response(&zone, &query, true).expect("it is a query");
                    assert!(answer.len() <= 512 && answer[..2] == [0, 7]);
                }
            }
        }
        Err(why) => assert!(!why.is_empty()),
    }
});
