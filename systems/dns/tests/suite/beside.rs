//! The same zones and questions to nsd and to the process: the answers have the same record sets. `DRYSTONE_CASES` is
//! the number of zones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::{Message, ParsedRecord, ToName};
use domain::rdata::AllRecordData;
use drystone_dns::Zone;
use drystone_dns::message::response;

use crate::namespace::{alone, in_thread};
use crate::zones::{self, ASKED, Written};
use crate::{Random, query};

const PLACE: &str = "127.0.0.1:5454";
/// Zones that nsd serves at a time.
const BATCH: usize = 100;
const QUESTIONS: usize = 60;

struct Nsd(Child);

impl Drop for Nsd {
    fn drop(&mut self) {
        // It ends its children, too, if it is asked to.
        let _ = Command::new("sh").arg("-c").arg(format!("kill {}", self.0.id())).status();
        let _ = self.0.wait();
    }
}

/// nsd with these zones, once it answers.
fn nsd(folder: &Path, zones: &[Written]) -> Result<Nsd, String> {
    let shown = folder.display();
    let mut config = format!(
        "server:\n ip-address: 127.0.0.1@5454\n username: \"\"\n zonesdir: {shown}\n database: \"\"\n \
         pidfile: {shown}/pid\n xfrdfile: {shown}/xfrd\n xfrdir: {shown}\n zonelistfile: {shown}/list\n \
         minimal-responses: yes\n server-count: 1\n tcp-timeout: 5\n rrl-ratelimit: 0\n\
         remote-control:\n control-enable: no\nzone:\n name: up.test\n zonefile: up.zone\n"
    );
    fs::write(folder.join("up.zone"), "up.test. SOA up.test. up.test. 1 1 1 1 1\n")
        .map_err(|error| error.to_string())?;
    for Written { origin, .. } in zones {
        config += &format!("zone:\n name: {origin}\n zonefile: {origin}.zone\n");
    }
    fs::write(folder.join("nsd.conf"), config).map_err(|error| error.to_string())?;
    let log = fs::File::create(folder.join("log")).map_err(|error| error.to_string())?;
    let again = log.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new("nsd");
    command.arg("-d").arg("-c").arg(folder.join("nsd.conf")).stdin(Stdio::null()).stdout(log).stderr(again);
    let nsd = command.spawn().map(Nsd).map_err(|error| format!("nsd: {error}"))?;
    for _ in 0..100 {
        if asked(&query(1, "up.test", 6, None)).is_some() {
            return Ok(nsd);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("nsd doesn't answer: {}", fs::read_to_string(folder.join("log")).unwrap_or_default())
}

/// nsd's answer to a datagram.
fn asked(query: &[u8]) -> Option<Vec<u8>> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    socket.set_read_timeout(Some(Duration::from_millis(500))).expect("it can be");
    socket.connect(PLACE).expect("there is a way");
    socket.send(query).ok()?;
    let mut buffer = vec![0; 65536];
    let length = socket.recv(&mut buffer).ok()?;
    buffer.truncate(length);
    Some(buffer)
}

/// nsd's answer over TCP.
fn asked_by_tcp(query: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(PLACE).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("it can be");
    stream.write_all(&[&(query.len() as u16).to_be_bytes()[..], query].concat()).ok()?;
    let mut length = [0; 2];
    stream.read_exact(&mut length).ok()?;
    let mut answer = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut answer).ok()?;
    Some(answer)
}

/// A message without irrelevant differences: the order of records, the case of letters, and compression.
#[derive(PartialEq, Eq)]
struct Told {
    head: String,
    sections: [BTreeSet<String>; 3],
    is_cut: bool,
    has_opt: bool,
    code: Rcode,
}

