//! Answers, as the standards require them.

use domain::base::iana::Rcode;
use domain::base::{Message, Rtype};
use domain::rdata::AllRecordData;
use drystone_dns::Zone;
use drystone_dns::message::response;

use crate::{ZONE, query};

fn zone() -> Zone {
    Zone::read(ZONE.as_bytes(), None).expect("it is a zone")
}

/// Code, flags, and the records of the three sections.
fn told(of: &str, rtype: Rtype) -> String {
    told_of(&zone(), of, rtype)
}

fn told_of(zone: &Zone, of: &str, rtype: Rtype) -> String {
    let bytes = response(zone, &query(7, of, rtype.to_int(), Some(1232)), false).expect("it is a query");
    let message = Message::from_octets(bytes).expect("it is a message");
    let header = message.header();
    let mut told = header.rcode().to_string()
        + if header.aa() { " aa" } else { "" }
        + if header.tc() { " tc" } else { "" };
    let sections = [message.answer(), message.authority(), message.additional()];
    for (mark, section) in ["", " /", " //"].into_iter().zip(sections) {
        told += mark;
        for record in section.expect("it is there") {
            let record = record.expect("it is one");
            if record.rtype() != Rtype::OPT {
                let data =
                    record.to_record::<AllRecordData<_, _>>().expect("it is one").expect("it is known");
                told += &format!(" {} {} {}", data.owner(), data.rtype(), data.data());
            }
        }
    }
    told
}

#[test]
fn records_are_found() {
    assert_eq!(told("ns1.example.com", Rtype::A), "NOERROR aa ns1.example.com A 192.0.2.53 / //");
    assert_eq!(
        told("FTP.example.com", Rtype::A),
        "NOERROR aa FTP.example.com CNAME www.example.com. www.example.com CNAME example.com. example.com A \
         192.0.2.1 / //"
    );
    assert_eq!(told("away.example.com", Rtype::A), "NOERROR aa away.example.com CNAME www.example.org. / //");
    assert_eq!(told("x.y.wild.example.com", Rtype::A), "NOERROR aa x.y.wild.example.com A 192.0.2.77 / //");
}

#[test]
fn what_isnt_there_is_said_not_to_be() {
    let head = "example.com SOA ns1.example.com. hostmaster.example.com. 2026010100 7200 3600 1209600 300";
    assert_eq!(told("ns1.example.com", Rtype::MX), format!("NOERROR aa / {head} //"));
    assert_eq!(told("down.example.com", Rtype::A), format!("NOERROR aa / {head} //"));
    assert_eq!(told("nobody.example.com", Rtype::A), format!("NXDOMAIN aa / {head} //"));
    assert_eq!(told("a.b.c.ns1.example.com", Rtype::A), format!("NXDOMAIN aa / {head} //"));
    assert_eq!(told("example.org", Rtype::A), "REFUSED / //");
}

#[test]
fn what_others_have_been_given_is_referred_to() {
    let others = "lab.example.com NS ns.lab.example.com. lab.example.com NS ns1.example.com.";
    let addresses = "ns.lab.example.com A 192.0.2.99 ns1.example.com A 192.0.2.53";
    for name in ["lab.example.com", "a.b.lab.example.com", "ns.lab.example.com"] {
        assert_eq!(told(name, Rtype::A), format!("NOERROR / {others} // {addresses}"));
    }
    assert!(told("lab.example.com", Rtype::DS).starts_with("NOERROR aa / example.com SOA"));
}

#[test]
fn what_is_too_long_for_a_datagram_is_cut_off_and_whole_over_tcp() {
    let query = query(7, "long.example.com", 16, None);
    let cut = response(&zone(), &query, true).expect("it is a query");
    assert_eq!((cut.len(), cut[2] & 2), (query.len(), 2));
    let whole = response(&zone(), &query, false).expect("it is a query");
    assert_eq!((whole.len() > 600, whole[2] & 2, whole[7]), (true, 0, 3));
}

