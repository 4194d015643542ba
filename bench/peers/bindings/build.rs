//! Makes what tonic and capnp-rpc need: the first without `protoc`, the second by `capnp` (apt-get install capnproto
//! libcapnp-dev).

use tonic_build::manual::{Builder, Method, MethodBuilder, Service};

fn main() {
    let method = |name, route, input: &str| -> MethodBuilder {
        Method::builder()
            .name(name)
            .route_name(route)
            .input_type(format!("crate::grpc::{input}"))
            .output_type("crate::grpc::Number")
            .codec_path("tonic_prost::ProstCodec")
    };
    let joint = Service::builder()
        .name("Joint")
        .package("bindings")
        .method(method("ask", "Ask", "Number").build())
        .method(method("put", "Put", "Number").client_streaming().build())
        .method(method("text", "Text", "Bytes").client_streaming().build());
    Builder::new().compile(&[joint.build()]);
    capnpc::CompilerCommand::new()
        .file("joint.capnp")
        .default_parent_module(vec!["capnproto".into()])
        .run()
        .expect("capnp, of apt-get install capnproto libcapnp-dev");
}
