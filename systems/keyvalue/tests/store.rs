//! The store without the rest of the server.

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use keyvalue::operation::{
    Bytes, Change, Condition, Expires, LONGEST_KEY, Only, Operation, Outcome, PIECE, Read,
};
use keyvalue::record::now;
use keyvalue::store::{Found, Store};
use keyvalue::watch::Watch;
use keyvalue::writer::Answer;
use redb::{Database, TableDefinition};
use tempfile::TempDir;

const LARGEST: usize = 16 << 20;

fn open(path: &Path) -> Result<Store, String> {
    Store::open(path, LARGEST, 64 << 20)
}

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let store = open(&folder.path().join("store.redb")).expect("it is made");
    (folder, store)
}

/// All outcomes, over any number of steps.
fn read(store: &Store, reads: &[Read]) -> Vec<Outcome> {
    let mut all = Vec::new();
    let mut found = store.read(reads.to_vec());
    loop {
        let size: usize = found.outcomes.iter().map(Outcome::size).sum();
        assert!(size < 3 * PIECE, "{size} bytes at once");
        all.extend(found.outcomes);
        let Some(search) = found.rest else { return all };
        found = store.read_on(search, Box::new(|| ())).recv().expect("its thread answers");
    }
}

fn answer(store: &Store, changes: Vec<Change>, whole: bool, watch: Option<&Arc<Watch>>) -> Answer {
    let operations = changes.into_iter().map(Operation::Change).collect();
    store.write(operations, whole, watch.cloned(), Box::new(|| ())).recv().expect("its thread answers")
}

fn write(store: &Store, changes: Vec<Change>) -> Vec<Outcome> {
    match answer(store, changes, false, None) {
        Answer::Done(outcomes, rest, _) => {
            assert!(rest.is_empty());
            outcomes
        }
        _ => panic!("it isn't done"),
    }
}

fn one(store: &Store, change: Change) -> Outcome {
    write(store, vec![change]).remove(0)
}

fn set_until(key: &str, x: &str, expires: Expires) -> Change {
    Change::Set { key: key.into(), x: x.into(), only: Only::Always, expires }
}

fn set(key: &str, x: &str) -> Change {
    set_until(key, x, Expires::Never)
}

fn get(key: &str) -> Read {
    Read::Get { key: key.into() }
}

fn value(x: &str) -> Outcome {
    Outcome::Value(x.into())
}

fn refused(why: &str) -> Outcome {
    Outcome::Refused(why.into())
}

#[test]
fn changes_are_done_in_their_order() {
    let (_folder, store) = store();
    let exchange = |old: &str, x: &str| Change::Exchange { key: "a".into(), old: old.into(), x: x.into() };
    let add = |key: &str, n| Change::Add { key: key.into(), n };
    let delete = || Change::Delete { key: "a".into() };
    let conversation = [
        (Change::Take { key: "a".into() }, Outcome::Missing),
        (set("a", "1"), Outcome::Done),
        (exchange("2", "3"), Outcome::Other("1".into())),
        (exchange("1", "x"), Outcome::Done),
        (add("a", 1), refused("value is not an integer or out of range")),
        (add("n", 5), Outcome::Number(5)),
        (add("n", i64::MAX), refused("increment or decrement would overflow")),
        (delete(), Outcome::Done),
        (delete(), Outcome::Missing),
        (exchange("1", "2"), Outcome::Missing),
        (Change::Append { key: "t".into(), x: "ab".into() }, Outcome::Number(2)),
        (Change::Append { key: "t".into(), x: "cd".into() }, Outcome::Number(4)),
        (Change::Overlay { key: "t".into(), at: 6, x: "z".into() }, Outcome::Number(7)),
        (Change::Take { key: "t".into() }, value("abcd\0\0z")),
    ];
    let (changes, expected): (Vec<_>, Vec<_>) = conversation.into_iter().unzip();
    assert_eq!(write(&store, changes), expected);
    assert_eq!(read(&store, &[get("a"), get("n")]), [Outcome::Missing, value("5")]);
    for wrong in ["+1", "007", "-0", " 1", "", "0x1", "9223372036854775808"] {
        write(&store, vec![set("w", wrong)]);
        assert!(matches!(one(&store, add("w", 1)), Outcome::Refused(_)), "{wrong}");
    }
}

