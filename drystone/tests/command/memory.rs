//! A process becomes as small again as its program.

use std::path::Path;

use crate::{drystone, printed, status};

#[test]
fn memory_that_a_program_needs_no_more_is_given_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command");
    for cores in ["1", "2"] {
        let output = drystone(&folder, &["run", "--cores", cores, "memory.dry"]);
        let expected = "components: given back\ntexts: given back\nkeys: given back\n";
        assert_eq!((printed(&output).as_str(), status(&output)), (expected, 0), "{cores} cores");
    }
}
