//! The state of a host: its device, its sockets, and its neighbours.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use drystone_handlers::{Device, Station};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp;
use smoltcp::wire::{ArpOperation, EthernetAddress, EthernetProtocol, HardwareAddress, IpCidr, Ipv4Cidr};

use crate::fast::{Connection, End};
use crate::wire::Wire;
use crate::{arp, rarp};

/// A host's configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its hardware address.
    pub hardware: [u8; 6],
    /// Its IP address.
    pub address: Ipv4Addr,
    /// The length of the network's prefix.
    pub network_bits: u8,
    /// The gateway to other networks.
    pub gateway: Option<Ipv4Addr>,
}

/// The state of a host.
pub(crate) struct Inner<D> {
    wire: Wire<D>,
    interface: Interface,
    pub sockets: SocketSet<'static>,
    /// Connections that their applications have dropped, until they are closed.
    leaving: Vec<SocketHandle>,
    /// Where the next search for a free port begins.
    port: u16,
    pub reverse: Option<rarp::Server>,
    /// Connections with a fast path, by numbers that are never reused.
    fast: BTreeMap<u64, Connection>,
    numbers: u64,
    /// Hardware addresses of other machines; `None`: asked for, without an answer yet.
    pub neighbours: BTreeMap<Ipv4Addr, Option<[u8; 6]>>,
    settings: Settings,
    begin: Instant,
}

