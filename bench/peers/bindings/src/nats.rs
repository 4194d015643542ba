//! A NATS that others run, by async-nats: requests with a subject of their own for the answers.

use async_nats::{Client, Subscriber};
use tokio_stream::StreamExt;

use crate::work::{Outcome, Work, runtime, timed};

const SUBJECT: &str = "joint";

/// The NATS is at that address.
pub fn serve(address: &str) -> Outcome<()> {
    runtime()?.block_on(async {
        let client = async_nats::connect(address).await?;
        let mut requests = client.subscribe(SUBJECT).await?;
        // It knows of the subscription before anybody is told to ask.
        client.flush().await?;
        println!("listening");
        while let Some(request) = requests.next().await {
            let answer = number(&request.payload)? + 1;
            let reply = request.reply.ok_or("nobody wants an answer")?;
            client.publish(reply, answer.to_be_bytes().to_vec().into()).await?;
        }
        Ok(())
    })
}

pub fn measure(work: Work, n: i64, address: &str) -> Outcome<()> {
    if work != Work::Ask {
        return Err("only ask".into());
    }
    runtime()?.block_on(async {
        let client = async_nats::connect(address).await?;
        let inbox = client.new_inbox();
        let mut answers = client.subscribe(inbox.clone()).await?;
        timed(n, async |n| talk(n, &client, &inbox, &mut answers).await).await
    })
}

async fn talk(n: i64, client: &Client, inbox: &str, answers: &mut Subscriber) -> Outcome<i64> {
    let mut sum = 0;
    for x in 1..=n {
        client.publish_with_reply(SUBJECT, inbox.to_string(), x.to_be_bytes().to_vec().into()).await?;
        sum += number(&answers.next().await.ok_or("no answer")?.payload)?;
    }
    Ok(sum)
}

fn number(payload: &[u8]) -> Outcome<i64> {
    Ok(i64::from_be_bytes(payload.try_into()?))
}
