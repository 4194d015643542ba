//! Attacks on blocks, and what users must survive: arrays that handle page faults and can't, servers that lie, and
//! blocks that are changed while they run.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use users::attacks::touch;
use users::calls::{self, Number, call};
use users::say;

use crate::arrays::{Array, command};
use crate::checks::MOVE;
use crate::frames::AT;
use crate::programs::{ANY, NOTHING, wire};
use crate::remote::{self, OWN};
use crate::shipping::{
    self, By, CANCELLED, CHANNEL, CLIENTS, ENDED, LIE, LIES, LYING_BLOCK, REFUSED, Request, SLOWLY, WORDS,
};

const TAKE: u64 = Number::TakeFrame as u64;
const PUT: u64 = Number::PutFrame as u64;

/// The address behind a touch, where the signal handler continues, and how often it was called.
static BEHIND: AtomicU64 = AtomicU64::new(0);
static TOLD: AtomicU64 = AtomicU64::new(0);

extern "C" fn told(vector: u64, _: u64, _: u64) -> u64 {
    assert_eq!(vector, 14);
    TOLD.fetch_add(1, Relaxed);
    BEHIND.load(Relaxed)
}

/// Touches an address; returns whether a page fault was signalled, after which execution continued behind the touch.
fn is_told(address: u64) -> bool {
    let before = TOLD.load(Relaxed);
    // SAFETY: if there is no page it goes on behind it.
    unsafe {
        asm!(
            "lea {behind}, [rip + 2f]",
            "mov [{place}], {behind}",
            "mov qword ptr [{address}], 1",
            "2:",
            behind = out(reg) _,
            place = in(reg) BEHIND.as_ptr(),
            address = in(reg) address,
        );
    }
    TOLD.load(Relaxed) > before
}

/// Registers a fault handler that gets the page in `word`, with some words preset. Checks for each address whether the
/// fault was signalled.
fn handled_by(commands: &[u64], word: u64, words: &[(usize, u64)], addresses: &[u64], expected: bool) {
    let array = Array::handling(24, word, commands).expect("it is kept");
    words.iter().for_each(|&(word, value)| array.set(word, value));
    for &address in addresses {
        assert_eq!(is_told(address), expected, "{commands:x?} {address:#x}");
    }
    assert_eq!(array.give_back(), 0);
}

/// Arrays that handle page faults badly: their process is signalled, or dies.
pub fn handlers() {
    let fine = [command(TAKE, 4), command(PUT, 12)];
    // Calls that other arrays may make, but fault handlers may not: most would take the thread elsewhere.
    for number in [5, 10, 15, 0, 1, 8, 14, 18, 22, 23, 24, 32, 33, 39] {
        let commands = [command(TAKE, 4), command(number, 12)];
        assert_eq!(Array::handling(24, 5, &commands).err(), Some(-2), "{number}");
    }
    for word in [512, 513, 1 << 32, u64::MAX - 1] {
        assert_eq!(Array::handling(24, word, &fine).err(), Some(REFUSED), "{word}");
    }
    calls::on_signal(told);
    let page = |number: u64| AT + number * 4096;
    handled_by(&fine, 5, &[], &[page(0), page(1) + 8, page(2) + 4088], false);
    // It handles no more faults.
    assert!(is_told(page(3)));
    // Frames that it hasn't, or that are elsewhere; moves that lead out of the page; the page's word is overwritten by
    // an answer.
    for frame in [0, 1, 999, u64::MAX] {
        handled_by(&[command(PUT, 12)], 1, &[(0, frame)], &[page(3)], true);
    }
    for words in [[0, 512, 1], [512, 0, 1], [0, 0, 513], [0, u64::MAX, 1]] {
        let words: [_; 3] = core::array::from_fn(|index| (4 * 2 + index, words[index]));
        handled_by(&[fine[0], fine[1], command(MOVE, 13)], 5, &words, &[AT - 4096, AT + (64 << 30)], true);
        handled_by(&[command(MOVE, 13)], 5, &words.map(|(word, value)| (word - 8, value)), &[page(3)], true);
    }
    handled_by(&[command(TAKE, 5), fine[1]], 5, &[], &[page(3)], true);
    handled_by(&[command(TAKE, 4), command(TAKE, 5), fine[1]], 5, &[], &[page(3)], true);
    // The kernel itself touches nothing there.
    let array = Array::handling(24, 5, &fine).expect("it is kept");
    assert_eq!(call(Number::Write, page(3), 8), REFUSED);
    // As many frames as a process may have.
    let mut pages = 3;
    while !is_told(page(pages)) {
        pages += 1;
    }
    assert!((200..256).contains(&pages), "{pages}");
    assert_eq!(array.get(4) as i64, REFUSED);
    say!("arrays that handle no page fault are refused, or their domain is told");
    // Told by nobody.
    call(Number::Signals, 0x80_0000_0000, 0x80_0000_0000);
    touch(page(pages));
}

