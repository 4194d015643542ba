//! The data of records. The library reads most types; some others have the same syntax as one of its types, and the
//! rest is read here.

use std::net::{IpAddr, Ipv4Addr};

use domain::base::iana::{Rtype, SecurityAlgorithm};
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;
use domain::rdata::dnssec::Timestamp;
use domain::utils::{base16, base64};

use super::location;
use super::scanner::{Tokens, Wrong, strange};
use super::ttl;

/// Reads what follows the type, into wire format.
///
/// # Errors
/// What is wrong with it.
pub fn read(rtype: Rtype, tokens: &mut Tokens<'_>) -> Result<Vec<u8>, Wrong> {
    use domain::base::scan::Scanner;
    let data = if tokens.scan_opt_unknown_marker()? {
        let bytes = unknown(tokens)?;
        is_wellformed(rtype, &bytes).then_some(bytes).ok_or_else(|| Wrong(format!("that is no {rtype}")))?
    } else {
        known(rtype, tokens)?
    };
    if data.len() > usize::from(u16::MAX) {
        return Err(Wrong("the data is longer than 65535 bytes".into()));
    }
    tokens.end()?;
    Ok(data)
}

/// Data of any type: its length and its bytes (RFC 3597).
fn unknown(tokens: &mut Tokens<'_>) -> Result<Vec<u8>, Wrong> {
    let length: usize = number(tokens)?;
    let bytes = hex(rest(tokens)?)?;
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(Wrong(format!("there are {} bytes, not {length}", bytes.len()))),
    }
}

/// Whether the bytes are valid data of a type, as far as the library knows it.
fn is_wellformed(rtype: Rtype, bytes: &[u8]) -> bool {
    use domain::base::rdata::{ComposeRecordData, ParseRecordData};
    let mut parser = Parser::from_ref(bytes);
    let Ok(Some(data)) = ZoneRecordData::parse_rdata(library_type(rtype), &mut parser) else { return false };
    // Compression pointers would mean other names in another message.
    let mut again = Vec::new();
    let Ok(()) = data.compose_rdata(&mut again);
    parser.remaining() == 0 && again == bytes
}

/// The library's type with the same syntax.
fn library_type(rtype: Rtype) -> Rtype {
    match rtype {
        Rtype::SPF | Rtype::NINFO | Rtype::AVC => Rtype::TXT,
        Rtype::AFSDB | Rtype::RT | Rtype::KX | Rtype::LP => Rtype::MX,
        Rtype::NSAPPTR => Rtype::PTR,
        Rtype::TALINK => Rtype::RP,
        Rtype::SIG => Rtype::RRSIG,
        Rtype::KEY | Rtype::RKEY => Rtype::DNSKEY,
        Rtype::DLV | Rtype::TA => Rtype::DS,
        Rtype::SMIMEA => Rtype::TLSA,
        Rtype::DHCID => Rtype::OPENPGPKEY,
        _ => rtype,
    }
}

