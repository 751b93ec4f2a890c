// Reads a message as it is stored: parsed, hashed, split into chunks; no authentication, so any thread can load it.

import { hash } from 'node:crypto'
import { domainOf } from '../mime/address.ts'
import { isAuthor } from '../mime/author.ts'
import { chunksOf } from '../mime/chunks.ts'
import { parseDate } from '../mime/date.ts'
import { forwardMarks, ownResults, storedResults } from '../mime/forward.ts'
import { headerText, readHeaders } from '../mime/headers.ts'
import type { AuthResult, AuthVerdict, ParsedMessage } from '../mime/message.ts'
import { parseMessage } from '../mime/parse.ts'
import { linkTokens } from '../mime/sign-in-links.ts'
import { messageTraits } from '../mime/spam-traits.ts'
import { addOwnTrace, nothingVerified, sentFromHere } from '../mime/trace.ts'
import { runScripts } from '../sieve/evaluate.ts'
import { applyEdits, type HeaderEdits, keepsProtectedFields } from '../sieve/header-edits.ts'
import { failedOutcome, type SieveOutcome } from '../sieve/outcome.ts'
import type {
  InspectedContent,
  Inspection,
  InspectionRequest,
  MessageReading,
  OwnMessageRequest,
} from './inspection.ts'

const AUTH_RESULTS: readonly AuthResult[] = ['pass', 'fail', 'softfail', 'neutral', 'temperror', 'permerror']
const FORWARDED_REASON = 'Forwarded by a mailbox of this appliance; the results are those of its reception.'
/** RFC 5183 §4.1: the items that are always the same. */
const ENVIRONMENT = { location: 'MTA', name: 'Mailstead', phase: 'during' }
/** Changed copies of one message together, bytes. */
const EDITED_TOTAL_MAX = 32 * 1024 * 1024
const OWN_REASON = 'Sent from this appliance by an authorised sender of the From address.'
const OTHER_AUTHOR_REASON =
  'Sent from this appliance; its From address is not the one that the sender was authorised for.'
const CHANGED_REASON =
  'Forwarded by a mailbox of this appliance whose script has changed the header; nothing was verified.'

/**
 * Inspects a message sent from this appliance. Its sender was authorised at submission for one From address, so that no DNS lookup is
 * needed when the bytes have that one.
 */
export function inspectOwn(bytes: Uint8Array, own: OwnMessageRequest): Inspection {
  const isOwn = isAuthor(bytes, own.author)
  return isOwn
    ? inspectedAs(bytes, own, sentFromHere(own.hostName), OWN_REASON)
    : unverified(bytes, own, OTHER_AUTHOR_REASON)
}

/**
 * Inspects a message that a mailbox of this appliance forwards to another one of it, after a script has changed its header. The results
 * of its reception were those of other bytes.
 */
export function inspectChanged(bytes: Uint8Array, own: OwnMessageRequest): Inspection {
  return unverified(bytes, own, CHANGED_REASON)
}

function unverified(bytes: Uint8Array, own: OwnMessageRequest, reason: string): Inspection {
  const { verdict, ...inspection } = inspectedAs(bytes, own, nothingVerified(own.hostName), reason)
  return { ...inspection, verdict: { ...verdict, fromAligned: false } }
}

function inspectedAs(bytes: Uint8Array, own: OwnMessageRequest, results: string, reason: string): Inspection {
  const inspection = inspectionContent(sha256(bytes), addOwnTrace(bytes, own, results), own)
  const verdict = { ...ownVerdict(inspection.message), spfReason: reason }
  return { verdict, report: null, content: null, ...inspection }
}

/**
 * Inspects a message that a mailbox of this appliance forwards unchanged to another one of it. What was found out when it was received
 * is in its Authentication-Results field (`addTrace` lets none but ours through).
 */
export function inspectForwarded(bytes: Uint8Array, own: OwnMessageRequest): Inspection {
  const found = ownResults(bytes, own.hostName) ?? nothingVerified(own.hostName)
  const inspection = inspectionContent(sha256(bytes), addOwnTrace(bytes, own, found), own)
  const results = storedResults(found)
  const resultOf = (method: string) => AUTH_RESULTS.find((one) => one === results.get(method)) ?? 'none'
  const verdict = ownVerdict(inspection.message)
  const isAuthentic = resultOf('dmarc') === 'pass' || results.get('auth') === 'pass'
  const methods = { spf: resultOf('spf'), dkim: resultOf('dkim'), dmarc: resultOf('dmarc'), arc: resultOf('arc') }
  const fromAligned = isAuthentic && verdict.fromAligned
  const forwarded = { ...verdict, ...methods, fromAligned, spfReason: FORWARDED_REASON }
  return { verdict: forwarded, report: null, content: null, ...inspection }
}