#[test]
fn what_is_wrong_is_said() {
    let zone = zone();
    let code = |query: &[u8]| {
        let bytes = response(&zone, query, true)?;
        let message = Message::from_octets(bytes).expect("it is a message");
        Some((message.header().rcode(), message.opt().is_some()))
    };
    let mut wrong = query(7, "example.com", 1, Some(1232));
    wrong[2] = 0x28;
    assert_eq!(code(&wrong), Some((Rcode::NOTIMP, true)));
    wrong[2] = 0x80;
    assert_eq!(code(&wrong), None);
    // A query with EDNS0 is answered with EDNS0, even if the rest is malformed: with two OPT records, and with no
    // question or two.
    (wrong[2], wrong[11]) = (0, 2);
    wrong.extend_from_within(wrong.len() - 11..);
    assert_eq!(code(&wrong), Some((Rcode::FORMERR, true)));
    let question = wrong[12..wrong.len() - 22].to_vec();
    (wrong[5], wrong[11]) = (2, 1);
    wrong.truncate(wrong.len() - 11);
    wrong.splice(12..12, question);
    assert_eq!(code(&wrong), Some((Rcode::FORMERR, true)));
    assert_eq!(code(&[0; 12]), Some((Rcode::FORMERR, false)));
    assert_eq!(code(&query(7, "example.com", 252, None)), Some((Rcode::REFUSED, false)));
    let mut newer = query(7, "example.com", 1, Some(1232));
    let end = newer.len();
    newer[end - 5] = 1;
    let bytes = response(&zone, &newer, true).expect("it is a query");
    assert_eq!(bytes[bytes.len() - 6], 1);
}

/// A zone with this text after its head.
fn zone_with(text: &str) -> Zone {
    let head = "$ORIGIN example.com.\n$TTL 1h\n@ SOA ns1 host 1 2h 1h 2w 5m\n@ NS ns1\nns1 A 192.0.2.53\n";
    Zone::read(format!("{head}{text}").as_bytes(), None).expect("it is a zone")
}

#[test]
fn chains_are_followed_to_their_end_and_circles_are_told_once() {
    let chain: String = (0..40).map(|link| format!("c{link} CNAME c{}\n", link + 1)).collect();
    let zone = zone_with(&format!("{chain}c40 A 192.0.2.1\no1 CNAME o2\no2 CNAME o1\nself CNAME self\n"));
    let told = told_of(&zone, "c0.example.com", Rtype::A);
    assert!(told.ends_with("c40.example.com A 192.0.2.1 / //"), "{told}");
    assert_eq!(told.matches("CNAME").count(), 40);
    assert_eq!(
        told_of(&zone, "o1.example.com", Rtype::A),
        "NOERROR aa o1.example.com CNAME o2.example.com. o2.example.com CNAME o1.example.com. / //"
    );
    assert_eq!(
        told_of(&zone, "self.example.com", Rtype::A),
        "NOERROR aa self.example.com CNAME self.example.com. / //"
    );
    assert_eq!(
        told_of(&zone, "c39.example.com", Rtype::ANY),
        "NOERROR aa c39.example.com CNAME c40.example.com. / //"
    );
    // Longer than any message: the answer is truncated, without taking long.
    let chain: String = (0..20_000).map(|link| format!("c{link} CNAME c{}\n", link + 1)).collect();
    let zone = zone_with(&chain);
    let query = query(7, "c0.example.com", 1, None);
    let begin = std::time::Instant::now();
    let cut = response(&zone, &query, false).expect("it is a query");
    assert_eq!((cut.len(), cut[2] & 2), (query.len(), 2));
    assert!(begin.elapsed().as_millis() < 500, "{:?}", begin.elapsed());
}

#[test]
fn names_below_a_dname_are_others() {
    let zone = zone_with("d DNAME other\na.other A 192.0.2.1\nl DNAME l\n");
    assert_eq!(
        told_of(&zone, "a.d.example.com", Rtype::A),
        "NOERROR aa d.example.com DNAME other.example.com. a.d.example.com CNAME a.other.example.com. \
         a.other.example.com A 192.0.2.1 / //"
    );
    assert!(told_of(&zone, "d.example.com", Rtype::A).starts_with("NOERROR aa / example.com SOA"));
    assert!(told_of(&zone, "x.l.example.com", Rtype::A).matches("CNAME").count() == 1);
    let long = vec!["a".repeat(60); 3].join(".");
    let zone = zone_with(&format!("d DNAME {long}\n"));
    let told = told_of(&zone, &format!("{}.d.example.com", "b".repeat(60)), Rtype::A);
    assert!(told.starts_with("YXDOMAIN aa d.example.com DNAME"), "{told}");
}
