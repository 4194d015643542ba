//! Certificates for tests, with authorities of their own.

use std::fs;
use std::path::Path;

/// An authority and its certificate.
type Authority = (rcgen::Issuer<'static, rcgen::KeyPair>, String);

/// Files `NAME.pem` and `NAME.key` with a certificate for this machine, signed by an authority of its own,
/// `NAME-ca.pem`.
pub fn certify(folder: &Path, name: &str, (authority, root): &Authority) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let hosts = vec!["localhost".to_string(), "127.0.0.1".to_string()];
    let certificate =
        rcgen::CertificateParams::new(hosts).expect("names").signed_by(&key, authority).expect("signed");
    for (file, text) in [
        (format!("{name}.pem"), certificate.pem()),
        (format!("{name}.key"), key.serialize_pem()),
        (format!("{name}-ca.pem"), root.clone()),
    ] {
        fs::write(folder.join(file), text).expect("a temporary folder can be written");
    }
}

/// An authority, and its certificate.
pub fn authority() -> Authority {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut parameters = rcgen::CertificateParams::new(Vec::new()).expect("no names");
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "an authority");
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = parameters.self_signed(&key).expect("signed").pem();
    (rcgen::Issuer::new(parameters, key), root)
}
