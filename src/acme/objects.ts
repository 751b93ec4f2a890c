// The objects of RFC 8555 §7.1 as they are read: only members in use, checked, within bounds.

import { AcmeError, type Problem, problemOf } from './problem.ts'

/** Names of one order, challenges of one authorization, profiles and identities of a directory. */
const AUTHORIZATIONS_MAX = 100
const CHALLENGES_MAX = 20
const LIST_MAX = 50
/** RFC 8555 §8.1: base64url; at least 128 bits. Longer than any authority sends. */
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/

export interface AuthorityDirectory {
  newNonce: string
  newAccount: string
  newOrder: string
  revokeCert: string | null
  /** RFC 9773 §4.1; null where the authority has none. */
  renewalInfo: string | null
  termsOfService: string | null
  /** Domains the authority recognizes in CAA records (RFC 8659). */
  caaIdentities: string[]
  isExternalAccountRequired: boolean
  /** Names of profiles (draft-ietf-acme-profiles). */
  profiles: string[]
}

export const ORDER_STATUSES = ['pending', 'ready', 'processing', 'valid', 'invalid'] as const
const AUTHORIZATION_STATUSES = ['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked'] as const
const CHALLENGE_STATUSES = ['pending', 'processing', 'valid', 'invalid'] as const

export interface Order {
  status: (typeof ORDER_STATUSES)[number]
  authorizations: string[]
  finalize: string
  /** Null until the certificate is issued. */
  certificate: string | null
  problem: Problem | null
}

export interface Challenge {
  type: string
  url: string
  status: (typeof CHALLENGE_STATUSES)[number]
  token: string
  problem: Problem | null
}

export interface Authorization {
  /** The name it is for, lower case. */
  name: string
  status: (typeof AUTHORIZATION_STATUSES)[number]
  /** Those with a token; others are of no use. */
  challenges: Challenge[]
}

export interface RenewalInfo {
  /** Of the suggested window, ms. */
  start: number
  end: number
  /** A page that says why; null without. */
  explanation: string | null
}

type Members = Record<string, unknown>

/** @throws AcmeError for a text that is not a JSON object */
export function parseObject(body: string, what: string): Members {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  } catch {
    // What follows says it.
  }
  throw malformed(what)
}

export function directoryOf(object: Members): AuthorityDirectory {
  const what = 'directory'
  const meta = isObject(object.meta) ? object.meta : {}
  return {
    newNonce: url(object.newNonce, what),
    newAccount: url(object.newAccount, what),
    newOrder: url(object.newOrder, what),
    revokeCert: urlOrNull(object.revokeCert),
    renewalInfo: urlOrNull(object.renewalInfo),
    termsOfService: urlOrNull(meta.termsOfService),
    caaIdentities: texts(meta.caaIdentities).map((name) => name.toLowerCase()),
    isExternalAccountRequired: meta.externalAccountRequired === true,
    profiles: isObject(meta.profiles) ? Object.keys(meta.profiles).slice(0, LIST_MAX) : [],
  }
}

export function orderOf(object: Members): Order {
  const what = 'order'
  const urls = Array.isArray(object.authorizations) ? object.authorizations : []
  if (urls.length === 0 || urls.length > AUTHORIZATIONS_MAX) throw malformed(what)
  return {
    status: oneOf(ORDER_STATUSES, object.status, what),
    authorizations: urls.map((one) => url(one, what)),
    finalize: url(object.finalize, what),
    certificate: urlOrNull(object.certificate),
    problem: problemOf(object.error),
  }
}

export function authorizationOf(object: Members): Authorization {
  const what = 'authorization'
  const identifier = isObject(object.identifier) ? object.identifier : {}
  if (typeof identifier.value !== 'string') throw malformed(what)
  const challenges = Array.isArray(object.challenges) ? object.challenges.slice(0, CHALLENGES_MAX) : []
  return {
    name: identifier.value.toLowerCase(),
    status: oneOf(AUTHORIZATION_STATUSES, object.status, what),
    challenges: challenges.filter(isChallenge).map((one) => ({
      type: String(one.type),
      url: url(one.url, what),
      status: oneOf(CHALLENGE_STATUSES, one.status, what),
      token: String(one.token),
      problem: problemOf(one.error),
    })),
  }
}

/** RFC 9773 §4.2. */
export function renewalInfoOf(object: Members): RenewalInfo {
  const window = isObject(object.suggestedWindow) ? object.suggestedWindow : {}
  const [start, end] = [Date.parse(String(window.start)), Date.parse(String(window.end))]
  if (Number.isNaN(start) || Number.isNaN(end) || end < start) throw malformed('renewal information')
  return { start, end, explanation: urlOrNull(object.explanationURL) }
}

function isChallenge(value: unknown): value is Members {
  return isObject(value) && typeof value.type === 'string' && typeof value.token === 'string' && TOKEN.test(value.token)
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, LIST_MAX) : []
}

function url(value: unknown, what: string): string {
  const text = urlOrNull(value)
  if (text === null) throw malformed(what)
  return text
}

/** Whether it may be connected to is decided where the request is sent. */
function urlOrNull(value: unknown): string | null {
  return typeof value === 'string' && URL.parse(value)?.protocol === 'https:' ? value : null
}

function oneOf<T extends string>(known: readonly T[], value: unknown, what: string): T {
  const match = known.find((one) => one === value)
  if (match === undefined) throw malformed(what)
  return match
}

function malformed(what: string): AcmeError {
  return new AcmeError(`The certificate authority sent an unusable ${what}.`)
}
