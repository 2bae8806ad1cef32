//! Engines have one colour each, in every chart and both schemes.

use super::rows::{Dot, Mark};

/// The class of an engine's marks. The style sheet knows the engines by name; those that it does not know are grey.
#[must_use]
pub(super) fn class(engine: &str) -> String {
    format!("engine e-{}", key(engine))
}

/// The same for an engine called from Rust or through Python: `onnxruntime` of ONNX Runtime.
#[must_use]
pub(crate) fn key(engine: &str) -> String {
    engine.to_lowercase().replace(' ', "")
}

/// A dot for an engine.
pub(super) fn dot(value: f64, engine: &str, says: String) -> Mark {
    Mark::Dot(value, Dot { class: class(engine), radius: 5.0 }, says)
}

/// A smaller one, for engines among many.
pub(super) fn small_dot(value: f64, engine: &str, says: String) -> Mark {
    Mark::Dot(value, Dot { class: class(engine), radius: 4.0 }, says)
}

/// A dot that is a ring, for an engine's second value in a row.
pub(super) fn ring(value: f64, engine: &str, says: String) -> Mark {
    Mark::Dot(value, Dot { class: class(engine) + " ring", radius: 5.0 }, says)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::peers::peers;
    use crate::report::charts::svg::STYLE;

    #[test]
    fn every_engine_has_a_colour_of_its_own_in_both_schemes() {
        let (light, dark) = STYLE.split_once("@media").expect("two schemes");
        for scheme in [light, dark] {
            let colour = |name: &str| {
                let rule = format!(".chart .e-{name} {{ color: ");
                let found = scheme.split(&*rule).nth(1).and_then(|rest| rest.split(';').next());
                found.unwrap_or_else(|| panic!("{name} has no colour")).to_owned()
            };
            let (peers, engines) = (peers(), ["NumPy", "PyTorch", "JAX"].map(super::key));
            let names = peers.iter().map(|peer| peer.name()).chain(engines.iter().map(|name| &**name));
            let colours: HashSet<String> = names.map(colour).collect();
            assert_eq!(colours.len(), peers.len() + engines.len(), "{colours:?}");
        }
    }
}