fn known(rtype: Rtype, tokens: &mut Tokens<'_>) -> Result<Vec<u8>, Wrong> {
    let mut data = Vec::new();
    match rtype {
        Rtype::SOA => {
            data.extend(tokens.name()?);
            data.extend(tokens.name()?);
            data.extend(number::<u32>(tokens)?.to_be_bytes());
            for _ in 0..4 {
                data.extend(time(tokens)?.to_be_bytes());
            }
        }
        Rtype::X25 => text(tokens, &mut data)?,
        Rtype::ISDN => {
            text(tokens, &mut data)?;
            if tokens.peek().is_some() {
                text(tokens, &mut data)?;
            }
        }
        Rtype::GPOS => (0..3).try_for_each(|_| text(tokens, &mut data))?,
        Rtype::PX => {
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.extend(tokens.name()?);
            data.extend(tokens.name()?);
        }
        Rtype::NSAP => {
            let word = rest(tokens)?;
            let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
            data = hex(digits.ok_or_else(|| strange("NSAP address", &word))?.replace('.', ""))?;
        }
        Rtype::LOC => data = location::read(tokens)?.to_vec(),
        Rtype::URI => {
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.extend(tokens.token()?.bytes()?);
        }
        Rtype::CERT => certificate(tokens, &mut data)?,
        Rtype::DNSKEY | Rtype::CDNSKEY | Rtype::KEY | Rtype::RKEY => {
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.push(number(tokens)?);
            data.push(algorithm(tokens)?);
            data.extend(of_base64(&rest(tokens)?)?);
        }
        Rtype::DS | Rtype::CDS | Rtype::DLV | Rtype::TA => {
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.push(algorithm(tokens)?);
            data.push(number(tokens)?);
            data.extend(hex(rest(tokens)?)?);
        }
        Rtype::RRSIG | Rtype::SIG => signature(tokens, &mut data)?,
        Rtype::APL => {
            while tokens.peek().is_some() {
                prefix(tokens.token()?.word(), &mut data)?;
            }
        }
        Rtype::HIP => host_identity(tokens, &mut data)?,
        Rtype::CSYNC => {
            data.extend(number::<u32>(tokens)?.to_be_bytes());
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.extend(types(tokens)?);
        }
        Rtype::NID | Rtype::L64 => {
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.extend(groups(tokens, ':', 4, 4)?);
        }
        Rtype::L32 => {
            data.extend(number::<u16>(tokens)?.to_be_bytes());
            data.extend(parsed::<Ipv4Addr>(tokens, "IPv4 address")?.octets());
        }
        Rtype::EUI48 => data = groups(tokens, '-', 6, 2)?,
        Rtype::EUI64 => data = groups(tokens, '-', 8, 2)?,
        _ => return tokens.known(library_type(rtype)),
    }
    Ok(data)
}

fn certificate(tokens: &mut Tokens<'_>, data: &mut Vec<u8>) -> Result<(), Wrong> {
    const KINDS: [(&str, u16); 10] = [
        ("PKIX", 1),
        ("SPKI", 2),
        ("PGP", 3),
        ("IPKIX", 4),
        ("ISPKI", 5),
        ("IPGP", 6),
        ("ACPKIX", 7),
        ("IACPKIX", 8),
        ("URI", 253),
        ("OID", 254),
    ];
    let word = tokens.peek().map(|token| token.word()).unwrap_or_default();
    match KINDS.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(word)) {
        Some((_, kind)) => {
            tokens.token()?;
            data.extend(kind.to_be_bytes());
        }
        None => data.extend(number::<u16>(tokens)?.to_be_bytes()),
    }
    data.extend(number::<u16>(tokens)?.to_be_bytes());
    data.push(algorithm(tokens)?);
    data.extend(of_base64(&rest(tokens)?)?);
    Ok(())
}

fn signature(tokens: &mut Tokens<'_>, data: &mut Vec<u8>) -> Result<(), Wrong> {
    data.extend(Rtype::scan(tokens)?.to_int().to_be_bytes());
    data.push(algorithm(tokens)?);
    data.push(number(tokens)?);
    data.extend(time(tokens)?.to_be_bytes());
    data.extend(Timestamp::scan(tokens)?.into_int().to_be_bytes());
    data.extend(Timestamp::scan(tokens)?.into_int().to_be_bytes());
    data.extend(number::<u16>(tokens)?.to_be_bytes());
    data.extend(tokens.name()?);
    data.extend(of_base64(&rest(tokens)?)?);
    Ok(())
}

/// A DNSSEC algorithm, by its name or number.
fn algorithm(tokens: &mut Tokens<'_>) -> Result<u8, Wrong> {
    let word = tokens.token()?.word();
    let is_called = |number: &u8| {
        let name = SecurityAlgorithm::from_int(*number).to_mnemonic();
        name.is_some_and(|name| name.eq_ignore_ascii_case(word.as_bytes()))
    };
    let number = word.parse().ok().or_else(|| (0..=255).find(is_called));
    number.ok_or_else(|| strange("algorithm", word))
}

