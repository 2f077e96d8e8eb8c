//! Which traces are sampled.

use petstore_observe::traces::Sampler;

fn sampler(name: &str, argument: &str) -> Sampler {
    let (sampler, warnings) = Sampler::from_settings(name, argument);
    assert!(warnings.is_empty(), "{warnings:?}");
    sampler
}

const LOW: &str = "4bf92f3577b34da6a300000000000001";
const HIGH: &str = "4bf92f3577b34da6a3ffffffffffffff";

#[test]
fn a_sampler_that_is_based_on_the_parent_follows_it_and_others_do_not() {
    for (name, root, sampled_parent, other_parent) in [
        ("", true, true, false),
        ("parentbased_always_on", true, true, false),
        ("Parentbased_Always_Off", false, true, false),
        ("always_on", true, true, true),
        ("always_off", false, false, false),
    ] {
        let sampler = sampler(name, "");
        for trace_id in [LOW, HIGH] {
            assert_eq!(sampler.samples(None, trace_id), root, "{name}");
            assert_eq!(
                sampler.samples(Some(true), trace_id),
                sampled_parent,
                "{name}"
            );
            assert_eq!(
                sampler.samples(Some(false), trace_id),
                other_parent,
                "{name}"
            );
        }
    }
}

#[test]
fn a_ratio_samples_this_share_of_all_traces_by_the_end_of_their_id() {
    for (ratio, low, high) in [
        ("0", false, false),
        ("0.001", false, true),
        ("0.5", false, true),
        ("1", true, true),
        ("", true, true),
    ] {
        for name in ["traceidratio", "parentbased_traceidratio"] {
            let sampler = sampler(name, ratio);
            assert_eq!(sampler.samples(None, LOW), low, "{name} {ratio}");
            assert_eq!(sampler.samples(None, HIGH), high, "{name} {ratio}");
            assert_eq!(
                sampler.samples(Some(true), LOW),
                low || name != "traceidratio"
            );
        }
    }
}

#[test]
fn an_invalid_value_is_ignored_with_a_warning() {
    for (name, argument) in [
        ("jaeger_remote", ""),
        ("parentbased_", ""),
        ("parentbased_traceidratio", "2"),
        ("parentbased_traceidratio", "-0.1"),
        ("parentbased_traceidratio", "NaN"),
        ("parentbased_traceidratio", "half"),
    ] {
        let (sampler, warnings) = Sampler::from_settings(name, argument);
        assert_eq!(
            (sampler, warnings.len()),
            (Sampler::default(), 1),
            "{name} {argument}"
        );
    }
}
