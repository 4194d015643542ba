//! Two ends of a connection over bytes that come in any pieces.

use std::collections::{BTreeMap, VecDeque};

use drystone_component::wire::{Arrival, Connection, Event, Handle, Limits, Role};
use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};
use proptest::prelude::*;

use crate::interfaces::Plan;

/// Both ends, and the bytes between them.
pub struct Pair {
    pub ends: [Connection; 2],
    pub ways: [VecDeque<u8>; 2],
}

impl Pair {
    pub fn new(limits: Limits) -> Pair {
        let ends = [Connection::new(Role::Dialer, limits), Connection::new(Role::Acceptor, limits)];
        Pair { ends, ways: Default::default() }
    }

    /// Lets so many bytes go from an end to the other; whether there were any.
    pub fn carry(&mut self, from: usize, count: usize) -> bool {
        let output = self.ends[from].output();
        let sent = output.len().min(count);
        self.ways[from].extend(&output[..sent]);
        self.ends[from].sent(sent);
        let bytes: Vec<u8> = self.ways[from].drain(..count.min(self.ways[from].len())).collect();
        self.ends[1 - from].feed(&bytes);
        !bytes.is_empty()
    }

    /// Lets all go that there is; the second end serves what it is asked for.
    pub fn settle(&mut self, interface: &'static Interface) -> Vec<Handle> {
        let mut offered = Vec::new();
        loop {
            let moved = self.carry(0, 1000) | self.carry(1, 1000);
            while let Some(event) = self.ends[1].poll() {
                if let Event::Offered { handle, .. } = event
                    && self.ends[1].accept(handle, interface, 0)
                {
                    offered.push(handle);
                }
            }
            if !moved {
                return offered;
            }
        }
    }

    pub fn say(&mut self, end: usize, handle: Handle, message: usize, bytes: &[u8]) {
        assert!(self.ends[end].has_room(handle));
        self.ends[end]
            .send(handle, message, |out| {
                out.extend_from_slice(bytes);
                Ok(())
            })
            .expect("sent");
    }

    /// Takes a message, whose number must be this.
    pub fn heard(&mut self, end: usize, handle: Handle, message: usize) -> Vec<u8> {
        assert_eq!(self.ends[end].arrival(handle), Arrival::Message(message));
        let (bytes, _) = self.ends[end].take(handle, <[u8]>::to_vec);
        bytes
    }
}

pub fn talk() -> &'static Interface {
    let messages = [("Say", Side::Client, &[Type::Text][..]), ("Heard", Side::Server, &[Type::Text])];
    Plan::any("Talk", &messages).interface()
}

#[test]
fn a_request_and_its_reply() {
    let talk = talk();
    let mut pair = Pair::new(Limits::default());
    let client = pair.ends[0].open(b"talk", talk, 0);
    assert!(!pair.ends[0].has_room(client), "it is not known yet whether there is such a server");
    let server = pair.settle(talk)[0];
    assert_eq!(pair.ends[0].poll(), Some(Event::Ready(client)));
    pair.say(0, client, 0, b"hello");
    pair.settle(talk);
    assert_eq!(pair.heard(1, server, 0), b"hello");
    pair.say(1, server, 1, b"world");
    pair.ends[1].close(server);
    pair.settle(talk);
    assert_eq!(pair.heard(0, client, 1), b"world");
    assert_eq!(pair.ends[0].arrival(client), Arrival::Closed);
    assert_eq!(pair.ends[1].communications(), 1, "its client has not taken what was said last");
    pair.ends[0].close(client);
    pair.settle(talk);
    assert_eq!(pair.ends.map(|end| end.communications()), [0, 0]);
}

#[test]
fn the_next_communication_with_a_name_does_not_wait() {
    let talk = talk();
    let mut pair = Pair::new(Limits::default());
    let first = pair.ends[0].open(b"talk", talk, 0);
    pair.settle(talk);
    let next = pair.ends[0].open(b"talk", talk, 0);
    pair.say(0, next, 0, b"and");
    pair.ends[0].close(next);
    let server = pair.settle(talk)[0];
    assert_eq!(pair.heard(1, server, 0), b"and");
    assert_eq!(pair.ends[1].arrival(server), Arrival::Closed);
    assert_eq!(pair.ends[0].arrival(first), Arrival::Nothing);
}

