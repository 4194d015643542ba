//! The OpenAPI 3.1 description of an interface, for clients in other languages.

use drystone_component::calls::{Call, Calls};
use drystone_component::form::{Form, Kind};
use drystone_component::{Interface, Member, Parameter, Type, members};
use serde_json::{Value, json};

use super::mapping::Mapping;

/// The description of an interface that is served below a URL, with a token or without.
pub(super) fn openapi(
    interface: &'static Interface,
    calls: Option<&Calls>,
    mapping: &Mapping,
    url: &str,
    needs_token: bool,
) -> String {
    let name = interface.name.get();
    let mut paths = serde_json::Map::new();
    match calls {
        Some(calls) => {
            for call in &calls.calls {
                let path = format!("/{}", interface.messages.get()[call.message].name.get());
                let mut ways = json!({ "post": operation(interface, call, mapping) });
                if mapping.reads(call.message) {
                    ways["get"] = asked_by_get(interface, call, mapping);
                }
                paths.insert(path, ways);
            }
        }
        None => {
            paths.insert("/".into(), json!({ "get": conversation(interface) }));
        }
    }
    let mut description = json!({
        "openapi": "3.1.0",
        "info": { "title": name, "version": format!("{:016x}", interface.fingerprint.0[0]) },
        "servers": [{ "url": url }],
        "paths": paths,
        "components": { "schemas": { "Error": {
            "type": "object",
            "properties": { "error": { "type": "string" } },
            "required": ["error"],
        } } },
    });
    if needs_token {
        description["components"]["securitySchemes"] =
            json!({ "token": { "type": "http", "scheme": "bearer" } });
        description["security"] = json!([{ "token": [] }]);
    }
    format!("{description:#}\n")
}

/// The same, with the parameters in the URL.
fn asked_by_get(interface: &'static Interface, call: &Call, mapping: &Mapping) -> Value {
    let mut operation = operation(interface, call, mapping);
    let request = &interface.messages.get()[call.message];
    let parameters = request.parameters.get().iter().map(|parameter| {
        let schema =
            if parameter.ty == Type::Text { json!({ "type": "string" }) } else { schema_of(parameter) };
        json!({ "name": parameter.name.get(), "in": "query", "required": true, "schema": schema })
    });
    operation["operationId"] = json!(format!("get{}", request.name.get()));
    operation["parameters"] = parameters.collect();
    operation.as_object_mut().expect("it is one").remove("requestBody");
    operation
}

fn operation(interface: &'static Interface, call: &Call, mapping: &Mapping) -> Value {
    let request = &interface.messages.get()[call.message];
    let parameters = request.parameters.get();
    let content = json!({ "application/json": { "schema": object(parameters, 0) } });
    let mut responses = serde_json::Map::new();
    if call.answers.is_empty() {
        responses.insert("204".into(), json!({ "description": "The message has been taken." }));
    }
    let mut statuses: Vec<u16> = call.answers.iter().map(|&answer| mapping.status(answer).as_u16()).collect();
    statuses.sort_unstable();
    statuses.dedup();
    for status in statuses {
        let answers = call.answers.iter().filter(|&&answer| mapping.status(answer) == status);
        let schemas: Vec<Value> = answers.map(|&answer| message(interface, answer)).collect();
        let schema = if schemas.len() == 1 { schemas[0].clone() } else { json!({ "oneOf": schemas }) };
        let content = json!({ "application/json": { "schema": schema } });
        responses.insert(status.to_string(), json!({ "description": "The answer.", "content": content }));
    }
    let schema = json!({ "$ref": "#/components/schemas/Error" });
    let error =
        json!({ "description": "What is wrong.", "content": { "application/json": { "schema": schema } } });
    responses.insert("default".into(), error);
    json!({
        "operationId": request.name.get(),
        "requestBody": { "required": !parameters.is_empty(), "content": content },
        "responses": responses,
    })
}

/// A protocol other than requests and replies.
fn conversation(interface: &'static Interface) -> Value {
    let all: Vec<Value> = (0..interface.messages.length).map(|number| message(interface, number)).collect();
    json!({
        "operationId": interface.name.get(),
        "description": "A WebSocket: each of its messages, both ways, is one message of the protocol.",
        "responses": { "101": { "description": "The conversation begins." } },
        "x-messages": { "oneOf": all },
    })
}

/// A message as `json` writes it.
fn message(interface: &'static Interface, number: usize) -> Value {
    let message = &interface.messages.get()[number];
    let name = message.name.get();
    json!({
        "type": "object",
        "properties": { name: object(message.parameters.get(), 0) },
        "required": [name],
        "additionalProperties": false,
    })
}

/// A message's values, or those of a record in it, whose names go on at byte `within`.
fn object(parameters: &[Parameter], within: usize) -> Value {
    let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
    for member in members(parameters, within) {
        let (name, schema) = match member {
            Member::Value(name, parameter) => (name, schema_of(parameter)),
            Member::Record(name, fields) => (name, object(fields, within + name.len() + 1)),
        };
        properties.insert(name.into(), schema);
        required.push(name);
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn schema_of(parameter: &Parameter) -> Value {
    match parameter.ty {
        Type::Sequence => schema_of_element(Form::new(parameter.form.get())),
        ty => schema(ty),
    }
}

/// A sequence, or something in one.
fn schema_of_element(form: Form<'_>) -> Value {
    match form.kind() {
        Kind::Boolean => schema(Type::Boolean),
        Kind::Character => schema(Type::Character),
        Kind::Integer => schema(Type::Integer),
        Kind::Real => schema(Type::Real),
        Kind::Text => schema(Type::Text),
        Kind::Sequence(element) => json!({ "type": "array", "items": schema_of_element(element) }),
        Kind::Record(fields) => {
            let all = fields.map(|(name, form)| (name.to_string(), schema_of_element(form)));
            let properties: serde_json::Map<String, Value> = all.collect();
            let required: Vec<&str> = fields.map(|(name, _)| name).collect();
            json!({
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            })
        }
    }
}

fn schema(ty: Type) -> Value {
    match ty {
        Type::Boolean => json!({ "type": "boolean" }),
        Type::Character => {
            json!({ "type": "string", "minLength": 1, "maxLength": 1, "pattern": "^[\u{0}-\u{ff}]$" })
        }
        Type::Integer => json!({ "type": "integer", "format": "int64" }),
        Type::Real => json!({ "oneOf": [
            { "type": "number", "format": "double" },
            { "enum": ["NaN", "Infinity", "-Infinity"] },
        ] }),
        Type::Text => json!({ "oneOf": [
            { "type": "string" },
            {
                "type": "object",
                "properties": { "base64": { "type": "string", "contentEncoding": "base64" } },
                "required": ["base64"],
                "additionalProperties": false,
            },
        ] }),
        Type::Component | Type::Sequence => unreachable!("it is no value by itself"),
    }
}
