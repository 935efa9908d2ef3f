//! Names what several places of the crate ask for together.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(vectors)");
    println!("cargo::rerun-if-changed=build.rs");
    let has = |key: &str| std::env::var_os(key).is_some();
    let x86_64 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    // Neither loom nor Miri knows what vector instructions do to atomics.
    if x86_64 && !has("CARGO_CFG_LOOM") && !has("CARGO_CFG_MIRI") {
        println!("cargo::rustc-cfg=vectors");
    }
}