#[test]
fn numbers_are_translated_for_a_client_that_knows_less() {
    let wide = Plan::any(
        "Talk",
        &[
            ("Shout", Side::Client, &[][..]),
            ("Heard", Side::Server, &[Type::Text]),
            ("Say", Side::Client, &[Type::Text]),
        ],
    );
    let mut silent = wide;
    // It answers what is said, and only that.
    silent.states = vec![(true, vec![Some(0), None, Some(1)]), (false, vec![None, Some(0), None])];
    let mut known = Plan::any(
        "Talk",
        &[("Say", Side::Client, &[Type::Text][..]), ("Heard", Side::Server, &[Type::Text])],
    );
    known.states = vec![(true, vec![Some(1), None]), (false, vec![None, Some(0)])];
    let (servers, clients) = (silent.interface(), known.interface());
    let mut pair = Pair::new(Limits::default());
    for round in 0..3 {
        let client = pair.ends[0].open(b"talk", clients, 0);
        let server = pair.settle(servers)[0];
        pair.say(0, client, 0, b"hello");
        pair.settle(servers);
        assert_eq!(pair.heard(1, server, 2), b"hello", "round {round}");
        pair.say(1, server, 1, b"yes");
        pair.settle(servers);
        assert_eq!(pair.heard(0, client, 1), b"yes");
        pair.ends[0].close(client);
        pair.settle(servers);
        pair.ends[1].close(server);
        pair.settle(servers);
    }
    assert_eq!(pair.ends.map(|end| end.communications()), [0, 0]);
}

#[test]
fn who_is_not_served_is_told_the_difference() {
    let other = Plan::any("Talk", &[("Say", Side::Client, &[Type::Integer][..])]).interface();
    let mut pair = Pair::new(Limits::default());
    let client = pair.ends[0].open(b"talk", talk(), 0);
    assert_eq!(pair.settle(other), []);
    let why = "Talk: IN Say has (TEXT) for the client and (INTEGER) for the server";
    assert_eq!(pair.ends[0].arrival(client), Arrival::Lost(why.into()));
    assert!(pair.ends[0].has_room(client), "what is sent is dropped");
    pair.say(0, client, 0, b"hello");
    pair.ends[0].close(client);
    pair.settle(other);
    assert_eq!(pair.ends.map(|end| end.communications()), [0, 0]);
}

#[test]
fn who_is_refused_is_told_why() {
    let mut pair = Pair::new(Limits::default());
    let client = pair.ends[0].open(b"talk", talk(), 0);
    while pair.carry(0, 9) | pair.carry(1, 9) {}
    let Some(Event::Offered { handle, name }) = pair.ends[1].poll() else { panic!("not asked") };
    assert_eq!(name, b"talk");
    pair.ends[1].refuse(handle, "nothing is\nexported as talk");
    while pair.carry(0, 9) | pair.carry(1, 9) {}
    assert_eq!(pair.ends[0].arrival(client), Arrival::Lost("nothing is exported as talk".into()));
}

#[test]
fn what_stands_under_a_name_is_told() {
    let talk = talk();
    let mut pair = Pair::new(Limits::default());
    let first = pair.ends[0].describe(b"talk");
    let second = pair.ends[0].describe(b"");
    while pair.carry(0, 5) {}
    for (expected, answer) in [(&b"talk"[..], Ok(talk)), (b"", Err("nothing has this name"))] {
        let Some(Event::Asked { request, name }) = pair.ends[1].poll() else { panic!("not asked") };
        assert_eq!(name, expected);
        pair.ends[1].answer(request, answer);
    }
    while pair.carry(1, 5) {}
    let Some(Event::Answered { request, description: Ok(description) }) = pair.ends[0].poll() else {
        panic!("not answered")
    };
    assert_eq!((request, description), (first, drystone_component::wire::Description::of(talk)));
    let refused = Event::Answered { request: second, description: Err("nothing has this name".into()) };
    assert_eq!(pair.ends[0].poll(), Some(refused));
    pair.ends[0].ping(7);
    while pair.carry(0, 5) | pair.carry(1, 5) {}
    assert_eq!(pair.ends[0].poll(), Some(Event::Pong(7)));
}

