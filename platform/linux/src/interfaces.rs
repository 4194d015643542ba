//! The interfaces of the system, as the Rust side knows them: language reference, section 8. What a program says about
//! their protocols is the compiler's; here are only the messages.

use drystone_runtime::interface;

interface! {
    /// What time it is.
    pub(crate) SystemTime { IN GetSystemTime, OUT SystemTime(Word) }
}

interface! {
    /// One file, by bytes and lines.
    pub(crate) FileSystem {
        IN New(Text), IN Open(Text), OUT Done, OUT Failed,
        IN SetPosition(Word), IN GetPosition, OUT Position(Word), IN GetLength, OUT Length(Word),
        IN ReadByte, IN ReadLine, OUT Byte(Byte), OUT Line(Text), OUT EOF,
        IN Write(Byte), IN WriteText(Text), IN Update, IN Close,
    }
}

interface! {
    /// A picture.
    pub(crate) GraphicView {
        IN Clear, IN GetSize, OUT Size(Word, Word, Word), IN Pixel(Word, Word, Word),
        IN Font(Word, Word, Byte, Word), IN Fill(Word, Word, Word, Word, Word), IN SetLayer(Word), IN DrawLayers,
    }
}

interface! {
    /// Standard input, by lines.
    pub(crate) Console { IN ReadLine, OUT Line(Text), OUT End }
}

interface! {
    /// The program's arguments.
    #[expect(clippy::enum_variant_names)]
    pub(crate) Arguments { IN GetArguments, OUT Argument(Text), OUT End }
}

interface! {
    /// Files by name.
    pub(crate) Files {
        IN Open(Text, Text), OUT Opened(Component), OUT Failed(Text), IN List(Text), OUT Done, OUT Entry(Text), OUT End,
        IN Delete(Text), IN Rename(Text, Text),
    }
}

interface! {
    /// One file, by blocks.
    pub(crate) Blocks {
        IN GetLength, OUT Length(Word), OUT Failed(Text), IN ReadBlock(Word, Word), OUT Block(Text),
        IN WriteBlock(Word, Text), OUT Written, IN SetLength(Word), IN Update, OUT Done,
    }
}

interface! {
    /// Connections by address.
    pub(crate) Network {
        IN Listen(Text), OUT Listening(Component), OUT Failed(Text), IN Dial(Text), OUT Connected(Component),
    }
}

interface! {
    /// An address that others dial.
    pub(crate) Listener { IN Accept, OUT Accepted(Component, Text), OUT Failed(Text) }
}

interface! {
    /// What comes from a connection.
    pub(crate) Input {
        IN Limit(Word), IN ReadLine, IN Read(Word), OUT Data(Text), OUT End, OUT Failed(Text),
    }
}

interface! {
    /// What goes into a connection.
    pub(crate) Output { IN Write(Text), IN Finish, IN Update, OUT Done, OUT Failed(Text), IN Close }
}
