//! Rust's side of `INTERFACE Adder; { IN Add(x: INTEGER) OUT Sum(x: INTEGER) } END Adder;`. A copy of what
//! `drystone-stubs` makes of it, as far as these tests need it, because the runtime may not depend on the language.

use std::any::Any;
use std::task::Poll;

use drystone_runtime::native::{
    Answers, Asks, Call, Caller, Client as Session, Closed, Declaration, Direct, Fingerprint, Message,
    Method, Ports, Protocol, Putting, Reply, Request, Serving, Taking, receive,
};

pub static DECLARATION: Declaration = Declaration { name: "Adder", fingerprint: Fingerprint::of("Adder") };

const ADD: usize = 0;
const SUM: usize = 1;

pub enum Adder {}

impl Protocol for Adder {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In<'a> = Number<ADD>;
    type Out<'a> = Number<SUM>;
}

/// The one message of a side.
pub struct Number<const WHICH: usize>(i64);

impl<const WHICH: usize> Message for Number<WHICH> {
    fn number(&self) -> usize {
        WHICH
    }

    fn put(self, to: &mut Putting<'_>) {
        to.integer(self.0);
    }

    fn take(number: usize, mut from: Taking<'_>) -> Option<Self> {
        (number == WHICH).then(|| Number(from.integer()))
    }
}

/// A server that answers at once.
pub trait AddsAtOnce: 'static {
    fn add(&mut self, x: i64) -> i64;
}

/// One that may have to wait.
pub trait Adds: 'static {
    fn add(&mut self, caller: &Caller, x: i64) -> Poll<i64>;

    fn at_once(&mut self) -> Option<&mut dyn AddsAtOnce> {
        None
    }
}

impl<T: AddsAtOnce> Adds for T {
    fn add(&mut self, _: &Caller, x: i64) -> Poll<i64> {
        Poll::Ready(AddsAtOnce::add(self, x))
    }

    fn at_once(&mut self) -> Option<&mut dyn AddsAtOnce> {
        Some(self)
    }
}

pub fn serve(object: impl Adds) -> Serving {
    Serving::calls(Adapter(Box::new(object)))
}

struct Adapter(Box<dyn Adds>);

impl Answers for Adapter {
    const DECLARATION: &'static Declaration = &DECLARATION;

    fn answer(&mut self, caller: &Caller, _: usize, mut request: Request<'_>, reply: Reply<'_>) -> Poll<()> {
        self.0.add(caller, request.integer()).map(|x| reply.send(SUM, |to| Number::<SUM>(x).put(to)))
    }

    fn object(&mut self) -> &mut dyn Any {
        &mut self.0
    }
}

pub struct Client {
    session: Session<Adder>,
    direct: Direct<dyn AddsAtOnce, dyn Adds>,
}

impl Client {
    pub fn of(ports: &Ports) -> Client {
        Client { session: ports.client(0), direct: Direct::default() }
    }

    pub fn add(&mut self, x: i64) -> Call<'_, Add> {
        Call::new(self, (x,))
    }

    pub fn add_now(&mut self, x: i64) -> Option<i64> {
        Add::at_once(self, (x,)).ok()
    }
}

impl Asks for Client {
    type Protocol = Adder;
    type AtOnce = dyn AddsAtOnce;
    type Later = dyn Adds;

    fn parts(&mut self) -> (&mut Session<Adder>, &mut Direct<dyn AddsAtOnce, dyn Adds>) {
        (&mut self.session, &mut self.direct)
    }

    fn at_once(object: &mut dyn Adds) -> Option<&mut dyn AddsAtOnce> {
        object.at_once()
    }
}

pub enum Add {}

impl Method for Add {
    type Client = Client;
    type Given<'c> = (i64,);
    type Answer = i64;
    const REQUEST: usize = ADD;

    fn copied<'c>(given: &Self::Given<'c>) -> Option<Self::Given<'c>> {
        Some(*given)
    }

    fn at_once<'c>(client: &mut Client, given: Self::Given<'c>) -> Result<i64, Self::Given<'c>> {
        client.direct.at_once(given, |object, (x,)| object.add(x))
    }

    fn later<'c>(client: &mut Client, given: Self::Given<'c>) -> Result<i64, Self::Given<'c>> {
        client.direct.later(|object, caller| object.add(caller, given.0)).ok_or(given)
    }

    fn request<'c>((x,): Self::Given<'c>) -> <Adder as Protocol>::In<'c> {
        Number(x)
    }

    fn answer(session: &mut Session<Adder>) -> Poll<Result<i64, Closed>> {
        receive(session, |Number(x)| Some(x))
    }
}