#[test]
fn what_sequences_consist_of_is_told_beside() {
    static PARAMETERS: [Parameter; 3] = [
        Parameter { form: Str::new("[i"), ..Parameter::new("numbers", Type::Sequence) },
        Parameter::new("p.name", Type::Text),
        Parameter { form: Str::new("[(x:i,rest:[t)"), ..Parameter::new("p.all", Type::Sequence) },
    ];
    static LISTS: Interface = Interface {
        name: Str::new("Lists"),
        fingerprint: Fingerprint([1, 2]),
        messages: Table::new(&[Message::new("Put", Side::Client, &PARAMETERS)]),
        next: Table::new(&[0]),
        states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS]),
        payload_words: 3,
        queued: 0,
    };
    let mut pair = Pair::new(Limits::default());
    pair.ends[0].describe(b"lists");
    while pair.carry(0, 5) {}
    let Some(Event::Asked { request, .. }) = pair.ends[1].poll() else { panic!("not asked") };
    pair.ends[1].answer(request, Ok(&LISTS));
    while pair.carry(1, 5) {}
    let Some(Event::Answered { description: Ok(lists), .. }) = pair.ends[0].poll() else {
        panic!("not answered")
    };
    let forms = [0, 1, 2].map(|parameter| lists.form(0, parameter).map(|form| form.text().to_string()));
    assert_eq!(forms.map(Option::unwrap), ["[i", "t", "[(x:i,rest:[t)"]);
    assert_eq!(lists.described()[0].parameters[2].0, "p.all");
    // An older program doesn't tell them.
    let described = drystone_component::wire::Description::of(&LISTS);
    assert_eq!((described.form(0, 0), described.form(0, 1).is_some()), (None, true));
    let forms = drystone_component::wire::Description::forms_of(&LISTS);
    assert_eq!(described.clone().with_forms(&forms), Ok(lists));
    (1..forms.len()).for_each(|end| assert!(described.clone().with_forms(&forms[..end]).is_err(), "{end}"));
    let wrong = [&forms[..4], b"(i", &forms[6..]].concat();
    assert_eq!(described.with_forms(&wrong).unwrap_err(), "the form of numbers is none");
}

#[test]
fn a_slow_receiver_stops_its_sender_only() {
    let talk = talk();
    let mut pair = Pair::new(Limits { messages: 4, bytes: 100, ..Limits::default() });
    let (slow, quick) = (pair.ends[0].open(b"slow", talk, 0), pair.ends[0].open(b"quick", talk, 0));
    let servers = pair.settle(talk);
    for _ in 0..4 {
        pair.say(0, slow, 0, &[]);
    }
    assert!(!pair.ends[0].has_room(slow));
    pair.say(0, quick, 0, &[0; 1000]);
    assert!(!pair.ends[0].has_room(quick), "that was more than all bytes");
    pair.settle(talk);
    while pair.ends[0].poll().is_some() {}
    assert_eq!(pair.heard(1, servers[1], 0).len(), 1000);
    pair.settle(talk);
    assert_eq!(pair.ends[0].poll(), Some(Event::Ready(quick)));
    assert_eq!(pair.ends[0].poll(), None);
    assert!(pair.ends[0].has_room(quick) && !pair.ends[0].has_room(slow));
}

#[test]
fn who_sends_much_may_send_more_before_it_is_taken_while_there_is_some_left_in_sum() {
    let talk = talk();
    let mut pair = Pair::new(Limits {
        messages: 1000,
        bytes: 4000,
        communications: 10,
        sum: 20_000,
        ..Limits::default()
    });
    let handles: Vec<_> = (0..3).map(|_| pair.ends[0].open(b"talk", talk, 0)).collect();
    let servers = pair.settle(talk);
    let mut round = |which: usize| {
        let mut sent = 0;
        while pair.ends[0].has_room(handles[which]) {
            // A hundred with its header.
            pair.say(0, handles[which], 0, &[0; 88]);
            sent += 100;
        }
        pair.settle(talk);
        (0..sent / 100).for_each(|_| drop(pair.heard(1, servers[which], 0)));
        pair.settle(talk);
        sent
    };
    // Each has a tenth of one half. The other half is for all: these three have 3000 of it to begin with.
    assert_eq!([0; 5].map(&mut round), [1000, 2000, 4000, 4000, 4000]);
    assert_eq!([1; 4].map(&mut round), [1000, 2000, 4000, 4000]);
    assert_eq!([2; 4].map(&mut round), [1000, 2000, 2000, 2000]);
}

