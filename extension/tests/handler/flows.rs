//! Flows, and the shares of their owners.

use drystone_extension::demux::Filter;
use drystone_extension::handler::{Ended, Flows, Frame, Handler, Outcome, Settings, Share, Verdict};

use crate::objects::{compiled, datagram, payload};

fn handler(object: &[u8]) -> Handler {
    Handler::new(object, None, Settings::default()).expect("it is accepted")
}

fn to_port(port: u16) -> Filter {
    Filter::ethernet().ipv4().udp().destination_port(port).into()
}

const TRANSMIT: Ended = Ended::With(Verdict::Transmit);

#[test]
fn flows_are_told_apart_replaced_and_detached() {
    let (Some(increment), Some(place)) = (compiled("increment"), compiled("place")) else { return };
    let mut flows = Flows::compiled(5, Share::default());
    let arrive = |flows: &mut Flows<_>, message: &[u8]| {
        let mut bytes = message.to_vec();
        let mut frame = Frame::new(&mut bytes, 0, message.len());
        let outcome = flows.arrive(&mut frame, (1, 0), 0);
        (outcome, frame.bytes().to_vec())
    };
    let first = flows.attach(1, to_port(7000), handler(&increment)).expect("it can be");
    let second = flows.attach(2, to_port(7001), handler(&place)).expect("it can be");
    let one = datagram(7000, &1u64.to_be_bytes());
    assert_eq!(arrive(&mut flows, &one).0, Outcome::Ran(first, TRANSMIT));
    let (outcome, answer) = arrive(&mut flows, &one);
    assert_eq!((outcome, payload(&answer)), (Outcome::Ran(first, TRANSMIT), 2u64.to_be_bytes().to_vec()));
    assert_eq!(arrive(&mut flows, &datagram(7001, &[0; 9])).0, Outcome::Ran(second, TRANSMIT));
    assert_eq!(arrive(&mut flows, &datagram(7002, &[0; 9])).0, Outcome::Nobodys);

    assert!(flows.replace(first, handler(&increment)).is_some());
    let (_, answer) = arrive(&mut flows, &one);
    assert_eq!(payload(&answer), 1u64.to_be_bytes());
    assert!(flows.detach(first).is_some() && flows.detach(first).is_none());
    assert_eq!(arrive(&mut flows, &one).0, Outcome::Nobodys);
    flows.dismiss(2);
    assert_eq!(flows.all().count(), 0);
    assert_eq!(arrive(&mut flows, &datagram(7001, &[0; 9])).0, Outcome::Nobodys);
}

/// Somebody floods the machine with messages for its handler: it has no more than its share, and others have all of
/// theirs.
#[test]
fn who_floods_gets_its_share_and_no_more() {
    let (Some(increment), Some(spin)) = (compiled("increment"), compiled("spin")) else { return };
    let share = Share { runs: 100, window: 1_000_000 };
    let mut flows = Flows::compiled(5, share);
    let flooding = flows.attach(1, to_port(9), handler(&spin)).expect("it can be");
    let also_flooding = flows.attach(1, to_port(10), handler(&spin)).expect("it can be");
    let honest = flows.attach(2, to_port(7000), handler(&increment)).expect("it can be");
    let mut arrive = |message: &[u8], now: u64| {
        let mut bytes = message.to_vec();
        let length = bytes.len();
        flows.arrive(&mut Frame::new(&mut bytes, 0, length), (1, 0), now)
    };
    for window in 0..3 {
        for number in 0..1000u64 {
            let now = window * share.window + number;
            arrive(&datagram(9, &[0; 8]), now);
            arrive(&datagram(10, &[0; 8]), now);
            if number < 50 {
                assert_eq!(arrive(&datagram(7000, &[0; 8]), now), Outcome::Ran(honest, TRANSMIT));
            }
        }
    }
    let counts = [flooding, also_flooding, honest].map(|flow| flows.counts(flow).expect("it is there"));
    assert_eq!(counts.map(|it| (it.runs, it.lazily)), [(150, 2850), (150, 2850), (150, 0)]);

    // One long run counts as many.
    let mut arrive = |message: &[u8], now: u64| {
        let mut bytes = message.to_vec();
        let length = bytes.len();
        flows.arrive(&mut Frame::new(&mut bytes, 0, length), (1, 0), now)
    };
    let long = datagram(9, &12_800u64.to_be_bytes());
    assert_eq!(arrive(&long, 10 * share.window), Outcome::Ran(flooding, Ended::With(Verdict::Drop)));
    assert_eq!(arrive(&long, 10 * share.window), Outcome::Lazily(flooding));
}
