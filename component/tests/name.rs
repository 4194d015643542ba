//! Names and their byte form.

use drystone_component::Name;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_name_is_read_back_from_its_bytes(scheme in "[a-z][a-z0-9+.-]{0,9}", rest in "(?s).{1,300}") {
        let text = format!("{scheme}:{rest}");
        let name = Name::decode(text.as_bytes()).unwrap();
        prop_assert_eq!((name.context(), name.rest()), (scheme.as_str(), rest.as_str()));
        prop_assert_eq!(name.bytes(), text.as_bytes());
        prop_assert_eq!(Name::decode(name.bytes()), Ok(name));
    }

    #[test]
    fn whatever_is_read_gives_the_same_bytes(bytes in any::<Vec<u8>>(), scheme in "[a-z]{0,2}:?") {
        let bytes = [scheme.into_bytes(), bytes].concat();
        match Name::decode(&bytes) {
            Ok(name) => prop_assert_eq!(name.bytes(), &bytes),
            Err(why) => prop_assert!(why.contains("is no name") && !why.contains('\n')),
        }
    }

    #[test]
    fn a_name_is_the_same_in_all_its_contexts(steps in prop::collection::vec("[^/]{0,5}", 1..6)) {
        let text = format!("local:{}", steps.join("/") + "x");
        let name = Name::decode(text.as_bytes()).unwrap();
        let contexts: Vec<_> = name.contexts().collect();
        prop_assert_eq!(contexts.len(), steps.len() - 1);
        for (inner, steps_behind) in contexts.iter().zip(1..) {
            prop_assert_eq!(inner.rest().split('/').count(), steps_behind);
            prop_assert_eq!(format!("{}/{}", inner.context(), inner.rest()), text.as_str());
            prop_assert_eq!(inner.bytes(), name.bytes());
        }
    }
}

#[test]
fn what_is_no_name_is_said() {
    for wrong in ["", "printer", ":printer", "local:", "Local:x", "9:x", "a b:c"] {
        assert!(Name::decode(wrong.as_bytes()).unwrap_err().contains("as in local:printer"), "{wrong}");
    }
    assert!(Name::decode(b"local:\xFF").is_err());
}

#[test]
fn what_people_see_fits_into_a_line() {
    let long = format!("local:{}", "\u{e9}\n".repeat(200));
    let shown = Name::decode(long.as_bytes()).unwrap().to_string();
    assert!(shown.len() < 500 && shown.ends_with("..") && !shown.contains('\n'));
}

#[test]
fn a_name_has_a_bound() {
    let of_length = |length: usize| format!("local:{}", "x".repeat(length - 6));
    assert!(Name::decode(of_length(1 << 16).as_bytes()).is_ok());
    let why = Name::decode(of_length((1 << 16) + 1).as_bytes()).unwrap_err();
    assert_eq!(why, "a name has 65536 bytes at most, this one 65537");
}