fn told(message: &[u8]) -> Told {
    let message = Message::from_octets(message).expect("it is a message");
    let header = message.header();
    let code = header.rcode();
    let question: Vec<String> = message
        .question()
        .map(|it| {
            it.map_or("?".into(), |it| {
                format!("{} {} {}", it.qname(), it.qtype(), it.qclass()).to_lowercase()
            })
        })
        .collect();
    let opt = message.opt().map(|opt| (opt.version(), opt.dnssec_ok(), opt.rcode(header)));
    let head = match code {
        Rcode::NOERROR | Rcode::NXDOMAIN | Rcode::YXDOMAIN => {
            format!("{} {code} aa {} rd {} {question:?} {opt:?}", header.opcode(), header.aa(), header.rd())
        }
        // In refusals nsd leaves out the question, and mostly EDNS0.
        _ => format!("{} {code}", header.opcode()),
    };
    let mut sections = [message.answer(), message.authority(), message.additional()].map(|section| {
        let Ok(section) = section else { return BTreeSet::new() };
        shown(
            section
                .map(|record| record.expect("it is a record"))
                .filter(|record| record.rtype() != Rtype::OPT),
        )
    });
    if message.first_question().is_some_and(|it| it.qclass() == Class::ANY) {
        // nsd doesn't give the TTL of negative answers.
        sections[1].clear();
    }
    if sections[1].is_empty() {
        // Additional records of nsd aren't needed then.
        sections[2].clear();
    }
    if message.first_question().is_some_and(|it| it.qtype() == Rtype::ANY) && !sections[0].is_empty() {
        // Any of the sets will do (RFC 8482).
        sections[0] = BTreeSet::from(["any".into()]);
    }
    let has_opt = code == Rcode::NOERROR && message.opt().is_some();
    Told { head, sections, is_cut: header.tc(), has_opt, code }
}

/// Records; those of a set have the same TTL.
fn shown<'a>(records: impl Iterator<Item = ParsedRecord<'a, &'a [u8]>>) -> BTreeSet<String> {
    use domain::base::rdata::ComposeRecordData;
    let mut sets = BTreeMap::<(String, Rtype), (u32, Vec<String>)>::new();
    for record in records {
        let owner = record.owner().to_vec().to_string().to_lowercase();
        let known =
            record.to_record::<AllRecordData<_, _>>().expect("its data is wellformed").expect("it is known");
        let (rtype, mut data) = (record.rtype(), Vec::new());
        known.data().compose_canonical_rdata(&mut data).expect("there is room");
        if matches!(rtype, Rtype::SVCB | Rtype::HTTPS | Rtype::LP | Rtype::AFSDB | Rtype::RT | Rtype::KX) {
            data.make_ascii_lowercase();
        }
        let (ttl, all) = sets.entry((owner, rtype)).or_insert((u32::MAX, Vec::new()));
        *ttl = record.ttl().as_secs().min(*ttl);
        all.push(data.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let shown = |((owner, rtype), (ttl, all)): ((String, Rtype), (u32, Vec<String>))| {
        all.into_iter().map(move |data| format!("{owner} {ttl} {rtype} {data}"))
    };
    sets.into_iter().flat_map(shown).collect()
}

impl std::fmt::Debug for Told {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(to, "{}{}", self.head, if self.is_cut { " cut" } else { "" })?;
        self.sections.iter().enumerate().try_for_each(|(at, section)| {
            section.iter().try_for_each(|record| writeln!(to, "  {at}: {record}"))
        })
    }
}

/// Names of a zone, and missing ones: in front, beside and above.
fn name_of(random: &mut Random, names: &[Vec<u8>]) -> Vec<u8> {
    let mut name = names[random.below(names.len())].clone();
    match random.below(8) {
        0 => name.splice(0..0, *b"\x04none").for_each(drop),
        1 => name.splice(0..0, *b"\x01a\x05below").for_each(drop),
        2 if name[0] > 0 => drop(name.drain(..1 + usize::from(name[0]))),
        3 if name[0] > 0 => name[1] ^= 1,
        _ => {}
    }
    if name.len() > 255 {
        name = names[0].clone();
    }
    name.iter_mut()
        .filter(|byte| **byte > 63 && random.below(3) == 0)
        .for_each(|byte| *byte = byte.to_ascii_uppercase());
    name
}

