//! Random files and messages: the fuzz targets `zones` and `questions` with some thousand changes of their seeds.

use std::fs;
use std::path::Path;

use drystone_dns::Zone;
use drystone_dns::message::response;

use crate::{Random, ZONE};

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("they are there").map(|it| it.expect("it is").path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("it can be read")).collect()
}

fn changed(random: &mut Random, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len().max(1));
        match random.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), random.below(256) as u8),
            2 => bytes.extend_from_within(at.min(bytes.len())..),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.below(256) as u8),
        }
    }
    bytes
}

#[test]
fn any_bytes_are_a_zone_or_an_error() {
    let (mut random, mut taken) = (Random(3), 0);
    for seed in seeds("zones").iter().cycle().take(6000) {
        let text = changed(&mut random, seed);
        match Zone::read(&text, Some("example.com.")) {
            Ok(zone) => {
                taken += 1;
                let names: Vec<_> = zone.names().map(|(name, _)| name.to_vec()).collect();
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
    }
    assert!((500..5500).contains(&taken), "{taken}");
}

#[test]
fn any_message_is_answered_shortly_or_not_at_all() {
    let zone = Zone::read(ZONE.as_bytes(), None).expect("it is a zone");
    let mut random = Random(4);
    for seed in seeds("questions").iter().cycle().take(50_000) {
        let query = changed(&mut random, seed);
        for is_datagram in [true, false] {
            if let Some(answer) = response(&zone, &query, is_datagram) {
                assert!(answer.len() >= 12 && answer[..2] == query[..2] && answer[2] & 0x80 != 0);
                assert!(!is_datagram || answer.len() <= 1232.max(12 + query.len()));
            }
        }
    }
}

#[test]
fn what_has_no_end_isnt_read() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("zone");
    fs::write(&file, "$INCLUDE /dev/zero\n").expect("it can be written");
    let why = Zone::load(&file, Some("example.com")).1.expect_err("it has no end");
    assert!(why.ends_with("/dev/zero: it is no file"), "{why}");
}
