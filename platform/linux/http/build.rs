//! The interfaces of the library's `Http`, by whose identity the binding knows them.

fn main() {
    drystone_stubs::build("../../../library/Http.dry");
}
