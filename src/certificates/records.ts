// The tables of certificates from an authority.

import type { ChallengeType } from '../acme/challenges.ts'
import { bytes, flag, integer, json, key, type RecordOf, table, text, time } from '../db/table.ts'

/**
 * `absent`: an order is to be placed. `ordered`: the names are being proved. `validated`: the certificate is being issued. `issued`: it is used,
 * and to be proven by connections. `proven`: in use. `due`: in use, and a renewal is to be ordered.
 */
export const CERTIFICATE_STATES = ['absent', 'ordered', 'validated', 'issued', 'proven', 'due'] as const
export type CertificateState = (typeof CERTIFICATE_STATES)[number]

/** `host`: of the mail listeners, and the default of HTTPS. `web`: of one name of HTTPS. */
export type CertificateKind = 'host' | 'web'

/** `refused`: a connection did not prove it. `replaced`: a later one did. */
export type VersionState = 'issued' | 'proven' | 'refused' | 'replaced' | 'revoked'

export const ACCOUNTS = table('acme_accounts', {
  n: key(),
  directory: text(),
  /** Null until the authority has named it. */
  url: text().orNull(),
  key_sealed: bytes().hidden(),
  email: text(),
  external_kid: text(),
  created_at: time(),
})

export const CERTIFICATES = table('certificates', {
  n: key(),
  /** The first of its names. */
  name: text(),
  kind: text<CertificateKind>(),
  /** Those it is wanted for. */
  names: json<string[]>(),
  state: text<CertificateState>(),
  /** When the next step is due. */
  look_at: time(),
  /** Why the next step waits, one sentence; null while all goes well. */
  reason: text().orNull(),
  /** In a row. */
  failures: integer().or(0),
  failed_at: json<number[]>(),
  /** How its names are proved; null for the usual way. */
  method: text<ChallengeType>().orNull(),
  /** When its names were proved to the authority for tests; null before. */
  rehearsed_at: time().orNull(),
  /** When the version in use is to be renewed; null without one. */
  due_at: time().orNull(),
  /** The next version gets a new key. */
  new_key: flag().or(0),
  /** The version in use is revoked when the next one is proven. */
  revoke: flag().or(0),
  ari_start: time().orNull(),
  ari_end: time().orNull(),
  ari_url: text().orNull(),
  /** When the authority is asked again. */
  ari_at: time().orNull(),
})
export type Certificate = RecordOf<typeof CERTIFICATES>

export const KEYS = table('certificate_keys', {
  n: key(),
  certificate: integer(),
  key_sealed: bytes().hidden(),
  created_at: time(),
})

export const VERSIONS = table('certificate_versions', {
  n: key(),
  certificate: integer(),
  key: integer(),
  /** SHA-256 of the public key, hex. */
  key_digest: text(),
  directory: text(),
  names: json<string[]>(),
  /** PEM. */
  chain: text().hidden(),
  state: text<VersionState>(),
  not_before: time(),
  not_after: time(),
  issued_at: time(),
  proven_at: time().orNull(),
})
export type Version = RecordOf<typeof VERSIONS>

export const ORDERS = table('acme_orders', {
  certificate: integer(),
  directory: text(),
  url: text(),
  names: json<string[]>(),
  key: integer(),
  /** At the authority for tests: nothing is issued. */
  rehearsal: flag().as('is_rehearsal'),
  polls: integer(),
  created_at: time(),
})
export type StoredOrder = RecordOf<typeof ORDERS>

export const CHALLENGES = table('acme_challenges', {
  token: text(),
  certificate: integer(),
  name: text(),
  type: text<ChallengeType>(),
  key_authorization: text(),
})
export type StoredChallenge = RecordOf<typeof CHALLENGES>
