//! News whose reporters and customers work on the centre's texts themselves.

use serde_json::json;

use crate::mirror::news::{Archive, NewsCentre, check, text};
use crate::program::Outcome;

pub async fn run(n: usize, m: usize, k: usize) -> Result<Outcome, String> {
    let centre = NewsCentre::new(m);
    let customers: Vec<_> = (0..n)
        .map(|_| {
            let centre = centre.clone();
            tokio::spawn(async move {
                let mut archive = Archive::default();
                let mut is_complete = false;
                while !is_complete {
                    let known = archive.count as usize;
                    let read = centre.read(known, |new| new.iter().for_each(|text| archive.add(text)));
                    is_complete = read.await;
                }
                archive
            })
        })
        .collect();
    for reporter in 0..m {
        let centre = centre.clone();
        tokio::spawn(async move {
            for i in 0..k {
                centre.publish(text(reporter, i));
            }
            centre.dismiss();
        });
    }
    let mut archives = Vec::with_capacity(n);
    for customer in customers {
        archives.push(customer.await.map_err(|error| error.to_string())?);
    }
    let delivered = check(&archives, m * k)?;
    Ok(Outcome::uncounted(json!({"delivered": delivered, "same": true})))
}
