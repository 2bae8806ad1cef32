//! The lowest layer: data types, index types, levels, policies, methods and errors. It depends on no higher layer.

pub(crate) mod arithmetic;
pub(crate) mod asserts;
mod attribute_names;
pub(crate) mod caches;
pub(crate) mod codes;
pub(crate) mod declare;
pub(crate) mod declared;
mod dtype_names;
pub(crate) mod element;
pub(crate) mod error;
pub(crate) mod fused;
pub(crate) mod index;
pub(crate) mod level;
pub(crate) mod method;
pub(crate) mod numbers;
pub(crate) mod op;
pub(crate) mod order;
#[cfg(feature = "bytemuck")]
pub(crate) mod plain;
pub(crate) mod policy;
pub(crate) mod reduction;
mod text;
