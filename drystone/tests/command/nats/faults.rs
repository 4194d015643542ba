//! Programs that are stopped for a while, or too busy for NATS, and several NATS servers at once.

use rustix::process::Signal;

use super::*;
use crate::peer::signal;

/// Sends numbers for a quarter of a minute, after some for clients that have yet to find it.
const SPEAKER: &str = "
COMPONENT Main;
INTERFACE Numbers;  { OUT Number(x: INTEGER) }  END Numbers;
COMPONENT Speaker OFFERS Numbers;
VARIABLE isOver: BOOLEAN;
  IMPLEMENTATION Numbers;
  VARIABLE i: INTEGER;
  BEGIN
    FOR i := 1 TO 100 DO !Number(0); PASSIVATE(20) END;
    FOR i := 1 TO 1500 DO !Number(i); PASSIVATE(10) END;
    BEGIN {EXCLUSIVE} isOver := TRUE END
  END Numbers;
ACTIVITY BEGIN {SHARED} AWAIT(isOver) END
END Speaker;
VARIABLE speaker: Speaker;
BEGIN NEW(speaker); EXPORT(Numbers(speaker), \"NAME\"); WRITE(\"ready\"); WRITELINE; DELETE(speaker) END Main;
";

const LISTENER: &str = "
COMPONENT Main;
INTERFACE Numbers;  { OUT Number(x: INTEGER) }  END Numbers;
COMPONENT Listener REQUIRES Numbers;
VARIABLE x, last: INTEGER;
BEGIN
  WHILE Numbers?Number DO
    Numbers?Number(x);
    IF x > 0 THEN
      IF last = 0 THEN WRITE(\"begun\"); WRITELINE END;
      ASSERT(x = last + 1); last := x
    END
  END;
  WRITE(\"heard \" + TEXT(last)); WRITELINE
END Listener;
VARIABLE listener: Listener;
BEGIN NEW(listener); CONNECT(Numbers(listener), \"NAME\"); DELETE(listener) END Main;
";

#[test]
fn a_listener_that_was_stopped_hears_what_was_said_meanwhile() {
    let Some(nats) = Nats::start(false) else { return };
    let name = format!("event+{}", nats.name("numbers"));
    let listening = crate::folder_with(&LISTENER.replace("NAME", &name));
    let speaking = crate::folder_with(&SPEAKER.replace("NAME", &name));
    let mut listeners = [(); 2].map(|()| Peer::start(listening.path(), DRYSTONE, &["run", "program.dry"]));
    let mut speaker = Server::start(speaking.path(), &["run", "program.dry"]);
    assert_eq!(listeners.each_mut().map(Peer::line), ["begun", "begun"]);
    // Longer than it takes to notice a silent speaker.
    signal(listeners[0].id(), Signal::STOP);
    thread::sleep(Duration::from_secs(12));
    signal(listeners[0].id(), Signal::CONT);
    assert_eq!(listeners.each_mut().map(Peer::line), ["heard 1500", "heard 1500"]);
    assert!(speaker.ended().success());
}

/// Keeps numbers, and computes for long without a pause.
const BUSY: &str = "
COMPONENT Main;
INTERFACE Keep;  { IN Put(x: INTEGER) OUT Kept }  END Keep;
COMPONENT Keeper OFFERS Keep;
  IMPLEMENTATION Keep;
  VARIABLE x: INTEGER;
  BEGIN WHILE ?Put DO ?Put(x); !Kept END END Keep;
END Keeper;
COMPONENT Computer;
VARIABLE i, x: INTEGER;
BEGIN
  WHILE TIME < LONG DO FOR i := 1 TO 50000000 DO x := (x * 31 + i) MOD 1000003 END END;
  WRITE(\"computed\"); WRITELINE
END Computer;
VARIABLE keeper: Keeper; computer: Computer;
BEGIN
  NEW(keeper); EXPORTS; WRITE(\"ready\"); WRITELINE;
  NEW(computer); DELETE(computer); PASSIVATE(600000)
END Main;
";

/// Milliseconds of computing, clearly longer than [`CUT_OFF`].
const LONG: u32 = 6000;
/// The NATS servers of these tests disconnect a client that doesn't answer for so long.
const CUT_OFF: Duration = Duration::from_secs(3);

/// A program that offers Keep by these names, and computes so many milliseconds.
fn busy(names: &[String], long: u32, cores: &str) -> (Peer, TempDir) {
    let exports: Vec<String> = names.iter().map(|name| format!("EXPORT(Keep(keeper), \"{name}\")")).collect();
    let text = BUSY.replace("EXPORTS", &exports.join("; ")).replace("LONG", &long.to_string());
    let folder = crate::folder_with(&text);
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "--cores", cores, "program.dry"]);
    assert_eq!(server.line(), "ready");
    (server, folder)
}

#[test]
fn who_computes_for_long_answers_nats_and_its_clients() {
    let configuration = tempfile::NamedTempFile::new().expect("there are temporary files");
    fs::write(configuration.path(), "ping_interval: \"1s\"\nping_max: 2\n").expect("it can be written");
    let path = configuration.path().to_str().expect("temporary files have plain names");
    let Some(nats) = Nats::start_with(&["-c", path]) else { return };
    for cores in ["1", "2"] {
        let name = nats.name(&format!("keep{cores}"));
        let start = Instant::now();
        let (mut server, _folder) = busy(std::slice::from_ref(&name), LONG, cores);
        let mut asked = 0;
        let computed = thread::spawn(move || (server.line(), server, start.elapsed()));
        while !computed.is_finished() {
            let (said, complaint, time) = asks(&name);
            assert_eq!(said, "kept\n", "{cores} cores, after {:?}: {complaint}", start.elapsed());
            assert!(time < Duration::from_secs(5), "{time:?}");
            asked += 1;
        }
        let (line, _server, time) = computed.join().expect("it reads a line");
        assert_eq!(line, "computed");
        assert!(time > CUT_OFF && asked > 2, "{asked} requests in {time:?}");
        // The same session, held by a client all the time.
        let output = begin(&["run", "Keeping.dry", "use", &name, "5", "100"]).output();
        assert_eq!(acknowledged(&output).1, 0);
    }
}

#[test]
fn a_client_keeps_its_server_while_that_computes() {
    let configuration = tempfile::NamedTempFile::new().expect("there are temporary files");
    fs::write(configuration.path(), "ping_interval: \"1s\"\nping_max: 2\n").expect("it can be written");
    let path = configuration.path().to_str().expect("temporary files have plain names");
    let Some(nats) = Nats::start_with(&["-c", path]) else { return };
    let name = nats.name("keep");
    let (mut server, _folder) = busy(std::slice::from_ref(&name), LONG, "1");
    let clients = begin(&["run", "Keeping.dry", "use", &name, "3", "3000"]);
    assert_eq!(server.line(), "computed");
    let (numbers, lost) = acknowledged(&clients.output());
    assert_eq!((numbers.len(), lost), (3 * 3000, 0));
}

#[test]
fn several_nats_are_used_at_once_and_one_that_goes_takes_nothing_else_with_it() {
    let some = [(); 3].map(|()| Nats::start(false));
    let [Some(first), Some(mut second), Some(third)] = some else { return };
    let names = [&first, &second, &third].map(|nats| nats.name("keep"));
    let (_server, _folder) = busy(&names, 0, "2");
    let clients = names.each_ref().map(|name| begin(&["run", "Keeping.dry", "use", name, "20", "1000"]));
    thread::sleep(Duration::from_millis(300));
    second.stop();
    thread::sleep(Duration::from_millis(300));
    second.restart();
    let told = clients.map(|client| acknowledged(&client.output()));
    assert_eq!(told.each_ref().map(|(numbers, _)| numbers.len()), [20 * 1000; 3]);
    let [kept, cut, kept_too] = told.map(|(_, lost)| lost);
    assert!(kept == 0 && kept_too == 0 && cut > 0, "{kept}, {cut}, {kept_too} requests were lost");
}
