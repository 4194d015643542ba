//! `ENTRY_POINTS.md` agrees with the table of entry points.

use drystone_runtime::entry_points::EntryPoint;
use drystone_runtime::entry_points::table::ALL;

const CONTRACT: &str = include_str!("../../ENTRY_POINTS.md");
const MARK: &str = "*suspension point*";

/// What stands between the parentheses behind an entry point's name, and what stands behind its signature.
fn described<'a>(contract: &'a str, entry: &EntryPoint) -> (&'a str, &'a str) {
    let begin = format!("`{}(", entry.name);
    let at = contract.find(&begin).unwrap_or_else(|| panic!("nothing is said about {}", entry.name));
    let (signature, behind) = contract[at + begin.len()..].split_once('`').expect("it ends");
    (signature.split_once(')').expect("it is closed").0, behind)
}

#[test]
fn every_entry_point_is_described() {
    // A line of the text may end anywhere.
    let contract = CONTRACT.split_whitespace().collect::<Vec<_>>().join(" ");
    for entry in ALL {
        let (parameters, behind) = described(&contract, entry);
        let count = parameters.split(',').filter(|parameter| !parameter.is_empty()).count();
        assert_eq!(count, entry.given + entry.arguments.len(), "parameters of {}", entry.name);
        assert_eq!(
            behind.trim_start().starts_with(MARK),
            entry.suspends,
            "whether {} is a suspension point",
            entry.name
        );
    }
}
