//! Environment: the variables that the process was started with.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::interfaces::environment::{In, Server};

/// Serves a client to its end.
pub(crate) async fn attend(mut client: Server) {
    while let Ok(request) = client.receive().await {
        match request {
            In::Get { name } => match value(&name) {
                Some(value) => client.send_value(&value).await,
                None => client.send_missing().await,
            },
            In::List => {
                let mut all: Vec<_> = env::vars_os().collect();
                all.sort_unstable();
                for (name, value) in all {
                    client.send_variable(&name.into_vec(), &value.into_vec()).await;
                }
                client.send_end().await;
            }
        }
    }
}

/// The value of a variable. The C library would find `NAME=a` if the value of `NAME` began with `a=`.
fn value(name: &[u8]) -> Option<Vec<u8>> {
    let may_be = !name.is_empty() && !name.contains(&b'=');
    let found = may_be.then(|| env::var_os(OsStr::from_bytes(name))).flatten();
    found.map(OsStringExt::into_vec)
}