#[test]
fn ten_thousand_communications_with_long_messages_wait_for_each_other_and_go_on() {
    let talk = talk();
    let count = if cfg!(miri) { 10 } else { 10_000 };
    let mut pair = Pair::new(Limits { largest: 1 << 20, sum: 1 << 20, ..Limits::default() });
    let handles: Vec<_> = (0..count).map(|_| pair.ends[0].open(b"talk", talk, 0)).collect();
    let (mut servers, mut said, mut heard) = (pair.settle(talk), vec![false; count], vec![false; count]);
    let mut so_far = 0;
    while heard.contains(&false) {
        for (handle, said) in handles.iter().zip(&mut said).filter(|(_, said)| !**said) {
            if pair.ends[0].has_room(*handle) {
                pair.say(0, *handle, 0, &[0; 20_000]);
                *said = true;
            }
        }
        servers.extend(pair.settle(talk));
        for (handle, heard) in servers.iter().zip(&mut heard).filter(|(_, heard)| !**heard) {
            *heard = matches!(pair.ends[1].arrival(*handle), Arrival::Message(0));
            pair.ends[1].take(*handle, |_| ());
        }
        pair.settle(talk);
        let now = heard.iter().filter(|heard| **heard).count();
        assert!(now > so_far, "nobody goes on after {now}");
        so_far = now;
    }
    assert_eq!(pair.ends.map(|end| end.failure().is_some()), [false, false]);
}

#[test]
fn a_communication_may_take_more_than_others() {
    let talk = talk();
    let mut pair = Pair::new(Limits { messages: 4, ..Limits::default() });
    let (plain, wide) = (pair.ends[0].open(b"talk", talk, 0), pair.ends[0].open(b"talk", talk, 10));
    while pair.carry(0, 1000) | pair.carry(1, 1000) {}
    for capacity in [0, 7] {
        let Some(Event::Offered { handle, .. }) = pair.ends[1].poll() else { panic!("not asked") };
        pair.ends[1].accept(handle, talk, capacity);
    }
    while pair.carry(0, 1000) | pair.carry(1, 1000) {}
    let mut room = |end: usize, handle: Handle| {
        let mut count = 0;
        while pair.ends[end].has_room(handle) {
            pair.say(end, handle, end, &[]);
            count += 1;
        }
        count
    };
    assert_eq!([room(0, plain), room(0, wide), room(1, plain), room(1, wide)], [4, 7, 4, 10]);
    while pair.carry(0, 1000) | pair.carry(1, 1000) {}
    assert_eq!(pair.ends.map(|end| end.failure().is_some()), [false, false]);
}

#[test]
fn an_output_that_nobody_reads_stops_all_senders() {
    let talk = talk();
    let mut pair = Pair::new(Limits { messages: 1000, bytes: u32::MAX, sum: 1 << 60, ..Limits::default() });
    let handles: Vec<_> = (0..3).map(|_| pair.ends[0].open(b"talk", talk, 0)).collect();
    pair.settle(talk);
    while pair.ends[0].poll().is_some() {}
    for _ in 0..16 {
        pair.say(0, handles[0], 0, &[0; 65536]);
    }
    assert_eq!(handles.iter().filter(|handle| pair.ends[0].has_room(**handle)).count(), 0);
    pair.settle(talk);
    let mut told = Vec::new();
    while let Some(Event::Ready(handle)) = pair.ends[0].poll() {
        told.push(handle);
    }
    assert_eq!(told, handles);
}

