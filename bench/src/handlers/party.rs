//! The parties that answer.

/// A party that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    Xdp,
    AfXdp,
    UdpSpinning,
    UdpBlocking,
    CacheXdp,
    CacheAfXdp,
    CacheProcess,
    Memcached,
    DnsXdp,
    DnsAfXdp,
    DnsProcess,
    Nsd,
    CounterXdp,
    CounterProcess,
    Dispatcher,
    DispatcherWithoutShares,
}

impl Party {
    /// Its name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Party::Xdp | Party::CacheXdp | Party::DnsXdp | Party::CounterXdp => "xdp",
            Party::AfXdp | Party::CacheAfXdp | Party::DnsAfXdp => "af-xdp",
            Party::UdpSpinning => "udp-spinning",
            Party::UdpBlocking => "udp-blocking",
            Party::CacheProcess | Party::DnsProcess | Party::CounterProcess => "process",
            Party::Memcached => "memcached",
            Party::Nsd => "nsd",
            Party::Dispatcher => "dispatcher",
            Party::DispatcherWithoutShares => "dispatcher-without-shares",
        }
    }
}
