//! How a native process gives up the processor: see the platform module.