fn question(random: &mut Random, names: &[Vec<u8>], types: &[u16]) -> Vec<u8> {
    let rtype = if random.below(2) == 0 { random.one_of(&ASKED) } else { random.one_of(types) };
    let extended = random.one_of(&[None, None, Some(512), Some(1232), Some(4096), Some(0)]);
    let mut query = query(random.below(65536) as u16, "", rtype, extended);
    let name = name_of(random, names);
    query.splice(12..13, name);
    query[2] = random.one_of(&[0, 1]);
    query
}

/// Damaged queries, and unusual ones.
fn odd(random: &mut Random, mut query: Vec<u8>) -> Vec<u8> {
    let at = random.below(query.len());
    match random.below(10) {
        0 => query.truncate(12 + random.below(query.len() - 11)),
        1 => query.extend((0..1 + random.below(20)).map(|byte| byte as u8)),
        2 => query[2] = (random.below(16) << 3) as u8,
        3 => query[4 + random.below(8)] = random.below(3) as u8,
        4 => query[12] = random.one_of(&[192, 64, 128]),
        5 => query[at] ^= 1 << random.below(8),
        6 => {
            let end = query.len();
            query[end - 1 - random.below(11.min(end - 12))] = random.below(256) as u8;
        }
        _ => {
            let mut name = 12;
            while query[name] != 0 {
                name += 1 + usize::from(query[name]);
            }
            let (rtype, class) =
                (random.one_of(&[0, 41, 249, 251, 252, 253, 254, 255]), random.one_of(&[1, 1, 3, 254, 255]));
            (query[name + 2], query[name + 4]) = (rtype, class);
        }
    }
    query
}

/// How many zones and questions gave the same.
#[derive(Debug, Default)]
struct Counts {
    taken: usize,
    refused: usize,
    questions: usize,
    odd: usize,
    cut: usize,
}

fn compare(zone: &Zone, random: &mut Random, counts: &mut Counts) -> Result<(), String> {
    let names: Vec<Vec<u8>> = {
        let mut names: Vec<_> = zone.names().map(|(name, _)| name.to_vec()).collect();
        names.sort();
        names
    };
    let types: BTreeSet<u16> = zone.names().flat_map(|(_, node)| node.sets()).map(|set| set.rtype).collect();
    let types: Vec<u16> = types.into_iter().collect();
    for number in 0..QUESTIONS {
        let mut query = question(random, &names, &types);
        let is_odd = number % 4 == 3;
        if is_odd {
            query = odd(random, query);
        }
        let own = response(zone, &query, true);
        let others = asked(&query);
        let (Some(own), Some(others)) = (&own, &others) else {
            match is_odd || own.is_none() == others.is_none() {
                true => continue,
                false => return Err(format!("only one answers {query:02x?}: {own:02x?} {others:02x?}")),
            }
        };
        let (mut own, mut others) = (told(own), told(others));
        if own.is_cut || others.is_cut {
            counts.cut += 1;
            let by_tcp = asked_by_tcp(&query).expect("nsd answers over TCP");
            (own, others) =
                (told(&response(zone, &query, false).ok_or("there is no answer")?), told(&by_tcp));
        }
        if own != others && !is_otherwise(zone, &query, &own, &others) {
            return Err(format!("{query:02x?}\nown: {own:?}\nnsd: {others:?}"));
        }
        counts.questions += 1;
        counts.odd += usize::from(is_odd);
    }
    Ok(())
}

/// Where the process answers differently on purpose.
fn is_otherwise(zone: &Zone, query: &[u8], own: &Told, others: &Told) -> bool {
    let asked = query[12..].to_ascii_lowercase();
    // A damaged name is another zone's, perhaps. What is said of a zone above it nsd never says.
    let is_above = asked.strip_prefix(zone.apex()).is_some_and(|rest| rest.starts_with(&[0, 43]));
    let is_outside = !asked.windows(zone.apex().len()).any(|part| part == zone.apex());
    let refuses = |code| matches!(code, Rcode::REFUSED | Rcode::NOTIMP | Rcode::FORMERR | Rcode::NOTAUTH);
    let is_notify = query[2] & 0x78 == 0x20;
    // nsd refuses queries with records besides EDNS0's, and what follows them; for transfers it has another code; it
    // takes notes.
    let has_more = query[3] & 15 != 0
        || query[6..12] != [0; 6] && !(own.has_opt && query[11] == 1 && query.ends_with(&[0; 2]));
    is_above || is_outside || is_notify || refuses(others.code) && (has_more || refuses(own.code))
}

