//! Blocks that are shipped do what they do where they aren't.

mod blocks;

use crate::faults::random;
use crate::tcp::port;
use crate::{complaint, drystone, folder_with, printed, status};

#[test]
fn a_block_does_the_same_wherever_it_runs() {
    let count = std::env::var("BLOCKS").map_or(40, |count| count.parse().expect("a number"));
    let mut random = random(std::env::var("SEED").map_or(0x5a1b, |seed| seed.parse().expect("a number")));
    let (mut ended_well, mut refused) = (0, 0);
    for _ in 0..count {
        let programs = blocks::programs(&mut random, port());
        let [here, there] = programs.each_ref().map(|program| {
            let output = drystone(folder_with(program).path(), &["run", "program.dry"]);
            let error = complaint(&output).lines().find(|line| line.starts_with("error")).map(str::to_string);
            (printed(&output), error, status(&output))
        });
        assert_eq!(here, there, "{}", programs[1]);
        ended_well += usize::from(here.2 == 0);
        // The compiler sees some divisions by zero.
        refused += usize::from(here.2 == 2);
    }
    assert!(ended_well > count / 4 && refused < count / 4, "{ended_well}, {refused} of {count}");
}
