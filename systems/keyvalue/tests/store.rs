//! The store without the rest of the server.

use std::thread::sleep;
use std::time::Duration;

use keyvalue::operation::{Operation, Outcome};
use keyvalue::store::Store;
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let store = Store::open(&folder.path().join("store.redb")).expect("it is made");
    (folder, store)
}

/// Reads at once if that can be done, and else as it writes.
fn read(store: &Store, operations: &[Operation]) -> Vec<Outcome> {
    store.read_now(operations).unwrap_or_else(|| write(store, operations.to_vec()))
}

fn write(store: &Store, operations: Vec<Operation>) -> Vec<Outcome> {
    store.begin(operations, Box::new(|| ())).recv().expect("its thread answers")
}

fn set(key: &str, x: &str, lifetime: i64) -> Operation {
    Operation::Set { key: key.into(), x: x.into(), lifetime }
}

fn get(key: &str) -> Operation {
    Operation::Get { key: key.into() }
}

fn value(x: &str) -> Outcome {
    Outcome::Value(x.into())
}

#[test]
fn operations_are_done_in_their_order() {
    let (_folder, store) = store();
    let exchange = |old: &str, x: &str| Operation::Exchange { key: "a".into(), old: old.into(), x: x.into() };
    let add = |key: &str, n| Operation::Add { key: key.into(), n };
    let delete = || Operation::Delete { key: "a".into() };
    let operations = vec![
        get("a"),
        set("a", "1", 0),
        exchange("2", "3"),
        exchange("1", "x"),
        add("a", 1),
        add("n", 5),
        add("n", i64::MAX),
        delete(),
        delete(),
        exchange("1", "2"),
    ];
    let refused = |why: &str| Outcome::Refused(why.into());
    let expected = [
        Outcome::Missing,
        Outcome::Done,
        Outcome::Other("1".into()),
        Outcome::Done,
        refused("the value is no integer"),
        Outcome::Number(5),
        refused("the sum is too large"),
        Outcome::Done,
        Outcome::Missing,
        Outcome::Missing,
    ];
    assert_eq!(write(&store, operations), expected);
    assert_eq!(read(&store, &[get("a"), get("n")]), [Outcome::Missing, value("5")]);
}

#[test]
fn keys_come_in_their_order_and_with_their_prefix() {
    let (_folder, store) = store();
    write(&store, ["b1", "a", "b2", "c"].map(|key| set(key, key, 0)).into());
    let next = |after: &str, prefix: &str, most| {
        read(&store, &[Operation::Next { after: after.into(), prefix: prefix.into(), most }])
    };
    let entry = |key: &str| Outcome::Entry(key.into(), key.into());
    assert_eq!(next("", "b", 10), [entry("b1"), entry("b2"), Outcome::Missing]);
    assert_eq!(next("", "", 2), [entry("a"), entry("b1"), Outcome::Done]);
    assert_eq!(next("b1", "", 1), [entry("b2"), Outcome::Done]);
    assert_eq!(next("b2", "b", 10), [Outcome::Missing]);
}

#[test]
fn what_has_expired_is_missing_and_its_place_is_given_back() {
    let (folder, store) = store();
    write(&store, vec![set("short", "x", 20), set("long", "x", 60_000), set("kept", "x", 20)]);
    write(&store, vec![Operation::Expire { key: "kept".into(), lifetime: 0 }]);
    sleep(Duration::from_millis(40));
    assert_eq!(
        read(&store, &[get("short"), get("kept"), get("long")]),
        [Outcome::Missing, value("x"), value("x")]
    );
    let remaining = |key: &str| read(&store, &[Operation::Remaining { key: key.into() }]);
    assert_eq!((remaining("short"), remaining("kept")), (vec![Outcome::Missing], vec![Outcome::Number(0)]));
    assert!(matches!(remaining("long")[..], [Outcome::Number(1..=60_000)]));
    // A lifetime that is gone isn't inherited.
    assert_eq!(write(&store, vec![Operation::Add { key: "short".into(), n: 1 }]), [Outcome::Number(1)]);
    assert_eq!(remaining("short"), [Outcome::Number(0)]);
    drop(folder);
}

#[test]
fn what_is_no_key_and_what_is_too_much_is_refused() {
    let (_folder, store) = store();
    let key = "k".repeat(1025);
    let outcomes = write(&store, vec![set("", "x", 0), set(&key, "x", 0), set("a", "x", 0)]);
    assert!(matches!(outcomes[..], [Outcome::Refused(_), Outcome::Refused(_), Outcome::Done]));
    let large = "x".repeat(1 << 20);
    for batch in 0..40 {
        write(&store, vec![set(&format!("large{batch}"), &large, 0)]);
    }
    let all = read(&store, &(0..40).map(|batch| get(&format!("large{batch}"))).collect::<Vec<_>>());
    assert_eq!(all[0], value(&large));
    assert!(matches!(&all[39], Outcome::Refused(why) if why.contains("too much at once")));
}

#[test]
fn a_store_is_for_one_program() {
    let (folder, _store) = store();
    assert!(Store::open(&folder.path().join("store.redb")).is_err());
    assert!(Store::open(&folder.path().join("no such folder/store.redb")).is_err());
}
