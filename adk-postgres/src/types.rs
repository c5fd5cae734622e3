//! Values in the wire format of Postgres: numbers, times without a zone, and JSON in binary form.

use adk_journal::engine::ClaimId;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

/// The year 2000, the epoch of Postgres, in microseconds since 1970.
const EPOCH: i64 = 946_684_800_000_000;

/// Converts the number of a claim to the integer type of Postgres.
pub(crate) fn epoch_of(claim: ClaimId) -> i64 {
    i64::try_from(claim.epoch).unwrap_or(i64::MAX)
}

/// Microseconds since 1970, stored as `timestamp without time zone`, which ADK's tables use for
/// UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Micros(pub(crate) u64);

impl Type<Postgres> for Micros {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1114))
    }
}

impl PgHasArrayType for Micros {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1115))
    }
}

impl Encode<'_, Postgres> for Micros {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let micros = i64::try_from(self.0)?
            .checked_sub(EPOCH)
            .ok_or("a time before 1970")?;
        Encode::<Postgres>::encode(micros, buffer)
    }
}

impl<'r> Decode<'r, Postgres> for Micros {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let micros = <i64 as Decode<Postgres>>::decode(value)?;
        // The largest value of the type means `infinity`.
        let micros = micros
            .checked_add(EPOCH)
            .ok_or("the time is out of range")?;
        Ok(Self(u64::try_from(micros).unwrap_or(0)))
    }
}

/// JSON text of a `jsonb` value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Jsonb(pub(crate) String);

impl Type<Postgres> for Jsonb {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3802))
    }
}

impl PgHasArrayType for Jsonb {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3807))
    }
}

impl Encode<'_, Postgres> for Jsonb {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        // Version of the binary form.
        buffer.extend(&[1_u8]);
        buffer.extend(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

impl<'r> Decode<'r, Postgres> for Jsonb {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let bytes = match value.format() {
            PgValueFormat::Binary => match value.as_bytes()? {
                [1, text @ ..] => text,
                _ => return Err("the `jsonb` value has an unknown version".into()),
            },
            PgValueFormat::Text => value.as_bytes()?,
        };
        Ok(Self(std::str::from_utf8(bytes)?.to_owned()))
    }
}
