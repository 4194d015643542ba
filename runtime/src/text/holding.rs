//! What a text consists of, and who holds it.
//!
//! A text is a [`TextHead`] with its bytes behind it, or a [`TextSlice`], whose bytes are a part of another text's. The
//! empty text is null. A text counts its holders: it is freed when the last one drops it. Records and sequences count
//! them, too, and are freed here, since they hold texts, records and sequences.

use core::hint::assert_unchecked;
use core::slice;
use core::sync::atomic::{AtomicI64, Ordering::AcqRel, Ordering::Relaxed};

use drystone_component::form::Layout;

use super::room::Room;
use crate::heap::Heap;
use crate::layout::{TEXT_BYTES, TextHead, TextSlice};

/// What a holder counts in [`TextHead::count`].
pub const HOLDER: i64 = 1 << 8;

/// Whether a count says that there is one holder.
#[inline]
pub fn is_one(count: i64) -> bool {
    // One comparison: from one `HOLDER` up to two, because the bits below it say something else.
    (count as u64).wrapping_sub(HOLDER as u64) < HOLDER as u64
}

/// The count of a text's holders.
///
/// # Safety
/// `text` is live during `'a`.
#[inline]
pub unsafe fn holders<'a>(text: *mut TextHead) -> &'a AtomicI64 {
    // SAFETY: the head of a live text may be touched by all threads that know it; a read-only one is only loaded from.
    unsafe { AtomicI64::from_ptr(&raw mut (*text).count) }
}

/// Where the first byte is, or would be, of a text that is no slice.
#[inline]
pub fn first_byte(text: *const TextHead) -> *mut u8 {
    text.wrapping_add(1).cast_mut().cast()
}

/// The bytes of a text.
///
/// # Safety
/// `text` is null, or live and unchanged during `'a`.
#[inline]
pub unsafe fn bytes<'a>(text: *const TextHead) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the text isn't null, so it is live.
    unsafe { some_bytes(text) }
}

/// The bytes of a text that is not empty.
///
/// # Safety
/// `text` is live and unchanged during `'a`.
#[inline(always)]
pub unsafe fn some_bytes<'a>(text: *const TextHead) -> &'a [u8] {
    // SAFETY: so many bytes stand behind the head, or where the slice says. No text but null is empty.
    unsafe {
        let bytes = match (*text).length {
            0 => bytes_of_slice(text.cast()),
            length => slice::from_raw_parts(first_byte(text), length as usize),
        };
        assert_unchecked(!bytes.is_empty());
        bytes
    }
}

/// The bytes of a slice.
///
/// # Safety
/// The slice is live during `'a`.
#[cold]
unsafe fn bytes_of_slice<'a>(slice: *const TextSlice) -> &'a [u8] {
    // SAFETY: the slice holds the whole, whose bytes neither change nor move while it has another holder.
    unsafe { slice::from_raw_parts((*slice).bytes, (*slice).length as usize) }
}

/// The number of bytes of a text.
///
/// # Safety
/// `text` is null or live.
#[inline]
pub unsafe fn length(text: *const TextHead) -> usize {
    // SAFETY: nobody changes the text meanwhile.
    unsafe { bytes(text) }.len()
}

/// Whether it has more bytes than that.
///
/// # Safety
/// `text` is null or live.
#[inline]
pub unsafe fn is_longer(text: *const TextHead, bytes: usize) -> bool {
    // SAFETY: a text that isn't null is live. A length of 0 marks a slice, whose own length stands elsewhere.
    unsafe {
        !text.is_null() && (*text).length.wrapping_sub(1) >= bytes as u64 && some_bytes(text).len() > bytes
    }
}

/// One more holder of the same text.
///
/// # Safety
/// `text` is null or live.
#[inline]
pub unsafe fn copy(heap: &Heap, text: *mut TextHead) -> *mut TextHead {
    if !text.is_null() {
        // SAFETY: the text is live.
        let count = unsafe { holders(text) };
        let now = count.load(Relaxed);
        if now >= 0 {
            if heap.is_shared() {
                count.fetch_add(HOLDER, Relaxed);
            } else {
                count.store(now + HOLDER, Relaxed);
            }
        }
    }
    text
}