/** Reads a message that is stored byte for byte. Never throws for malformed content. */
export function readMessage(bytes: Uint8Array): MessageReading {
  const { fields } = readHeaders(bytes)
  // RFC 5321 §4.4: each host adds its field on top, with the time at its end.
  const received = headerText(fields, 'received')
  const message = parseMessage(bytes)
  return {
    isMessage: fields.length > 0,
    message,
    arrivedAt: received === null ? null : parseDate(received.slice(received.lastIndexOf(';') + 1)),
    hash: sha256(bytes),
    sizeBytes: bytes.length,
    chunks: chunksOf(bytes),
    linkTokens: linkTokens(bytes, message.structure),
  }
}

/** The stored content of a message, without its verdict. @param stored the received bytes with our trace fields on top */
export function inspectionContent(
  arrivedHash: Uint8Array,
  stored: Uint8Array,
  arrival: InspectionRequest | OwnMessageRequest,
): Omit<Inspection, 'verdict' | 'report' | 'content'> {
  // Parsed as stored, so that the offsets match.
  const message = parseMessage(stored)
  const { fields } = readHeaders(stored)
  return {
    message,
    traits: messageTraits(stored, message, arrival.receivedAt, fields),
    hash: sha256(stored),
    sizeBytes: stored.length,
    chunks: chunksOf(stored),
    arrivedHash,
    forwardMarks: forwardMarks(fields),
    linkTokens: linkTokens(stored, message.structure),
    ...scriptResults(stored, message, arrival),
  }
}

/** Runs the scripts, and makes the changes of the header they ask for. */
function scriptResults(
  stored: Uint8Array,
  message: ParsedMessage,
  arrival: InspectionRequest | OwnMessageRequest,
): Pick<Inspection, 'scriptOutcomes' | 'edited'> {
  const { scripts, mailFrom, receivedAt } = arrival
  if (scripts.every((script) => script === null)) return { scriptOutcomes: scripts.map(() => null) }
  const filtered = { bytes: stored, root: message.structure, text: message.searchText }
  const outcomes = runScripts(scripts, filtered, mailFrom, { receivedAt, environment: environmentOf(arrival) })
  const edits = new EditedMessages(stored)
  const scriptOutcomes = outcomes.map((outcome) => outcome && edits.made(outcome))
  return edits.contents.length === 0 ? { scriptOutcomes } : { scriptOutcomes, edited: edits.contents }
}

/** RFC 5183 §4.1. */
function environmentOf(arrival: InspectionRequest | OwnMessageRequest): ReadonlyMap<string, string> {
  const { hostName } = arrival
  const items = new Map(
    Object.entries({ ...ENVIRONMENT, host: hostName, domain: hostName.slice(hostName.indexOf('.') + 1) }),
  )
  if ('remoteAddress' in arrival) {
    items.set('remote-ip', arrival.remoteAddress)
    if (arrival.remoteName !== null) items.set('remote-host', arrival.remoteName)
  }
  return items
}

/** Changed copies of one message, each once. */
class EditedMessages {
  readonly contents: InspectedContent[] = []
  readonly #stored: Uint8Array
  readonly #byEdits = new Map<string, number>()
  #bytes = 0

  constructor(stored: Uint8Array) {
    this.#stored = stored
  }

  /** The outcome, and those it depends on, with the changes made. */
  made(outcome: SieveOutcome): SieveOutcome {
    const { edits, question, ...rest } = outcome
    if (question !== undefined) {
      const { id, seen, unseen } = question
      const asked = { id, seen: this.made(seen), unseen: this.made(unseen) }
      return { ...asked.unseen, question: asked }
    }
    if (edits === undefined) return rest
    const edited = this.#indexOf(edits)
    return typeof edited === 'string' ? failedOutcome(edited) : { ...rest, edited }
  }

  /** @returns the index of the changed message, or why it is not changed */
  #indexOf(edits: HeaderEdits): number | string {
    const key = JSON.stringify(edits)
    const known = this.#byEdits.get(key)
    if (known !== undefined) return known
    this.#bytes += this.#stored.length
    if (this.#bytes > EDITED_TOTAL_MAX) return 'Too many copies of the message would be changed.'
    const bytes = applyEdits(this.#stored, edits)
    if (!keepsProtectedFields(this.#stored, bytes))
      return 'The changes would show another author or other trace fields.'
    const message = parseMessage(bytes)
    this.contents.push({ message, hash: sha256(bytes), sizeBytes: bytes.length, chunks: chunksOf(bytes) })
    this.#byEdits.set(key, this.contents.length - 1)
    return this.contents.length - 1
  }
}

/** Nothing was checked, so SPF, DKIM and DMARC are "none". */
function ownVerdict({ from }: ParsedMessage): AuthVerdict {
  const domain = from.length === 1 ? domainOf(from[0]!.email) : ''
  return {
    spf: 'none',
    spfDomain: '',
    spfReason: '',
    dkim: 'none',
    signatures: [],
    dmarc: 'none',
    dmarcPolicy: '',
    dmarcReason: '',
    arc: 'none',
    arcDomain: '',
    fromDomain: domain,
    authorProblem: '',
    fromAligned: domain !== '',
    dns: [],
  }
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}