#[test]
fn whether_something_is_done_depends_on_the_key() {
    let (_folder, store) = store();
    let only = |only, x: &str| Change::Swap { key: "a".into(), x: x.into(), only, expires: Expires::Never };
    let outcomes = write(
        &store,
        vec![
            only(Only::IfThere, "1"),
            only(Only::IfMissing, "2"),
            only(Only::IfMissing, "3"),
            only(Only::IfThere, "4"),
        ],
    );
    assert_eq!(outcomes, [Outcome::Missing, Outcome::Missing, value("2"), value("2")]);
    assert_eq!(read(&store, &[get("a")]), [value("4")]);
    let rename = |key: &str, new: &str, only| Change::Rename { key: key.into(), new: new.into(), only };
    write(&store, vec![set_until("b", "5", Expires::In(50_000))]);
    let outcomes = write(
        &store,
        vec![
            rename("none", "a", Only::Always),
            rename("b", "a", Only::IfMissing),
            rename("b", "b", Only::Always),
            rename("b", "a", Only::Always),
            Change::Copy { key: "a".into(), new: "c".into(), only: Only::IfMissing },
        ],
    );
    let other = Outcome::Other(Vec::new());
    assert_eq!(outcomes, [Outcome::Missing, other, Outcome::Done, Outcome::Done, Outcome::Done]);
    assert_eq!(read(&store, &[get("a"), get("b"), get("c")]), [value("5"), Outcome::Missing, value("5")]);
    let remaining = read(&store, &[Read::Remaining { key: "c".into() }]);
    assert!(matches!(remaining[..], [Outcome::Number(1..=50_000)]), "{remaining:?}");
    let all = |keys: &[&str]| Change::SetAll {
        pairs: keys.iter().map(|key| ((*key).into(), "x".into())).collect(),
        only: Only::IfMissing,
    };
    assert_eq!(write(&store, vec![all(&["d", "e"]), all(&["f", "e"])]), [Outcome::Done, Outcome::Missing]);
    assert_eq!(read(&store, &[get("e"), get("f")]), [value("x"), Outcome::Missing]);
}

#[test]
fn pairs_are_set_all_or_none() {
    let (_folder, store) = store();
    let all = |pairs: Vec<(Bytes, Bytes)>| vec![Change::SetAll { pairs, only: Only::Always }];
    let wrong = vec![("a".into(), "x".into()), (vec![b'k'; LONGEST_KEY + 1], "x".into())];
    let outcomes = write(&store, all(wrong));
    assert!(matches!(outcomes[..], [Outcome::Refused(_)]), "{outcomes:?}");
    assert_eq!(read(&store, &[Read::Count]), [Outcome::Number(0)]);
    // However many keys there are, nobody sees only some of them.
    let many = |x: &str| all((0..20_000).map(|number| (format!("{number}").into(), x.into())).collect());
    write(&store, many("old"));
    let seen = std::thread::scope(|scope| {
        let writing = scope.spawn(|| write(&store, many("new")));
        let mut seen = Vec::new();
        while !writing.is_finished() {
            seen.push(read(&store, &[get("0"), get("19999")]));
        }
        seen
    });
    assert!(seen.iter().all(|seen| seen[0] == seen[1]), "{:?}", seen.last());
}