/// Zones that the process refuses on purpose, and nsd accepts.
fn is_refused_on_purpose(why: &str) -> bool {
    const REASONS: [&str; 8] = [
        "is no address prefix",
        "an escape is",
        "ends within brackets",
        "no type of records",
        "is no time",
        "number overflow",
        "there are 2 bytes, not 3",
        "` is unknown",
    ];
    // To nsd, `d` and `dh` are times of nothing.
    let is_of_units = |word: &str| !word.is_empty() && word.bytes().all(|byte| b"smhdwSMHDW".contains(&byte));
    let word = why.rsplit_once(": `").and_then(|(_, rest)| rest.strip_suffix("` is no type"));
    word.is_some_and(is_of_units) || REASONS.iter().any(|reason| why.contains(reason))
}

fn batch(
    random: &mut Random,
    first: usize,
    zones: usize,
    counts: &mut Counts,
) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let written: Vec<Written> = (first..first + zones)
        .map(
            |number| {
                if number % 3 == 2 { zones::broken(random, number) } else { zones::valid(random, number) }
            },
        )
        .collect();
    for Written { origin, text, included } in &written {
        fs::write(folder.path().join(format!("{origin}.zone")), text).map_err(|error| error.to_string())?;
        for (name, text) in included {
            fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
        }
    }
    let _nsd = nsd(folder.path(), &written)?;
    let mut wrong = Vec::new();
    for (at, Written { origin, text, .. }) in written.iter().enumerate() {
        let zone = Zone::load(&folder.path().join(format!("{origin}.zone")), Some(origin)).1;
        let head = asked(&query(1, origin, 6, None)).expect("nsd answers");
        let is_taken = head[3] & 15 == 0;
        let told =
            |why: String| format!("zone {} from {first}: {why}\n{}", at, String::from_utf8_lossy(text));
        match (zone, is_taken) {
            (Ok(zone), true) => {
                counts.taken += 1;
                if let Err(why) = compare(&zone, random, counts) {
                    wrong.push(told(why));
                }
            }
            (Err(_), false) => counts.refused += 1,
            (Err(why), true) if is_refused_on_purpose(&why) => counts.refused += 1,
            (Err(why), true) => wrong.push(told(format!("only nsd takes it: {why}"))),
            // nsd wants an end of the line behind a comment.
            (Ok(_), false) if !text.ends_with(b"\n") => counts.taken += 1,
            (Ok(_), false) => {
                let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
                let why: Vec<&str> = log
                    .lines()
                    .filter(|line| line.contains(&format!("{origin}.")) && line.contains("error"))
                    .collect();
                // To nsd, a word that begins with `$` is for it, and an origin is below no other.
                let quirks = ["unknown character '$'", "$ORIGIN directive requires absolute domain name"];
                if why.iter().any(|line| quirks.iter().any(|quirk| line.contains(quirk))) {
                    counts.taken += 1;
                    continue;
                }
                wrong.push(told(format!("nsd doesn't take it: {}", why.join("\n"))));
            }
        }
    }
    Ok(wrong)
}

#[test]
fn nsd_says_the_same() {
    in_thread("dns-beside-nsd", || {
        alone()?;
        let cases =
            std::env::var("DRYSTONE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(BATCH);
        let seed = std::env::var("DRYSTONE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(5);
        let (mut random, mut counts) = (Random(seed), Counts::default());
        for first in (0..cases).step_by(BATCH) {
            let wrong = batch(&mut random, first, BATCH.min(cases - first), &mut counts)?;
            assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n\n"));
        }
        println!("beside nsd: {counts:?}");
        Ok(())
    });
}