impl<D: Device> Inner<D> {
    /// The state of a new host: see [`Host::new`](crate::Host::new).
    pub fn new(station: Station<D>, settings: &Settings) -> Result<Inner<D>> {
        let Settings { hardware, address, network_bits, gateway } = settings;
        let invalid = |what: String| Error::new(ErrorKind::InvalidInput, what);
        if *network_bits > 32 || address.is_multicast() || address.is_unspecified() || hardware[0] & 1 != 0 {
            return Err(invalid(format!("no host can have the address {address}/{network_bits}")));
        }
        let mut wire = Wire { station, come: VecDeque::new() };
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(*hardware)));
        config.random_seed = random()?;
        let mut interface = Interface::new(config, &mut wire, smoltcp::time::Instant::ZERO);
        interface.update_ip_addrs(|all| {
            // There is room, because it is the first address.
            let _ = all.push(IpCidr::Ipv4(Ipv4Cidr::new(*address, *network_bits)));
        });
        if let Some(gateway) = gateway {
            let done = interface.routes_mut().add_default_ipv4_route(*gateway);
            done.map_err(|_| invalid(format!("there is no room for the gateway {gateway}")))?;
        }
        Ok(Inner {
            wire,
            interface,
            sockets: SocketSet::new(Vec::new()),
            leaving: Vec::new(),
            port: 49152 + random()? as u16 % 16384,
            reverse: None,
            fast: BTreeMap::new(),
            numbers: 0,
            neighbours: BTreeMap::new(),
            settings: settings.clone(),
            begin: Instant::now(),
        })
    }

    fn now(&self) -> smoltcp::time::Instant {
        smoltcp::time::Instant::from_micros(self.begin.elapsed().as_micros() as i64)
    }

    /// Processes what has arrived, and what is due. Returns whether anything has arrived.
    pub fn turn(&mut self) -> Result<bool> {
        let arrived = self.wire.station.turn()?;
        while let Some(frame) = self.wire.station.take_passed() {
            self.take(frame)?;
        }
        self.work()?;
        let now = self.now();
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
        self.forget();
        self.wire.station.device().flush()?;
        Ok(arrived > 0)
    }

    /// Passes a frame to its receiver.
    fn take(&mut self, frame: Vec<u8>) -> Result<()> {
        if let Some(answer) = self.reverse.as_ref().and_then(|server| server.answer(&frame)) {
            return self.wire.station.device().send(&answer);
        }
        if let Some((ArpOperation::Reply, (hardware, address), _)) = arp::read(EthernetProtocol::Arp, &frame)
            && let Some(neighbour) = self.neighbours.get_mut(&address)
        {
            *neighbour = Some(hardware);
        }
        match self.fast.values_mut().find(|connection| connection.is_for(&frame)) {
            Some(connection) => connection.arrive(&frame),
            None => self.wire.come.push_back(frame),
        }
        Ok(())
    }

    /// Lets connections with a fast path do what is due.
    fn work(&mut self) -> Result<()> {
        let now = Instant::now();
        for connection in self.fast.values_mut() {
            connection.work(now);
            for frame in connection.take_out() {
                self.wire.station.device().send(&frame)?;
            }
        }
        self.fast.retain(|_, connection| !connection.is_forgotten());
        Ok(())
    }

    /// How long there is nothing to do unless something arrives.
    pub fn pause(&mut self) -> Duration {
        const MOST: Duration = Duration::from_millis(100);
        let now = self.now();
        let first = self.fast.values().filter_map(Connection::timer).min();
        let first = first.map_or(MOST, |first| first.saturating_duration_since(Instant::now()));
        self.interface.poll_delay(now, &self.sockets).map_or(MOST, |delay| MOST.min(delay.into())).min(first)
    }

    /// The next hop for an address: itself, or the gateway.
    pub fn next_hop(&self, address: Ipv4Addr) -> Result<Ipv4Addr> {
        let Settings { address: own, network_bits, gateway, .. } = &self.settings;
        if Ipv4Cidr::new(*own, *network_bits).contains_addr(&address) {
            return Ok(address);
        }
        let unreachable = || format!("{address} is in another network, and there is no gateway");
        gateway.ok_or_else(|| Error::new(ErrorKind::NetworkUnreachable, unreachable()))
    }

    /// Sends an ARP request for an address. Its answer will be in `neighbours`.
    pub fn ask_for(&mut self, address: Ipv4Addr) -> Result<()> {
        let own = (self.settings.hardware, self.settings.address);
        let (protocol, everybody) = (EthernetProtocol::Arp, arp::EVERYBODY);
        let question = arp::written(protocol, ArpOperation::Request, own, ([0; 6], address), everybody);
        self.neighbours.insert(address, None);
        self.wire.station.device().send(&question)
    }

    /// This host's end of a connection with a fast path.
    pub fn end(&self, port: u16) -> End {
        End { hardware: self.settings.hardware, address: SocketAddrV4::new(self.settings.address, port) }
    }

    pub fn add_fast(&mut self, connection: Connection) -> u64 {
        self.numbers += 1;
        self.fast.insert(self.numbers, connection);
        self.numbers
    }

    pub fn fast(&mut self, number: u64) -> Option<&mut Connection> {
        self.fast.get_mut(&number)
    }

    pub fn all_fast(&self) -> impl Iterator<Item = &Connection> {
        self.fast.values()
    }

    pub fn station(&mut self) -> &mut Station<D> {
        &mut self.wire.station
    }

    /// Lets a connection close without its application.
    pub fn leave(&mut self, handle: SocketHandle) {
        self.sockets.get_mut::<tcp::Socket<'_>>(handle).close();
        self.leaving.push(handle);
    }

    fn forget(&mut self) {
        let Inner { leaving, sockets, .. } = self;
        leaving.retain(|handle| {
            let state = sockets.get::<tcp::Socket<'_>>(*handle).state();
            let is_over = matches!(state, tcp::State::Closed | tcp::State::TimeWait);
            if is_over {
                sockets.remove(*handle);
            }
            !is_over
        });
    }

    /// A port that no connection of this host uses.
    pub fn free_port(&mut self) -> u16 {
        loop {
            self.port = if self.port == u16::MAX { 49152 } else { self.port + 1 };
            let port = self.port;
            let has_it = |(_, socket): (SocketHandle, &smoltcp::socket::Socket<'_>)| match socket {
                smoltcp::socket::Socket::Tcp(socket) => {
                    socket.local_endpoint().is_some_and(|it| it.port == port)
                }
                smoltcp::socket::Socket::Udp(socket) => socket.endpoint().port == port,
            };
            let fast_has_it = self.fast.values().any(|connection| connection.port() == port);
            if !fast_has_it && !self.sockets.iter().any(has_it) {
                return port;
            }
        }
    }

    /// The parts of a host that sockets need to begin a connection.
    pub fn parts(&mut self) -> (&mut smoltcp::iface::Context, &mut SocketSet<'static>) {
        (self.interface.context(), &mut self.sockets)
    }
}

/// A number that nobody can guess.
pub(crate) fn random() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}
