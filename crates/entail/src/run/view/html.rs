pub fn text(_: &crate::run::Run, _: &crate::run::Titles, _: Option<&str>, _: &super::ViewArgs) -> Result<String, String> { Ok(String::new()) }
