//! Letters of texts: where a request has any number of answers, a session serves the client.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;

use drystone_component::Program;
use drystone_kortex::Maker;

use crate::interfaces::letters::{self, In, Server};

/// Serves a client until it closes.
async fn count(mut client: Server) {
    while let Ok(In::Take { x }) = client.receive().await {
        let mut letters = BTreeMap::<u8, i64>::new();
        for &letter in x.iter() {
            *letters.entry(letter).or_default() += 1;
        }
        for (letter, times) in letters {
            client.send_letter(letter, times).await;
        }
        client.send_end().await;
    }
}

/// Offers it.
pub fn begin(_: &'static Program) -> Result<Maker, String> {
    Ok(Box::new(|| letters::session(count)))
}
