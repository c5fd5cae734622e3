//! How long something may take: `"30s"`.

use super::super::ast::Timeout;
use proc_macro2::Span;
use syn::{Expr, Lit};

/// A literal such as `"30s"`, or any expression; `zero` is why it is not zero.
pub(super) fn timeout(expr: Expr, zero: &str) -> syn::Result<Timeout> {
    let Expr::Lit(literal) = &expr else {
        return Ok(Timeout::Value(expr));
    };
    let help = "help: write a number and `ms`, `s`, `m` or `h`, as in `\"30s\"`, or a `Duration`";
    let wrong = |span: Span, text: String| Err(syn::Error::new(span, format!("syntax: {text}; {help}")));
    match &literal.lit {
        Lit::Str(text) => match millis(&text.value()) {
            Some(0) => wrong(text.span(), format!("a timeout of zero {zero}")),
            Some(millis) => Ok(Timeout::Millis(millis)),
            None => wrong(text.span(), format!("{:?} is no length of time", text.value())),
        },
        Lit::Int(number) if !number.suffix().is_empty() => {
            wrong(number.span(), format!("`{number}` is no length of time without quotes"))
        }
        other => wrong(other.span(), "a timeout needs a unit".into()),
    }
}

/// `"1.5s"` is 1500.
fn millis(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let factor: u64 = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| (1..=9).contains(digits))?;
    let part = fraction.parse::<u64>().ok()?.checked_mul(factor)? / 10_u64.checked_pow(digits)?;
    whole.parse::<u64>().ok()?.checked_mul(factor)?.checked_add(part)
}