#[test]
fn keys_come_in_their_order_and_with_their_prefix() {
    let (_folder, store) = store();
    write(&store, ["b1", "a", "b2", "c"].map(|key| set(key, key)).into());
    let next = |after: &str, prefix: &str, most| {
        read(&store, &[Read::Next { after: after.into(), prefix: prefix.into(), most }])
    };
    let entry = |key: &str| Outcome::Entry(key.into(), key.into());
    assert_eq!(next("", "b", 10), [entry("b1"), entry("b2"), Outcome::Missing]);
    assert_eq!(next("", "", 2), [entry("a"), entry("b1"), Outcome::Done]);
    assert_eq!(next("b1", "", 1), [entry("b2"), Outcome::Done]);
    assert_eq!(next("b2", "b", 10), [Outcome::Missing]);
}

/// All keys of a scan, in pages of that size.
fn scan(store: &Store, most: i64, mut between: impl FnMut(usize)) -> Vec<String> {
    let (mut keys, mut place, mut pages) = (Vec::new(), 0, 0);
    loop {
        let mut page = read(store, &[Read::Scan { place, pattern: "*".into(), most }]);
        let Some(Outcome::Number(next)) = page.pop() else { panic!("a place comes last") };
        keys.extend(page.into_iter().map(|outcome| match outcome {
            Outcome::Key(key) => String::from_utf8(key).expect("it is text"),
            other => panic!("{other:?}"),
        }));
        pages += 1;
        if next == 0 {
            return keys;
        }
        (place, _) = (next, between(pages));
    }
}

#[test]
fn a_scan_gives_every_key_that_stays_once_whatever_others_do() {
    let (_folder, store) = store();
    let key = |number: usize| format!("key {number}");
    for begin in (0..1000).step_by(100) {
        write(&store, (begin..begin + 100).map(|number| set(&key(number), "x")).collect());
    }
    write(&store, vec![set_until("gone", "x", Expires::At(1))]);
    let mut keys = scan(&store, 7, |page| {
        // Meanwhile some keys are created, deleted and created again, and others are changed.
        let other = format!("other {page}");
        write(
            &store,
            vec![
                set(&other, "x"),
                Change::Delete { key: format!("other {}", page / 2).into() },
                set(&key(page * 5 % 1000), "y"),
            ],
        );
    });
    keys.retain(|key| key.starts_with("key"));
    keys.sort_unstable();
    let count = keys.len();
    keys.dedup();
    assert_eq!((count, keys.len()), (1000, 1000));
}

#[test]
fn keys_are_counted_before_they_come() {
    let (_folder, store) = store();
    for begin in (0..30_000).step_by(1000) {
        write(&store, (begin..begin + 1000).map(|number| set(&format!("key {number:05}"), "x")).collect());
    }
    let all = read(&store, &[Read::Keys { pattern: "key *".into() }]);
    assert_eq!(
        (all.len(), &all[0], &all[30_000]),
        (30_001, &Outcome::Number(30_000), &Outcome::Key("key 29999".into()))
    );
    let some =
        read(&store, &[Read::Keys { pattern: "*5[0-4]9".into() }, Read::Keys { pattern: "no*".into() }]);
    assert_eq!((some.len(), &some[0], &some[151]), (152, &Outcome::Number(150), &Outcome::Number(0)));
}

#[test]
fn what_is_read_is_the_store_at_one_moment() {
    let (_folder, store) = store();
    let large = "x".repeat(PIECE - 1000);
    write(&store, vec![set("a", &large), set("b", &large), set("c", "old")]);
    let Found { outcomes, rest } = store.read(vec![get("a"), get("b"), get("c")]);
    assert_eq!(outcomes.len(), 2);
    write(&store, vec![set("c", "new")]);
    let rest = store.read_on(rest.expect("it is too much at once"), Box::new(|| ())).recv().unwrap();
    assert_eq!((rest.outcomes, read(&store, &[get("c")])), (vec![value("old")], vec![value("new")]));
}