/// One holder less.
///
/// # Safety
/// `text` is null, or the caller holds it and forgets it.
#[inline]
pub unsafe fn drop(heap: &mut Heap, text: *mut TextHead) {
    // SAFETY: the text is null, or the caller holds it and forgets it.
    unsafe { drop_here(heap, text) }
}

/// The same as [`drop`], but always inlined: for the entry point, which generated code calls for each text.
///
/// # Safety
/// As for [`drop`].
#[inline(always)]
pub unsafe fn drop_here(heap: &mut Heap, text: *mut TextHead) {
    if text.is_null() {
        return;
    }
    // SAFETY: the caller holds it, so it is live.
    let count = unsafe { holders(text) };
    let now = count.load(Relaxed);
    if now < 0 {
        return;
    }
    let was_last = if heap.is_shared() {
        is_one(count.fetch_sub(HOLDER, AcqRel))
    } else {
        count.store(now - HOLDER, Relaxed);
        is_one(now)
    };
    if was_last {
        // SAFETY: nobody holds the text any more; its room tells the size of its block.
        unsafe {
            let room = Room::of(text);
            if room.is_of_a_kind() {
                free_of_a_kind(heap, text, room);
            } else {
                heap.free_in_parts(text.cast(), room.bytes_of_live((*text).length as usize));
            }
        }
    }
}

/// Frees what has a block of a kind of its own.
///
/// # Safety
/// It is a slice, a record or a sequence, as its room says, that nobody holds any more.
#[cold]
#[inline(never)]
unsafe fn free_of_a_kind(heap: &mut Heap, text: *mut TextHead, room: Room) {
    // SAFETY: as above.
    unsafe {
        match room {
            Room::SLICE => free_slice(heap, text.cast()),
            Room::RECORD => free_record(heap, text),
            _ => free_sequence(heap, text),
        }
    }
}

/// Frees a slice, which holds its whole no longer.
///
/// # Safety
/// It is a slice that nobody holds any more.
unsafe fn free_slice(heap: &mut Heap, slice: *mut TextSlice) {
    // SAFETY: the slice held the whole text until now.
    unsafe {
        let whole = (*slice).whole;
        heap.free(slice.cast(), size_of::<TextSlice>());
        drop(heap, whole);
    }
}

/// How many words a record has, and how many of the first of them are held as texts are. [`TextHead::length`] of its
/// block says so, too; it is never 0, which would be a slice's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// All of them, at least one.
    pub words: u32,
    /// The texts, records and sequences among them.
    pub owned: u32,
}

impl Shape {
    /// The shape of a record that isn't null.
    ///
    /// # Safety
    /// `record` is a live record.
    pub unsafe fn of(record: *const TextHead) -> Shape {
        // SAFETY: the head of a live record doesn't change.
        let length = unsafe { (*record).length };
        Shape { words: length as u32, owned: (length >> 32) as u32 }
    }

    /// The shape of a record with these fields.
    pub fn of_fields(fields: &[(usize, Layout)]) -> Shape {
        let owned = fields.iter().filter(|(_, layout)| layout.is_held()).count();
        Shape { words: fields.len() as u32, owned: owned as u32 }
    }

    /// As [`TextHead::length`] says it.
    #[inline]
    pub fn length(self) -> u64 {
        u64::from(self.words) | u64::from(self.owned) << 32
    }

    /// Bytes of a record's block.
    pub fn bytes(self) -> usize {
        TEXT_BYTES + 8 * self.words as usize
    }
}

/// How many elements a sequence has, whether they are held as texts are, and how large its block is.
/// [`TextHead::length`] of its block says so, too: the number in the lower half, which is never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The number of elements, at least one.
    pub count: u32,
    /// Whether they are texts, records or sequences.
    pub is_owned: bool,
    /// One of the series of sizes.
    pub room: Room,
}

