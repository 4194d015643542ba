//! Makes the Rust side of the interfaces of what is measured of components in Rust.

fn main() {
    drystone_stubs::build("native.dry");
}
