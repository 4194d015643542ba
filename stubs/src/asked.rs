//! The client's methods of a request/reply interface.

use drystone_language::program::Type;

use crate::calls::Method;
use crate::names::{is_part, name};

impl Method<'_> {
    /// The client's methods for the call.
    pub fn asked(&self, others: &[Method]) -> String {
        format!(
            "{}///\n/// # Errors\n/// The other side has closed.\n#[inline]\n\
             pub fn {}<'c>(&'c mut self{}) -> native::Call<'c, {}> {{\n\
             native::Call::new(self, {})\n}}\n{}",
            self.about(),
            self.name(),
            // Spelled so that it means the same in any edition of Rust.
            self.parameters().replace('&', "&'c "),
            self.kind(),
            self.given(),
            self.asked_now(others),
        )
    }

    /// The method for a call that is answered at once. There is none if another method has its name, or if its
    /// arguments couldn't be used again for the usual call.
    fn asked_now(&self, others: &[Method]) -> String {
        let now = self.name().trim_start_matches("r#").to_string() + "_now";
        if others.iter().any(|other| other.name() == now) || self.gives_part() {
            return String::new();
        }
        format!(
            "/// The same at once, by one indirect call, where a server in Rust answers so and has been \
             called before.\n\
             /// `None`: nothing has been called; it can be called the usual way.\n\
             #[inline]\n\
             pub fn {now}(&mut self{}) -> Option<{}> {{\n\
             native::Method::at_once(self, {}).ok()\n}}\n",
            self.parameters(),
            self.answer.ty("'static"),
            self.given(),
        )
        .replace("native::Method", &format!("<{} as native::Method>", self.kind()))
    }

    /// The type that says how the call is made.
    pub fn declared_kind(&self) -> String {
        let (kind, given) = (self.kind(), self.given());
        let types: String = self
            .message
            .parameters
            .iter()
            .map(|(_, ty)| self.types.lent(ty).replace('&', "&'c ") + ", ")
            .collect();
        format!(
            "/// The call `{}`.\npub enum {kind} {{}}\n\
             impl native::Method for {kind} {{\n\
             type Client = Client;\ntype Given<'c> = ({types});\ntype Answer = {};\n\
             const REQUEST: usize = {};\n\
             #[inline(always)]\n\
             fn copied<'c>(given: &Self::Given<'c>) -> Option<Self::Given<'c>> {{\n{}\n}}\n\
             #[inline(always)]\n\
             fn at_once<'c>(client: &mut Client, given: Self::Given<'c>)\n\
             -> Result<Self::Answer, Self::Given<'c>> {{\n{}\n}}\n\
             fn later<'c>(client: &mut Client, given: Self::Given<'c>)\n\
             -> Result<Self::Answer, Self::Given<'c>> {{\n{}\n}}\n\
             fn request<'c>({given}: Self::Given<'c>) -> <Interface as native::Protocol>::In<'c> {{\n{}\n}}\n\
             fn answer(session: &mut native::Client<Interface>)\n\
             -> Poll<Result<Self::Answer, native::Closed>> {{\n{}\n}}\n}}\n",
            self.message.name,
            self.answer.ty("'static"),
            self.number,
            if self.gives_part() { "None" } else { "Some(*given)" },
            self.at_once_body(),
            self.later_body(),
            self.request(),
            self.receive(),
        )
    }

    /// The name of that type, which no message of the interface can have.
    fn kind(&self) -> String {
        format!("__{}", self.message.name)
    }

    fn gives_part(&self) -> bool {
        self.message.parameters.iter().any(|(_, ty)| is_part(ty))
    }

    /// The arguments as one value.
    fn given(&self) -> String {
        let fields = self.message.parameters.iter().map(|(field, _)| name(field) + ", ");
        format!("({})", fields.collect::<String>())
    }

    fn at_once_body(&self) -> String {
        let (given, name, arguments, kept) = (self.given(), self.name(), self.arguments(), self.kept());
        format!(
            "client.direct.at_once(given, |__object, {given}| {{\n\
             let answer = __object.{name}({arguments});\n{kept}\n}})"
        )
    }

    fn later_body(&self) -> String {
        if self.gives_part() {
            // A component can't be passed twice: if the call has to wait, the arguments are needed again.
            return "Err(given)".into();
        }
        let (given, name, arguments) = (self.given(), self.name(), self.arguments());
        let separator = if arguments.is_empty() { "" } else { ", " };
        format!(
            "client.direct.later(|__object, __caller| {{\nlet {given} = given;\n\
             __object.{name}(__caller{separator}{arguments}).map(|answer| {})\n}}).ok_or(given)",
            self.kept()
        )
    }

    /// Turns an answer that borrows from the object into one that can be kept.
    fn kept(&self) -> String {
        if self.answer.ty("").contains('<') {
            format!("match answer {{\n{}}}", self.answer.owned())
        } else {
            "answer".into()
        }
    }

    /// The request as a message.
    fn request(&self) -> String {
        let value = |(field, ty): &(String, Type)| {
            let field = name(field);
            match ty {
                Type::Text => format!("{field}: Text::Lent({field}), "),
                Type::Record(_) => format!("{field}: {field}.clone(), "),
                Type::Sequence(_) => format!("{field}: {field}.to_vec(), "),
                _ => field + ", ",
            }
        };
        let values: String = self.message.parameters.iter().map(value).collect();
        let values = if values.is_empty() { values } else { format!(" {{ {values}}}") };
        format!("In::{}{values}", name(&self.message.name))
    }

    /// How the answer is received.
    fn receive(&self) -> String {
        if self.answer.messages.is_empty() {
            return "Poll::Ready(Ok(()))".into();
        }
        format!(
            "native::receive(session, |message| match message {{\n{}_ => None,\n}})",
            self.answer.of_message()
        )
    }
}
