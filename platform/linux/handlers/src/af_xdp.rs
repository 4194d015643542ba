//! AF_XDP devices: an interface's driver puts frames into memory of this process, bypassing the kernel's network stack.
//!
//! `unsafe` here: frames are lent. A frame is in one queue at a time, and lent only while it is in none. The memory is
//! unmapped after all queues are closed.

use std::io::{Error, Result};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::slice;
use std::thread::sleep;
use std::time::Duration;

use drystone_extension::bytecode::{Definition, OWN_LICENCE, assemble};
use drystone_extension::demux::{Cell, Demultiplexer, Filter, Test};
use drystone_extension::handler::Frame;
use xdpilone::xdp::XdpDesc;
use xdpilone::{DeviceQueue, IfInfo, RingRx, RingTx, Socket, SocketConfig, Umem, UmemConfig, User};

use crate::bpf::{self, Map};
use crate::device::{Decision, Device, LONGEST, MANY, ROOM};
use crate::interface;
use crate::mapping::Mapping;
use crate::xdp::{Attached, Mode, cant};

/// How many frames the memory has: half to receive, half to send.
const FRAMES: u32 = 4096;
const FRAME: usize = LONGEST;
const XSKMAP: u32 = 17;
/// The queues say whether the kernel has to be woken.
const NEED_WAKEUP: u16 = 1 << 3;

/// An AF_XDP socket with its memory.
pub struct AfXdp {
    receiving: RingRx,
    sending: RingTx,
    device: DeviceQueue,
    _user: User,
    /// Free frames to send.
    free: Vec<u64>,
    interface: u32,
    /// Whether frames wait for the kernel to be woken.
    unsent: bool,
    _attached: Attached,
    _sockets: Map,
    // Last, so that it is unmapped last.
    memory: Memory,
}

struct Memory(Mapping);

impl Memory {
    /// The frame that contains an address, and the offset in it.
    ///
    /// # Safety
    /// The frame is in no queue, and not lent already.
    unsafe fn frame(&mut self, address: u64) -> (&mut [u8], usize) {
        let (number, offset) = (address as usize / FRAME, address as usize % FRAME);
        assert!(number < FRAMES as usize, "frame {number}");
        // SAFETY: the frame is within the memory, and is accessed by nobody else, being in no queue and lent once.
        unsafe { (slice::from_raw_parts_mut(self.0.begin().add(number * FRAME).as_ptr(), FRAME), offset) }
    }
}

impl AfXdp {
    /// Takes all frames that come in at a queue of an interface; the kernel's stack gets none.
    ///
    /// # Errors
    /// What is missing, in words for people.
    pub fn open(interface: &str, queue: u32, mode: Mode) -> std::result::Result<AfXdp, String> {
        AfXdp::with(interface, queue, mode, None)
    }

    /// Takes the frames that a filter wants, of those that come in at a queue of an interface. The kernel's stack gets
    /// all others.
    ///
    /// # Errors
    /// What is missing, or why the filter can't be compiled for the kernel.
    pub fn open_for(
        interface: &str,
        queue: u32,
        mode: Mode,
        wanted: Filter,
    ) -> std::result::Result<AfXdp, String> {
        AfXdp::with(interface, queue, mode, Some(wanted))
    }

    /// Takes the datagrams to a port, over IPv4, without options and unfragmented. The kernel's stack gets all other
    /// frames.
    ///
    /// # Errors
    /// What is missing, for people.
    pub fn open_port(
        interface: &str,
        queue: u32,
        mode: Mode,
        port: u16,
    ) -> std::result::Result<AfXdp, String> {
        AfXdp::open_for(interface, queue, mode, only_port(port))
    }

