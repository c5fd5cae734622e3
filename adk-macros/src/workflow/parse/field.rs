//! The fields of an LLM agent.

use super::super::ast::{Contents, Fields, MentionKind, Tool};
use super::super::names::nearest;
use super::expect::{self, expected};
use super::limit::rest;
use super::prompt::{constant, has_prefix};
use super::timeout::timeout;
use super::unknown::{FIELDS, may_be, may_end_loops, unknown};
use super::{Parser, skip};
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, LitBool, LitStr, Path, Token, UnOp, token};

impl Parser {
    pub(super) fn fields(&mut self, input: ParseStream<'_>) -> Fields {
        let mut fields = Fields::default();
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let word = input.fork().call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default();
            let faults = self.report.len();
            let result = self.field(input, &mut fields, &mut seen).and_then(|()| {
                match input.is_empty() || input.peek(Token![,]) {
                    true => Ok(()),
                    // Of `f"..."` rustc says that there is no such prefix.
                    false if has_prefix(&fields, input) => {
                        fields.instruction = Some(input.parse()?);
                        Ok(())
                    }
                    false if self.unquoted(input, &word, &mut fields) => Ok(()),
                    false => Err(expected(input, "`,` between two fields")),
                }
            });
            if let Err(error) = result {
                self.report.parse(error);
                // A field may begin right here: then only its comma was missing.
                if !(input.peek(Ident) && input.peek2(Token![:]) && !input.peek2(Token![::])) {
                    rest(input);
                    if lists(&word) {
                        // What was to be a part of the list, or a parameter of the closure, is no field.
                        while continues(input) {
                            let _ = input.parse::<Token![,]>();
                            rest(input);
                        }
                    }
                }
            }
            if self.report.len() > faults {
                fields.vague |= may_end_loops(&word);
                fields.unprompted |= may_be(&word, &["instruction", "global_instruction"]);
                fields.unlimited |= may_be(&word, &["max_turns"]);
            }
            let _ = input.parse::<Option<Token![,]>>();
        }
        fields
    }

    fn field(
        &mut self,
        input: ParseStream<'_>,
        fields: &mut Fields,
        seen: &mut Vec<String>,
    ) -> syn::Result<()> {
        if input.peek(Token![#]) {
            let text = "syntax: neither a doc comment nor an attribute may stand before a field; help: for a remark write `//`";
            let error = syn::Error::new(input.span(), text);
            let _ = expect::docs(input);
            self.report.parse(error);
        }
        if input.peek(LitStr) && input.peek2(Token![:]) {
            let name = input.parse::<LitStr>()?;
            let text = format!(
                "syntax: the name of a field is written without quotes; help: write `{}: ...`",
                name.value()
            );
            return Err(syn::Error::new(name.span(), text));
        }
        if !input.peek(Ident::peek_any) {
            return Err(expected(input, "a field, such as `instruction: \"...\"`"));
        }
        let word = input.call(Ident::parse_any)?;
        let name = word.to_string();
        if !input.peek(Token![:]) {
            if !FIELDS.contains(&name.as_str()) {
                return Err(unknown(&word));
            }
            return Err(expected(input, &format!("`:` and the value of `{name}`")));
        }
        input.parse::<Token![:]>()?;
        if !FIELDS.contains(&name.as_str()) {
            self.report.parse(unknown(&word));
            // The parameters of a closure have commas between them.
            if input.peek(Token![|]) && input.fork().parse::<Expr>().is_ok() {
                input.parse::<Expr>()?;
            }
            rest(input);
            return Ok(());
        }
        let mut repeated = Fields::default();
        let target = if seen.contains(&name) {
            let text =
                format!("field-unknown: `{name}` is set twice in this agent; help: remove one of them");
            self.report.at(word.span(), text);
            &mut repeated
        } else {
            fields
        };
        seen.push(name.clone());
        if is_callback(&name) {
            target.callbacks.extend(self.callbacks(input, &word)?)
        } else {
            self.value(input, &name, target)?
        }
        Ok(())
    }

    fn value(&mut self, input: ParseStream<'_>, name: &str, fields: &mut Fields) -> syn::Result<()> {
        let mut expr = |input: ParseStream<'_>| self.expr(input, name);
        match name {
            "name" => {
                fields.name = Some(expect::token(input, "the name in quotes, as in `name: \"critic\"`")?)
            }
            "include_contents" => fields.include_contents = Some(contents(input)?),
            "timeout" => fields.timeout = Some(timeout(expr(input)?, "leaves no time for any call")?),
            "tools" => self.bracketed(input, "tools", |parser, list| {
                fields.tools.push(parser.tool(list)?);
                Ok(())
            })?,
            "transfer" => self.bracketed(input, "transfer", |parser, list| {
                let word = list.fork().call(Ident::parse_any);
                if word.is_ok_and(|word| parser.told.iter().any(|told| word == told)) {
                    // Told where it is declared: whom else this agent may hand over to is not known.
                    fields.vague = true;
                    return list.call(Ident::parse_any).map(drop);
                }
                fields.transfer.push(parser.listed(
                    list,
                    "a target",
                    "the name of an agent of this workflow",
                )?);
                Ok(())
            })?,
            "disallow_transfer_to_parent" => fields.disallow_transfer_to_parent = Some(yes_or_no(input)?),
            "disallow_transfer_to_peers" => fields.disallow_transfer_to_peers = Some(yes_or_no(input)?),
            "stop" => self.bracketed(input, "stop", |_, list| {
                fields.stop.push(expect::token(list, "a text in quotes")?);
                Ok(())
            })?,
            "model" => fields.model = Some(expr(input)?),
            "instruction" => fields.instruction = Some(constant(expr(input)?)?),
            "global_instruction" => fields.global_instruction = Some(constant(expr(input)?)?),
            "temperature" => fields.temperature = Some(expr(input)?),
            "top_p" => fields.top_p = Some(expr(input)?),
            "max_output_tokens" => fields.max_output_tokens = Some(expr(input)?),
            "seed" => fields.seed = Some(expr(input)?),
            "retry" => fields.retry = Some(expr(input)?),
            _ => {
                let value = expr(input)?;
                let is_zero = matches!(&value, Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) if number.base10_digits() == "0");
                let is_negative = matches!(&value, Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)));
                if is_zero || is_negative {
                    let found = if is_zero { "0" } else { "negative" };
                    let text = format!(
                        "syntax: `max_turns` is {found}; help: it is the most model calls of one turn, 1 or more, as in `max_turns: 3`"
                    );
                    return Err(syn::Error::new(value.span(), text));
                }
                fields.max_turns = Some(value);
            }
        }
        Ok(())
    }

    pub(super) fn bracketed(
        &mut self,
        input: ParseStream<'_>,
        name: &str,
        part: impl FnMut(&mut Self, ParseStream<'_>) -> syn::Result<()>,
    ) -> syn::Result<()> {
        if !input.peek(token::Bracket) {
            return Err(expected(input, &format!("a list, as in `{name}: [...]`")));
        }
        let list;
        syn::bracketed!(list in input);
        self.list(&list, part);
        skip::drain(&list);
        Ok(())
    }

    pub(super) fn expr(&mut self, input: ParseStream<'_>, name: &str) -> syn::Result<Expr> {
        let start = input.fork();
        let expr = match unread_closure(input) {
            Some(fault) => Err(fault),
            None => expect::token::<Expr>(input, &format!("the value of `{name}`")),
        };
        if matches!(expr, Ok(Expr::Path(_)) | Err(_)) {
            // For editors; a path that ends in `::` is no expression.
            let path = self.path(&start, MentionKind::Value);
            if let (Err(error), true) = (path, start.cursor() != input.cursor()) {
                return expr.map_err(|_| error);
            }
        }
        expr
    }

    /// The path of a tool, or `agent(PATH)`.
    fn tool(&mut self, list: ParseStream<'_>) -> syn::Result<Tool> {
        let is_agent = list.peek(Ident) && list.peek2(token::Paren);
        let that = "the path of a `#[tool]` function, or `agent(NAME)`";
        if !is_agent {
            let path = self.listed(list, "a tool", that)?;
            return Ok(Tool { path, is_agent });
        }
        let word = list.parse::<Ident>()?;
        if word != "agent" {
            let error = expected(list, &format!("`,`; a tool is {that}"));
            return Err(match nearest(&word.to_string(), ["agent"]) {
                Some(near) => syn::Error::new(
                    word.span(),
                    format!("syntax: a tool is {that}; help: did you mean `{near}`?"),
                ),
                None => error,
            });
        }
        let inside;
        syn::parenthesized!(inside in list);
        let what = "the name of an agent of this workflow, or the path of one";
        let path = self.path(&inside, MentionKind::Type).map_err(|_| {
            let error = expected(&inside, what);
            skip::drain(&inside);
            error
        })?;
        if !inside.is_empty() {
            let error = expected(&inside, "`)`");
            skip::drain(&inside);
            return Err(error);
        }
        if list.is_empty() || list.peek(Token![,]) {
            Ok(Tool { path, is_agent })
        } else {
            Err(expected(list, "`,` between two tools"))
        }
    }

    fn listed(&mut self, list: ParseStream<'_>, what: &str, that: &str) -> syn::Result<Path> {
        let path = self.path(list, MentionKind::Type);
        let path = path.map_err(|_| expected(list, &format!("{what}: {that}")))?;
        if list.is_empty() || list.peek(Token![,]) {
            Ok(path)
        } else {
            Err(expected(list, &format!("`,`; {what} is {that}")))
        }
    }
}

