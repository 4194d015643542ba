//! Tests of the server: its clients, quotas and turns.

use std::collections::BTreeMap;

use drystone_component::wire::Description;
use drystone_extension::composite::builder::*;
use drystone_extension::composite::*;

use crate::programs::copy;
use crate::store::{Store, file};

const SETTINGS: Settings = Settings {
    limits: LIMITS,
    remembered: 1 << 16,
    held: 1 << 20,
    runs: 8,
    slice: 100,
    key: 0x0123_4567_89ab_cdef,
};
const LIMITS: Limits = Limits { program: 1 << 16, words: 1 << 10, texts: 1 << 6 };
const QUOTA: Quota = Quota { rounds: 100_000, texts: 1 << 20, held: 1 << 19, runs: 2 };
const NONE: [&Description; 0] = [];

fn endless() -> Vec<u8> {
    let vars = Builder::new();
    let rounds = vars.out::<i64>();
    vars.program(while_(true, rounds.set(rounds + 1))).unwrap().encode()
}

#[test]
fn a_program_is_sent_once_and_run_again_and_again() {
    let mut server = InterpServer::new(SETTINGS);
    let interfaces = [&file(), &file()];
    server.admit(1, QUOTA);
    let (program, piece, copied) = copy();
    let hash = program.hash();
    assert!(server.program(hash).is_none());
    assert_eq!(server.remember(&program.encode()), Ok(hash));
    // The third time it is compiled.
    for round in 1..6 {
        let mut mine = VarTable::of(&program).unwrap();
        mine.assign(piece, round).unwrap();
        let store = Store::of(&[b"Hello, world!", b""]);
        let run = server.start(1, hash, &mine.encode_in(), &interfaces, store).unwrap();
        match server.turn() {
            Some((it, Some(Event::Ended(values, store)))) if it == run => {
                mine.decode_out(&values).unwrap();
                assert_eq!(
                    (mine.value(copied), &store.files[1].bytes[..]),
                    (Some(13), &b"Hello, world!"[..])
                );
            }
            other => panic!("{other:?}"),
        }
        assert!(server.is_idle());
    }
    let sentence = server.start(1, hash, &[0; 8], &[&file()], Store::of(&[])).unwrap_err().0;
    assert_eq!(sentence, "the program talks over 2 communications, and there are 1");
    let sentence = server.start(2, hash, &[0; 8], &interfaces, Store::of(&[])).unwrap_err().0;
    assert_eq!(sentence, "the server doesn't know this client");
    let sentence = server.start(1, Hash([7; 32]), &[], &NONE, Store::of(&[])).unwrap_err().0;
    assert!(sentence.ends_with("isn't known here any more; send it again"), "{sentence}");
}

#[test]
fn clients_get_equal_turns_whatever_they_run() {
    let mut server = InterpServer::new(SETTINGS);
    let hash = server.remember(&endless()).unwrap();
    let mut owners = BTreeMap::new();
    for (client, runs) in [(1, 1), (2, 2), (3, 2)] {
        server.admit(client, QUOTA);
        for _ in 0..runs {
            owners.insert(server.start(client, hash, &[], &NONE, Store::of(&[])).unwrap(), client);
        }
    }
    let mut turns = BTreeMap::new();
    for _ in 0..300 {
        let (run, event) = server.turn().unwrap();
        assert!(event.is_none());
        *turns.entry(owners[&run]).or_insert(0) += 1;
    }
    assert_eq!(turns, BTreeMap::from([(1, 100), (2, 100), (3, 100)]));
}

#[test]
fn who_has_spent_all_goes_on_with_more_or_leaves() {
    let mut server = InterpServer::new(SETTINGS);
    let hash = server.remember(&endless()).unwrap();
    server.admit(1, Quota { rounds: 250, ..QUOTA });
    let run = server.start(1, hash, &[], &NONE, Store::of(&[])).unwrap();
    let stopped = |server: &mut InterpServer<Store>, turns: usize, wanted: Why| {
        for _ in 1..turns {
            assert!(matches!(server.turn(), Some((_, None))));
        }
        match server.turn() {
            Some((it, Some(Event::Stopped(why, _)))) => assert_eq!((it, why), (run, wanted)),
            other => panic!("{other:?}"),
        }
        assert!(server.is_idle() && server.turn().is_none());
    };
    stopped(&mut server, 3, Why::Budget);
    server.allow(1, 150);
    server.resume(run);
    stopped(&mut server, 2, Why::Budget);
    server.allow(1, 1000);
    server.resume(run);
    server.turn();
    server.cancel(run);
    stopped(&mut server, 1, Why::Cancelled);
    server.resume(run);
    assert!(matches!(server.turn(), Some((_, None))));

    // It counts as long as it is kept.
    let another = server.start(1, hash, &[], &NONE, Store::of(&[])).unwrap();
    let sentence = server.start(1, hash, &[], &NONE, Store::of(&[])).unwrap_err().0;
    assert_eq!(sentence, "a client may have 2 runs at once; discard one that has stopped");
    assert!(server.discard(run).is_some() && server.discard(run).is_none());
    assert_eq!(server.client_of(another), Some(1));
    assert_eq!(server.dismiss(1).len(), 1);
    assert!(server.is_idle() && server.run(another).is_none());
}

