//! The arguments with which a program was started.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::interfaces::arguments::Server;

/// Sends all arguments to a client.
pub async fn tell(mut client: Server, list: Rc<Vec<Vec<u8>>>) {
    if client.receive().await.is_err() {
        return;
    }
    for argument in list.iter() {
        client.send_argument(argument).await;
    }
    client.send_end().await;
}