/// Whether a field stands here, and no key with its type.
pub(super) fn begins_fields(list: ParseStream<'_>) -> bool {
    let word = list.fork().call(Ident::parse_any).map(|word| word.to_string());
    let is_value = list.peek3(Lit) || list.peek3(token::Bracket);
    word.is_ok_and(|word| FIELDS.contains(&&*word)) && list.peek2(Token![:]) && is_value
}

/// What cannot be read in a closure that begins here.
fn unread_closure(input: ParseStream<'_>) -> Option<syn::Error> {
    if !input.peek(Token![|]) {
        return None;
    }
    let error = input.fork().parse::<Expr>().err()?;
    let why = error.to_string();
    // What `syn` lists is all that an expression may begin with.
    let why = if why.contains("one of") { "expected an expression or a pattern".to_owned() } else { why };
    let text =
        format!("syntax: this closure of Rust cannot be read: {why}; help: it is written as in `|cx| ...`");
    Some(syn::Error::new(error.span(), text))
}

/// Whether the value of a field holds commas.
fn lists(field: &str) -> bool {
    matches!(field, "tools" | "transfer" | "stop") || is_callback(field)
}

fn is_callback(field: &str) -> bool {
    field.starts_with("before_") || field.starts_with("after_") || field.starts_with("on_")
}

/// Whether something else than a field stands behind this comma.
fn continues(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let is_comma = ahead.parse::<Token![,]>().is_ok() && !ahead.is_empty();
    let word = ahead.fork().call(Ident::parse_any).map(|word| word.to_string());
    let is_field = ahead.peek2(Token![:]) && !ahead.peek2(Token![::]);
    is_comma && !is_field && word.is_ok_and(|word| !FIELDS.contains(&&*word))
}

fn yes_or_no(input: ParseStream<'_>) -> syn::Result<LitBool> {
    expect::token(input, "`true` or `false`")
}

fn contents(input: ParseStream<'_>) -> syn::Result<Contents> {
    let word = input.fork().call(Ident::parse_any).map(|word| word.to_string());
    let contents = match word.as_deref() {
        Ok("default") => Contents::Default,
        Ok("none") => Contents::None,
        _ => return Err(expected(input, "`none` or `default`")),
    };
    input.call(Ident::parse_any)?;
    Ok(contents)
}
