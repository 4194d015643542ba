//! Builds the users' program, which is in the kernel.

#[path = "user/build_users.rs"]
mod users;

fn main() {
    users::build(&[]);
}
