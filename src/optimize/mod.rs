//! Judgement: how much to give away, measured by the eye's proxy.
