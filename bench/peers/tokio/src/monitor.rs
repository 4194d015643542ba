//! A monitor's lock and what waits under it.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

/// A lock that nobody holds while they wait, so the standard one is the quickest.
#[derive(Default)]
pub struct Monitor<T>(Mutex<T>);

impl<T> Monitor<T> {
    pub fn new(state: T) -> Monitor<T> {
        Monitor(Mutex::new(state))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("nobody panics with it")
    }

    /// Waits until the attempt succeeds, trying again after each notice.
    pub async fn wait<R>(&self, change: &Notify, mut attempt: impl FnMut(&mut T) -> Option<R>) -> R {
        if let Some(success) = attempt(&mut self.lock()) {
            return success;
        }
        loop {
            let mut notice = pin!(change.notified());
            {
                let mut state = self.lock();
                if let Some(success) = attempt(&mut state) {
                    return success;
                }
                // Under the lock, so that no change is missed.
                notice.as_mut().enable();
            }
            notice.await;
        }
    }
}