/// `[!]FAMILY:ADDRESS/BITS` (RFC 3123). Zeros at the end of the address are left out.
fn prefix(word: &str, data: &mut Vec<u8>) -> Result<(), Wrong> {
    let whole = || -> Option<(u16, IpAddr, u8, bool)> {
        let is_negated = word.starts_with('!');
        let (family, rest) = word.trim_start_matches('!').split_once(':')?;
        let (address, bits) = rest.split_once('/')?;
        let (family, address, bits) =
            (family.parse().ok()?, address.parse::<IpAddr>().ok()?, bits.parse().ok()?);
        let is_right = match (family, &address) {
            (1, IpAddr::V4(_)) => bits <= 32,
            (2, IpAddr::V6(_)) => bits <= 128,
            _ => false,
        };
        is_right.then_some((family, address, bits, is_negated))
    };
    let (family, address, bits, is_negated) = whole().ok_or_else(|| strange("address prefix", word))?;
    let bytes = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    data.extend(family.to_be_bytes());
    data.extend([bits, length as u8 | if is_negated { 0x80 } else { 0 }]);
    data.extend(&bytes[..length]);
    Ok(())
}

/// RFC 8005.
fn host_identity(tokens: &mut Tokens<'_>, data: &mut Vec<u8>) -> Result<(), Wrong> {
    let algorithm: u8 = number(tokens)?;
    let tag = hex(tokens.token()?.word().to_string())?;
    let key = of_base64(tokens.token()?.word())?;
    let (Ok(tag_length), Ok(key_length)) = (u8::try_from(tag.len()), u16::try_from(key.len())) else {
        return Err(Wrong("the tag or the key is too long".into()));
    };
    data.extend([tag_length, algorithm]);
    data.extend(key_length.to_be_bytes());
    data.extend(tag);
    data.extend(key);
    while tokens.peek().is_some() {
        data.extend(tokens.name()?);
    }
    Ok(())
}

/// A list of types (NSEC and similar), by the library.
fn types(tokens: &mut Tokens<'_>) -> Result<Vec<u8>, Wrong> {
    let types = domain::rdata::dnssec::RtypeBitmap::<Vec<u8>>::scan(tokens)?;
    Ok(types.as_slice().to_vec())
}

/// Groups of hexadecimal digits, whose leading zeros may be left out.
fn groups(tokens: &mut Tokens<'_>, between: char, count: usize, digits: usize) -> Result<Vec<u8>, Wrong> {
    let word = tokens.token()?.word();
    let groups: Vec<&str> = word.split(between).collect();
    match groups.len() == count && groups.iter().all(|group| (1..=digits).contains(&group.len())) {
        true => hex(groups.iter().map(|group| format!("{group:0>digits$}")).collect()),
        false => Err(strange("number in groups", word)),
    }
}

/// A text of at most 255 bytes, after its length.
fn text(tokens: &mut Tokens<'_>, data: &mut Vec<u8>) -> Result<(), Wrong> {
    use domain::base::scan::Scanner;
    let text = tokens.scan_charstr()?;
    data.push(text.len() as u8);
    data.extend(text.as_slice());
    Ok(())
}

/// A time with units.
fn time(tokens: &mut Tokens<'_>) -> Result<u32, Wrong> {
    let word = tokens.token()?.word();
    ttl::read(word).ok_or_else(|| strange("time", word))
}

/// A decimal number.
pub fn number<T: std::str::FromStr>(tokens: &mut Tokens<'_>) -> Result<T, Wrong> {
    parsed(tokens, "number that fits")
}

fn parsed<T: std::str::FromStr>(tokens: &mut Tokens<'_>, what: &str) -> Result<T, Wrong> {
    let word = tokens.token()?.word();
    let has_sign = word.starts_with(['+', '-']);
    word.parse().ok().filter(|_| !has_sign).ok_or_else(|| strange(what, word))
}

/// All remaining words, joined.
fn rest(tokens: &mut Tokens<'_>) -> Result<String, Wrong> {
    let mut words = String::new();
    while tokens.peek().is_some() {
        words += &String::from_utf8_lossy(&tokens.token()?.bytes()?);
    }
    Ok(words)
}

fn hex(digits: String) -> Result<Vec<u8>, Wrong> {
    base16::decode(&digits).map_err(|_| strange("hexadecimal number", &digits))
}

fn of_base64(letters: &str) -> Result<Vec<u8>, Wrong> {
    base64::decode(letters).map_err(|_| strange("Base64", letters))
}
