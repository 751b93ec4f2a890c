// Reads a message as it is stored: parsed, hashed, split into chunks; no authentication, so any thread can load it.

import { createHash } from 'node:crypto'
import { domainOf } from '../mime/address.ts'
import { chunksOf } from '../mime/chunks.ts'
import { parseDate } from '../mime/date.ts'
import { headerText, readHeaders } from '../mime/headers.ts'
import type { AuthVerdict, ParsedMessage } from '../mime/message.ts'
import { parseMessage } from '../mime/parse.ts'
import { linkTokens } from '../mime/sign-in-links.ts'
import { messageTraits } from '../mime/spam-traits.ts'
import { addOwnTrace } from '../mime/trace.ts'
import { runScripts } from '../sieve/evaluate.ts'
import type { Inspection, InspectionRequest, MessageReading, OwnMessageRequest } from './inspection.ts'

const OWN_REASON = 'Sent from this appliance by an authorised sender of the From address.'

/** Inspects a message sent from this appliance: its sender was authorised at submission, so no DNS lookup is needed. */
export function inspectOwn(bytes: Uint8Array, own: OwnMessageRequest): Inspection {
  const inspection = inspectionContent(bytes, addOwnTrace(bytes, own), own)
  return { verdict: ownVerdict(inspection.message), report: null, ...inspection }
}

/** Reads a message that is stored byte for byte. Never throws for malformed content. */
export function readMessage(bytes: Uint8Array): MessageReading {
  const { fields } = readHeaders(bytes)
  // RFC 5321 §4.4: each host adds its field on top, with the time at its end.
  const received = headerText(fields, 'received')
  return {
    isMessage: fields.length > 0,
    message: parseMessage(bytes),
    arrivedAt: received === null ? null : parseDate(received.slice(received.lastIndexOf(';') + 1)),
    hash: sha256(bytes),
    sizeBytes: bytes.length,
    chunks: chunksOf(bytes),
  }
}

/** The stored content of a message, without its verdict. @param stored the received bytes with our trace fields on top */
export function inspectionContent(
  bytes: Uint8Array,
  stored: Uint8Array,
  { receivedAt, scripts, mailFrom }: InspectionRequest | OwnMessageRequest,
): Omit<Inspection, 'verdict' | 'report'> {
  // Parsed as stored, so that the offsets match.
  const message = parseMessage(stored)
  return {
    message,
    traits: messageTraits(stored, message, receivedAt),
    hash: sha256(stored),
    sizeBytes: stored.length,
    chunks: chunksOf(stored),
    arrivedHash: sha256(bytes),
    linkTokens: linkTokens(stored, message.structure),
    scriptOutcomes: runScripts(scripts, { bytes: stored, root: message.structure, text: message.searchText }, mailFrom),
  }
}

/** Nothing was checked, so SPF, DKIM and DMARC are "none". */
function ownVerdict({ from }: ParsedMessage): AuthVerdict {
  const domain = from.length === 1 ? domainOf(from[0]!.email) : ''
  return {
    spf: 'none',
    spfDomain: '',
    spfReason: OWN_REASON,
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
  return createHash('sha256').update(bytes).digest()
}
