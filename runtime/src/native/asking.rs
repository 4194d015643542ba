//! Calls as clients in Rust make them: the futures that a client's methods give.

use core::future::Future;
use core::mem;
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
    /// Its session, and what it has borrowed from its server.
    fn parts(&mut self) -> (&mut Client<Self::Protocol>, &mut Borrowed<Self>);
    /// The object as one that answers at once, if it is one.
    fn at_once(object: &mut Self::Later) -> Option<&mut Self::AtOnce>;
}

/// What a client has borrowed.
pub type Borrowed<C> = Direct<<C as Asks>::AtOnce, <C as Asks>::Later>;

/// One of the calls of an interface, as generated code declares it.
pub trait Method: 'static {
    /// The client that makes it.
    type Client: Asks;
    /// The values of its request.
    type Given<'c>;
    /// What it gives.
    type Answer;
    /// A copy of what is given; `None`: it can be given once only.
    fn copied<'c>(given: &Self::Given<'c>) -> Option<Self::Given<'c>>;
    /// Makes the call over a loan.
    ///
    /// # Errors
    /// There is no loan; here is what was given.
    fn at_once<'c>(
        client: &mut Self::Client,
        given: Self::Given<'c>,
    ) -> Result<Self::Answer, Self::Given<'c>>;
    /// The same where the server may have to wait.
    ///
    /// # Errors
    /// There is no loan, or the server has to wait; here is what was given.
    fn later<'c>(client: &mut Self::Client, given: Self::Given<'c>) -> Result<Self::Answer, Self::Given<'c>>;
    /// The request as a message.
    fn request<'c>(given: Self::Given<'c>) -> In<'c, Self>;
    /// Its number.
    const REQUEST: usize;
    /// The answer, when the request is sent.
    fn answer(session: &mut Client<<Self::Client as Asks>::Protocol>) -> Poll<Result<Self::Answer, Closed>>;
}

type In<'c, M> = <<<M as Method>::Client as Asks>::Protocol as Protocol>::In<'c>;

/// A call. It is made when it is awaited. Only a call over a loan, which is made at once, is inlined: so an `.await`
/// costs little more than the call.
#[must_use = "a call is made when it is awaited"]
pub struct Call<'c, M: Method>(Stage<'c, M>);

enum Stage<'c, M: Method> {
    Unsent(&'c mut M::Client, M::Given<'c>),
    /// There is a client, but while it changes.
    Sent(Option<&'c mut M::Client>),
}

impl<M: Method> Unpin for Call<'_, M> {}

impl<'c, M: Method> Call<'c, M> {
    /// A call that is still to be made.
    #[inline(always)]
    pub fn new(client: &'c mut M::Client, given: M::Given<'c>) -> Call<'c, M> {
        Call(Stage::Unsent(client, given))
    }

    /// There was no loan. What is given stands in the call already, and is passed nevertheless: so it stays in
    /// registers for a call over a loan, which else would have to load it.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, given: M::Given<'c>) -> Poll<Result<M::Answer, Closed>> {
        if let Stage::Unsent(_, unsent) = &mut self.0 {
            *unsent = given;
        }
        self.go_on()
    }

    /// Goes on the usual way.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self) -> Poll<Result<M::Answer, Closed>> {
        if let Stage::Unsent(..) = self.0
            && let Stage::Unsent(client, given) = mem::replace(&mut self.0, Stage::Sent(None))
        {
            let given = match M::at_once(client, given).or_else(|given| M::later(client, given)) {
                Ok(answer) => return Poll::Ready(Ok(answer)),
                Err(given) => given,
            };
            let mut unsent = Some(given);
            let sent = send::<M>(client, &mut unsent);
            self.0 = match unsent {
                Some(given) => Stage::Unsent(client, given),
                None => Stage::Sent(Some(client)),
            };
            ready!(sent);
        }
        let Stage::Sent(Some(client)) = &mut self.0 else { panic!("a call is awaited once") };
        let answer = ready!(M::answer(client.parts().0));
        let (session, direct) = client.parts();
        direct.look(session, M::Client::at_once);
        Poll::Ready(answer)
    }
}

/// Sends the request, when there is room for it.
fn send<M: Method>(client: &mut M::Client, unsent: &mut Option<M::Given<'_>>) -> Poll<()> {
    let (session, direct) = client.parts();
    direct.end();
    let put = |to: &mut Putting<'_>| {
        if let Some(given) = unsent.take() {
            M::request(given).put(to);
        }
    };
    session.0.poll_send(M::REQUEST, &mut Some(put))
}

impl<M: Method> Future for Call<'_, M> {
    type Output = Result<M::Answer, Closed>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        if let Stage::Unsent(client, given) = &mut self.0
            && let Some(given) = M::copied(given)
        {
            return match M::at_once(client, given) {
                Ok(answer) => Poll::Ready(Ok(answer)),
                Err(given) => apart(self.begin(given)),
            };
        }
        apart(self.go_on())
    }
}

/// The same, taken apart where the caller sees it, so that a caller with an answer doesn't look at it again.
#[inline(always)]
#[allow(
    clippy::needless_match,
    reason = "else the two ways meet before the caller looks which answer it has"
)]
fn apart<T>(polled: Poll<Result<T, Closed>>) -> Poll<Result<T, Closed>> {
    match polled {
        Poll::Ready(Ok(answer)) => Poll::Ready(Ok(answer)),
        Poll::Ready(Err(Closed)) => Poll::Ready(Err(Closed)),
        Poll::Pending => Poll::Pending,
    }
}

/// Receives the answer to a request.
pub fn receive<P: Protocol, T>(
    session: &mut Client<P>,
    read: impl FnOnce(P::Out<'static>) -> Option<T>,
) -> Poll<Result<T, Closed>> {
    session
        .0
        .poll_receive(P::Out::take)
        .map(|message| message.and_then(|message| read(message).ok_or(Closed)))
}
