//! Calls as their clients make them: what the methods answer that are made of an interface for its clients.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use super::session::{Client, Closed, Message, Protocol};
use super::{Direct, Putting};

/// A client that makes calls, as generated code declares it.
pub trait Asks: 'static {
    /// The interface.
    type Protocol: Protocol;
    /// Its trait.
    type AtOnce: ?Sized + 'static;
    /// Its trait of those that may wait.
    type Later: ?Sized + 'static;
    /// Its session, and what it has borrowed of what serves it.
    fn parts(&mut self) -> (&mut Client<Self::Protocol>, &mut Borrowed<Self>);
    /// What answers at once, if that is such an object.
    fn at_once(object: &mut Self::Later) -> Option<&mut Self::AtOnce>;
}

/// What a client has borrowed.
pub type Borrowed<C> = Direct<<C as Asks>::AtOnce, <C as Asks>::Later>;

/// One of the calls of an interface, as generated code declares it.
pub trait Method: 'static {
    /// Who makes it.
    type Client: Asks;
    /// The values of its request.
    type Given<'c>;
    /// What it gives.
    type Answer;
    /// Makes the call over a loan, if there is one; else nothing is done with what is given.
    fn at_once(client: &mut Self::Client, given: &mut Option<Self::Given<'_>>) -> Option<Self::Answer>;
    /// The same where the server may have to wait.
    fn later(client: &mut Self::Client, given: &mut Option<Self::Given<'_>>) -> Option<Self::Answer>;
    /// The request as a message.
    fn request<'c>(given: Self::Given<'c>) -> In<'c, Self>;
    /// Its number.
    const REQUEST: usize;
    /// The answer, when the request is sent.
    fn answer(session: &mut Client<<Self::Client as Asks>::Protocol>) -> Poll<Result<Self::Answer, Closed>>;
}

type In<'c, M> = <<<M as Method>::Client as Asks>::Protocol as Protocol>::In<'c>;

/// A call. It is made when it is awaited: over a loan at once, which is all that is not out of line, so that an `.await`
/// costs little more than the call.
#[must_use = "a call is made when it is awaited"]
pub struct Call<'c, M: Method> {
    client: &'c mut M::Client,
    /// Until it is sent.
    given: Option<M::Given<'c>>,
}

impl<M: Method> Unpin for Call<'_, M> {}

impl<'c, M: Method> Call<'c, M> {
    /// A call that is still to be made.
    #[inline(always)]
    pub fn new(client: &'c mut M::Client, given: M::Given<'c>) -> Call<'c, M> {
        Call { client, given: Some(given) }
    }

    #[cold]
    #[inline(never)]
    fn poll_usual(&mut self) -> Poll<Result<M::Answer, Closed>> {
        if self.given.is_some() {
            if let Some(answer) = M::later(self.client, &mut self.given) {
                return Poll::Ready(Ok(answer));
            }
            ready!(self.poll_send());
        }
        let answer = ready!(M::answer(self.client.parts().0));
        let (session, direct) = self.client.parts();
        direct.look(session, M::Client::at_once);
        Poll::Ready(answer)
    }

    fn poll_send(&mut self) -> Poll<()> {
        let (session, direct) = self.client.parts();
        direct.end();
        let given = &mut self.given;
        let put = |to: &mut Putting<'_>| {
            if let Some(given) = given.take() {
                M::request(given).put(to);
            }
        };
        session.0.poll_send(M::REQUEST, &mut Some(put))
    }
}

impl<M: Method> Future for Call<'_, M> {
    type Output = Result<M::Answer, Closed>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let call = &mut *self;
        match M::at_once(call.client, &mut call.given) {
            Some(answer) => Poll::Ready(Ok(answer)),
            None => call.poll_usual(),
        }
    }
}

/// Receives what a request is answered by.
pub fn receive<P: Protocol, T>(
    session: &mut Client<P>,
    read: impl FnOnce(P::Out<'static>) -> Option<T>,
) -> Poll<Result<T, Closed>> {
    session
        .0
        .poll_receive(P::Out::take)
        .map(|message| message.and_then(|message| read(message).ok_or(Closed)))
}