impl Extent {
    /// The extent of a sequence that isn't null.
    ///
    /// # Safety
    /// `sequence` is a live sequence.
    #[inline]
    pub unsafe fn of(sequence: *const TextHead) -> Extent {
        // SAFETY: the head of a live sequence doesn't change meanwhile.
        let length = unsafe { (*sequence).length };
        let room = Room((length >> 33) as u8);
        Extent { count: length as u32, is_owned: length >> 32 & 1 != 0, room }
    }

    /// As [`TextHead::length`] says it.
    #[inline]
    pub fn length(self) -> u64 {
        u64::from(self.count) | u64::from(self.is_owned) << 32 | u64::from(self.room.0) << 33
    }

    /// Bytes that so many elements need.
    #[inline]
    pub fn needed(self) -> usize {
        TEXT_BYTES + 8 * self.count as usize
    }

    /// Bytes of its block.
    #[inline]
    pub fn bytes(self) -> usize {
        self.room.size()
    }
}

/// The first word of a record or sequence.
pub fn words(record: *const TextHead) -> *mut u64 {
    first_byte(record).cast()
}

/// So many elements of a sequence are dropped at once.
pub const AT_ONCE: usize = if cfg!(miri) { 8 } else { 4096 };

/// Frees a sequence, which holds its elements no longer. The elements of a long one are dropped in parts, with
/// [`empty_spent`].
///
/// # Safety
/// It is a sequence that nobody holds any more.
unsafe fn free_sequence(heap: &mut Heap, sequence: *mut TextHead) {
    // SAFETY: the sequence held each of its elements until now. What is spent nobody else uses.
    unsafe {
        let extent = Extent::of(sequence);
        if extent.is_owned {
            if extent.count as usize > AT_ONCE {
                return heap.put_spent(sequence.cast());
            }
            drop_last(heap, sequence, extent.count);
        }
        heap.free_in_parts(sequence.cast(), extent.bytes());
    }
}

/// Drops so many of the last elements of a sequence, which are texts, records or sequences.
///
/// # Safety
/// It has as many, and they are used no more.
unsafe fn drop_last(heap: &mut Heap, sequence: *mut TextHead, count: u32) {
    // SAFETY: the elements lie within the sequence, and are live.
    unsafe {
        let end = Extent::of(sequence).count as usize;
        for index in end - count as usize..end {
            drop(heap, *words(sequence).add(index) as *mut TextHead);
        }
    }
}

/// Drops elements of long sequences that nobody holds any more, until it is enough; whether there are more.
pub fn empty_spent(heap: &mut Heap, is_enough: &mut dyn FnMut(usize) -> bool) -> bool {
    while let Some(block) = heap.take_spent() {
        let sequence = block.cast::<TextHead>();
        // SAFETY: the sequence was taken from the list, so nothing else uses it. Its elements are owned.
        unsafe {
            let extent = Extent::of(sequence);
            let dropped = extent.count.min(AT_ONCE as u32);
            drop_last(heap, sequence, dropped);
            let left = Extent { count: extent.count - dropped, ..extent };
            (*sequence).length = left.length();
            if left.count == 0 {
                heap.free_in_parts(block, extent.bytes());
            } else {
                heap.put_spent(block);
            }
        }
        if is_enough(8 * AT_ONCE) {
            return heap.has_spent();
        }
    }
    false
}

/// Frees a record, which holds its texts and records no longer. Records contain no more than a few levels of others:
/// the language bounds them.
///
/// # Safety
/// It is a record that nobody holds any more.
unsafe fn free_record(heap: &mut Heap, record: *mut TextHead) {
    // SAFETY: the record held each of its texts and records until now.
    unsafe {
        let shape = Shape::of(record);
        for index in 0..shape.owned as usize {
            drop(heap, *words(record).add(index) as *mut TextHead);
        }
        heap.free(record.cast(), shape.bytes());
    }
}
