//! Makes Rust's side of the interface that `Sql.dry` declares.

fn main() {
    drystone_stubs::build("../Sql.dry");
}
