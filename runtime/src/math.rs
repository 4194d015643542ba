//! The mathematical functions, for processors and platforms that have none.

/// SIN
#[unsafe(no_mangle)]
pub extern "C" fn ds_sin(x: f64) -> f64 {
    libm::sin(x)
}

/// COS
#[unsafe(no_mangle)]
pub extern "C" fn ds_cos(x: f64) -> f64 {
    libm::cos(x)
}

/// TAN
#[unsafe(no_mangle)]
pub extern "C" fn ds_tan(x: f64) -> f64 {
    libm::tan(x)
}

/// ARCSIN
#[unsafe(no_mangle)]
pub extern "C" fn ds_arcsin(x: f64) -> f64 {
    libm::asin(x)
}

/// ARCCOS
#[unsafe(no_mangle)]
pub extern "C" fn ds_arccos(x: f64) -> f64 {
    libm::acos(x)
}

/// ARCTAN
#[unsafe(no_mangle)]
pub extern "C" fn ds_arctan(x: f64) -> f64 {
    libm::atan(x)
}
