//! scratch
use crate::{
    clock::Timestamp,
    port::{Answer, Failure},
    request::Secret,
};
use std::time::Duration;
#[derive(Debug, Clone)]
pub struct SigningSecret(Secret);
impl SigningSecret {
    pub fn generate() -> Self {
        Self("whsec_x".into())
    }
    pub fn parse(t: &str) -> Result<Self, std::fmt::Error> {
        Ok(Self(t.into()))
    }
    pub fn to_text(&self) -> Secret {
        self.0.clone()
    }
}
pub enum Next {
    Delivered,
    Again(Duration),
    GiveUp,
}
pub fn after(f: u32, a: &Result<Answer, Failure>, _r: u64) -> Next {
    match a {
        Ok(a) if a.status / 100 == 2 => Next::Delivered,
        _ if f > 8 => Next::GiveUp,
        _ => Next::Again(Duration::from_secs(5)),
    }
}
pub fn sign(_s: &[SigningSecret], id: &str, at: Timestamp, _b: &[u8]) -> Vec<(&'static str, String)> {
    vec![("webhook-id", id.to_owned()), ("webhook-timestamp", at.seconds().to_string())]
}
