//! Which interfaces consist of requests and replies, and what is said about the others.

mod declared;

use drystone_component::calls::Calls;

/// The calls, each as `message>answer,answer` by numbers; or why there are none.
fn calls(protocol: &str) -> String {
    let calls = match Calls::of(declared::interface(protocol)) {
        Ok(calls) => calls,
        Err(none) => return none.to_string(),
    };
    let one = |call: &drystone_component::calls::Call| {
        let answers: Vec<_> = call.answers.iter().map(usize::to_string).collect();
        format!("{}>{}", call.message, answers.join(","))
    };
    let all: Vec<_> = calls.calls.iter().map(one).collect();
    format!("{} {}", if calls.lasting { "lasting" } else { "single" }, all.join(" "))
}

#[test]
fn requests_with_their_replies_are_calls() {
    assert_eq!(calls("IN Name(x: TEXT) OUT Greeting(x: TEXT)"), "single 0>1");
    assert_eq!(calls("{ IN Name(x: TEXT) OUT Greeting(x: TEXT) }"), "lasting 0>1");
    assert_eq!(calls("[ IN Name OUT Greeting ]"), "single 0>1");
    assert_eq!(
        calls("{ (IN Get | IN Take) (OUT Value(x: TEXT) | OUT Failed) | IN Put(x: TEXT) }"),
        "lasting 0>2,3 1>2,3 4>"
    );
    assert_eq!(calls("IN Ask OUT Answer { IN Ask OUT Answer }"), "lasting 0>1");
}

#[test]
fn a_message_without_an_answer_is_a_call_too() {
    assert_eq!(calls("IN Note(x: TEXT)"), "single 0>");
    assert_eq!(calls("{ IN Write(x: TEXT) | IN Update (OUT Done | OUT Failed) }"), "lasting 0> 1>2,3");
    assert_eq!(calls("{ IN Write(x: TEXT) } [ IN Close ]"), "lasting 0> 1>");
}

#[test]
fn others_are_refused_with_the_place_where_they_differ() {
    let refused = |protocol, why: &str| {
        assert_eq!(calls(protocol), format!("Tested is no interface of requests and replies: {why}"));
    };
    refused("", "it has no message that a client begins with");
    refused("{ OUT Tick }", "OUT Tick comes unasked");
    refused("IN Ask [ OUT Answer ]", "IN Ask may be answered or not");
    refused(
        "IN List OUT Done { OUT Entry } OUT End",
        "IN List is answered by OUT Done and more that follows it",
    );
    refused("IN Ask OUT Answer IN Ask OUT Answer", "OUT Answer can't be the last message");
    refused(
        "IN Open OUT Done { IN Read OUT Block }",
        "after OUT Done, IN Open is not what it is at the beginning",
    );
    refused("IN Open { IN Read OUT Block }", "after IN Open, IN Open is not what it is at the beginning");
}
