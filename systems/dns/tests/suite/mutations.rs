//! Valid and damaged queries: each answer of the handler is the one that the process would give.

use domain::base::Message;
use drystone_dns::message::response;
use drystone_dns::ready::Table;
use drystone_dns::{Zone, handler, ready};
use drystone_extension::handler::{Ended, Frame, Image, Machine, Settings, Verdict};
use drystone_handlers::datagram::{answer, carried};
use drystone_handlers::{Region, Xdp};

use crate::{Random, ZONE, any_query};

const PORT: u16 = 53;
const AROUND: usize = 2048;

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
        let Ended::With(verdict) = handler.run(&mut frame, (1, 0), 0) else {
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
            println!("skipped: dns-in-linux: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

fn frame(carries: &[u8]) -> Vec<u8> {
    let mut head =
        vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1];
    head.extend([10, 0, 0, 2, 0, PORT as u8, 0x30, 0x39, 0, 0, 0, 0]);
    answer(&head, carries)
}

/// The query as it is, or slightly damaged.
fn damaged(random: &mut Random, mut frame: Vec<u8>) -> Vec<u8> {
    for _ in 0..random.below(3) {
        let at = random.below(frame.len());
        match random.below(4) {
            0 => frame.truncate(14 + random.below(frame.len() - 13)),
            1 => frame.extend((0..random.below(32)).map(|byte| byte as u8)),
            2 => frame[at] ^= 1 << random.below(8),
            _ => frame[at] = random.one_of(&[0, 1, 41, 63, 192, 255]),
        }
        if frame.len() < 15 {
            break;
        }
    }
    frame
}

/// The number of messages that the handler answers, out of `cases`.
fn compared(name: &str, zone: &Zone, (region, mut run): (Region, Runs), cases: usize) -> usize {
    let table = Table::new(zone);
    assert!(table.count() > 30);
    table.give(&region);
    let (mut random, mut answered) = (Random(42), 0);
    for case in 0..cases {
        let query = any_query(&mut random);
        let message = damaged(&mut random, frame(&query));
        let (verdict, after) = run(&message);
        let carries = carried(&message, PORT);
        let wanted = carries.and_then(|carries| response(zone, carries, true));
        if let Some(wanted) = &wanted {
            assert!(wanted.len() <= 1232 && Message::from_octets(wanted).is_ok(), "{name}, {case}");
        }
        match verdict {
            Verdict::Transmit => {
                let wanted = wanted.map(|wanted| answer(&message, &wanted));
                assert_eq!(wanted, Some(after), "{name}, {case}: {message:02x?}");
                answered += 1;
            }
            Verdict::Pass => {
                assert_eq!(after, message, "{name}, {case}: it was passed on, but not as it came")
            }
            verdict => panic!("{name}, {case}: {verdict:?}"),
        }
    }
    assert_eq!(ready::answered(&region), answered as u64, "{name}");
    answered
}

#[test]
fn what_the_handler_answers_is_what_the_process_would() {
    let zone = Zone::read(ZONE.as_bytes(), None).expect("it is a zone");
    let object = match handler(PORT, Table::new(&zone).extent()) {
        Ok(object) => object,
        Err(why) => return println!("skipped: dns-handler: {why}"),
    };
    let first = compared("compiled", &zone, own(&object, false), 100_000);
    assert!(first > 5_000, "only {first} were answered");
    compared("interpreted", &zone, own(&object, true), 20_000);
    if let Some(linux) = linux(&object) {
        let answered = compared("Linux", &zone, linux, 100_000);
        assert_eq!(answered, first);
    }
}
