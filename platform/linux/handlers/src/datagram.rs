//! Datagrams in frames (UDP over IPv4 over Ethernet, without options), for processes that get them from a handler,
//! without the kernel's network stack.

use std::ops::Range;

/// Bytes of the headers.
pub const HEADERS: usize = 14 + 20 + 8;
/// The time to live, which routers decrement.
const HOPS: u8 = 64;
/// The MAC address that ARP requests are answered with: a locally administered one.
const HERE: [u8; 6] = [2, 0, 0, 0, 0, 1];

const ETHERNET_TYPE: Range<usize> = 12..14;
const IP_LENGTH: Range<usize> = 16..18;
const IP_CHECKSUM: Range<usize> = 24..26;
const UDP_TO: Range<usize> = 36..38;
const UDP_LENGTH: Range<usize> = 38..40;

/// The data of a frame, if it is a datagram to this port.
pub fn carried(frame: &[u8], port: u16) -> Option<&[u8]> {
    let is_datagram = frame.get(ETHERNET_TYPE)? == [8, 0]
        && frame.get(14)? == &0x45
        && frame.get(23)? == &17
        // The last bit but one of the flags says only that it mustn't be cut into pieces.
        && frame.get(20)? & 0x3f == 0
        && frame.get(21)? == &0
        && number(frame, UDP_TO)? == port;
    let length = usize::from(number(frame, UDP_LENGTH)?);
    let is_whole = usize::from(number(frame, IP_LENGTH)?) == length + 20;
    frame.get(HEADERS..34 + length).filter(|_| is_datagram && is_whole)
}

/// A frame that answers a datagram.
///
/// # Panics
/// If the frame isn't a datagram ([`carried`]), or the answer is longer than a datagram can be.
pub fn answer(frame: &[u8], carries: &[u8]) -> Vec<u8> {
    let length = u16::try_from(HEADERS - 34 + carries.len()).expect("as long as a datagram may be");
    let mut answer = frame[..HEADERS].to_vec();
    swap(&mut answer, 0, 6, 6);
    swap(&mut answer, 26, 30, 4);
    swap(&mut answer, 34, 36, 2);
    // The service, the parts that there aren't, and no checksum behind them.
    (answer[15], answer[22]) = (0, HOPS);
    answer[18..22].copy_from_slice(&[0, 0, 0x40, 0]);
    answer[IP_LENGTH].copy_from_slice(&(20 + length).to_be_bytes());
    answer[UDP_LENGTH].copy_from_slice(&length.to_be_bytes());
    answer[40..42].fill(0);
    answer[IP_CHECKSUM].fill(0);
    let sum = checksum(&answer[14..34]);
    answer[IP_CHECKSUM].copy_from_slice(&sum.to_be_bytes());
    answer.extend_from_slice(carries);
    answer
}

/// The answer to an ARP request, whichever address it asks for.
pub fn located(frame: &[u8]) -> Option<Vec<u8>> {
    let asks = frame.get(12..22)? == [8, 6, 0, 1, 8, 0, 6, 4, 0, 1];
    let mut answer = frame.get(..42).filter(|_| asks)?.to_vec();
    let (asking, asked) = (frame[22..32].to_vec(), frame[38..42].to_vec());
    answer[..6].copy_from_slice(&asking[..6]);
    answer[6..12].copy_from_slice(&HERE);
    answer[21] = 2;
    answer[22..28].copy_from_slice(&HERE);
    answer[28..32].copy_from_slice(&asked);
    answer[32..42].copy_from_slice(&asking);
    Some(answer)
}

fn number(frame: &[u8], place: Range<usize>) -> Option<u16> {
    Some(u16::from_be_bytes(frame.get(place)?.try_into().ok()?))
}

fn swap(bytes: &mut [u8], one: usize, other: usize, length: usize) {
    let (left, right) = bytes.split_at_mut(other);
    left[one..one + length].swap_with_slice(&mut right[..length]);
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Vec<u8> {
        let mut frame =
            vec![1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0, 0x45, 7, 0, 31, 9, 9, 0x40, 0, 3, 17, 5, 5];
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x30, 0x39, 0, 53, 0, 11, 6, 6, b'a', b'b', b'c']);
        frame
    }

    #[test]
    fn what_is_carried_is_what_the_headers_say() {
        let padded = [&request()[..], &[0; 20]].concat();
        assert_eq!(carried(&padded, 53), Some(&b"abc"[..]));
        assert_eq!(carried(&padded, 54), None);
        (0..request().len()).for_each(|length| assert_eq!(carried(&request()[..length], 53), None));
        let wrong = |at: usize, byte| {
            let mut frame = request();
            frame[at] = byte;
            carried(&frame, 53).is_none()
        };
        assert!(wrong(13, 6) && wrong(14, 0x46) && wrong(20, 0x20) && wrong(23, 6) && wrong(39, 12));
    }

    #[test]
    fn an_answer_goes_back() {
        let frame = answer(&request(), b"longer");
        assert_eq!(frame[..14], [2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 8, 0]);
        assert_eq!(frame[26..42], [10, 0, 0, 2, 10, 0, 0, 1, 0, 53, 0x30, 0x39, 0, 14, 0, 0]);
        assert_eq!(checksum(&frame[14..34]), 0);
        assert_eq!(carried(&frame, 0x3039), Some(&b"longer"[..]));
    }

    #[test]
    fn whoever_is_asked_for_is_here() {
        let mut frame = vec![255, 255, 255, 255, 255, 255, 3, 3, 3, 3, 3, 3, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1];
        frame.extend([3, 3, 3, 3, 3, 3, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2]);
        let answer = located(&frame).expect("it is asked");
        assert_eq!(answer[20..32], [0, 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(answer[32..], [3, 3, 3, 3, 3, 3, 10, 0, 0, 1]);
        assert_eq!(located(&answer), None);
        assert_eq!(located(&frame[..41]), None);
    }
}
