// Reads a signature of DKIM, or a message signature of ARC, and checks its tags (RFC 6376 §3.5 and §6.1.1, RFC 8617 §4.1.2).

import { aLabels, isWithin, NAME_CHARS_MAX } from './a-labels.ts'
import type { HeaderForm, HeaderRow } from './header-rows.ts'
import { colonList, readTagList, withoutSpaces } from './tag-list.ts'

/** Digits and hyphens within, and an underscore, which RFC 6376 does not allow in selectors but which is in use there. */
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`)
const SELECTOR = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
/** sig-a-tag-alg: sig-a-tag-k "-" sig-a-tag-h */
const ALGORITHM = /^([A-Za-z][A-Za-z0-9]*)-([A-Za-z][A-Za-z0-9]*)$/
const TIMESTAMP = /^[0-9]{1,12}$/
const BODY_LENGTH = /^[0-9]{1,76}$/
/** RFC 5322 dot-atom-text with the UTF-8 of RFC 6531, or a quoted-string: the local part of i=. */
const LOCAL_PART =
  /^(?:(?:[\w!#$%&'*+\-/=?^`{|}~]|[^\x00-\x7f])+(?:\.(?:[\w!#$%&'*+\-/=?^`{|}~]|[^\x00-\x7f])+)*|"(?:[^"\\\r\n]|\\.)*")$/
const REQUIRED = ['v', 'a', 'b', 'bh', 'd', 'h', 's']

export type SignatureType = 'DKIM' | 'ARC'

export interface DkimSignature {
  type: SignatureType
  /** The field as it was sent; latin1. */
  text: string
  /** d= and s= as written; empty where they are missing or longer than a name can be. */
  domain: string
  selector: string
  /** a= as written. */
  algorithm: string
  keyType: string
  hash: string
  headerForm: HeaderForm
  bodyForm: HeaderForm
  /** l=, in bytes; Infinity without one. */
  bodyLength: number
  /** bh= and b= in base64. */
  bodyHash: string
  signature: string
  /** h= in lower case. */
  signedNames: readonly string[]
  /** The domain of i=; null without one. */
  identityDomain: string | null
  /** x= in ms; null without one. */
  expiresAt: number | null
  /** Why it is not valid, whatever its key is; null when its tags are. */
  problem: string | null
}

/** @param row the field in a header */
export function readSignature(row: Pick<HeaderRow, 'text'>, type: SignatureType): DkimSignature {
  // Tags are UTF-8 (RFC 8616 §5); rows are latin1.
  const line = Buffer.from(row.text, 'latin1').toString()
  const list = readTagList(line.slice(line.indexOf(':') + 1).trim())
  const { tags } = list
  const text = (name: string) => tags.get(name) ?? ''
  const isLong = ['d', 's', 'i'].some((name) => text(name).length > NAME_CHARS_MAX)
  const [, keyType = '', hash = ''] = ALGORITHM.exec(text('a')) ?? []
  const [headerForm = '', bodyForm = 'simple'] = text('c')
    .toLowerCase()
    .split('/')
    .map((form) => form.trim())
  const signature: DkimSignature = {
    ...{ type, text: row.text },
    domain: isLong ? '' : text('d'),
    selector: isLong ? '' : text('s'),
    algorithm: text('a'),
    keyType: keyType.toLowerCase(),
    hash: hash.toLowerCase(),
    headerForm: (headerForm || 'simple') as HeaderForm,
    bodyForm: (bodyForm || 'simple') as HeaderForm,
    bodyLength: BODY_LENGTH.test(text('l')) ? Number(text('l')) : Infinity,
    bodyHash: withoutSpaces(tags.get('bh')),
    signature: withoutSpaces(tags.get('b')),
    // RFC 6376 §3.5: without h= nothing is signed; RFC 8617 requires it, and the chain is not valid without it.
    signedNames: colonList(withoutSpaces(tags.get('h'))),
    identityDomain: null,
    expiresAt: TIMESTAMP.test(text('x')) ? Number(text('x')) * 1000 : null,
    problem: null,
  }
  if (isLong) return { ...signature, problem: 'signature syntax error' }
  return { ...signature, ...checked(signature, list) }
}

function checked(
  signature: DkimSignature,
  { tags, isValid }: ReturnType<typeof readTagList>,
): Pick<DkimSignature, 'problem' | 'identityDomain'> {
  const identity = signature.type === 'DKIM' && tags.has('i') ? identityOf(tags.get('i')!) : null
  const problem =
    formProblem(signature) ??
    (signature.type === 'DKIM' ? tagProblem(signature, tags, isValid) : null) ??
    (identity === null ? null : identityProblem(identity, signature.domain)) ??
    timeProblem(signature, tags) ??
    // A signature without From says nothing of the author, whose field could have been replaced after signing.
    (signature.signedNames.includes('from') ? null : 'From field not signed')
  return { problem, identityDomain: identity?.domain ?? null }
}

/** What it takes to compute anything. */
function formProblem({ type, keyType, hash, headerForm, bodyForm, domain, selector }: DkimSignature): string | null {
  const isKnownKey = keyType === 'rsa' || keyType === 'ed25519'
  // rsa-sha1 has a result of its own (RFC 8301 §3.1); ARC never had it.
  const isKnownHash = hash === 'sha256' || (hash === 'sha1' && keyType === 'rsa' && type === 'DKIM')
  if (!isKnownKey || !isKnownHash) return 'unknown algorithm'
  for (const form of [headerForm, bodyForm]) {
    if (form !== 'simple' && form !== 'relaxed') return 'unknown canonicalization'
  }
  return domain === '' || selector === '' ? 'signature missing required tag' : null
}

function tagProblem(
  { domain, selector, signedNames }: DkimSignature,
  tags: ReadonlyMap<string, string>,
  isValid: boolean,
): string | null {
  const syntax = 'signature syntax error'
  if (!isValid) return syntax
  if (REQUIRED.some((name) => !tags.has(name))) return 'signature missing required tag'
  if (tags.get('v') !== '1') return 'incompatible version'
  const isNumber = (name: string, form: RegExp) => !tags.has(name) || form.test(tags.get(name)!)
  if (!isNumber('t', TIMESTAMP) || !isNumber('x', TIMESTAMP) || !isNumber('l', BODY_LENGTH)) return syntax
  if (signedNames.length === 0) return syntax
  if (!DOMAIN.test(aLabels(domain)) || !SELECTOR.test(aLabels(selector).replaceAll('_', 'x'))) return syntax
  // dns/txt is the only method; others are ignored.
  return tags.has('q') && !colonList(tags.get('q')).includes('dns/txt') ? 'unsupported query method' : null
}

interface Identity {
  localPart: string
  /** Null without an "@". */
  domain: string | null
}

/** i= in dkim-quoted-printable (RFC 6376 §2.11). */
function identityOf(value: string): Identity {
  const bytes = Buffer.from(withoutSpaces(value)).toString('latin1')
  const octet = (_code: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))
  const text = Buffer.from(bytes.replace(/=([0-9A-Fa-f]{2})/g, octet), 'latin1').toString()
  const at = text.lastIndexOf('@')
  return { localPart: text.slice(0, Math.max(at, 0)), domain: at < 0 ? null : text.slice(at + 1) }
}

/** RFC 6376 §6.1.1: the domain of i= is d= or below it. */
function identityProblem({ localPart, domain }: Identity, signingDomain: string): string | null {
  const isAddress = domain !== null && (localPart === '' || LOCAL_PART.test(localPart)) && DOMAIN.test(aLabels(domain))
  if (!isAddress) return 'signature syntax error'
  return isWithin(domain, signingDomain) ? null : 'domain mismatch'
}

/** RFC 6376 §3.5: x= is later than t=. */
function timeProblem({ type, expiresAt }: DkimSignature, tags: ReadonlyMap<string, string>): string | null {
  const signedAt = Number(tags.get('t') ?? Number.NaN) * 1000
  return type === 'DKIM' && expiresAt !== null && expiresAt <= signedAt ? 'invalid expiration' : null
}
