//! Generates the Rust side of the crate's interfaces.

fn main() {
    drystone_stubs::build("interfaces.dry");
}