/// An array that handles a page fault so that it recurs for ever. The domain dies once another of its threads has died.
pub fn endless_fault() {
    let array = Array::handling(24, 5, &[command(Number::Nothing as u64, 6)]).expect("it is kept");
    calls::spawn(die);
    touch(AT);
    say!("a fault that nobody has handled was over: {}", array.get(6));
}

extern "C" fn die() {
    (0..20).for_each(|_| calls::give_way());
    touch(0);
}

/// The ways in which the server lies.
const LIES_OF: u64 = 8;
static LYING: AtomicU64 = AtomicU64::new(0);
/// The server's address of the channel into which another of its threads scribbles.
static SCRIBBLED: AtomicU64 = AtomicU64::new(0);

/// The server's method that begins the lies.
#[inline(never)]
pub fn serve(this: u64, what: u64, number: u64) -> i64 {
    match what {
        SLOWLY => remote::slowly(number, 0, 0),
        LIES => begin_to_lie(this, number),
        LYING_BLOCK => lie(this).unwrap_or_else(|| remote::serve(this, number)),
        _ => REFUSED,
    }
}

/// From now on the server lies in one of the ways.
fn begin_to_lie(this: u64, how: u64) -> i64 {
    LYING.store(how, Relaxed);
    SCRIBBLED.store(remote::channel_of(this), Relaxed);
    if how == 6 {
        calls::spawn(scribble);
    }
    0
}

/// The server's false answers.
#[inline(never)]
pub fn lie(this: u64) -> Option<i64> {
    let channel = remote::channel_of(this) as *mut u64;
    // SAFETY: words of the channel, if there is one; behind those of all clients is nothing.
    let fill =
        |words: usize, value: u64| (0..words).for_each(|at| unsafe { channel.add(at).write_volatile(value) });
    match LYING.load(Relaxed) {
        1 => Some(101),
        2 => Some(i64::MAX),
        3 => Some(-1),
        4 => {
            fill(WORDS, u64::MAX);
            Some(0)
        }
        5 => {
            fill(WORDS, 4097);
            Some(CANCELLED)
        }
        // Answers from the pages of all clients.
        7 => {
            fill(WORDS * CLIENTS + 1, 0);
            Some(0)
        }
        _ => None,
    }
}

static IS_DONE: AtomicBool = AtomicBool::new(false);

fn random() -> impl FnMut() -> u64 {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    }
}

/// Overwrites a channel all the time: with what looks like a block or a request, and with anything.
extern "C" fn scribble() {
    let (channel, mut random) = (SCRIBBLED.load(Relaxed) as *mut u64, random());
    let mut times = 0;
    // A server doesn't learn when its client is done.
    while !IS_DONE.load(Relaxed) && times < 3_000_000 {
        times += 1;
        let value = match random() % 4 {
            0 => random(),
            1 => (random() % 4) | ((random() % 520) << 32),
            2 => random() % 4200,
            _ => 0x8000_0000_0000_0000 | (random() % 8),
        };
        // SAFETY: a word of the channel, which stays until this is over.
        unsafe { channel.add(random() as usize % WORDS).write_volatile(value) };
    }
}