#[test]
fn a_message_that_is_too_long_is_refused_here() {
    let talk = talk();
    let mut pair = Pair::new(Limits { largest: 10, ..Limits::default() });
    let client = pair.ends[0].open(b"talk", talk, 0);
    pair.settle(talk);
    let long = pair.ends[0].send(client, 0, |out| {
        out.extend_from_slice(&[0; 11]);
        Ok(())
    });
    assert_eq!(long, Err("a message of 11 bytes is too long: the other side takes at most 10".into()));
    pair.say(0, client, 0, &[0; 10]);
}

#[test]
fn the_end_of_a_connection_is_that_of_its_communications() {
    let talk = talk();
    let mut pair = Pair::new(Limits::default());
    let client = pair.ends[0].open(b"talk", talk, 0);
    let server = pair.settle(talk)[0];
    pair.say(1, server, 1, b"last");
    pair.settle(talk);
    pair.ends[1].farewell("the program has ended");
    pair.settle(talk);
    assert_eq!(pair.heard(0, client, 1), b"last");
    let lost = Arrival::Lost("the program has ended".into());
    assert_eq!((pair.ends[0].arrival(client), pair.ends[1].arrival(server)), (lost.clone(), lost.clone()));
    let late = pair.ends[0].open(b"talk", talk, 0);
    assert_eq!(pair.ends[0].arrival(late), lost);
    pair.ends[0].close(client);
    pair.ends[0].close(late);
    pair.ends[1].close(server);
    assert_eq!(pair.ends.map(|end| end.communications()), [0, 0]);
}

#[test]
fn only_so_many_communications_are_begun() {
    let talk = talk();
    let mut pair = Pair::new(Limits { communications: 2, ..Limits::default() });
    let handles: Vec<_> = (0..3).map(|_| pair.ends[0].open(b"talk", talk, 0)).collect();
    pair.settle(talk);
    let lost = Arrival::Lost("the other side takes only 2 communications at once".into());
    assert_eq!(pair.ends[0].arrival(handles[2]), lost);
    assert_eq!(pair.ends[0].arrival(handles[1]), Arrival::Nothing);
}

/// What is done at random.
#[derive(Clone, Debug)]
enum Step {
    Open { end: usize },
    Send { end: usize, which: usize, length: usize },
    Take { end: usize, which: usize },
    Close { end: usize, which: usize, orderly: bool },
    Carry { from: usize, count: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (end, which) = (0..2usize, 0..8usize);
    let step = prop_oneof![
        2 => end.clone().prop_map(|end| Step::Open { end }),
        10 => (end.clone(), which.clone(), 0..60usize)
            .prop_map(|(end, which, length)| Step::Send { end, which, length }),
        8 => (end.clone(), which.clone()).prop_map(|(end, which)| Step::Take { end, which }),
        1 => (end.clone(), which, any::<bool>()).prop_map(|(end, which, orderly)| Step::Close { end, which, orderly }),
        15 => (end, 1..100usize).prop_map(|(from, count)| Step::Carry { from, count }),
    ];
    prop::collection::vec(step, 0..300)
}

/// One communication of an end, with what it has sent and taken.
struct Open {
    handle: Handle,
    /// Under which all know it.
    name: Vec<u8>,
    side: Side,
    sent: Vec<Vec<u8>>,
    taken: Vec<Vec<u8>>,
    is_over: bool,
    held: bool,
}

struct Random {
    pair: Pair,
    talk: &'static Interface,
    open: [Vec<Open>; 2],
    opened: u32,
}

impl Random {
    fn add(&mut self, end: usize, handle: Handle, name: Vec<u8>, side: Side) {
        let (sent, taken) = Default::default();
        self.open[end].push(Open { handle, name, side, sent, taken, is_over: false, held: true });
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Open { end } => {
                let name = format!("{end} {}", self.opened).into_bytes();
                self.opened += 1;
                let handle = self.pair.ends[end].open(&name, self.talk, 0);
                self.add(end, handle, name, Side::Client);
            }
            Step::Send { end, which, length } => {
                let connection = &mut self.pair.ends[end];
                let Some(open) = held(&mut self.open[end], which) else { return };
                let count = open.sent.len() as u8;
                let message = usize::from(open.side == Side::Server);
                if connection.has_room(open.handle) {
                    open.sent.push(vec![count; length]);
                    let fill = |out: &mut Vec<u8>| {
                        out.extend_from_slice(&vec![count; length]);
                        Ok(())
                    };
                    connection.send(open.handle, message, fill).expect("sent");
                }
            }
            Step::Take { end, which } => {
                let connection = &mut self.pair.ends[end];
                if let Some(open) = held(&mut self.open[end], which) {
                    take(connection, open);
                }
            }
            Step::Close { end, which, orderly } => {
                let connection = &mut self.pair.ends[end];
                let Some(open) = held(&mut self.open[end], which) else { return };
                open.held = false;
                match orderly {
                    true => connection.close(open.handle),
                    false => connection.abandon(open.handle, "it was too long"),
                }
            }
            Step::Carry { from, count } => {
                self.pair.carry(from, count);
                for end in 0..2 {
                    while let Some(event) = self.pair.ends[end].poll() {
                        let Event::Offered { handle, name } = event else { continue };
                        assert!(self.pair.ends[end].accept(handle, self.talk, 0));
                        self.add(end, handle, name, Side::Server);
                    }
                }
            }
        }
    }