#[test]
fn a_long_value_comes_in_pieces() {
    let (_folder, store) = store();
    let long: Vec<u8> = (0..1_000_000u32).map(|n| (n % 251) as u8).collect();
    write(
        &store,
        vec![Change::Set { key: "a".into(), x: long.clone(), only: Only::Always, expires: Expires::Never }],
    );
    let part = |from, to| Read::Part { key: "a".into(), from, to };
    for (wanted, from, end) in [
        (get("a"), 0, 1_000_000),
        (part(-500_000, -1), 500_000, 1_000_000),
        (part(100, 999_000), 100, 999_001),
        (part(-2_000_000, 3_000_000), 0, 1_000_000),
    ] {
        let outcomes = read(&store, &[wanted]);
        assert_eq!(outcomes[0], Outcome::Long(end - from));
        let pieces = outcomes[1..].iter().flat_map(|piece| match piece {
            Outcome::Piece(piece) => piece.clone(),
            other => panic!("{other:?}"),
        });
        assert!(pieces.eq(long[from..end].iter().copied()));
    }
    let short = read(&store, &[part(5, 7), part(-1, -2), part(7, 5), part(2_000_000, -1), part(0, 0)]);
    let expected = [&long[5..8], &[], &[], &[], &long[..1]].map(|part| Outcome::Value(part.into()));
    assert_eq!(short, expected);
    // A value that is taken comes in pieces, too.
    let outcomes = write(&store, vec![Change::Take { key: "a".into() }]);
    assert_eq!((&outcomes[0], outcomes.len()), (&Outcome::Long(1_000_000), 2 + 1_000_000 / PIECE));
}

#[test]
fn what_has_expired_is_missing_and_its_place_is_given_back() {
    let (_folder, store) = store();
    // Only "short" is over soon: what is written before it is over must be quick, and disks may be slow.
    let until = |key: &str, milliseconds| set_until(key, "x", Expires::In(milliseconds));
    write(
        &store,
        vec![until("short", 20), until("long", 60_000), until("kept", 60_000), until("as before", 2000)],
    );
    let persist =
        |key: &str| Change::Expire { key: key.into(), expires: Expires::Never, condition: Condition(2) };
    assert_eq!(write(&store, vec![persist("kept"), persist("kept")]), [Outcome::Done, Outcome::Missing]);
    write(&store, vec![set_until("as before", "y", Expires::AsBefore)]);
    sleep(Duration::from_millis(40));
    let gone = Outcome::Missing;
    assert_eq!(
        read(&store, &[get("short"), get("kept"), get("long")]),
        [gone.clone(), value("x"), value("x")]
    );
    let remaining = |key: &str| read(&store, &[Read::Remaining { key: key.into() }]);
    assert_eq!((remaining("short"), remaining("kept")), (vec![gone], vec![Outcome::Number(-1)]));
    assert!(matches!(remaining("long")[..], [Outcome::Number(1..=60_000)]));
    assert!(matches!(remaining("as before")[..], [Outcome::Number(1..=2000)]));
    // A new key doesn't inherit a former lifetime.
    assert_eq!(one(&store, Change::Add { key: "short".into(), n: 1 }), Outcome::Number(1));
    assert_eq!(remaining("short"), [Outcome::Number(-1)]);
    // What is over is swept.
    sleep(Duration::from_millis(3200));
    assert_eq!(read(&store, &[get("as before")]), [Outcome::Missing]);
    assert_eq!(read(&store, &[Read::Count, Read::Timed]), [Outcome::Number(3), Outcome::Number(1)]);
}