/// The client must survive whatever the server says of a block and of a program.
fn believe_nothing() {
    (0..100).for_each(|number| remote::pass(number, 1, 400, [7, 0, 0]));
    let left = remote::ship_as(LYING_BLOCK, 100);
    assert!((0..=100).contains(&left) || left == LIE || left == REFUSED, "{left}");
    let program = shipping::learn(NOTHING);
    let (values, mut results) = (wire([3]), [[0; 8]; 2]);
    results[1] = [1; 8];
    let mut request = Request::of(By::Server, &values, &mut results[..1]);
    let status = request.begin(program);
    // No more than there is room for.
    assert_eq!(results[1], [1; 8]);
    assert!((ENDED..=CANCELLED).contains(&status) || status < 0, "{status}");
    (0..8).for_each(|run| _ = shipping::ask(Number::Discard, run));
}

/// A client of a server that lies.
pub fn lied_to() {
    users::wait_for_server();
    for how in 0..LIES_OF - 1 {
        assert_eq!(calls::ask(LIES, how), 0);
        if how == 1 || how == 2 || how == 3 {
            assert_eq!(
                (remote::ship_as(LYING_BLOCK, 100), remote::ship_as(LYING_BLOCK, 3)),
                (LIE, LIE),
                "{how}"
            );
        }
        (0..if how == 6 { 100 } else { 3 }).for_each(|_| believe_nothing());
    }
    assert_eq!(calls::ask(LIES, 7), 0);
    assert_eq!(remote::ship_as(LYING_BLOCK, 1), REFUSED, "it is dead");
    say!("a server that lies is believed nothing");
}

/// Tries to give the channel back during a call, and then changes it.
extern "C" fn change() {
    while OWN.get(401) != 8 {
        calls::give_way();
    }
    let refused = remote::channel(0);
    REFUSALS.fetch_add(u64::from(refused == REFUSED), Relaxed);
    scribble();
}

static REFUSALS: AtomicU64 = AtomicU64::new(0);

/// A client's second thread changes the channel while the server reads it.
pub fn changed() {
    users::wait_for_server();
    SCRIBBLED.store(CHANNEL, Relaxed);
    // The server gives way in the second call.
    (0..100).for_each(|number| remote::pass(number, u64::from(number != 1), 401, [7, 0, 0]));
    OWN.set(401, 0);
    calls::spawn(change);
    let left = remote::ship(100);
    assert!((0..99).contains(&left), "{left}");
    assert_eq!(REFUSALS.load(Relaxed), 1, "the channel can't be given back while the server is called");
    for _ in 0..100 {
        believe_nothing();
    }
    IS_DONE.store(true, Relaxed);
    calls::give_way();
    assert_eq!(calls::ask(1, 6), 7, "the server is there");
    taken_away();
    say!("blocks that are changed while they are made hurt nobody else");
    // What the server had is gone with the channel.
    assert_eq!(remote::channel(0), 0);
    touch(CHANNEL);
}

/// The page with the request to the kernel.
const PAGE: u64 = 0xa0_0000_0000;

extern "C" fn take_away() {
    call(Number::Unmap, PAGE, 1);
}

/// A second thread unmaps the memory for a program's results, while the program waits for a server.
fn taken_away() {
    assert_eq!(call(Number::Map, PAGE, 1), 0);
    let any = By::Kernel.learn(ANY);
    let values = wire([Number::Server as i64, SLOWLY as i64, 1, 0, 0, 4]);
    let mut results = [[0; 8]];
    let fine = Request::new(&values, &mut results);
    let mut request = Request { results: PAGE, ..fine };
    calls::spawn(take_away);
    // The run is kept until its results can be written.
    assert_eq!(request.run(any).0, REFUSED);
    let mut again = Request { run: request.run, values_bytes: 0, ..fine };
    assert_eq!((again.go_on_to_its_end(), results[0]), (ENDED, wire([2])[0]));
}
