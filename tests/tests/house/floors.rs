//! The files of each crate stand on floors: no file uses another one that, over however many others, uses it.
//!
//! *What counts.* A file uses another one of its crate if a path in it (in a `use`, in code, or in what is passed to a
//! macro) leads to something that the other file declares. A path leads somewhere if it begins with `crate`, `self` or
//! `super`, or with a name that its module declares or imports. It is followed through imports and re-exports to the
//! file that declares the name, so a re-export hides nothing; where no declaration is seen (a macro makes it), to the
//! module at which the path ends. `use module::*` uses the module's file.
//!
//! *What doesn't count.* To declare a module (`mod child;`), to import one (what is then used of it counts), to
//! re-export (`pub use`) what is not used otherwise, visibilities (`pub(in ...)`), what is compiled only for tests.
//! Methods aren't seen: their calls name no path.
//!
//! *Which crates.* All of the repository but the fuzzers: also those that are workspaces of their own.

mod circles;
mod crates;
pub mod modules;
mod paths;
mod small;
mod uses;

use self::circles::Circle;
use crate::sources::repository;

/// The circles of all crates.
fn all_circles() -> Vec<Circle> {
    let repository = repository();
    let roots = crates::roots(&repository);
    assert!(roots.len() > 60, "only {} crates were found", roots.len());
    let graphs = roots
        .iter()
        .map(|root| uses::of_crate(root, &|path| std::fs::read_to_string(repository.join(path)).ok()));
    graphs.flat_map(|graph| circles::circles(&graph)).collect()
}

#[test]
fn no_file_uses_one_that_uses_it() {
    let circles: Vec<_> = all_circles().iter().map(Circle::to_string).collect();
    assert!(
        circles.is_empty(),
        "{}\nFiles may not use each other: move what both need into a file below them, or pass it in. The \
         head of {} says what counts.",
        circles.join("\n"),
        file!()
    );
}