#[test]
fn a_new_time_may_depend_on_the_old_one() {
    let (_folder, store) = store();
    let at = now() as i64 + 100_000;
    write(&store, vec![set("never", "x"), set_until("timed", "x", Expires::At(at))]);
    let expire = |key: &str, time, condition| Change::Expire {
        key: key.into(),
        expires: Expires::At(time),
        condition: Condition(condition),
    };
    for (key, time, condition, is_done) in [
        ("never", at, 2, false),
        ("never", at, 4, false),
        ("timed", at, 1, false),
        ("timed", at, 4, false),
        ("timed", at, 8, false),
        ("timed", at + 1, 4, true),
        ("timed", at, 8, true),
        ("timed", at - 1, 2 + 8, true),
        ("never", at, 8, true),
        ("none", at, 0, false),
    ] {
        let expected = if is_done { Outcome::Done } else { Outcome::Missing };
        assert_eq!(one(&store, expire(key, time, condition)), expected, "{key} {time} {condition}");
    }
    assert_eq!(
        write(&store, vec![expire("timed", -5, 0), expire("timed", at, 0)]),
        [Outcome::Done, Outcome::Missing]
    );
    assert_eq!(read(&store, &[Read::Expiry { key: "never".into() }]), [Outcome::Number(at)]);
}

#[test]
fn what_is_no_key_and_what_is_too_large_is_refused() {
    let (_folder, store) = store();
    let key = "k".repeat(8193);
    let outcomes = write(
        &store,
        vec![set("", "x"), set(&key, "x"), set("a", "x"), Change::Take { key: key.clone().into() }],
    );
    assert!(matches!(&outcomes[..], [Outcome::Done, Outcome::Refused(_), Outcome::Done, Outcome::Missing]));
    assert_eq!(read(&store, &[get(""), get(&key)]), [value("x"), Outcome::Missing]);
    let large = "x".repeat(LARGEST);
    let append = |x: &str| Change::Append { key: "large".into(), x: x.into() };
    let too_long = "string exceeds maximum allowed size (proto-max-bulk-len)";
    assert_eq!(
        write(&store, vec![append(&large), append("x")]),
        [Outcome::Number(LARGEST as i64), refused(too_long)]
    );
    let overlay = |at| Change::Overlay { key: "large".into(), at, x: "x".into() };
    assert_eq!(
        write(&store, vec![overlay(LARGEST as i64), overlay(i64::MAX)]),
        [refused(too_long), refused(too_long)]
    );
}

#[test]
fn what_is_done_together_is_done_wholly_or_not_at_all() {
    let (_folder, store) = store();
    let large = "x".repeat(LARGEST);
    write(&store, vec![set("large", &large)]);
    let swap = || Change::Swap {
        key: "large".into(),
        x: large.clone().into(),
        only: Only::Always,
        expires: Expires::Never,
    };
    // Three of them are more than what a client may have at once.
    let changes = vec![set("mark", "1"), swap(), swap(), swap()];
    assert!(
        matches!(answer(&store, changes, true, None), Answer::Spoiled(why) if why == "its answers are too long")
    );
    assert_eq!(read(&store, &[get("mark")]), [Outcome::Missing]);
    // Of operations that aren't done together, the rest is done later.
    let Answer::Done(outcomes, rest, _load) =
        answer(&store, vec![swap(), swap(), set("mark", "2")], false, None)
    else {
        panic!("it is done")
    };
    assert_eq!((&outcomes[0], rest.len()), (&Outcome::Long(LARGEST), 2));
}

#[test]
fn long_answers_that_nobody_takes_keep_others_from_having_some() {
    let (_folder, store) = store();
    let large = "x".repeat(LARGEST);
    let take = || Change::Take { key: "large".into() };
    let hoard: Vec<Answer> =
        (0..8).map(|_| answer(&store, vec![set("large", &large), take()], false, None)).collect();
    assert_eq!(write(&store, vec![set("large", &large), set("small", "x")]).len(), 2);
    assert!(matches!(&one(&store, take()), Outcome::Refused(why) if why.contains("try again")));
    assert_eq!(one(&store, Change::Take { key: "small".into() }), value("x"));
    drop(hoard);
    assert_eq!(one(&store, take()), Outcome::Long(LARGEST));
}