    fn with(
        interface: &str,
        queue: u32,
        mode: Mode,
        wanted: Option<Filter>,
    ) -> std::result::Result<AfXdp, String> {
        let number = interface::number(interface)?;
        let memory = Mapping::new(None, FRAMES as usize * FRAME)
            .map(Memory)
            .map_err(|error| format!("there is no memory for frames: {error}"))?;
        let said = |error: xdpilone::Errno| {
            cant("open an AF_XDP socket on", interface, &Error::from_raw_os_error(error.get_raw()))
        };
        let config = UmemConfig {
            fill_size: FRAMES / 2,
            complete_size: FRAMES / 2,
            frame_size: FRAME as u32,
            headroom: ROOM as u32,
            flags: 0,
        };
        // SAFETY: the memory outlives the queues. A frame is accessed only while it is in none of them.
        let umem = unsafe { Umem::new(config, memory.0.bytes()) }.map_err(said)?;
        let mut info = IfInfo::invalid();
        info.from_ifindex(number).map_err(said)?;
        info.set_queue(queue);
        let socket = Socket::with_shared(&info, &umem).map_err(said)?;
        let mut device = umem.fq_cq(&socket).map_err(said)?;
        let size = NonZeroU32::new(FRAMES / 2);
        let config = SocketConfig { rx_size: size, tx_size: size, bind_flags: NEED_WAKEUP };
        let user = umem.rx_tx(&socket, &config).map_err(said)?;
        let (receiving, sending) = (user.map_rx().map_err(said)?, user.map_tx().map_err(said)?);
        bind(&umem, &user).map_err(said)?;
        fill(&mut device, (0..FRAMES / 2).map(|number| u64::from(number) * FRAME as u64));
        let sockets = sockets().map_err(|error| cant("make a map", "sockets", &error))?;
        let descriptor = (receiving.as_raw_fd() as u32).to_ne_bytes();
        sockets
            .set(&queue.to_ne_bytes(), &descriptor)
            .map_err(|error| cant("register a socket for", interface, &error))?;
        let attached = attach(&sockets, interface, number, mode, wanted)?;
        let free = (FRAMES / 2..FRAMES).map(|number| u64::from(number) * FRAME as u64).collect();
        Ok(AfXdp {
            receiving,
            sending,
            device,
            _user: user,
            free,
            interface: number,
            unsent: false,
            _attached: attached,
            _sockets: sockets,
            memory,
        })
    }

    /// Frees frames that were sent.
    fn complete(&mut self) {
        let mut sent = self.device.complete(MANY as u32);
        while let Some(address) = sent.read() {
            self.free.push(address - address % FRAME as u64);
        }
        sent.release();
    }

    fn transmit(&mut self, descriptor: XdpDesc) -> bool {
        let mut sending = self.sending.transmit(1);
        let done = sending.insert_once(descriptor);
        sending.commit();
        self.unsent |= done;
        done
    }
}

/// Retries while the queue is busy: the kernel frees it a moment after its last socket was closed.
fn bind(umem: &Umem, user: &User) -> std::result::Result<(), xdpilone::Errno> {
    const TRIES: u32 = 50;
    for _ in 1..TRIES {
        match umem.bind(user) {
            Err(error) if error.get_raw() == libc::EBUSY => sleep(Duration::from_millis(10)),
            result => return result,
        }
    }
    umem.bind(user)
}

/// Puts frames into a queue, which has room for all; it may take them in several steps, because it reads the kernel's
/// position only now and then.
fn fill(device: &mut DeviceQueue, frames: impl Iterator<Item = u64>) {
    let mut frames = frames.peekable();
    while frames.peek().is_some() {
        let mut filling = device.fill(FRAMES / 2);
        while frames.next_if(|frame| filling.insert_once(*frame)).is_some() {}
        filling.commit();
    }
}

fn sockets() -> Result<Map> {
    Map::new("sockets", Definition { kind: XSKMAP, key: 4, value: 4, entries: 64, flags: 0, extra: 0 })
}