    /// Lets all come, and takes it.
    fn drain(&mut self) {
        loop {
            let before = self.pair.ways.iter().map(VecDeque::len).sum::<usize>();
            let has_output = self.pair.ends.iter_mut().any(|end| !end.output().is_empty());
            for end in 0..2 {
                self.step(&Step::Carry { from: end, count: 64 });
                for open in self.open[end].iter_mut().filter(|open| open.held) {
                    while take(&mut self.pair.ends[end], open) {}
                }
            }
            if before == 0 && !has_output {
                return;
            }
        }
    }
}

fn held(open: &mut [Open], which: usize) -> Option<&mut Open> {
    let count = open.iter().filter(|open| open.held).count().max(1);
    open.iter_mut().filter(|open| open.held).nth(which % count)
}

fn take(connection: &mut Connection, open: &mut Open) -> bool {
    match connection.arrival(open.handle) {
        Arrival::Message(message) => {
            assert_eq!(message, usize::from(open.side == Side::Client));
            let (bytes, next) = connection.take(open.handle, <[u8]>::to_vec);
            open.taken.push(bytes);
            if let Some(next) = next {
                assert_eq!(connection.arrival(open.handle), Arrival::Message(next));
            }
            return true;
        }
        Arrival::Nothing => assert!(!open.is_over),
        Arrival::Closed => open.is_over = true,
        Arrival::Lost(why) => {
            assert_eq!(why, "it was too long");
            open.is_over = true;
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 5 } else { 2000 })
    })]

    /// Whatever is done, and in whatever pieces the bytes come: what is taken is what was sent, from its beginning, and
    /// all of it if nobody closed; then both ends have forgotten everything.
    #[test]
    fn messages_come_as_they_went(steps in steps(), messages in 1..5u32, bytes in 1..100u32) {
        let pair = Pair::new(Limits { messages, bytes, ..Limits::default() });
        let mut random = Random { pair, talk: talk(), open: Default::default(), opened: 0 };
        steps.iter().for_each(|step| random.step(step));
        random.drain();
        let by_name: BTreeMap<_, _> = random.open[1].iter().map(|open| (&open.name, open)).collect();
        for here in &random.open[0] {
            let Some(there) = by_name.get(&here.name) else {
                prop_assert!(!here.held, "asked for in vain");
                continue;
            };
            for (from, to) in [(here, *there), (*there, here)] {
                prop_assert!(from.sent.starts_with(&to.taken));
                if to.held && from.held {
                    prop_assert_eq!(&from.sent, &to.taken);
                }
                prop_assert!(!to.held || from.held || to.is_over);
            }
        }
        for end in 0..2 {
            prop_assert_eq!(random.pair.ends[end].failure(), None);
            for open in random.open[end].iter().filter(|open| open.held) {
                random.pair.ends[end].close(open.handle);
            }
        }
        for open in random.open.iter_mut().flatten() {
            open.held = false;
        }
        random.drain();
        prop_assert_eq!(random.pair.ends.each_ref().map(Connection::communications), [0, 0]);
    }
}
