//! The list of exported names: the key-value bucket `drystone-names`, in which a name has the subject at which it is
//! served and a description of the interface. Entries are leases of half a minute, which servers renew. Where NATS has
//! no key-value store, a name is its own subject, and there is no list.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::{self, kv};
use data_encoding::BASE64;
use drystone_component::Interface;
use drystone_component::wire::{Description, identity};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The bucket.
const BUCKET: &str = "drystone-names";

/// How long an entry lasts, and how often it is renewed.
const LEASE: Duration = Duration::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);

/// How long an operation on the bucket may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// An entry, as JSON.
pub(super) fn entry(subject: &str, server: &str, interface: &Interface) -> Vec<u8> {
    let mut description = Vec::new();
    Description::of(interface).encode(&mut description);
    let entry = json!({
        "subject": subject,
        "server": server,
        "interface": interface.name.get(),
        "identity": identity(interface),
        "description": BASE64.encode(&description),
    });
    entry.to_string().into_bytes()
}

/// Makes an entry and renews it, until `end` resolves. `is_there` is told when the entry has been made, or can't be.
pub(super) async fn keep(
    client: Client,
    name: String,
    entry: Vec<u8>,
    is_there: oneshot::Sender<()>,
    mut end: oneshot::Receiver<()>,
) {
    let (mut bucket, mut revision) = (None, None);
    let mut is_there = Some(is_there);
    loop {
        if bucket.is_none() {
            bucket = timeout(PATIENCE, make(&client)).await.ok().flatten();
        }
        if let Some(bucket) = &bucket {
            revision = put(bucket, &name, &entry).await.or(revision);
        }
        is_there.take().map(|is_there| is_there.send(()));
        if timeout(RENEWAL, &mut end).await.is_ok() {
            break;
        }
    }
    if let (Some(bucket), Some(revision)) = (&bucket, revision) {
        // Unless another server has written the entry since.
        let _ = timeout(PATIENCE, bucket.delete_expect_revision(&name, Some(revision))).await;
    }
}

async fn put(bucket: &kv::Store, name: &str, entry: &[u8]) -> Option<u64> {
    timeout(PATIENCE, bucket.put(name, entry.to_vec().into())).await.ok()?.ok()
}

async fn make(client: &Client) -> Option<kv::Store> {
    let context = jetstream::new(client.clone());
    let config = kv::Config {
        bucket: BUCKET.to_string(),
        description: "What Drystone programs export".to_string(),
        history: 1,
        max_age: LEASE,
        storage: jetstream::stream::StorageType::Memory,
        ..kv::Config::default()
    };
    match context.create_key_value(config).await {
        Ok(bucket) => Some(bucket),
        // There is one with another configuration.
        Err(_) => context.get_key_value(BUCKET).await.ok(),
    }
}

/// Where a name is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) subject: String,
    /// The name is listed, as far as is known.
    pub(super) is_listed: bool,
}

/// Looks a name up.
pub(super) async fn look_up(client: Client, name: String) -> Found {
    let entry = async {
        let bucket = jetstream::new(client).get_key_value(BUCKET).await.ok()?;
        Some(bucket.get(name.as_str()).await.ok()?.map(|entry| subject(&entry)))
    };
    match timeout(PATIENCE, entry).await.ok().flatten() {
        Some(Some(Some(subject))) => Found { subject, is_listed: true },
        Some(None) => Found { subject: name, is_listed: false },
        // There is no such bucket, or the entry can't be read.
        _ => Found { subject: name, is_listed: true },
    }
}

/// The subject in an entry; `None`: the bytes are something else.
pub(super) fn subject(entry: &[u8]) -> Option<String> {
    let entry: Value = serde_json::from_slice(entry).ok()?;
    let subject = super::access::fit(entry.get("subject")?.as_str()?);
    subject.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_may_be_anything() {
        assert_eq!(subject(br#"{"subject":"office.files","other":[1]}"#).as_deref(), Some("office.files"));
        for wrong in [
            &b""[..],
            b"{}",
            b"[]",
            b"{\"subject\":1}",
            b"{\"subject\":\"a b\"}",
            b"{\"subject\":\">\"}",
            b"\xFF",
        ] {
            assert_eq!(subject(wrong), None);
        }
    }
}