#[test]
fn runs_that_wait_take_no_turns() {
    let mut server = InterpServer::new(SETTINGS);
    server.admit(1, QUOTA);
    let (program, ..) = copy();
    let hash = server.remember(&program.encode()).unwrap();
    let store = Store::busy(&[b"abc".as_slice(), b""]);
    let run = server.start(1, hash, &5u64.to_be_bytes(), &[&file(), &file()], store).unwrap();
    assert!(matches!(server.turn(), Some((_, None))));
    assert!(server.is_idle());
    server.run(run).unwrap().services().is_busy = false;
    server.wake(run);
    server.wake(run);
    assert!(matches!(server.turn(), Some((_, Some(Event::Ended(..))))));
    assert!(server.is_idle());
}

/// Answers with a number.
fn program(number: i64) -> Vec<u8> {
    let vars = Builder::new();
    let it = vars.out::<i64>();
    vars.program(it.set(number)).unwrap().encode()
}

#[test]
fn what_nobody_uses_is_forgotten_first() {
    // What counts is what they take, which is more than was sent.
    let mut one = InterpServer::<Store>::new(SETTINGS);
    one.remember(&program(0)).unwrap();
    assert!(one.remembered() > 2 * program(0).len());
    let mut server = InterpServer::<Store>::new(Settings { remembered: 3 * one.remembered(), ..SETTINGS });
    server.admit(1, QUOTA);
    let hashes: Vec<Hash> = (0..3).map(|it| server.remember(&program(it)).unwrap()).collect();
    server.start(1, hashes[0], &[], &NONE, Store::of(&[])).unwrap();
    let fourth = server.remember(&program(3)).unwrap();
    let known = |server: &InterpServer<Store>| {
        hashes.iter().map(|it| server.program(*it).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(known(&server), [true, false, true]);
    assert!(server.program(fourth).is_some());
    // The run has its program as long as it needs it.
    assert!(matches!(server.turn(), Some((_, Some(Event::Ended(..))))));
}

/// Compiled, a program takes more: others are forgotten for it at once.
#[test]
fn what_is_remembered_keeps_its_bound_while_programs_are_compiled() {
    let often = |server: &mut InterpServer<Store>, hash, most| {
        for _ in 0..4 {
            if server.start(1, hash, &[], &NONE, Store::of(&[])).is_err() {
                break;
            }
            assert!(matches!(server.turn(), Some((_, Some(Event::Ended(..))))));
            assert!(server.remembered() <= most, "{} of {most} bytes", server.remembered());
        }
    };
    let mut one = InterpServer::<Store>::new(SETTINGS);
    one.admit(1, QUOTA);
    let hash = one.remember(&program(0)).unwrap();
    let plain = one.remembered();
    often(&mut one, hash, usize::MAX);
    let most = one.remembered() + 3 * plain;
    let mut server = InterpServer::<Store>::new(Settings { remembered: most, ..SETTINGS });
    server.admit(1, QUOTA);
    let hashes: Vec<Hash> = (0..4).map(|it| server.remember(&program(it)).unwrap()).collect();
    hashes.iter().for_each(|hash| often(&mut server, *hash, most));
    assert!(hashes.iter().filter(|hash| server.program(**hash).is_some()).count() < 4);
}

/// A text that becomes twice as long in each round, as long as there is room, and is kept then.
fn hoarder() -> Vec<u8> {
    let vars = Builder::new();
    let all = vars.out::<Text>();
    vars.program(sequence([all.set(text("0123456789abcdef")), while_(true, all.set(all + all))]))
        .unwrap()
        .encode()
}

/// Bytes of the text that a run of [`hoarder`] has in the end.
fn hoarded(server: &mut InterpServer<Store>, client: ClientId, hash: Hash) -> usize {
    let run = server.start(client, hash, &[], &NONE, Store::of(&[])).unwrap();
    loop {
        match server.turn() {
            Some((_, None)) => {}
            Some((it, Some(Event::Stopped(Why::Failed(failure), _)))) => {
                assert_eq!((it, failure.fault), (run, Fault::OutOfMemory));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    match server.run(run).unwrap().get(0, 0) {
        Some(Value::Text(text)) => text.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_all_hold_is_bounded_and_who_comes_late_has_something() {
    let mut server = InterpServer::new(SETTINGS);
    let hash = server.remember(&hoarder()).unwrap();
    (0..6).for_each(|client| server.admit(client, QUOTA));
    let quota = QUOTA.held + SMALL;
    // The second one has what the first one has left, and what each run has.
    let first = hoarded(&mut server, 0, hash);
    let second = hoarded(&mut server, 0, hash);
    assert!(first > quota / 4 && first + second < quota + SMALL, "{first} and {second} bytes");
    let others: Vec<usize> = (1..6).map(|client| hoarded(&mut server, client, hash)).collect();
    let all: usize = others.iter().sum::<usize>() + first + second;
    assert!(all < SETTINGS.held + 7 * SMALL, "{others:?}");
    assert!(others.iter().all(|bytes| *bytes >= SMALL / 4), "{others:?}");
    // More runs than all may have.
    server.start(1, hash, &[], &NONE, Store::of(&[])).unwrap();
    server.admit(6, QUOTA);
    let sentence = server.start(6, hash, &[], &NONE, Store::of(&[])).unwrap_err().0;
    assert_eq!(sentence, "the server has 8 runs, and may have no more");
    // Who goes gives it back.
    (0..6).for_each(|client| drop(server.dismiss(client)));
    assert_eq!(hoarded(&mut server, 6, hash), first);
}

#[test]
fn what_is_kept_for_a_client_counts_as_a_run() {
    let mut server = InterpServer::<Store>::new(SETTINGS);
    assert!(server.may_keep(1, 0).is_err());
    server.admit(1, QUOTA);
    let most = QUOTA.held + SMALL;
    let sentence = server.may_keep(1, most + 1).unwrap_err().0;
    assert_eq!(sentence, format!("the client's runs may hold {} bytes together", QUOTA.held));
    server.may_keep(1, most).unwrap();
    server.keep(1, most);
    let sentence = server.may_keep(1, SMALL + 1).unwrap_err().0;
    assert!(sentence.contains("bytes together"), "{sentence}");
    server.keep(1, SMALL);
    assert_eq!(
        server.may_keep(1, 0).unwrap_err().0,
        "a client may have 2 runs at once; discard one that has stopped"
    );
    server.give_up(1, most);
    server.may_keep(1, most).unwrap();
    (2..4).for_each(|client| {
        server.admit(client, QUOTA);
        server.keep(client, most);
    });
    let sentence = server.may_keep(1, most).unwrap_err().0;
    assert_eq!(sentence, format!("the server holds {} bytes for runs, and may hold no more", SETTINGS.held));
    server.dismiss(2);
    server.give_up(2, most);
    server.may_keep(1, most).unwrap();
}

/// How many rounds a run of [`endless`] has done.
fn rounds_of(server: &mut InterpServer<Store>, run: RunId) -> i64 {
    match server.run(run).unwrap().get(0, 0) {
        Some(Value::Integer(rounds)) => rounds,
        other => panic!("{other:?}"),
    }
}

#[test]
fn turns_are_as_long_as_the_host_says_within_limits() {
    let mut server = InterpServer::new(SETTINGS);
    let hash = server.remember(&endless()).unwrap();
    server.admit(1, Quota { rounds: u64::MAX, ..QUOTA });
    let run = server.start(1, hash, &[], &NONE, Store::of(&[])).unwrap();
    let turn = |server: &mut InterpServer<Store>| {
        let before = rounds_of(server, run);
        assert!(matches!(server.turn(), Some((it, None)) if it == run));
        rounds_of(server, run) - before
    };
    let first = turn(&mut server);
    assert!((90..=100).contains(&first), "{first} rounds");
    server.shorten(run);
    let shorter = turn(&mut server);
    assert!((40..=50).contains(&shorter), "{shorter} rounds");
    (0..99).for_each(|_| server.shorten(run));
    assert!((0..=1).contains(&turn(&mut server)));
    (0..99).for_each(|_| server.lengthen(run));
    let longest = turn(&mut server);
    assert!((90..=100).contains(&longest), "{longest} rounds");
}

#[test]
fn who_only_waited_shows_nothing_of_how_long_its_turns_take() {
    let mut server = InterpServer::new(SETTINGS);
    let hash = server.remember(&endless()).unwrap();
    server.admit(1, Quota { rounds: 50, ..QUOTA });
    let run = server.start(1, hash, &[], &NONE, Store::of(&[])).unwrap();
    server.shorten(run);
    assert!(matches!(server.turn(), Some((_, Some(Event::Stopped(Why::Budget, _)))) | Some((_, None))));
    while !server.is_idle() {
        server.turn();
    }
    // It isn't ready now.
    server.lengthen(run);
    server.allow(1, 1000);
    server.resume(run);
    let before = rounds_of(&mut server, run);
    server.turn();
    let done = rounds_of(&mut server, run) - before;
    assert!(done <= 50, "{done} rounds");
}
