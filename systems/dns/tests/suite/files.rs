//! Master files in all spellings, and the errors of invalid ones.

use domain::base::iana::Rtype;
use drystone_dns::Zone;
use drystone_dns::zone::Set;

const HEAD: &str =
    "$ORIGIN example.com.\n$TTL 1h\n@ SOA ns1 host 1 2h 1h 2w 5m\n@ NS ns1\nns1 A 192.0.2.53\n";

fn read(text: impl AsRef<[u8]>) -> Result<Zone, String> {
    Zone::read(&[HEAD.as_bytes(), text.as_ref()].concat(), None)
}

/// The TTL of a name's records, and the data of the first.
fn first(zone: &Zone, name: &str, rtype: Rtype) -> Option<(u32, Vec<u8>)> {
    let set: &Set = zone.node(&crate::name(name))?.get(rtype)?;
    Some((set.ttl, set.records().next()?.to_vec()))
}

fn data(text: &str, rtype: Rtype) -> Vec<u8> {
    let zone = read(format!("x {text}\n")).unwrap_or_else(|why| panic!("{text}: {why}"));
    first(&zone, "x.example.com", rtype).unwrap_or_else(|| panic!("{text} has no {rtype}")).1
}

#[test]
fn the_last_line_may_have_no_end() {
    for text in [
        "x TXT \"a\"",
        "x TXT ( \"a\" )",
        "x TXT (\n\"a\"\n)",
        "x TXT a",
        "x TXT \"a\" ; comment",
        "x TXT \"a\" \\097",
    ] {
        let zone = read(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(
            first(&zone, "x.example.com", Rtype::TXT).map(|(_, data)| data[..2].to_vec()),
            Some(b"\x01a".to_vec())
        );
    }
    assert_eq!(read("x TXT ( \"a\" ").err().as_deref(), Some("line 6: the file ends within brackets"));
    assert_eq!(read("x TXT \"a ").err().as_deref(), Some("line 6: the file ends within quotes"));
    assert_eq!(read("x TXT a\\").err().as_deref(), Some("line 6: the file ends behind a `\\`"));
}

#[test]
fn times_have_units_everywhere() {
    let zone =
        read("x 1w2d A 192.0.2.1\ny IN 90 A 192.0.2.1\n$TTL 2\nz A 192.0.2.1\n").expect("it is a zone");
    let ttl = |name: &str| first(&zone, &format!("{name}.example.com"), Rtype::A).map(|(ttl, _)| ttl);
    assert_eq!(["x", "y", "z", "ns1"].map(ttl), [777_600, 90, 2, 3600].map(Some));
    let (_, soa) = first(&zone, "example.com", Rtype::SOA).expect("it has one");
    assert_eq!(soa[soa.len() - 16..], [7200u32, 3600, 1_209_600, 300].map(u32::to_be_bytes).concat());
    // Without $TTL: as in the record before, or the last number of the SOA record.
    let text = "@ SOA ns1 host 1 2 3 4 77\na A 192.0.2.1\nb 5 A 192.0.2.1\nc A 192.0.2.1\n";
    let zone = Zone::read(text.as_bytes(), Some("example.com")).expect("it is a zone");
    let ttl = |name: &str| first(&zone, &format!("{name}.example.com"), Rtype::A).map(|(ttl, _)| ttl);
    assert_eq!(["a", "b", "c"].map(ttl), [77, 5, 5].map(Some));
}

#[test]
fn files_have_no_encoding() {
    let zone =
        read(b"x TXT \"Gr\xfc\xdfe\" ; Gr\xfc\xdfe\r\n\r\ny TXT \"\xc3\xbc\"\r\n").expect("it is a zone");
    assert_eq!(
        first(&zone, "x.example.com", Rtype::TXT).map(|(_, data)| data),
        Some(b"\x05Gr\xfc\xdfe".to_vec())
    );
    assert_eq!(
        first(&zone, "y.example.com", Rtype::TXT).map(|(_, data)| data),
        Some(b"\x02\xc3\xbc".to_vec())
    );
}

#[test]
fn an_at_sign_is_the_origin_in_data_too() {
    assert_eq!(data("MX 10 @", Rtype::MX), [&[0, 10][..], &crate::name("example.com")].concat());
    assert_eq!(data("CNAME @", Rtype::CNAME), crate::name("example.com"));
    assert_eq!(data("TXT @", Rtype::TXT), b"\x01@");
    assert_eq!(data("CNAME \\@", Rtype::CNAME), crate::name("@.example.com"));
}

#[test]
fn types_are_known_or_bytes() {
    assert_eq!(
        data("LOC 42 21 54 N 71 06 18 W -24m 30m", Rtype::LOC),
        [0, 0x33, 0x16, 0x13, 0x89, 0x17, 0x2d, 0xd0, 0x70, 0xbe, 0x15, 0xf0, 0, 0x98, 0x8d, 0x20]
    );
    assert_eq!(data("SPF \"v=spf1\" -all", Rtype::SPF), b"\x06v=spf1\x04-all");
    assert_eq!(data("URI 10 1 \"ftp://a/b\"", Rtype::URI), b"\0\x0a\0\x01ftp://a/b");
    assert_eq!(data("TYPE65280 \\# 3 01 0203", Rtype::from_int(65280)), [1, 2, 3]);
    assert_eq!(data("A \\# 4 c0000201", Rtype::A), [192, 0, 2, 1]);
    assert_eq!(data("TYPE1 192.0.2.1", Rtype::A), [192, 0, 2, 1]);
    assert_eq!(
        data("APL 1:192.168.32.0/21 !2:FF00::/8", Rtype::APL),
        [0, 1, 21, 3, 192, 168, 32, 0, 2, 8, 0x81, 0xff]
    );
    assert_eq!(
        data("HIP 2 200100107B1A AQID rvs", Rtype::HIP)[..13],
        [6, 2, 0, 3, 0x20, 1, 0, 0x10, 0x7b, 0x1a, 1, 2, 3]
    );
    assert_eq!(data("CSYNC 66 3 A NS AAAA", Rtype::CSYNC), [0, 0, 0, 66, 0, 3, 0, 4, 0x60, 0, 0, 8]);
    assert_eq!(data("CERT PGP 1 RSASHA1 AQID", Rtype::CERT), [0, 3, 0, 1, 5, 1, 2, 3]);
    assert_eq!(data("NSAP 0x47.0005", Rtype::NSAP), [0x47, 0, 5]);
    assert_eq!(data("SVCB 1 . key65000=\"a b\"", Rtype::SVCB), b"\0\x01\0\xfd\xe8\0\x03a b");
    for wrong in [
        "TYPE1 \\# 3 010203",
        "MX \\# 4 000ac00c",
        "A \\# 4 0102",
        "TYPE0 \\# 0",
        "AXFR",
        "OPT \\# 0",
        "LOC 91 N 0 E 0m",
    ] {
        assert!(read(format!("x {wrong}\n")).is_err(), "{wrong}");
    }
}

#[test]
fn entries_are_generated_as_bind_does_it() {
    let zone = read(
        "$GENERATE 1-5/2 host$ 2h A 192.0.2.$\n$GENERATE 9-10 ${-8,3,d}.${16,0,x} CNAME host$.a\\$b\n\
         $GENERATE 10-10 ${0,3,n} MX \"10 mail$\"\n",
    )
    .expect("it is a zone");
    let there = |name: &str| {
        zone.node(&crate::name(&format!("{name}.example.com"))).is_some_and(|node| !node.sets().is_empty())
    };
    assert!(["host1", "host3", "host5", "001.19", "002.1a", "a.0"].iter().all(|name| there(name)));
    assert!(!there("host2") && !there("host7"));
    assert_eq!(first(&zone, "host3.example.com", Rtype::A), Some((7200, vec![192, 0, 2, 3])));
    assert_eq!(
        first(&zone, "002.1a.example.com", Rtype::CNAME).map(|it| it.1),
        Some(crate::name("host10.a$b.example.com"))
    );
    assert_eq!(
        first(&zone, "a.0.example.com", Rtype::MX).map(|it| it.1),
        Some([&[0, 10][..], &crate::name("mail10.example.com")].concat())
    );
    for wrong in [
        "0-4294967295 a$ A 192.0.2.1",
        "2-1 a$ A 192.0.2.1",
        "1-2/0 a$ A 192.0.2.1",
        "1-2 a${ A 192.0.2.1",
        "0-1 a${-1} A 192.0.2.1",
    ] {
        assert!(read(format!("$GENERATE {wrong}\n")).is_err(), "{wrong}");
    }
}

#[test]
fn files_are_included_where_they_say() {
    let folder = tempfile::tempdir().expect("there is room");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it can be written");
    std::fs::create_dir(folder.path().join("sub")).expect("it can be");
    write("zone", &format!("{HEAD}$INCLUDE sub/more below\nz A 192.0.2.9\n"));
    write("sub/more", "x A 192.0.2.1\n$ORIGIN other\ny A 192.0.2.2\n$INCLUDE last\n");
    write("sub/last", "@ TXT here");
    let (files, zone) = Zone::load(&folder.path().join("zone"), None);
    let zone = zone.expect("it is a zone");
    for name in ["x.below", "y.other.below", "other.below", "z"] {
        assert!(
            zone.node(&crate::name(&format!("{name}.example.com")))
                .is_some_and(|node| !node.sets().is_empty()),
            "{name}"
        );
    }
    assert_eq!(files.len(), 3);
    write("sub/last", "$INCLUDE last\n");
    let why = Zone::load(&folder.path().join("zone"), None).1.expect_err("it never ends");
    assert!(why.ends_with("more than 10 files include each other") && why.contains("included here"), "{why}");
    write("sub/last", "x A nowhere\n");
    let why = Zone::load(&folder.path().join("zone"), None).1.expect_err("it is wrong");
    assert!(why.contains("sub/last:1: expected IPv4 address"), "{why}");
}

#[test]
fn words_in_quotes_stand_apart_but_for_texts() {
    let apart = [
        "HINFO \"a\"b",
        "HINFO \"a\"\"b\"",
        "HINFO a\"b\"",
        "HINFO \"a;\"b",
        "CAA 0 \"issue\"\"x\"",
        "NAPTR 1 2 \"u\"\"s\" \"r\" b",
        "NAPTR 1 2\"u\" \"s\" \"r\" b",
        "ISDN \"a\"\"b\"",
        "MX \"10\"b",
        "A\"192.0.2.1\"",
        "\"A\"192.0.2.1",
        "TXT\"x\"",
        "\"3600\"\"A\" 192.0.2.1",
        "URI 1 2\"http://x\"",
        "OPENPGPKEY \"AQ\"\"ID\"",
        "TYPE999 \\# 2 01\"02\"",
        "NSEC b \"A\"\"NS\"",
        "SVCB 1 . alpn=\"h2\"port=1",
        "SVCB 1 . key65000=\"a\"b",
        "HTTPS 1 . alpn=\"h2\"\"x\"",
        "HTTPS 1 .\"alpn=h2\"",
        "APL 1:10.0.0.0/8\"2:::/0\"",
    ];
    for line in apart {
        let why = read(format!("x {line}\n")).err().unwrap_or_else(|| panic!("{line} is taken"));
        assert!(why.contains("line 6: a space is missing before `"), "{line}: {why}");
    }
    let quoted_owner = read("\"x\"A 192.0.2.1\n").err().unwrap_or_default();
    assert!(quoted_owner.contains("a space is missing"), "{quoted_owner}");
    let together = [
        ("TXT \"a\"b", Rtype::TXT),
        ("TXT a\"b\"", Rtype::TXT),
        ("SPF \"a\"\"b\"", Rtype::SPF),
        ("TXT \"a\"(b)", Rtype::TXT),
        ("HINFO (\"a\")b", Rtype::HINFO),
        ("HINFO \"a\"(b)", Rtype::HINFO),
    ];
    for (line, rtype) in together {
        assert_eq!(data(line, rtype), b"\x01a\x01b", "{line}");
    }
    assert_eq!(data("SVCB 1 . alpn=\"h2\" port=1", Rtype::SVCB).len(), 3 + 7 + 6);
}

#[test]
fn mistakes_are_told_with_their_places() {
    let told = |text: &str| read(text).err().unwrap_or_else(|| panic!("{text} is taken"));
    let all = [
        ("x A 192.0.2.256\n", "line 6: expected IPv4 address"),
        ("x A\n", "line 6: there are fewer words than the type has"),
        ("x A 192.0.2.1 2\n", "line 6: there are more words than the type has"),
        (
            "\n\nx CNAME y\nx A 192.0.2.1\n",
            "line 9: x.example.com. has a CNAME record and others: it stands for another name only",
        ),
        (
            "x A 192.0.2.1\nx CNAME y\n",
            "line 7: x.example.com. has a CNAME record and others: it stands for another name only",
        ),
        ("x CNAME y\nx CNAME z\n", "line 7: x.example.com. has two CNAME records: a name has one"),
        (
            "x DNAME y\na.x A 192.0.2.1\n",
            "x.example.com. has a DNAME record, and a.x.example.com. is below it: it would never be found",
        ),
        ("example.net. A 192.0.2.1\n", "line 6: example.net. isn't in the zone example.com."),
        ("@ SOA a b 2 3 4 5 6\n", "line 6: example.com. has two SOA records: a name has one"),
        ("sub SOA a b 2 3 4 5 6\n", "line 6: sub.example.com. has an SOA record, too: a zone has one"),
        ("x CH A 192.0.2.1\n", "line 6: the class is CH; this server has IN only"),
        ("x..y A 192.0.2.1\n", "line 6: `x..y` has an empty label"),
        ("x NOTHING y\n", "line 6: `NOTHING` is no type"),
        ("$TTL soon\n", "line 6: `soon` is no time"),
        ("x TXT \"\\256\"\n", "line 6: an escape is `\\` and three digits, up to 255, or another sign"),
        ("$ELSE\n", "line 6: `$ELSE` is unknown; there are $ORIGIN, $TTL, $INCLUDE and $GENERATE"),
    ];
    all.iter().for_each(|(text, why)| assert_eq!(told(text), *why, "{text}"));
    // The same CNAME twice is one; DNSSEC records may stand beside it.
    read("x CNAME y\nx CNAME y\nx NSEC z A\n").expect("it is a zone");
    let told = |text: &str, origin| Zone::read(text.as_bytes(), origin).err().unwrap_or_default();
    assert_eq!(told("a A 192.0.2.1\n", Some("example.com.")), "there is no SOA record, which every zone has");
    assert_eq!(told("a A 192.0.2.1\n", None), "line 1: `a` is below nothing: there is no $ORIGIN");
    assert!(told("a A 192.0.2.1\n", Some("a..b")).starts_with("the origin `a..b` is no name"));
    assert_eq!(told("", None), "there is no SOA record, which every zone has");
}

#[test]
fn large_zones_take_little_time() {
    let hosts: String =
        (0..200_000).map(|host| format!("host{host} A 10.0.{}.{}\n", host >> 8 & 255, host & 255)).collect();
    let begin = std::time::Instant::now();
    let zone = read(hosts).expect("it is a zone");
    assert_eq!(zone.names().count(), 200_002);
    // nsd takes half a second of processor time.
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    // All records of one name.
    let begin = std::time::Instant::now();
    let many: String = (0..100_000)
        .map(|host| format!("x AAAA 2001:db8::{:x}:{:x}\n", host >> 8 & 255, host & 255))
        .collect();
    let zone = read(many).expect("it is a zone");
    assert_eq!(
        zone.node(&crate::name("x.example.com")).map(|node| node.sets()[0].records().count()),
        Some(65536)
    );
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}
