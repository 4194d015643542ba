//! What has been away comes home.

use crate::communication::ds_sent;
use crate::home::home;
use crate::home::team::Answer;
use crate::layout::Worker;
use crate::life::ending::ds_finish;
use crate::parallel;

/// Receives what has come home, and ends what teams have left to the home.
///
/// # Safety
/// `w` is the home worker, on which no process runs, or one within a call in which others may.
pub unsafe fn come_home(w: *mut Worker) {
    // SAFETY: an answer is complete in a live communication's buffer; a process that has finished is not touched any
    // more but here.
    unsafe {
        parallel::come_home(w);
        while let Some(Answer { communication, interface, message }) = (*home(w)).lending.answers.pop_front()
        {
            ds_sent(w, communication, &*interface, message);
        }
        while let Some((p, location)) = (*home(w)).lending.finished.pop_front() {
            ds_finish(w, p, location);
        }
    }
}