#[test]
fn a_watch_tells_whether_something_has_changed() {
    let (_folder, store) = store();
    let watch = store.watch();
    let watching = |key: &str| {
        answer(&store, vec![Change::Watch { key: key.into() }], false, Some(&watch));
    };
    let is_done = || match answer(&store, vec![set("done", "x")], true, Some(&watch)) {
        Answer::Done(..) => true,
        Answer::Changed => false,
        Answer::Spoiled(why) => panic!("{why}"),
    };
    write(&store, vec![set("a", "1"), set("b", "1")]);
    // Each kind of change, and operations that change nothing.
    let delete = |key: &str| Change::Delete { key: key.into() };
    for (change, is_changed) in [
        (set("a", "1"), true),
        (set("other", "1"), false),
        (Change::Append { key: "a".into(), x: "2".into() }, true),
        (Change::Expire { key: "a".into(), expires: Expires::In(100_000), condition: Condition(0) }, true),
        (Change::Expire { key: "a".into(), expires: Expires::In(1), condition: Condition(1) }, false),
        (Change::Rename { key: "a".into(), new: "b".into(), only: Only::IfMissing }, false),
        (Change::Rename { key: "b".into(), new: "a".into(), only: Only::Always }, true),
        (delete("none"), false),
        (delete("a"), true),
        (Change::Clear, false),
        (set("a", "1"), true),
        (Change::Clear, true),
    ] {
        watching("a");
        let said = format!("{change:?}");
        write(&store, vec![change]);
        assert_eq!(is_done(), !is_changed, "{said}");
        assert!(is_done(), "it is watched no more");
    }
    // In one transaction with the change, and after it.
    watching("a");
    answer(&store, vec![Change::Unwatch], false, Some(&watch));
    write(&store, vec![set("a", "1")]);
    assert!(is_done());
    // Expiring is a change; what had expired before isn't.
    write(&store, vec![set_until("short", "x", Expires::In(500))]);
    watching("short");
    sleep(Duration::from_millis(600));
    assert!(!is_done());
    watching("short");
    write(&store, vec![set("other", "1")]);
    assert!(is_done());
}

#[test]
fn a_store_is_for_one_program() {
    let (folder, _store) = store();
    assert!(open(&folder.path().join("store.redb")).is_err());
    assert!(open(&folder.path().join("no such folder/store.redb")).is_err());
}

#[test]
fn a_file_of_an_earlier_version_is_taken() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let path = folder.path().join("store.redb");
    let earlier = Database::create(&path).unwrap();
    let transaction = earlier.begin_write().unwrap();
    {
        let records: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");
        let expiries: TableDefinition<&[u8], ()> = TableDefinition::new("expiries");
        let mut records = transaction.open_table(records).unwrap();
        let mut expiries = transaction.open_table(expiries).unwrap();
        let time = (now() + 1000).to_be_bytes();
        records.insert(&b"a"[..], &[&[0; 8][..], b"one"].concat()[..]).unwrap();
        records.insert(&b"b"[..], &[&time[..], b"two"].concat()[..]).unwrap();
        expiries.insert(&[&time[..], b"b"].concat()[..], ()).unwrap();
    }
    transaction.commit().unwrap();
    drop(earlier);
    let reopened = || {
        // The former store closes the file when its threads have ended.
        let mut tries = (0..500).map(|_| (sleep(Duration::from_millis(10)), open(&path)).1);
        tries.find_map(Result::ok).expect("it is opened")
    };
    for _ in 0..2 {
        let store = reopened();
        assert_eq!(
            read(&store, &[get("a"), get("b"), Read::Timed]),
            [value("one"), value("two"), Outcome::Number(1)]
        );
        let mut keys = scan(&store, 1, |_| ());
        keys.sort_unstable();
        assert_eq!(keys, ["a", "b"]);
    }
    let store = reopened();
    sleep(Duration::from_millis(2000));
    assert_eq!(read(&store, &[get("b"), Read::Timed]), [Outcome::Missing, Outcome::Number(0)]);
}
