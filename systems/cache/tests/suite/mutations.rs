//! Valid and damaged requests: each answer of the handler is the one that the process would give.

use std::sync::Mutex;

use drystone_cache::session::{answers, locked};
use drystone_cache::{Cache, Shadow, handler};
use drystone_extension::handler::{Ended, Frame, Image, Machine, Settings, Verdict};
use drystone_handlers::datagram::{answer, carried};
use drystone_handlers::{Region, Xdp};

use crate::Random;
use crate::requests::request;

const PORT: u16 = 11211;
const AROUND: usize = 2048;
/// So few that keys are displaced.
const BYTES: usize = 8 * 5760;

/// Where the handler runs.
type Runs = Box<dyn FnMut(&[u8]) -> (Verdict, Vec<u8>)>;

fn own(object: &[u8], interpreted: bool) -> (Region, Runs) {
    let image = Image::read(object, None, Machine::Drystone).expect("it is an object");
    let region = Region::new(None, image.region_bytes() as usize).expect("there is room");
    let settings = Settings { interpreted, ..Settings::default() };
    let mut handler = drystone_handlers::handler(&image, &region, settings).expect("it is accepted");
    let run = move |message: &[u8]| {
        let mut buffer = [&[0; AROUND], message, &[0; AROUND]].concat();
        let mut frame = Frame::new(&mut buffer, AROUND, AROUND + message.len());
        let Ended::With(verdict) = handler.run(&mut frame, (1, 0), drystone_handlers::time_now()) else {
            panic!("it was stopped by {message:02x?}")
        };
        (verdict, frame.bytes().to_vec())
    };
    (region, Box::new(run))
}

fn linux(object: &[u8]) -> Option<(Region, Runs)> {
    let image = Image::read(object, None, Machine::Linux).expect("it is an object");
    match Xdp::load(&image) {
        Ok(xdp) => {
            let region = xdp.region().expect("it has one").clone();
            let run = move |message: &[u8]| {
                let (verdict, message, _) = xdp.run(message, 1).expect("it runs");
                (verdict, message)
            };
            Some((region, Box::new(run)))
        }
        Err(why) if why.contains("not permitted") => {
            println!("skipped: cache-in-linux: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

pub fn frame(carries: &[u8]) -> Vec<u8> {
    let mut head =
        vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1];
    head.extend([10, 0, 0, 2, (PORT >> 8) as u8, PORT as u8, 0x30, 0x39, 0, 0, 0, 0]);
    answer(&head, carries)
}

pub fn framed(random: &mut Random, text: &[u8]) -> Vec<u8> {
    [&[random.below(256) as u8, random.below(256) as u8, 0, 0, 0, 1, 0, 0], text].concat()
}

/// The request as it is, or slightly damaged.
fn damaged(random: &mut Random, mut frame: Vec<u8>) -> Vec<u8> {
    for _ in 0..random.below(3) {
        let at = random.below(frame.len());
        match random.below(4) {
            0 => frame.truncate(14 + random.below(frame.len() - 13)),
            1 => frame.extend((0..random.below(32)).map(|byte| byte as u8)),
            2 => frame[at] ^= 1 << random.below(8),
            _ => frame[at] = random.one_of(&[b" \r\n\0\x7f\xff"])[random.below(6)],
        }
        if frame.len() < 15 {
            break;
        }
    }
    frame
}

/// The number of messages that the handler answers, out of `cases`.
fn compared(name: &str, (region, mut run): (Region, Runs), cases: usize) -> usize {
    let cache = Mutex::new(Cache::new(1 << 20, Some(Shadow::new(region, BYTES))));
    let (mut random, mut answered) = (Random(42), 0);
    for case in 0..cases {
        let text = request(&mut random);
        let request = framed(&mut random, &text);
        let message = damaged(&mut random, frame(&request));
        let (verdict, after) = run(&message);
        let carries = carried(&message, PORT);
        match verdict {
            Verdict::Transmit => {
                let carries =
                    carries.unwrap_or_else(|| panic!("{name}, {case}: {message:02x?} is no request"));
                let wanted: Vec<_> = answers(&cache, carries).iter().map(|it| answer(&message, it)).collect();
                assert_eq!(wanted, [after], "{name}, {case}: {:?}", String::from_utf8_lossy(carries));
                answered += 1;
            }
            Verdict::Pass => {
                assert_eq!(after, message, "{name}, {case}: it was passed on, but not as it came");
                let answers = carries.map(|carries| answers(&cache, carries)).unwrap_or_default();
                let is_whole = answers.last().is_none_or(|last| last.ends_with(b"\n"));
                assert!(
                    is_whole && answers.iter().all(|it| it.len() <= 1400),
                    "{name}, {case}: {answers:02x?}"
                );
            }
            verdict => panic!("{name}, {case}: {verdict:?}"),
        }
    }
    let mut out = Vec::new();
    let statistics = drystone_cache::command::Command::Statistics(drystone_cache::command::Part::All);
    locked(&cache).execute(&statistics, &mut out);
    let text = String::from_utf8_lossy(&out);
    let count = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("STAT {name} ")));
        line.and_then(|number| number.parse::<usize>().ok()).expect("it is counted")
    };
    assert_eq!(count("handler_hits") + count("handler_misses"), answered, "{name}");
    answered
}

#[test]
fn what_the_handler_answers_is_what_the_process_would() {
    let object = match handler(PORT, BYTES) {
        Ok(object) => object,
        Err(why) => return println!("skipped: cache-handler: {why}"),
    };
    let first = compared("compiled", own(&object, false), 100_000);
    assert!(first > 2_000, "only {first} were answered");
    compared("interpreted", own(&object, true), 20_000);
    if let Some(linux) = linux(&object) {
        let answered = compared("Linux", linux, 100_000);
        assert!(answered > 2_000, "only {answered} were answered");
    }
}
