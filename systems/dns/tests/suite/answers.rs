//! What is answered, as the standards have it.

use domain::base::iana::Rcode;
use domain::base::{Message, Rtype};
use domain::rdata::AllRecordData;
use drystone_dns::Zone;
use drystone_dns::message::response;

use crate::{ZONE, query};

fn zone() -> Zone {
    Zone::read(ZONE, None).expect("it is a zone")
}

/// Code, flags, and the records of the three sections.
fn told(of: &str, rtype: Rtype) -> String {
    let bytes = response(&zone(), &query(7, of, rtype.to_int(), Some(1232)), true).expect("it is a query");
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
        "NOERROR aa FTP.example.com CNAME www.example.com. www.example.com CNAME example.com. example.com A 192.0.2.1 / //"
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
    let code = |query: &[u8]| {
        let bytes = response(&zone(), query, true)?;
        Some(Message::from_octets(bytes).expect("it is a message").header().rcode())
    };
    let mut wrong = query(7, "example.com", 1, None);
    wrong[2] = 0x28;
    assert_eq!(code(&wrong), Some(Rcode::NOTIMP));
    wrong[2] = 0x80;
    assert_eq!(code(&wrong), None);
    (wrong[2], wrong[5]) = (0, 2);
    assert_eq!(code(&wrong), Some(Rcode::FORMERR));
    assert_eq!(code(&query(7, "example.com", 252, None)), Some(Rcode::REFUSED));
    let mut newer = query(7, "example.com", 1, Some(1232));
    let end = newer.len();
    newer[end - 5] = 1;
    let bytes = response(&zone(), &newer, true).expect("it is a query");
    assert_eq!(bytes[bytes.len() - 6], 1);
}

#[test]
fn mistakes_in_zones_are_told() {
    let told = |text: &str| Zone::read(text, Some("example.com.")).err().unwrap_or_default();
    assert_eq!(told("a A 192.0.2.1\n"), "a zone has one SOA record");
    let head = "@ SOA ns1 host 1 2 3 4 5\n";
    assert!(told(&format!("{head}example.net. A 192.0.2.1\n")).contains("example.net isn't in the zone"));
    assert_eq!(told(&format!("{head}a A 192.0.2.256\n")), "3:1: expected IPv4 address");
    assert!(told(&format!("{head}a CNAME @\n")).contains("write that name"));
}
