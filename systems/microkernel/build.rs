//! Builds the user program, which is part of the kernel.

#[path = "user/build_users.rs"]
mod users;

fn main() {
    users::build(&[]);
}