/// The program that redirects frames, or those that are wanted, to the socket of their queue, if there is one.
fn attach(
    sockets: &Map,
    interface: &str,
    number: u32,
    mode: Mode,
    wanted: Option<Filter>,
) -> std::result::Result<Attached, String> {
    // What can't be reached the kernel refuses.
    let (only, pass) = match wanted {
        Some(wanted) => (only(wanted)?, "pass: mov %r0, 2\nexit"),
        None => (String::new(), ""),
    };
    let text = format!(
        "{only}
         ldxw %r2, [%r1+16]
         lddw %r1, map_by_fd({})
         mov %r3, 2
         call 51
         exit
         {pass}",
        sockets.fd().as_raw_fd()
    );
    let slots = assemble(&text).map_err(|error| error.to_string())?;
    let program = bpf::load_xdp("to_socket", OWN_LICENCE, &slots)?;
    Attached::new(&program, interface, number, mode)
}

/// Jumps to `pass` with frames that aren't wanted.
fn only(wanted: Filter) -> std::result::Result<String, String> {
    let mut demultiplexer = Demultiplexer::walking(0);
    demultiplexer.insert(wanted, ())?;
    let found = demultiplexer.classifier().to_ebpf(|()| 1)?;
    Ok(format!("{found}\njeq %r7, 0, pass\nmov %r1, %r6"))
}

/// The test for datagrams of a service.
fn only_port(port: u16) -> Filter {
    const UDP: u32 = 17;
    const NO_OPTIONS: u32 = 0x45;
    const FRAGMENT: u32 = 0x3fff;
    Filter::all_of([
        Test::is(Cell::half(12), 0x0800),
        Test::is(Cell::byte(14), NO_OPTIONS),
        Test::is(Cell::half(20), 0).masked(FRAGMENT),
        Test::is(Cell::byte(23), UDP),
        Test::is(Cell::half(36), port.into()),
        Test::has(Cell::byte(41)),
    ])
}

impl AsFd for AfXdp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the queue is open as long as this is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.receiving.as_raw_fd()) }
    }
}

impl Device for AfXdp {
    fn interface(&self) -> u32 {
        self.interface
    }

    fn receive(&mut self, take: &mut dyn FnMut(&mut Frame<'_>) -> Decision) -> Result<usize> {
        self.complete();
        let mut come = [const { None }; MANY];
        let mut reading = self.receiving.receive(MANY as u32);
        let mut count = 0;
        while count < MANY
            && let Some(descriptor) = reading.read()
        {
            come[count] = Some(descriptor);
            count += 1;
        }
        reading.release();
        drop(reading);
        let mut again = Vec::with_capacity(count);
        for descriptor in come.into_iter().flatten() {
            // SAFETY: the frame was received, so it is in no queue.
            let (buffer, offset) = unsafe { self.memory.frame(descriptor.addr) };
            let mut frame = Frame::new(buffer, offset, offset + descriptor.len as usize);
            let decision = take(&mut frame);
            let range = frame.range();
            let begin = descriptor.addr - descriptor.addr % FRAME as u64;
            let out = XdpDesc { addr: begin + range.start as u64, len: range.len() as u32, options: 0 };
            // A frame to send takes the place of this one.
            let sent = decision == Decision::Transmit && !self.free.is_empty() && self.transmit(out);
            again.push(if sent { self.free.pop().unwrap_or(begin) } else { begin });
        }
        fill(&mut self.device, again.into_iter());
        if self.device.needs_wakeup() {
            self.device.wake();
        }
        self.flush()?;
        Ok(count)
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        if message.len() > FRAME {
            return Ok(());
        }
        if self.free.is_empty() {
            self.complete();
        }
        let Some(address) = self.free.pop() else { return Ok(()) };
        // SAFETY: the frame is free, so it is in no queue.
        let (buffer, _) = unsafe { self.memory.frame(address) };
        buffer[..message.len()].copy_from_slice(message);
        if !self.transmit(XdpDesc { addr: address, len: message.len() as u32, options: 0 }) {
            self.free.push(address);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let mut left = u32::MAX;
        // The kernel sends a few each time, and nobody but this has it send the others.
        while self.unsent && self.sending.needs_wakeup() && self.sending.pending() < left {
            left = self.sending.pending();
            self.sending.wake();
            self.unsent = self.sending.pending() > 0;
        }
        self.complete();
        Ok(())
    }
}

impl std::fmt::Debug for AfXdp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AfXdp on interface {}", self.interface)
    }
}
