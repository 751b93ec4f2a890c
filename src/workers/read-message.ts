// Mail read as it is stored: every thread may, since nothing here checks who wrote it.

import { createHash } from 'node:crypto'
import { chunksOf } from '../mime/chunks.ts'
import { parseDate } from '../mime/date.ts'
import { headerText, readHeaders } from '../mime/headers.ts'
import type { AuthVerdict, ParsedMail } from '../mime/message.ts'
import { parseMail } from '../mime/parse.ts'
import { linkTokens } from '../mime/sign-in-links.ts'
import { mailTraits } from '../mime/spam-traits.ts'
import { addOwnTrace } from '../mime/trace.ts'
import { rule } from '../sieve/evaluate.ts'
import type { Inspection, InspectionRequest, OwnMessageRequest, Reading } from './inspection.ts'

const OWN = 'Sent from this appliance by somebody who may use the From address.'

/** Takes in a mail that was sent from here: whose it is was settled when it was accepted, so that DNS is asked nothing. */
export function inspectOwn(bytes: Uint8Array, own: OwnMessageRequest): Inspection {
  const inspection = taken(bytes, addOwnTrace(bytes, own), own)
  return { verdict: ownVerdict(inspection.mail), report: null, ...inspection }
}

/** Reads a mail that is kept as it is, to the byte. Never throws for what it holds. */
export function readMail(bytes: Uint8Array): Reading {
  const { fields } = readHeaders(bytes)
  // RFC 5321 4.4: each host puts its field on top, and the time at its end.
  const received = headerText(fields, 'received')
  return {
    isMail: fields.length > 0,
    mail: parseMail(bytes),
    arrivedAt: received === null ? null : parseDate(received.slice(received.lastIndexOf(';') + 1)),
    hash: sha256(bytes),
    sizeBytes: bytes.length,
    chunks: chunksOf(bytes),
  }
}

/** What is kept of a mail, whoever judged it. @param stored the bytes that came, with what we wrote on top */
export function taken(
  bytes: Uint8Array,
  stored: Uint8Array,
  { receivedAt, scripts, mailFrom }: InspectionRequest | OwnMessageRequest,
): Omit<Inspection, 'verdict' | 'report'> {
  // Read as it is stored, so that offsets fit.
  const mail = parseMail(stored)
  return {
    mail,
    traits: mailTraits(stored, mail, receivedAt),
    hash: sha256(stored),
    sizeBytes: stored.length,
    chunks: chunksOf(stored),
    arrivedHash: sha256(bytes),
    linkTokens: linkTokens(stored, mail.structure),
    rulings: rule(scripts, { bytes: stored, root: mail.structure, text: mail.searchText }, mailFrom),
  }
}

/** Nothing was checked, because nothing had to be: no result of SPF, DKIM or DMARC is made up. */
function ownVerdict({ from }: ParsedMail): AuthVerdict {
  const domain = from.length === 1 ? from[0]!.email.slice(from[0]!.email.lastIndexOf('@') + 1).toLowerCase() : ''
  return {
    spf: 'none',
    spfDomain: '',
    spfReason: OWN,
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
