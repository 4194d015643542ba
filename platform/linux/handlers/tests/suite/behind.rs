//! Handlers behind filters: in Drystone's engine, and behind a dispatcher in Linux's kernel at one end of a pair of
//! virtual interfaces.

use std::time::{Duration, Instant};

use drystone_extension::demux::Filter;
use drystone_extension::engine::jit::Pages;
use drystone_extension::handler::{
    FlowId, Flows, Frame, Handler, Image, Machine, OwnerId, Settings, Share, Verdict,
};
use drystone_handlers::{Decision, Device, Dispatcher, Line, Mode, Xdp, dispatcher};

use crate::objects::{datagram, payload};

pub fn to_port(port: u16) -> Filter {
    Filter::ethernet().ipv4().udp().destination_port(port).into()
}

pub fn add(port: u16, number: u64) -> Vec<u8> {
    datagram(port, &number.to_be_bytes())
}

pub fn number_in(message: &[u8]) -> u64 {
    u64::from_be_bytes(payload(message)[..8].try_into().expect("8 bytes"))
}

/// Handlers, all counters, behind filters. Flows are told apart by where they were attached: first, second, ...
pub trait Behind {
    fn attach(&mut self, owner: OwnerId, filter: Filter) -> usize;
    fn replace(&mut self, flow: usize);
    fn detach(&mut self, flow: usize);
    fn share(&mut self, owner: OwnerId, share: Share);
    /// What becomes of a message, and how it looks then.
    fn arrives(&mut self, message: &[u8]) -> (Verdict, Vec<u8>);
    /// Runs of an owner's flows that are attached, and what was passed on beyond its share.
    fn counts(&self, owner: OwnerId) -> (u64, u64);

    /// The sum that is answered; none if it is passed on as it came.
    fn sum(&mut self, port: u16, number: u64) -> Option<u64> {
        let message = add(port, number);
        self.sum_of(&message)
    }

    fn sum_of(&mut self, message: &[u8]) -> Option<u64> {
        match self.arrives(message) {
            (Verdict::Transmit, answer) => Some(number_in(&answer)),
            (Verdict::Pass, passed) if passed == message => None,
            other => panic!("{other:02x?}"),
        }
    }
}

pub struct Own {
    object: Vec<u8>,
    flows: Flows<Pages>,
    attached: Vec<FlowId>,
}

impl Own {
    pub fn new(object: &[u8], share: Share) -> Own {
        Own { object: object.to_vec(), flows: Flows::compiled(7, share), attached: Vec::new() }
    }

    fn handler(&self) -> Handler {
        Handler::new(&self.object, None, Settings::default()).expect("it is accepted")
    }
}

impl Behind for Own {
    fn attach(&mut self, owner: OwnerId, filter: Filter) -> usize {
        let handler = self.handler();
        self.attached.push(self.flows.attach(owner, filter, handler).expect("it can be"));
        self.attached.len() - 1
    }

    fn replace(&mut self, flow: usize) {
        let handler = self.handler();
        assert!(self.flows.replace(self.attached[flow], handler).is_some());
    }

    fn detach(&mut self, flow: usize) {
        assert!(self.flows.detach(self.attached[flow]).is_some());
    }

    fn share(&mut self, owner: OwnerId, share: Share) {
        self.flows.share(owner, share);
    }

    fn arrives(&mut self, message: &[u8]) -> (Verdict, Vec<u8>) {
        let mut buffer = message.to_vec();
        let mut frame = Frame::new(&mut buffer, 0, message.len());
        let outcome = self.flows.arrive(&mut frame, (1, 0), 5);
        (outcome.verdict(), frame.bytes().to_vec())
    }

    fn counts(&self, owner: OwnerId) -> (u64, u64) {
        let its = self.flows.all().filter(|(_, it)| *it == owner);
        let counts = its.filter_map(|(flow, _)| self.flows.counts(flow));
        counts.fold((0, 0), |(runs, lazily), it| (runs + it.runs, lazily + it.lazily))
    }
}

/// At the far end; messages come from the near one.
pub struct Linux {
    pub object: Vec<u8>,
    pub dispatcher: Dispatcher,
    pub attached: Vec<dispatcher::FlowId>,
    pub near: Line,
    /// Has what is passed on.
    pub far: Line,
}

pub fn xdp(object: &[u8]) -> Xdp {
    let image = Image::read(object, None, Machine::Linux).expect("it is an object");
    Xdp::load(&image).expect("it is accepted")
}

impl Linux {
    /// None, and says so, where there is no right to.
    pub fn new(object: &[u8], name: &str, share: Share, mode: Mode) -> Option<Linux> {
        let (near, far) = (Line::beside("near"), Line::beside("far"));
        let (near, far) = (near.expect("it is there"), far.expect("it is there"));
        match Dispatcher::open("far", mode, share) {
            Ok(dispatcher) => {
                Some(Linux { object: object.to_vec(), dispatcher, attached: Vec::new(), near, far })
            }
            Err(why) if why.contains("not permitted") => {
                println!("skipped: {name}: {why}");
                None
            }
            Err(why) => panic!("{name}: {why}"),
        }
    }
}

/// What has come to a device already.
pub fn come(device: &mut Line) -> Vec<Vec<u8>> {
    let mut come = Vec::new();
    let mut take = |frame: &mut Frame<'_>| {
        come.push(frame.bytes().to_vec());
        Decision::Done
    };
    while device.receive(&mut take).expect("it is there") > 0 {}
    come
}

impl Behind for Linux {
    fn attach(&mut self, owner: OwnerId, filter: Filter) -> usize {
        let handler = xdp(&self.object);
        self.attached.push(self.dispatcher.attach(owner, filter, handler).expect("it can be"));
        self.attached.len() - 1
    }

    fn replace(&mut self, flow: usize) {
        self.dispatcher.replace(self.attached[flow], xdp(&self.object)).expect("it can be");
    }

    fn detach(&mut self, flow: usize) {
        self.dispatcher.detach(self.attached[flow]).expect("it can be");
    }

    fn share(&mut self, owner: OwnerId, share: Share) {
        self.dispatcher.share(owner, share).expect("it can be");
    }

    fn arrives(&mut self, message: &[u8]) -> (Verdict, Vec<u8>) {
        self.near.send(message).expect("it is there");
        // On a machine that others keep busy it may take long.
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            for (verdict, device) in [(Verdict::Transmit, &mut self.near), (Verdict::Pass, &mut self.far)] {
                if let Some(message) = come(device).pop() {
                    return (verdict, message);
                }
            }
            assert!(
                Instant::now() < until,
                "it is lost; first and second owner: {:?}",
                [1, 2].map(|it| self.counts(it))
            );
        }
    }

    fn counts(&self, owner: OwnerId) -> (u64, u64) {
        let its = self.dispatcher.all().filter(|(_, it)| *it == owner);
        let counts = its.filter_map(|(flow, _)| self.dispatcher.counts(flow));
        counts.fold((0, 0), |(runs, lazily), it| (runs + it.runs, lazily + it.lazily))
    }
}
